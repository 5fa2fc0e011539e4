"""``python -m chaosops``"""

import sys

from chaosops.cli import main

sys.exit(main())
