"""`python -m tenterhooks`."""

import sys

from tenterhooks.cli import main

if __name__ == "__main__":
    sys.exit(main())
