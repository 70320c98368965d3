"""The commands of docs/results/backretrieval.md and multilingual-pool.md, and the tables of what they write.

    python -m benchmarks.keep backretrieval python -m benchmarks.results_pages backretrieval
    python -m benchmarks.keep multilingual-pool python -m benchmarks.results_pages multilingual-pool

Everything is written under out/pages, and made anew each time.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from scipy.stats import pearsonr, spearmanr

from benchmarks.experiments import table
from xlingual.cli.main import run

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data"))
OUT = Path("out/pages")
DIGITS = 3
Json = Mapping[str, Any]


def command(*words: object, out: Path) -> Json:
    """Run a command of xlingual and return what it wrote to results.json, if anything."""
    given = [str(word) for word in words] + ["--out", str(out), "--quiet"]
    print("xlingual", shlex.join(given).replace(str(DATA), "DATA"), flush=True)
    shutil.rmtree(out, ignore_errors=True)
    if run(given) != 0:
        raise SystemExit("the command failed")
    path = out / "results.json"
    content: Json = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return content


def number(value: float | None, ci: Json | None = None) -> str:
    """Return "0.350 [0.307, 0.395]"; nothing where there is no value."""
    if value is None:
        return ""
    ends = f" [{ci['low']:.{DIGITS}f}, {ci['high']:.{DIGITS}f}]" if ci else ""
    return f"{value:.{DIGITS}f}{ends}".replace("-", "−")


def overall(content: Json, measure: str | None = None) -> dict[str, Json]:
    """Return the mean over pairs and seeds by encoder."""
    rows = [row for row in content["summary"] if row["source"] is None and measure in (None, row["measure"])]
    return {row["encoder"]: row for row in rows}


def ikea() -> None:
    """Print the table of the IKEA encoders, ordered by XLR, and how the measures agree with it."""
    data = DATA / "ikea"
    vectors = data / "embeddings"
    how = ("--text-encoder", f"{vectors}/*.{{lang}}.npy", "--splits", vectors / "splits.npz")
    common = (data / "ikea_en_de_eval.parquet", *how, "--pairs", "en-de,de-en")
    images = ("--image-encoder", f"vectors:{data}/ikea_en_de_eval_features.npy")
    found = command("evaluate", "backretrieval", *common, *images, out=OUT / "ikea")
    xlr = overall(command("evaluate", "crosslingual-retrieval", *common, out=OUT / "ikea-xlr"))
    corr = overall(command("evaluate", "distance-correlation", *common, *images, out=OUT / "ikea-corr"))
    bkr, sim = overall(found, "R@10"), overall(found, "SIM")
    first = next(iter(bkr.values()))
    print(f"chance {first['chance']:.3f}, oracle {first['oracle']:.3f}, ceiling {first['ceiling']:.3f}")
    rows = [["encoder", "XLR R@10", "BkR R@10", "normalised", "SIM", "CORR"]]
    for name in sorted(xlr, key=lambda encoder: -xlr[encoder]["value"]):
        cells = [number(of[name]["value"], of[name]["ci"]) for of in (xlr, bkr, sim, corr)]
        rows.append([name, *cells[:2], f"{bkr[name]['normalized']:.2f}", *cells[2:]])
    table("IKEA, 24 encoders, 25 samples, both directions", rows)
    truth = [xlr[name]["value"] for name in xlr]
    rows = [["agreement with XLR", "Pearson", "Spearman"]]
    for title, of in (("BkR", bkr), ("SIM", sim), ("CORR", corr)):
        values = [of[name]["value"] for name in xlr]
        rows.append([title, *(number(agreement(values, truth)[0]) for agreement in (pearsonr, spearmanr))])
    table("IKEA, means over samples and directions", rows)


def emoji() -> None:
    """Print the emoji in five languages, their extreme pairs, and the easiest pair of all 17 languages."""
    columns = ("--text-column", "name_{lang}", "--image-column", "image_png", "--image-encoder", "pixels")
    encoders = ("--text-encoder", "chargram", "--text-encoder", "random")
    common = ("evaluate", "backretrieval", DATA / "emoji" / "emoji.parquet", *columns, *encoders)
    tags = ("en", "de", "ja", "ru", "ar")
    pairs = ",".join(f"{a}-{b}" for a in tags for b in tags if a != b)
    scored("Emoji, five languages", command(*common, "--pairs", pairs, out=OUT / "emoji"))
    scored("Emoji, 17 languages", command(*common, out=OUT / "emoji-all"))


def scored(title: str, content: Json) -> None:
    """Print BkR by encoder, and chargram's two best pairs."""
    rows = [["encoder", "BkR R@10", "normalised", "chance", "oracle"]]
    for name, row in overall(content, "R@10").items():
        scale = [number(row[key]) for key in ("chance", "oracle")]
        rows.append([name, number(row["value"], row["ci"]), f"{row['normalized']:.2f}", *scale])
    table(title, rows)
    own = [e for e in content["results"] if e["encoder"] == "chargram" and e["measure"] == "R@10"]
    best = sorted(own, key=lambda entry: -entry["value"])[:2]
    print(
        "best pairs of chargram: " + ", ".join(f"{e['source']}-{e['target']} {e['value']:.3f}" for e in best)
    )


def scenes() -> None:
    """Print the demo's encoders."""
    command("demo", out=OUT / "demo")
    tasks = ("backretrieval", "crosslingual-retrieval")
    bkr, xlr = (json.loads((OUT / "demo" / task / "results.json").read_text("utf-8")) for task in tasks)
    found, truth = overall(bkr, "R@10"), overall(xlr)
    rows = [["encoder", "XLR R@10", "BkR R@10", "normalised"]]
    for name in sorted(truth, key=lambda encoder: -truth[encoder]["value"]):
        cells = [number(of[name]["value"], of[name]["ci"]) for of in (truth, found)]
        rows.append([name, *cells, f"{found[name]['normalized']:.2f}"])
    table("Built-in scenes (xlingual demo)", rows)
    scales = [number(row["chance"]) for row in (found["random"], truth["random"])]
    print(f"chance: BkR {scales[0]}, XLR {scales[1]}; oracle {number(found['random']['oracle'])}")


def multilingual_pool() -> None:
    """Print every measure and view of XQuAD-R's test half, for three encoders."""
    pool = OUT / "pool"
    command("data", "squad-to-pool", DATA / "xquad_r", "--train", 0.5, out=pool)
    words = ("chargram", f"lsa:?fit={pool}#train", "random:?dim=256")
    encoders = [word for spec in words for word in ("--text-encoder", spec)]
    names = ("AP", "AP@20/min", "Success@10", "R@10", "RR")
    measures = [word for name in names for word in ("--measure", name)]
    common = ("evaluate", "multilingual-pool", pool, "--split", "test", *encoders)
    content = command(*common, *measures, "--subset", "ar,de,en", out=OUT / "xquad_r")
    _scores(content, names)
    _views(content)
    own = command(*common, "--policy", "prefer-own", out=OUT / "prefer-own")
    _scores(own, ("AP",))
    _views(own)
    _scores(command(*common, "--candidate-text", "sentence+context", out=OUT / "context"), ("AP",))
    whole = ("evaluate", "multilingual-pool", DATA / "xquad_r")
    every = command(*whole, *encoders[:2], *encoders[4:], out=OUT / "whole")
    _scores(every, ("AP",))
    _views(every)


def _scores(content: Json, measures: Sequence[str]) -> None:
    entries = {(e["encoder"], e["measure"]): e for e in content["results"]}
    rows = [["encoder", *measures]]
    encoders = dict.fromkeys(encoder for encoder, _ in entries)
    for encoder in encoders:
        found = [entries[encoder, measure] for measure in measures]
        rows.append([encoder, *(number(entry["value"], entry["ci"]) for entry in found)])
    first = next(iter(encoders))
    rows.append(["chance", *(f"{entries[first, measure]['chance']:.4f}" for measure in measures)])
    table("Scores", rows)


def _views(content: Json) -> None:
    """Print every number of the views: a row for each, a column for each encoder."""
    entries = [entry for entry in content["results"] if entry["measure"] == "AP"]
    leaves = [dict(_leaves(entry["views"], entry["views"].get("ci", {}))) for entry in entries]
    rows = [["view", *(entry["encoder"] for entry in entries)]]
    for name in dict.fromkeys(name for one in leaves for name in one):
        rows.append([name, *(one.get(name, "") for one in leaves)])
    table("Views", rows)


def _leaves(views: Json, intervals: Json, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Give (name, number with its interval) for each number of nested views."""
    for key, value in views.items():
        if key == "ci":
            continue
        name = f"{prefix}{key}"
        ci = intervals.get(key) if isinstance(intervals, Mapping) else None
        if isinstance(value, Mapping) and {"low", "high", "level"} <= set(value):
            yield name, f"[{value['low']:.{DIGITS}f}, {value['high']:.{DIGITS}f}]"
        elif isinstance(value, Mapping):
            yield from _leaves(value, ci or {}, f"{name} ")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield name, number(value, ci)


PAGES = {"backretrieval": (ikea, emoji, scenes), "multilingual-pool": (multilingual_pool,)}


def main(pages: Sequence[str]) -> None:
    """Run the commands of the pages and print their tables."""
    for page in pages:
        for part in PAGES[page]:
            part()


if __name__ == "__main__":
    main(sys.argv[1:])
