"""A run of 1,000,000 results against judgements: here, ranx and pytrec_eval, from the files to the numbers.

All measures at once, graded judgements, every tenth score tied with the next; processor time of the second
of two rounds (ranx compiles in the first). Peers that are not installed (`pip install ranx pytrec_eval`) are
left out. Ours adds intervals, Judged@10 and expectations over ties; the numbers are compared in the order
of trec_eval. `python -m benchmarks.judged_runs 100000` takes another number of results.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from xlingual import runs_against_qrels

RESULTS, DEPTH, CANDIDATES, JUDGED = 1_000_000, 1000, 200_000, 50
ROUNDS = 2
LIMIT = 1.0  # of ranx' time
CLOSE = 1e-9
MEASURES = {  # here → ranx, pytrec_eval
    "nDCG@10": ("ndcg@10", "ndcg_cut_10"),
    "nDCG@100": ("ndcg@100", "ndcg_cut_100"),
    "Success@10": ("hit_rate@10", "success_10"),
    "R@100": ("recall@100", "recall_100"),
    "P@10": ("precision@10", "P_10"),
    "AP@100": ("map@100", "map_cut_100"),
    "Bpref": ("bpref", "bpref"),
}
Numbers = dict[str, float]


def write(folder: Path, results: int) -> tuple[Path, Path]:
    """Write a run and judgements; return their files."""
    rng = np.random.default_rng(0)
    run, qrels = folder / "engine.trec", folder / "judged.qrels"
    with run.open("w") as found, qrels.open("w") as judged:
        for query in range(results // DEPTH):
            names = rng.choice(CANDIDATES, DEPTH, replace=False)
            score = np.sort(rng.random(DEPTH))[::-1]
            score[1::10] = score[::10][: len(score[1::10])]
            found.writelines(
                f"q{query} Q0 d{name} {rank} {value:.6f} x\n"
                for rank, (name, value) in enumerate(zip(names, score, strict=True), start=1)
            )
            known = {*rng.choice(names, JUDGED // 2, replace=False).tolist()}
            known |= {*rng.integers(0, CANDIDATES, JUDGED // 2).tolist()}
            judged.writelines(f"q{query} 0 d{name} {rng.integers(0, 4)}\n" for name in sorted(known))
    return run, qrels


def ours(run: Path, qrels: Path, ties: str = "expected") -> Numbers:
    """Return the means by this library."""
    found = runs_against_qrels(qrels, {"it": str(run)}, measures=[*MEASURES, "Judged@10"], ties=ties)
    return {entry.measure: entry.value for entry in found.entries if entry.value is not None}


def by_ranx(run: Path, qrels: Path) -> Numbers:
    """Return the means by ranx."""
    from ranx import Qrels, Run, evaluate

    judged = Qrels.from_file(str(qrels), kind="trec")
    names = [name for name, _ in MEASURES.values()]
    found = evaluate(judged, Run.from_file(str(run), kind="trec"), names)
    return {name: float(found[theirs]) for name, (theirs, _) in MEASURES.items()}


def by_trec_eval(run: Path, qrels: Path) -> Numbers:
    """Return the means by pytrec_eval."""
    import pytrec_eval

    with qrels.open() as judged, run.open() as results:
        parsed = pytrec_eval.parse_qrel(judged), pytrec_eval.parse_run(results)
    evaluator = pytrec_eval.RelevanceEvaluator(parsed[0], {name for _, name in MEASURES.values()})
    found = evaluator.evaluate(parsed[1]).values()
    return {name: float(np.mean([own[theirs] for own in found])) for name, (_, theirs) in MEASURES.items()}


def timed(evaluate: Callable[[Path, Path], Numbers], files: tuple[Path, Path]) -> tuple[float, Numbers]:
    """Return the processor seconds of the last round, and its numbers."""
    for _ in range(ROUNDS):
        begun = time.process_time()
        found = evaluate(*files)
        seconds = time.process_time() - begun
    return seconds, found


def main(results: int = RESULTS) -> None:
    """Print the seconds of each, and check the numbers."""
    peers = {"ranx": by_ranx, "pytrec_eval": by_trec_eval}
    with tempfile.TemporaryDirectory() as folder:
        files = write(Path(folder), results)
        seconds, _ = timed(ours, files)
        print(f"xlingual, {len(MEASURES) + 1} measures with intervals: {seconds:.2f} s")
        strict = ours(*files, "trec")
        for name, evaluate in peers.items():
            if find_spec(name) is None:
                continue
            of_peer, found = timed(evaluate, files)
            off = max(abs(found[measure] - strict[measure]) for measure in MEASURES)
            print(f"{name}: {of_peer:.2f} s, numbers within {off:.1e}")
            if name == "pytrec_eval":
                assert off < CLOSE, found
            else:
                assert seconds <= LIMIT * of_peer, (seconds, of_peer)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
