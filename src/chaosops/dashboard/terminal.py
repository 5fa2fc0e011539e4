"""``python -m chaosops.dashboard.terminal``: the same as ``chaosops watch``."""

import sys

from chaosops.cli import main

if __name__ == "__main__":
    sys.exit(main(["watch", *sys.argv[1:]]))
