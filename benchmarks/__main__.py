"""Run benchmarks by name, each in a process of its own; all of them without a name."""

import subprocess
import sys

NAMES = ("screen_error", "backretrieval_speed", "many_encoders", "memory", "start_up", "agreement_coverage")

for name in sys.argv[1:] or NAMES:
    if name not in NAMES:
        raise SystemExit(f"no benchmark {name!r}: expected some of {', '.join(NAMES)}")
    print(f"== {name}", flush=True)
    subprocess.run([sys.executable, "-c", f"from benchmarks.{name} import main; main()"], check=True)
