"""Runs of search engines against judgements, files and reading included: xlingual, ranx and pytrec_eval.

`python -m benchmarks.run_measures 100 200` takes another number of queries, and of candidates of each. Needs
ranx and pytrec_eval-terrier (extra `interop`). What is compared is equal: the measures that all three have,
in one process, after each has run once on little data.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from xlingual import runs_against_qrels
from xlingual.results import Results

QUERIES, DEPTH, JUDGED, POOL = 1_000, 1_000, 50, 200_000
ROUNDS = 3
# as xlingual, ranx and pytrec_eval call them
MEASURES = {
    "nDCG@10": ("ndcg@10", "ndcg_cut_10"),
    "Success@10": ("hit_rate@10", "success_10"),
    "R@10": ("recall@10", "recall_10"),
    "P@10": ("precision@10", "P_10"),
    "RR@k": ("mrr", "recip_rank"),  # k: as many candidates as a query has
    "AP@k": ("map", "map"),
    "Bpref": ("bpref", "bpref"),
}
OWN = ("nDCG(dcg='exp-log2')@10", "Judged@10")  # of xlingual alone


def written(folder: Path, queries: int, depth: int) -> tuple[Path, Path]:
    """Write a run with many ties and its judgements; return their paths."""
    rng = np.random.default_rng(1)
    run, qrels = folder / "run.trec", folder / "qrels.txt"
    with run.open("w") as lines, qrels.open("w") as judgements:
        for query in range(queries):
            found = rng.choice(POOL, depth, replace=False)
            score = np.sort(np.round(rng.gamma(2.0, 1.0, depth), 3))[::-1]
            lines.writelines(
                f"q{query} Q0 d{name:06d} {rank} {value:.3f} run\n"
                for rank, (name, value) in enumerate(zip(found, score, strict=True), start=1)
            )
            near = rng.choice(found[: 2 * JUDGED], JUDGED // 2, replace=False)
            others = rng.choice(POOL, JUDGED // 2, replace=False)
            judged = dict.fromkeys(np.concatenate([near, others]).tolist())
            grades = rng.integers(0, 4, len(judged))
            grades[0] = 3
            judgements.writelines(
                f"q{query} 0 d{name:06d} {grade}\n" for name, grade in zip(judged, grades, strict=True)
            )
    return run, qrels


def ours(run: Path, qrels: Path, depth: int, ties: str = "expected") -> Results:
    """Return the results of xlingual, with intervals."""
    names = [name.replace("@k", f"@{depth}") for name in (*MEASURES, *(OWN if ties == "expected" else ()))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return runs_against_qrels(str(qrels), {"run": str(run)}, measures=names, ties=ties)


def by_ranx(run: Path, qrels: Path) -> dict[str, float]:
    """Return the means of ranx."""
    from ranx import Qrels, Run, evaluate

    found = evaluate(
        Qrels.from_file(str(qrels), kind="trec"),
        Run.from_file(str(run), kind="trec"),
        [own for own, _ in MEASURES.values()],
        make_comparable=True,
    )
    return dict(zip(MEASURES, (found[own] for own, _ in MEASURES.values()), strict=True))


def by_pytrec_eval(run: Path, qrels: Path) -> dict[str, float]:
    """Return the means of pytrec_eval, whose files its own functions read."""
    import pytrec_eval

    with run.open() as lines, qrels.open() as judgements:
        known, lists = pytrec_eval.parse_qrel(judgements), pytrec_eval.parse_run(lines)
    families = {"ndcg_cut.10", "success.10", "recall.10", "P.10", "recip_rank", "map", "bpref"}
    found = pytrec_eval.RelevanceEvaluator(known, families).evaluate(lists)
    return {
        name: float(np.mean([values[own] for values in found.values()]))
        for name, (_, own) in MEASURES.items()
    }


def seconds(work: Callable[[], Any]) -> float:
    """Return the least processor time of some rounds."""
    spent = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        work()
        spent.append(time.process_time() - begun)
    return min(spent)


def means(results: Results) -> dict[str, float]:
    """Return the value of each measure over all queries."""
    found = {entry.measure: float(entry.value or 0.0) for entry in results.entries}
    return dict(zip(MEASURES, found.values(), strict=False))


def main() -> None:
    """Time the three, and assert that their numbers agree."""
    sizes = [int(word) for word in sys.argv[1:]] or [QUERIES, DEPTH]
    with TemporaryDirectory() as place:
        (Path(place) / "few").mkdir()
        few = written(Path(place) / "few", 20, 100)
        run, qrels = written(Path(place), *sizes)
        ours(*few, 100)  # imports, and what ranx compiles
        by_ranx(*few)
        by_pytrec_eval(*few)
        depth = sizes[1]
        trec = means(ours(run, qrels, depth, "trec"))
        theirs, other = by_pytrec_eval(run, qrels), by_ranx(run, qrels)
        for name in MEASURES:
            assert abs(trec[name] - theirs[name]) < 1e-9, (name, trec[name], theirs[name])
            # ranx leaves the order of ties to its sort: close, not equal
            assert abs(trec[name] - other[name]) < 5e-3, (name, trec[name], other[name])
        spent = {
            "xlingual": seconds(lambda: ours(run, qrels, depth)),
            "xlingual, ties of trec_eval": seconds(lambda: ours(run, qrels, depth, "trec")),
            "ranx": seconds(lambda: by_ranx(run, qrels)),
            "pytrec_eval": seconds(lambda: by_pytrec_eval(run, qrels)),
        }
    print(f"{sizes[0] * sizes[1]:,} rows of a run, reading included; processor time, least of {ROUNDS}")
    for name, value in spent.items():
        print(f"{name:30} {value:6.2f} s   {value / spent['xlingual']:5.2f}")
    assert spent["xlingual"] <= spent["ranx"], "slower than ranx"


if __name__ == "__main__":
    main()
