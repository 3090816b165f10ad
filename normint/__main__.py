"""`python -m normint` is the command."""

import sys

from normint.cli import main

if __name__ == "__main__":
    sys.exit(main())
