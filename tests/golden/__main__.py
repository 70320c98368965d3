"""Write or compare golden values: see `golden`."""

import sys

from tests.golden.golden import main

sys.exit(main(sys.argv[1:]))
