"""``python -m sensitivity_lab``: the command line."""

import sys

from .cli import main

sys.exit(main())
