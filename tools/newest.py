"""Whether this environment has the newest versions that pip finds for some extras of the package.

It names those that are older, and ends with code 1; `make quick-newest` then makes an environment
of the newest ones.
"""

import json
import subprocess
import sys

OURS = "sensitivity_lab"


def older_than_the_newest(extras: list[str]) -> list[str]:
    """Ask pip what it would install, and install nothing."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--dry-run", "--report", "-", "--upgrade", "--upgrade-strategy", "eager"]
    done = subprocess.run(
        [*command, "--editable", f".[{','.join(extras)}]"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found = (one["metadata"] for one in json.loads(done.stdout)["install"])
    return [f"{one['name']} {one['version']}" for one in found if one["name"] != OURS]


if __name__ == "__main__":
    if newer := older_than_the_newest(sys.argv[1:]):
        print(f"Newer than in this environment: {', '.join(newer)}")
        sys.exit(1)
    print("No version is newer than those of this environment, with which its tests run")
