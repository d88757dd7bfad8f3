"""`python -m tenterhooks_checkpoint`."""

import sys

from tenterhooks_checkpoint.command import main

if __name__ == "__main__":
    sys.exit(main())
