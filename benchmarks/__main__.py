"""Run benchmarks by name; all of them without a name."""

import sys
from importlib import import_module

NAMES = ("screen_error", "backretrieval_speed", "many_encoders", "memory", "start_up")

for name in sys.argv[1:] or NAMES:
    if name not in NAMES:
        raise SystemExit(f"no benchmark {name!r}: expected some of {', '.join(NAMES)}")
    print(f"== {name}", flush=True)
    import_module(f"benchmarks.{name}").main()
