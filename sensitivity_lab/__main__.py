"""``python -m sensitivity_lab``: the command line."""

import sys

from .cli.commands import main

sys.exit(main())
