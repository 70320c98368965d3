"""Repairs on real data, five splits each: what was chosen, what it gains, and what did not help.

XQuAD-R (seven languages; character n-grams and LSA, fitted on the other half of the paragraphs) and IKEA
(English and German; all encoders of the data set). `python -m benchmarks.keep
repair python -m benchmarks repairs`: some 18 minutes of processor time. A run that was stopped goes on with
what is in out/repairs.json; `python -m benchmarks.repairs --known` prints what is there.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.experiments import table
from benchmarks.splits import by_items, corrected, shown
from xlingual import DataWarning, Manifest, MultilingualPool
from xlingual.data.pools.reading import read_pool
from xlingual.data.pools.splitting import split_pool
from xlingual.encoders import text_encoders
from xlingual.evaluation.similarities import correction_of
from xlingual.ranking import CPU
from xlingual.ranking.banks import Bank, Banked
from xlingual.repair.search import PLAIN
from xlingual.results import Interval
from xlingual.results.repair import BETTER, Change, Repair
from xlingual.workflows.repairing import Repaired, repair_encoder
from xlingual.workflows.repairing.beside import beside

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
TESTED = 0.4  # the share of the part for testing


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
    folder = DATA / "ikea/embeddings"
    for name in json.loads((folder / "models.json").read_text())["models"]:
        yield "IKEA, en-de", name, manifest, str(folder / f"{name}.{{lang}}.npy")


def by_question(made: Repaired) -> dict[str, list[float]]:
    """Return the average precision before and after, by the id of the question (mean over its languages)."""
    found, banked = made.found, None
    if made.correction is not None:
        banked = Banked(correction_of(found.similarity), Bank.of(made.correction.bank), found.similarity)
    unchanged = made.map is None and banked is None
    before = made.test.precision(None, CPU)
    after = before if unchanged else made.test.precision(made.map, CPU, banked)
    assert abs(before.mean() - found.whole.before) < 1e-12
    assert abs(after.mean() - found.whole.after) < 1e-12
    by: dict[str, list[tuple[float, float]]] = {}
    for key, *pair in zip(made.test.pool.questions.ids, before.tolist(), after.tolist(), strict=True):
        by.setdefault(key, []).append((pair[0], pair[1]))
    return {key: np.mean(each, axis=0).tolist() for key, each in by.items()}


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


def backretrieval(data: Manifest, spec: str, made: Repaired, seed: int) -> dict[str, list[float]]:
    """Return BkR and SIM before and after the transform alone, on the items to test on; none without one."""
    if made.found.chosen == PLAIN:
        return {}
    (encoder,) = text_encoders(spec, languages=data.languages).values()
    images = str(DATA / "ikea/ikea_en_de_eval_features.npy")
    items = set(made.test.pool.questions.key)
    rows = beside(data, items, encoder, made.map, None, images, None, seed)
    return {one.measure: [one.before, one.after] for one in rows}


def _change(one: Change) -> dict[str, Any]:
    return {
        "source": one.source, "target": one.target, "before": one.before, "after": one.after,
        "difference": one.difference, "low": one.ci and one.ci.low, "high": one.ci and one.ci.high,
    }  # fmt: skip


def main(wanted: str = "all") -> None:
    """Repair all encoders five times, and print the tables; what is there already is not made again.

    `wanted` "--known": only print what is there already.
    """
    records = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else []
    known = {(one["data"], one["encoder"]) for one in records}
    OUT.parent.mkdir(exist_ok=True)
    missing = []
    for data, name, source, spec in problems():
        if (data, name) in known:
            continue
        if wanted == "--known":
            missing.append(name)
            continue
        runs = []
        for seed in SEEDS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                made = repair_encoder(source, {name: spec}, seed=seed, store=None)
                back = backretrieval(source, spec, made, seed) if isinstance(source, Manifest) else {}
            more = {"questions": by_question(made), "beside": back}
            runs.append({"seed": seed, **measured(made.found), **more})
        cluster = {}
        if isinstance(source, MultilingualPool):
            cluster = dict(zip(source.questions.ids, source.questions.cluster.tolist(), strict=True))
        records.append({"data": data, "encoder": name, "runs": runs, "cluster": cluster})
        OUT.write_text(json.dumps(records) + "\n", encoding="utf-8")
    printed(sorted(records, key=lambda one: _mean_whole(one, "before")))
    if missing:
        print(f"\nNot run: {', '.join(missing)}.")


def printed(records: list[dict[str, Any]]) -> None:
    """Print the tables."""
    heads = [
        "data",
        "encoder",
        "before",
        "after",
        "gain [95 %]",
        "better",
        "no pair loses .01",
        "chosen",
    ]
    title = "mAP on the part for testing, before and after: five splits"
    rows = sorted(records, key=lambda one: one["data"], reverse=True)
    table(title, [heads, *map(_row, rows)])
    heads = ["method alone", "lowers mAP of", "worst", "best"]
    title = "Change of mAP on the part for choosing: means over five splits"
    table(title, [heads, *(_method(records, name) for name in METHODS)])
    optimism = [_mean(one, "gain_where_chosen") - _mean_gain(one) for one in records]
    corrections = [_mean(one, "corrections_alone") for one in records]
    alone = [_mean(one, "without_translations") for one in records]
    rows_of = [
        ["gain where it was chosen less gain where it was tested, mean", f"{np.mean(optimism):+.3f}"],
        [
            "encoders with a larger gain where it was chosen",
            f"{sum(x > 0 for x in optimism)} of {len(records)}",
        ],
        ["corrections of hubs alone, worst and best", f"{min(corrections):+.3f}, {max(corrections):+.3f}"],
        ["the best without translations, worst and best", f"{min(alone):+.3f}, {max(alone):+.3f}"],
        ["intervals of gains above zero, by items", _above(records, _by_items)],
        ["the same, by the corrected resampled t-test", _above(records, _corrected)],
    ]
    table("What else", [["what", "mAP"], *rows_of])
    heads = ["encoders", "mAP", "BkR R@10", "SIM", "BkR falls", "BkR rises"]
    title = "IKEA, before and after: what Backretrieval says of the transforms that were chosen"
    table(title, [heads, *(_beside(title, own) for title, own in _groups(records))])


def _groups(records: list[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the encoders of IKEA: all, and those that repairs gain .05 or more."""
    own = [one for one in records if one["runs"][0]["beside"] or one["data"].startswith("IKEA")]
    yield "all", own
    yield "with a gain of .05 or more", [one for one in own if _mean_gain(one) >= 0.05]


def _beside(title: str, records: list[dict[str, Any]]) -> list[str]:
    """Return a row of the last table; a split without a transform has nothing to compare, and is left out."""
    changes = {name: [] for name in ("R@10", "SIM", "mAP")}  # type: dict[str, list[tuple[float, float]]]
    falls = rises = 0
    for record in records:
        runs = [run for run in record["runs"] if run["beside"]]
        if not runs:
            continue
        for name in ("R@10", "SIM"):
            changes[name].append(tuple(np.mean([run["beside"][name] for run in runs], axis=0)))
        both = [[run["whole"]["before"], run["whole"]["after"]] for run in runs]
        changes["mAP"].append(tuple(np.mean(both, axis=0)))
        gain = changes["R@10"][-1][1] - changes["R@10"][-1][0]
        falls, rises = falls + (gain < 0), rises + (gain > 0)
    n = len(changes["mAP"])
    cells = ["{:.3f} → {:.3f}".format(*np.mean(changes[name], axis=0)) for name in ("mAP", "R@10", "SIM")]
    return [f"{title} ({n})", *cells, f"{falls} of {n}", f"{rises} of {n}"]


def _by_items(record: dict[str, Any]) -> tuple[float, Interval]:
    """Return the gain over the splits and its interval by items."""
    gains = [{key: b - a for key, (a, b) in run["questions"].items()} for run in record["runs"]]
    return by_items(gains, record["cluster"] or None)


def _corrected(record: dict[str, Any]) -> tuple[float, Interval]:
    found = corrected([run["whole"]["difference"] for run in record["runs"]], TESTED)
    return _mean_gain(record), found


def _above(records: list[dict[str, Any]], rule: Any) -> str:
    """Return how many intervals lie above zero, and the encoders whose interval does not."""
    found = [(one["encoder"], rule(one)[1]) for one in records]
    not_above = [name for name, ci in found if ci.low <= 0]
    below = [name for name, ci in found if ci.high < 0]
    more = f"; below zero: {', '.join(below)}" if below else ""
    return f"{len(found) - len(not_above)} of {len(found)} (not: {', '.join(not_above) or 'none'}{more})"


def _mean_whole(record: dict[str, Any], side: str) -> float:
    return float(np.mean([run["whole"][side] for run in record["runs"]]))


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
    """Return a row of the first table: means over items of their means over splits."""
    sides = [
        [{key: pair[side] for key, pair in run["questions"].items()} for run in record["runs"]]
        for side in (0, 1)
    ]
    before, after = (by_items(each)[0] for each in sides)
    runs = len(record["runs"])
    better, harmless = (sum(map(of, record["runs"])) for of in (_is_better, lambda run: run["harmless"]))
    (chosen, times) = Counter(run["chosen"] for run in record["runs"]).most_common(1)[0]
    return [
        record["data"],
        record["encoder"],
        f"{before:.3f}",
        f"{after:.3f}",
        shown(*_by_items(record)),
        f"{better} of {runs}",
        f"{harmless} of {runs}",
        f"`{chosen}` ({times})",
    ]


def _is_better(run: dict[str, Any]) -> bool:
    return bool(run["outcome"] == BETTER)


if __name__ == "__main__":
    main(*sys.argv[1:])
