"""What CSLS does to the IKEA encoders: retrieval, Backretrieval and hubs, with cosine and with CSLS (k = 10).

24 encoders, the 25 samples that come with the data, both directions. `python -m benchmarks csls` takes some
minutes; `python -m benchmarks.keep csls python -m benchmarks csls` keeps the figures.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import pearsonr, spearmanr

from benchmarks.experiments import table
from xlingual import DataWarning, Manifest, backretrieval, compare, crosslingual_retrieval
from xlingual.arrays import Ints
from xlingual.measures.hubness import Hubness, hubness
from xlingual.ranking import CPU, Cosine, Csls, Top, UnitVectors, adjusted
from xlingual.results import Interval, by_key
from xlingual.stats import mean_interval

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data")) / "ikea"
PAIRS = ("en-de", "de-en")
SIMILARITIES, KINDS = ("cosine", "csls"), ("xlr", "bkr")
SPECS = {"cosine": "cosine", "csls": "transductive-csls"}
OUT = Path("out/csls")  # results that are there already are not made again
GOOD = 0.5  # XLR R@10 with cosine of an encoder that finds most matches
DIGITS = 3
MEASURES = {
    "XLR R@1": ("crosslingual-retrieval", "R@1"),
    "XLR R@10": ("crosslingual-retrieval", "R@10"),
    "BkR R@10": ("backretrieval", "R@10"),
}


@dataclass(frozen=True)
class Changed:
    """A measure of one encoder: with cosine, with CSLS, and the difference with its interval."""

    cosine: float
    csls: float
    difference: tuple[float, Interval]


def evaluated(out: Path) -> dict[str, dict[str, Changed]]:
    """Return each encoder's measures over both directions and all samples; results are kept in a folder."""
    files = sorted((DATA / "embeddings").glob("*.en.npy"))
    encoders = {path.name.removesuffix(".en.npy"): str(path).replace(".en.", ".{lang}.") for path in files}
    manifest = Manifest.read(DATA / "ikea_en_de_eval.parquet")
    for similarity in SIMILARITIES:
        common = {
            "text_encoders": encoders,
            "pairs": ",".join(PAIRS),
            "splits": DATA / "embeddings/splits.npz",
            "store": None,
            "similarity": SPECS[similarity],
        }
        xlr, bkr = (out / similarity / kind for kind in KINDS)
        if not (xlr / "results.json").exists():
            crosslingual_retrieval(manifest, measures=["R@1", "R@10"], **common).write(xlr)
        if not (bkr / "results.json").exists():
            images = str(DATA / "ikea_en_de_eval_features.npy")
            backretrieval(manifest, image_encoder=images, examples=False, **common).write(bkr)
    return {name: changed_by(out, name) for name in encoders}


def changed_by(out: Path, name: str) -> dict[str, Changed]:
    """Return the measures of an encoder, compared query by query."""
    found: dict[str, Changed] = {}
    for kind in KINDS:
        cosine, csls = (f"{out / similarity / kind}#{name}" for similarity in SIMILARITIES)
        outcome = compare([cosine, csls], baseline=cosine)
        for label, (task, measure) in MEASURES.items():
            for board in by_key(outcome.boards, task=task, measure=measure, source=None, column=None):
                (base,) = by_key(board.rows, encoder=board.baseline)
                (other,) = (row for row in board.rows if row is not base)
                assert other.difference is not None
                assert other.ci is not None
                found[label] = Changed(base.value, other.value, (other.difference, other.ci))
    return found


def nearest(similarity: Cosine, *, repaired: bool) -> Hubness:
    """Return how the places of the ten nearest are divided."""
    n, m = similarity.shape
    offsets = None
    if repaired:
        request = Csls().request(np.ones(n, dtype=np.int64), np.ones(m, dtype=np.int64))
        CPU.scan(similarity, list(request.reductions))
        offsets = request.result(similarity)
    best = Top(10, similarity.shape)
    CPU.scan(similarity, [adjusted(best, offsets)])
    found = best.result()
    return hubness(
        found.query,
        found.candidate,
        found.above,
        found.tied,
        k=10,
        n_queries=n,
        language=np.zeros(m, dtype=np.int64),
        n_languages=1,
    )


def hubs(name: str, samples: Ints) -> list[float]:
    """Return skewness of N_10 and the largest share of queries, with cosine, then with CSLS: means."""
    files = [DATA / f"embeddings/{name}.{language}.npy" for language in ("en", "de")]
    vectors = [np.load(path) for path in files]
    found = []
    for left, right in (vectors, vectors[::-1]):
        for rows in samples.astype(np.int64):
            similarity = Cosine(UnitVectors(left, rows), UnitVectors(right, rows))
            both = [nearest(similarity, repaired=repaired) for repaired in (False, True)]
            found.append([value for one in both for value in (one.skewness, one.largest / len(rows))])
    return np.mean(found, axis=0).tolist()


def over_encoders(values: Sequence[float], families: Sequence[str]) -> tuple[float, Interval]:
    """Return the mean over encoders, with the interval for other families of encoders."""
    codes = np.unique(families, return_inverse=True)[1]
    return float(np.mean(values)), mean_interval(np.array(values), [codes])


def number(value: float) -> str:
    """Return a number as the tables have it."""
    return f"{value:.{DIGITS}f}".replace("0.", ".", 1)


def main() -> None:
    """Print the measures of every encoder, the means over encoders, the hubs, and how measures agree."""
    warnings.simplefilter("ignore", DataWarning)
    changed = evaluated(OUT)
    names = sorted(changed, key=lambda name: -changed[name]["XLR R@10"].cosine)
    heads = [head for label in MEASURES for head in (f"{label}: cosine → CSLS", "change")]
    rows = [["encoder", *heads]]
    for name in names:
        cells = [name]
        for one in changed[name].values():
            cells += [f"{number(one.cosine)} → {number(one.csls)}", marked_change(one.difference)]
        rows.append(cells)
    table("Each encoder, mean over both directions and 25 samples [95 % interval of the change]", rows)

    families = [name.partition("_")[0] for name in names]
    good = [changed[name]["XLR R@10"].cosine >= GOOD for name in names]
    rows = [["encoders", *MEASURES]]
    for title, chosen in (
        ("all", np.ones(len(names), dtype=bool)),
        (f"XLR R@10 ≥ {number(GOOD)}", np.array(good)),
    ):
        kept = np.flatnonzero(chosen)
        cells = [f"{title} ({len(kept)})"]
        for label in MEASURES:
            values = [changed[names[i]][label].difference[0] for i in kept]
            mean = over_encoders(values, [families[i] for i in kept])
            cells.append(f"{marked_change(mean)}, {signed(min(values))} to {signed(max(values))}")
        rows.append(cells)
    table("Change by CSLS: mean over encoders [95 % interval, by families], least to most", rows)

    samples = np.load(DATA / "embeddings/splits.npz")["S"]
    of_hubs = {name: hubs(name, samples) for name in names}
    rows = [["encoder", "skewness of N_10: cosine → CSLS", "share of queries that the largest hub is near"]]
    for name in names:
        skew, largest, skew_csls, largest_csls = of_hubs[name]
        rows.append([name, f"{skew:.2f} → {skew_csls:.2f}", f"{number(largest)} → {number(largest_csls)}"])
    means = np.mean([of_hubs[name] for name in names], axis=0)
    rows.append(["mean", f"{means[0]:.2f} → {means[2]:.2f}", f"{number(means[1])} → {number(means[3])}"])
    table("Hubs among the targets of XLR: how often a text is among the ten nearest (N_10)", rows)

    rows = [["systems", "BkR and XLR R@10: Pearson", "Spearman", "BkR and XLR R@1: Pearson", "Spearman"]]
    systems = {
        "24 encoders with cosine": [("cosine", name) for name in names],
        "24 encoders with CSLS": [("csls", name) for name in names],
        "all 48": [(similarity, name) for similarity in SIMILARITIES for name in names],
    }
    for title, chosen_systems in systems.items():
        columns = {
            label: [getattr(changed[name][label], similarity) for similarity, name in chosen_systems]
            for label in MEASURES
        }
        cells = [title]
        for truth in ("XLR R@10", "XLR R@1"):
            for coefficient in (pearsonr, spearmanr):
                cells.append(number(coefficient(columns["BkR R@10"], columns[truth]).statistic))
        rows.append(cells)
    for truth in ("XLR R@10", "XLR R@1"):
        pairs = [(changed[n]["BkR R@10"].difference[0], changed[n][truth].difference[0]) for n in names]
        found = spearmanr(*zip(*pairs, strict=True)).statistic
        alike = sum(a * b > 0 for a, b in pairs)
        print(f"\nChanges of BkR and of {truth}: Spearman {found:.2f}, same sign for {alike} of {len(names)}")
    table("Agreement of Backretrieval with true retrieval", rows)


def signed(value: float) -> str:
    """Return a change with its sign: "+.012"."""
    sign = "" if round(value, DIGITS) == 0 else "+" if value > 0 else "−"
    return sign + number(abs(value))


def marked_change(found: tuple[float, Interval]) -> str:
    """Return "**+.012** [+.003, +.021]": bold where the interval excludes zero."""
    value, ci = found
    text = f"{signed(value)} [{signed(ci.low)}, {signed(ci.high)}]"
    return f"**{text}**" if ci.low > 0 or ci.high < 0 else text


if __name__ == "__main__":
    main()
