"""Run benchmarks by name, each in a process of its own; all that need no extra without a name.

With `--json`, tables are lines of JSON.
"""

import subprocess
import sys

SPEED = (
    "ranking",
    "ties",
    "hub_speed",
    "neighbours_speed",
    "backretrieval",
    "many_encoders",
    "validation_speed",
    "correlation_speed",
    "pool",
    "few_queries",
    "memory",
    "memory_of_files",
    "manifest_scale",
    "start_up",
    "first_number",
    "store_speed",
    "fit_speed",
    "pivot_speed",
    "repair_speed",
    "nbest_speed",
    "leaderboard_speed",
    "statistics_speed",
    "sign_flips_speed",
)
OTHERS = (
    *("network_speed", "evaluator_speed", "mlmme_speed", "triplet_speed"),  # need torch
    "gpu",  # needs a CUDA device
    "ray_cores",  # needs ray
    "run_measures",  # needs ranx and pytrec_eval
    *("sentence_breaks", "spectra"),  # need the real data
)

options = [word for word in sys.argv[1:] if word.startswith("--")]  # --json
for name in [word for word in sys.argv[1:] if word not in options] or SPEED:
    if name not in (*SPEED, *OTHERS):
        raise SystemExit(f"no benchmark {name!r}: expected some of {', '.join((*SPEED, *OTHERS))}")
    print(f"== {name}", flush=True)
    code = f"from benchmarks.{name} import main; main()"
    subprocess.run([sys.executable, "-c", code, *options], check=True)
