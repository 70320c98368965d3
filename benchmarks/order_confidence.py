"""How likely "A before B by Backretrieval" is the order of true retrieval: fitted and judged. Writes JSON.

    XLINGUAL_DATA=DATA python -m benchmarks.keep order-confidence python -m benchmarks order_confidence

Every two encoders of a data set, a language pair, a condition of images and a sample size are a row
(`order_rows`); what counts are the pairs that leaderboards of these encoders state (`order_boards`): the
leader and every other, and neighbours. The truth is P(A above B on XLR R@10); rows whose 95 % interval
contains zero are undecided and counted apart. What is fitted is judged on the data set that was left out,
by a model that saw no encoder of the two families either (`order_fit`), and goes into the package as
`fitted.json`.

The rule for what is said was decided before any reliability was seen: in a bin of p, N = ⌊10 · mean over the
left-out data sets⌋, at most 9, is said where the lower end of the 95 % t-interval over data sets is at least
N/10 − .1, N is at least 6, and each data set has 20 rows in the bin. Else what limits it is said.
"""

from __future__ import annotations

import itertools
import pickle
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.experiments import table
from benchmarks.order_boards import stated
from benchmarks.order_data import DATA, SETS, Data
from benchmarks.order_failures import failures
from benchmarks.order_fit import Rows, fit, left_out, losses, resampled, signed_log, weights
from benchmarks.order_rows import rows as rows_of
from xlingual.arrays import Floats
from xlingual.evaluation.order_confidence import model
from xlingual.results.files import write_json
from xlingual.results.order_confidence import OrderBasis, OrderBin, OrderFailure
from xlingual.results.values import Interval
from xlingual.stats.intervals import t_quantile

OUT = Path("out/order")
EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
DECIDED, FEWEST, LEAST, REACH = 0.975, 20, 6, 0.1
COMMAND = (
    "XLINGUAL_DATA=DATA python -m benchmarks.keep order-confidence python -m benchmarks order_confidence"
)


def measured() -> tuple[Rows, list[dict[str, Any]]]:
    """Return all rows, and those of encoders that Backretrieval cannot order."""
    tables, broken = [], []
    OUT.mkdir(parents=True, exist_ok=True)
    for name, make in SETS.items():
        kept, beside = OUT / f"{name}.parquet", OUT / f"{name}-failures.pkl"
        if not (kept.exists() and beside.exists()):
            data: Data = make()
            pq.write_table(pa.Table.from_pylist(list(rows_of(data))), kept)
            beside.write_bytes(pickle.dumps(list(failures(data))))
        tables.append(pq.read_table(kept))
        broken += pickle.loads(beside.read_bytes())
    whole = pa.concat_tables(tables)
    return {name: whole[name].to_numpy() for name in whole.column_names}, broken


def of(rows: Rows, chosen: np.ndarray) -> Rows:
    """Return some of the rows."""
    return {name: column[chosen] for name, column in rows.items()}


def features(rows: Rows, best: Floats | None = None) -> Floats:
    """Return the features of the product [n, 2]."""
    return model.features(rows["z"], rows["z sim"], rows["best"] if best is None else best)


def bins(rows: Rows, p: Floats, undecided: Floats, leader: bool) -> list[OrderBin]:
    """Return the reliability of each bin: `p` of decided rows by left-out models, and p of undecided ones."""
    found = []
    right = rows["p"] > 0.5
    sets = list(SETS)
    for low, high in itertools.pairwise(EDGES):
        inside = (p >= low) & ((p < high) | (high == 1))
        n = {name: int((inside & (rows["data"] == name)).sum()) for name in sets}
        share = {name: float(right[inside & (rows["data"] == name)].mean()) for name in sets if n[name]}
        mean = float(np.mean(list(share.values())))
        reach = (
            t_quantile(0.95, len(share) - 1) * float(np.std(list(share.values()), ddof=1)) / len(share) ** 0.5
        )
        ci = Interval(max(mean - reach, 0), min(mean + reach, 1), 0.95, "t over data sets left out")
        said = min(int(10 * mean + 1e-9), 9)
        good = (
            said >= LEAST
            and ci.low >= said / 10 - REACH
            and min(n.values()) >= FEWEST
            and len(share) == len(sets)
        )
        also = int(((undecided >= low) & ((undecided < high) | (high == 1))).sum())
        found.append(
            OrderBin(low, high, leader, int(inside.sum()), also, n, share, mean, ci, said if good else None)
        )
    return found


def compared(rows: Rows) -> None:
    """Print what baselines, and further signals, give on data sets left out: an eighth of the rows."""
    part = of(rows, np.arange(len(rows["p"])) * 7919 % 8 == 0)
    known = ~np.isnan(part["mutual"])  # large samples have BkR and SIM alone
    part = of(part, known)
    weight, one = weights(part), np.ones(int(known.sum()))
    own = features(part)
    z, sim = signed_log(part["z"]), signed_log(part["z sim"])
    resolution = model.resolution(part["best"])
    cases: dict[str, list[Floats]] = {
        "constant": [one],
        "gap in standard errors alone": [z],
        "best BkR less chance alone": [resolution],
        "gap × resolution": [z * resolution],
        "gap and SIM": [z, sim],
        "SIM × resolution": [sim * resolution],
        "**gap × resolution, SIM**": [own[:, 0], own[:, 1]],
        "gap × resolution, SIM × resolution, gap, SIM": [z * resolution, sim * resolution, z, sim],
        "resolution of the pair, not of the board": [z * model.resolution(part["a above chance"]), sim],
        "resolution by image neighbours": [z * model.resolution(part["neighbours"]), sim],
    }
    further = {
        "order under image bootstrap": "bootstrap", "order by halves of image dimensions": "halves",
        "order in both directions, all pairs": "directions", "language identification": "language id",
        "own-language share": "own language", "mutual nearest neighbours": "mutual",
        "hub skewness": "skewness", "margin to the second": "margin", "nearest above the mean": "near",
        "texts follow images": "looks",
    }  # fmt: skip
    shown = [["signals", "log loss", "Brier", *SETS, "better on"]]
    base: list[float] = []
    for label, columns in [*cases.items(), *((f"+ {label}", [name]) for label, name in further.items())]:
        free = None
        if isinstance(columns[0], str):
            signal = part[columns[0]]
            columns = [own[:, 0], own[:, 1], signal / np.sqrt(np.mean(signal**2))]
            free = np.array([False, False, True])
        p = left_out(part, np.column_stack(columns), free)
        by_set = [losses(part["p"][m], p[m], weight[m])[0] for m in (part["data"] == name for name in SETS)]
        base = by_set if label.startswith("**") else base
        better = (
            sum(a < b - 1e-4 for a, b in zip(by_set, base, strict=True)) if label.startswith("+") else None
        )
        loss, brier = losses(part["p"], p, weight)
        shown.append(
            [
                label,
                f"{loss:.4f}",
                f"{brier:.4f}",
                *(f"{one:.3f}" for one in by_set),
                "" if better is None else f"{better} of {len(SETS)}",
            ]
        )
    table("Signals: losses on data sets left out", shown)


def reliability(title: str, found: Sequence[OrderBin], rows: Rows, p: Floats) -> None:
    """Print the reliability of each bin."""
    shown = [["p", "rows", "undecided", *SETS, "mean", "t over data sets", "bootstrap", "said"]]
    for each in found:
        inside = (p >= each.low) & ((p < each.high) | (each.high == 1))
        low, high = resampled(rows, inside)
        shown.append(
            [f"{each.low:g} to {each.high:g}", f"{each.n:,}", f"{each.undecided:,}"]
            + [
                f"{each.right[name]:.3f} ({each.n_by_set[name]:,})" if name in each.right else "–"
                for name in SETS
            ]
            + [f"{each.mean:.3f}", f"{each.ci.low:.3f} to {each.ci.high:.3f}", f"{low:.3f} to {high:.3f}"]
            + ["–" if each.said is None else f"{each.said} of 10"]
        )
    table(title, shown)


def by_condition(rows: Rows, p: Floats, everything: Rows) -> None:
    """Print how often the order is right, and what the model says, under each condition."""
    shown = [
        [
            "condition",
            "data sets",
            "rows",
            "undecided",
            "best − chance",
            "right",
            "mean p",
            "p of .9 or more",
            "of these right",
        ]
    ]
    for name in dict.fromkeys(everything["condition"].tolist()):
        own, all_of = rows["condition"] == name, everything["condition"] == name
        sure = own & (p >= 0.9)
        shown.append(
            [
                name,
                str(len(set(rows["data"][own]))),
                f"{own.sum():,}",
                f"{all_of.sum() - own.sum():,}",
                f"{rows['best'][own].mean():.3f}",
                f"{(rows['p'][own] > 0.5).mean():.3f}",
                f"{p[own].mean():.3f}",
                f"{sure.sum() / own.sum():.2f}",
                f"{(rows['p'][sure] > 0.5).mean():.3f}" if sure.any() else "–",
            ]
        )
    table("By condition, on data sets left out", shown)


def by_size(rows: Rows, p: Floats) -> None:
    """Print how often the order is right, and what the model says, by the number of encoders on a board."""
    shown = [["encoders on the board", "rows", "right", "mean p", "p of .9 or more", "of these right"]]
    for low, high in ((2, 2), (3, 6), (7, 12), (13, 99)):
        own = (rows["size"] >= low) & (rows["size"] <= high)
        sure = own & (p >= 0.9)
        shown.append(
            [
                f"{low}" if low == high else f"{low} to {min(high, int(rows['size'].max()))}",
                f"{own.sum():,}",
                f"{(rows['p'][own] > 0.5).mean():.3f}",
                f"{p[own].mean():.3f}",
                f"{sure.sum() / own.sum():.2f}",
                f"{(rows['p'][sure] > 0.5).mean():.3f}",
            ]
        )
    table("By size of the board, on data sets left out", shown)


def of_failures(
    broken: Sequence[Mapping[str, Any]], coefficients: Floats, most_looks: float
) -> list[OrderFailure]:
    """Return, and print, what the model says of encoders that Backretrieval cannot order."""
    shown = [
        [
            "encoder",
            "pairs",
            "undecided",
            "order right",
            "refused",
            "not refused",
            "of these p ≥ .9",
            "of these right",
        ]
    ]
    found = []
    for name in dict.fromkeys(row["built"] for row in broken):
        own = [row for row in broken if row["built"] == name]
        known = [row for row in own if not 1 - DECIDED < row["p"] < DECIDED]
        kept = [row for row in known if row["most looks"] <= most_looks]
        columns = {key: np.array([row[key] for row in kept]) for key in ("z", "z sim", "best", "p")}
        p = model.expit(features(columns) @ coefficients) if kept else np.empty(0)
        sure = p >= 0.9
        right = float(np.mean([row["p"] > 0.5 for row in known]))
        right_sure = float((columns["p"][sure] > 0.5).mean()) if sure.any() else None
        found.append(
            OrderFailure(name, len(known), right, len(known) - len(kept), int(sure.sum()), right_sure)
        )
        shown.append(
            [
                name,
                str(len(known)),
                str(len(own) - len(known)),
                f"{right:.3f}",
                str(len(known) - len(kept)),
                str(len(kept)),
                str(int(sure.sum())),
                "–" if right_sure is None else f"{right_sure:.3f}",
            ]
        )
    table("Encoders that Backretrieval cannot order, each beside all encoders of its data set", shown)
    return found


def main() -> None:
    """Measure what is not there yet, print the tables and write what ships."""
    if not DATA.is_dir():
        raise SystemExit(f"no real data in {DATA}: set XLINGUAL_DATA")
    warnings.simplefilter("ignore")
    began = time.process_time()
    whole, broken = measured()
    everything = stated(whole)
    is_decided = (everything["p"] >= DECIDED) | (everything["p"] <= 1 - DECIDED)
    rows, open_rows = of(everything, is_decided), of(everything, ~is_decided)
    x = features(rows)
    p = left_out(rows, x)
    weight = weights(rows)
    coefficients = fit(x, rows["p"], weight)
    undecided = model.expit(features(open_rows) @ coefficients)
    counts = [["data set", "encoders", "families", "language pairs", "cells", "rows", "undecided"]]
    for name in SETS:
        own = everything["data"] == name
        cells = set(zip(everything["pair"][own], everything["condition"][own], strict=True))
        counts.append(
            [
                name,
                str(len(set(everything["a"][own]) | set(everything["b"][own]))),
                str(len(set(everything["family a"][own]) | set(everything["family b"][own]))),
                str(len(set(everything["pair"][own])) - 1),
                str(len(cells)),
                f"{own.sum():,}",
                f"{(own & ~is_decided).sum():,}",
            ]
        )
    table("Data", counts)
    compared(rows)
    others = [rows["data"] != name for name in SETS]
    table("Coefficients", [["feature", "all", *(f"without {name}" for name in SETS)]] + [
        [label, f"{coefficients[i]:.4f}"]
        + [f"{fit(x[m], rows['p'][m], weight[m] / weight[m].sum())[i]:.4f}" for m in others]
        for i, label in enumerate(model.FEATURES)
    ])  # fmt: skip
    found: list[OrderBin] = []
    for leader, title in ((True, "The leader and another"), (False, "Other neighbours")):
        own, beside = rows["leader"] == leader, open_rows["leader"] == leader
        part = of(rows, own)
        here = bins(part, p[own], undecided[beside], leader)
        found += here
        reliability(f"Reliability on data sets left out: {title.lower()}", here, part, p[own])
    by_size(rows, p)
    by_condition(rows, p, everything)
    looks = float(np.nanmax(whole["most looks"]))
    print(f"\nHighest correlation of cosines of texts and images of any encoder: {looks:.3f}")
    basis = OrderBasis(
        command=COMMAND,
        measure="R@10",
        data_sets=list(SETS),
        coefficients=[round(float(one), 6) for one in coefficients],
        most_z=float(np.max(rows["z"])),
        most_best=float(np.max(rows["best"])),
        most_looks=looks,
        fewest_queries=int(rows["queries"].min()),
        most_queries=int(rows["queries"].max()),
        most_encoders=int(rows["size"].max()),
        bins=found,
        failures=of_failures(broken, coefficients, looks),
    )
    write_json(model.PATH, msgspec.to_builtins(basis))
    print(f"\nwritten to {model.PATH.name}; {time.process_time() - began:.0f} s of processor time")
    for leader in (True, False):
        means = [one.mean for one in found if one.leader == leader and one.low >= 0.5]
        assert means == sorted(means), "the truth does not rise with p"


if __name__ == "__main__":
    main()
