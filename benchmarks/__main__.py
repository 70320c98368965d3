"""Run benchmarks by name, each in a process of its own: those of speed without a name, or "statistics"."""

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
    "growth",
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
    "study_load",
    "leaderboard_speed",
    "statistics_speed",
    "sign_flips_speed",
    "browse_speed",
    "estimate",
)
STATISTICS = (
    "coverage_real",
    "agreement_coverage",
    "study_statistics",
    "chance_alarm",
    "history_noise",
    "repair_noise",
)
NETWORKS = (
    "encoder_speed",
    "evaluator_speed",
    "mlmme_speed",
    "triplet_speed",
    "torch_speed",
    "mini_batches",
)  # need torch
LONG = ("growth_tasks",)  # some 20 minutes
GPU = ("gpu",)  # needs a CUDA device
CLUSTER = ("ray_speed",)  # needs ray
PEERS = ("run_measures",)  # needs ranx and pytrec_eval
EXPERIMENTS = ("mlmme_runs", "mlmme_languages", "mlmme_multi30k", "nbest_table3")  # trainings of minutes
DATA = (
    *(
        "sentence_breaks",
        "spectra",
        "small_catalogues",
        "blind_spots",
        "image_checks",
        "pairs_as_pool",
        "repairs",
        "fixed_repairs",
        "label_free",
        "pivot_network",
    ),
    *("pivot_runs", "pivot_tables"),
)

wanted = [
    name for word in sys.argv[1:] or SPEED for name in (STATISTICS if word == "statistics" else (word,))
]
known = (*SPEED, *LONG, *GPU, *CLUSTER, *PEERS, *STATISTICS, *NETWORKS, *EXPERIMENTS, *DATA)
for name in wanted:
    if name not in known:
        raise SystemExit(f"no benchmark {name!r}: expected some of {', '.join(known)}, or statistics")
    print(f"== {name}", flush=True)
    subprocess.run([sys.executable, "-c", f"from benchmarks.{name} import main; main()"], check=True)
