"""Repairs on real data, five splits each: what was chosen, what it gains, and what did not help.

XQuAD-R (seven languages; character n-grams and LSA, fitted on the other half of the paragraphs) and IKEA
(English and German; encoders of the data set). `python -m benchmarks repairs` writes
docs/results/repair.json; minutes on two cores.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.experiments import table
from xlingual import DataWarning, Manifest, MultilingualPool
from xlingual.data.pools.reading import read_pool
from xlingual.data.pools.splitting import split_pool
from xlingual.results.repair import Change, Repair
from xlingual.workflows.repairing import repair

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data"))
OUT = Path("docs/results/repair.json")
SEEDS = range(5)
POOL_ENCODERS = {
    "character n-grams": "chargram:?dim=256&fit={pool}#train",
    "LSA": "lsa:?dim=300&fit={pool}#train",
}
IKEA = (
    "cllsa_50",
    "cllsa_200",
    "procrustes_50",
    "procrustes_200",
    "ridge_50",
    "clesa_200",
    "minilm_ibm1_1000",
)
METHODS = (
    "centre:",
    "standardize:",
    "whiten:",
    "lir:1",
    "lir:3",
    "all-but-the-top:1",
    "procrustes:",
    "ridge:",
)

NEED_TRANSLATIONS = ("procrustes", "ridge", "cca")


def problems() -> Iterator[tuple[str, str, Any, str]]:
    """Yield (data, encoder, data as `repair` takes it, spec)."""
    files = [str(path) for path in sorted((DATA / "xquad_r").glob("*.json"))]
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        whole = MultilingualPool.of(split_pool(read_pool(DATA / "xquad_r"), 0.5))
        assert files
        whole.write(Path(folder) / "pool")
        test = MultilingualPool.read(Path(folder) / "pool", split="test")
        for name, spec in POOL_ENCODERS.items():
            yield "XQuAD-R, 7 languages", name, test, spec.format(pool=Path(folder) / "pool")
    manifest = Manifest.read(DATA / "ikea/ikea_en_de_eval.parquet")
    for name in IKEA:
        yield "IKEA, en-de", name, manifest, str(DATA / f"ikea/embeddings/{name}.{{lang}}.npy")


def measured(found: Repair) -> dict[str, Any]:
    """Return what the table needs of one repair."""
    tried = {one.spec: one.value for one in found.tried if one.similarity == "cosine"}
    plain = tried["none"]
    corrections = [one.value for one in found.tried if one.spec == "none" and one.similarity != "cosine"]
    return {
        "chosen": found.chosen,
        "similarity": found.similarity,
        "outcome": found.outcome,
        "whole": _change(found.whole),
        "worst_pair": _change(min(found.pairs, key=lambda one: one.difference)),
        "harmless": found.harmless,
        "gain_where_chosen": found.tried[0].value - plain,
        "methods": {name: tried[name] - plain for name in METHODS if name in tried},
        "corrections_alone": max(corrections, default=plain) - plain,
        "without_translations": max(
            value for name, value in tried.items() if not name.startswith(NEED_TRANSLATIONS)
        )
        - plain,
        "seconds": {name: round(value, 2) for name, value in found.timings.items()},
        "tried": len(found.tried),
    }


def _change(one: Change) -> dict[str, Any]:
    return {
        "source": one.source, "target": one.target, "before": one.before, "after": one.after,
        "difference": one.difference, "low": one.ci and one.ci.low, "high": one.ci and one.ci.high,
    }  # fmt: skip


def main() -> None:
    """Repair all encoders five times, print the table and write the figures."""
    records: list[dict[str, Any]] = []
    for data, name, source, spec in problems():
        runs = []
        for seed in SEEDS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                found = repair(source, {name: spec}, seed=seed, store=None, threads=2).found
            runs.append({"seed": seed, **measured(found)})
        records.append({"data": data, "encoder": name, "runs": runs})
        print(_row(records[-1]), flush=True)
        OUT.write_text(json.dumps({"records": records}, indent=1) + "\n", encoding="utf-8")
    print(
        table(["data", "encoder", "before", "after", "gain", "range", "better", "chosen"], map(_row, records))
    )


def _row(record: dict[str, Any]) -> list[str]:
    """Return a row: means over the splits."""
    whole = [run["whole"] for run in record["runs"]]
    gains = [one["difference"] for one in whole]
    before, after = (float(np.mean([one[side] for one in whole])) for side in ("before", "after"))
    better = sum(run["outcome"] == "better" for run in record["runs"])
    chosen = ", ".join(dict.fromkeys(f"{run['chosen']} {run['similarity']}" for run in record["runs"]))
    return [
        record["data"],
        record["encoder"],
        f"{before:.3f}",
        f"{after:.3f}",
        f"{np.mean(gains):+.3f}",
        f"{min(gains):+.3f} … {max(gains):+.3f}",
        f"{better} of {len(gains)}",
        chosen,
    ]


if __name__ == "__main__":
    main()
