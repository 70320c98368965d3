"""Run simulations by name: gate, ranks, inspect, plan, near_duplicates, pool; fewer of them with a number.

From 1,000 simulations on (near_duplicates: always) the promised error rates and coverages are asserted.
"""

import sys
from importlib import import_module

NAMES = ("gate", "ranks", "inspect", "plan", "near_duplicates", "pool")

if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
    raise SystemExit(
        f"usage: python -m tests.simulations NAME [SIMULATIONS]; NAME is one of {', '.join(NAMES)}"
    )
import_module(f"tests.simulations.{sys.argv[1]}").main(*map(int, sys.argv[2:]))
