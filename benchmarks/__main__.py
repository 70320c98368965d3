"""Run benchmarks by name, each in a process of its own; all that need no extra without a name."""

import subprocess
import sys

SPEED = (
    "screen_error",
    "ranking_speed",
    "ties_speed",
    "hub_speed",
    "neighbours_speed",
    "scored_speed",
    "backretrieval_speed",
    "many_encoders",
    "validation_speed",
    "correlation_speed",
    "pool_speed",
    "image_speed",
    "few_queries",
    "memory",
    "memory_of_files",
    "manifest_scale",
    "start_up",
    "first_number",
    "store_speed",
    "lexical_speed",
    "fit_speed",
    "pivot_speed",
    "repair_speed",
    "nbest_speed",
    "leaderboard_speed",
    "statistics_speed",
    "sign_flips_speed",
)
OTHERS = (
    *("encoder_speed", "evaluator_speed", "mlmme_speed", "triplet_speed", "torch_speed"),  # need torch
    "gpu",  # needs a CUDA device
    "ray_speed",  # needs ray
    "run_measures",  # needs ranx and pytrec_eval
    *("sentence_breaks", "spectra"),  # need the real data
)

for name in sys.argv[1:] or SPEED:
    if name not in (*SPEED, *OTHERS):
        raise SystemExit(f"no benchmark {name!r}: expected some of {', '.join((*SPEED, *OTHERS))}")
    print(f"== {name}", flush=True)
    subprocess.run([sys.executable, "-c", f"from benchmarks.{name} import main; main()"], check=True)
