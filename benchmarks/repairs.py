"""Repairs on real data, five splits each: what was chosen, what it gains, and what did not help.

XQuAD-R (seven languages; character n-grams and LSA, fitted on the other half of the paragraphs) and IKEA
(English and German; encoders of the data set). `python -m benchmarks.keep
repair python -m benchmarks repairs`: ten minutes on two cores.
"""

from __future__ import annotations

import json
import os
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.experiments import table
from xlingual import DataWarning, Manifest, MultilingualPool
from xlingual.data.pools.reading import read_pool
from xlingual.data.pools.splitting import split_pool
from xlingual.results.repair import BETTER, Change, Repair
from xlingual.workflows.repairing import repair_encoder

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data"))
OUT = Path("out/repairs.json")
SEEDS = range(5)
POOL_ENCODERS = (
    ("XQuAD-R, 7 languages", None, "character 3- to 5-grams", "chargram:?dim=256&fit={pool}#train"),
    ("XQuAD-R, 7 languages", None, "LSA", "lsa:?dim=300&fit={pool}#train"),
    (
        "XQuAD-R, de en es vi",
        ["de", "en", "es", "vi"],
        "character 2- and 3-grams",
        "chargram:?dim=200&n=2-3&fit={pool}#train",
    ),
)
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
        for data, languages, name, spec in POOL_ENCODERS:
            test = MultilingualPool.read(Path(folder) / "pool", languages, split="test")
            yield data, name, test, spec.format(pool=Path(folder) / "pool")
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
    """Repair all encoders five times, and print the tables; what is there already is not made again."""
    records = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else []
    known = {(one["data"], one["encoder"]) for one in records}
    OUT.parent.mkdir(exist_ok=True)
    for data, name, source, spec in problems():
        if (data, name) in known:
            continue
        runs = []
        for seed in SEEDS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                found = repair_encoder(source, {name: spec}, seed=seed, store=None, threads=2).found
            runs.append({"seed": seed, **measured(found)})
        records.append({"data": data, "encoder": name, "runs": runs})
        OUT.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    heads = [
        "data",
        "encoder",
        "before",
        "after",
        "gain (five splits)",
        "better",
        "no pair loses .01",
        "chosen",
    ]
    table(
        "mAP on the part for testing, before and after: means over five splits", [heads, *map(_row, records)]
    )
    heads = ["method alone", "lowers mAP of", "worst", "best"]
    title = "Change of mAP on the part for choosing: means over five splits"
    table(title, [heads, *(_method(records, name) for name in METHODS)])
    optimism = [_mean(one, "gain_where_chosen") - _mean_gain(one) for one in records]
    corrections = [_mean(one, "corrections_alone") for one in records]
    alone = [_mean(one, "without_translations") for one in records]
    rows = [
        ["gain where it was chosen less gain where it was tested, mean", f"{np.mean(optimism):+.3f}"],
        [
            "encoders with a larger gain where it was chosen",
            f"{sum(x > 0 for x in optimism)} of {len(records)}",
        ],
        ["corrections of hubs alone, worst and best", f"{min(corrections):+.3f}, {max(corrections):+.3f}"],
        ["the best without translations, worst and best", f"{min(alone):+.3f}, {max(alone):+.3f}"],
    ]
    table("What else", [["what", "mAP"], *rows])


def _mean(record: dict[str, Any], key: str) -> float:
    return float(np.mean([run[key] for run in record["runs"]]))


def _mean_gain(record: dict[str, Any]) -> float:
    return float(np.mean([run["whole"]["difference"] for run in record["runs"]]))


def _method(records: list[dict[str, Any]], name: str) -> list[str]:
    """Return a row of the second table: over the encoders on which the method could be fitted."""
    change = {
        one["encoder"]: float(
            np.mean([run["methods"][name] for run in one["runs"] if name in run["methods"]])
        )
        for one in records
    }
    worst, best = min(change, key=change.__getitem__), max(change, key=change.__getitem__)
    lowers = sum(value < -0.0005 for value in change.values())  # as it is printed
    cells = (f"{change[one]:+.3f} ({one})" for one in (worst, best))
    return [f"`{name}`", f"{lowers} of {len(change)} encoders", *cells]


def _row(record: dict[str, Any]) -> list[str]:
    """Return a row of the first table."""
    whole = [run["whole"] for run in record["runs"]]
    gains = [one["difference"] for one in whole]
    before, after = (float(np.mean([one[side] for one in whole])) for side in ("before", "after"))
    better, harmless = (sum(map(of, record["runs"])) for of in (_is_better, lambda run: run["harmless"]))
    chosen = Counter(run["chosen"] for run in record["runs"]).most_common(1)[0][0]
    return [
        record["data"],
        record["encoder"],
        f"{before:.3f}",
        f"{after:.3f}",
        f"{np.mean(gains):+.3f} ({min(gains):+.3f} to {max(gains):+.3f})",
        f"{better} of {len(gains)}",
        f"{harmless} of {len(gains)}",
        f"`{chosen}`",
    ]


def _is_better(run: dict[str, Any]) -> bool:
    return bool(run["outcome"] == BETTER)


if __name__ == "__main__":
    main()
