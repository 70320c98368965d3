"""Does Backretrieval keep the order of encoders? Section 2 of the paper, on real vectors.

`python -m benchmarks order_measured` takes the 24 encoders, the ResNet-50 vectors and the 25 samples of the
IKEA data, both ways. How relevant a retrieved text is, is graded without encoder and without image: by the
TF-IDF cosine of its words to those of the query's own translation, both in one language. With the grades,
both assumptions can be tested: that a hit depends on the grade and not on the encoder (A2), and that one
with a higher XLR retrieves higher grades (A3). Then one thing at a time is changed: hub repair (CSLS),
encoders that know looks or match exactly, image noise, pool size, K.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.stats import spearmanr
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks.blind_spots import DATA, Repair, Sides, Source, by_core, csls, hashed, ikea, look, unit
from benchmarks.experiments import table

GRADES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)  # lower ends of the grades of relevance
DIFFER, K, REPEATS = 0.05, 10, int(os.environ.get("REPEATS", "10"))


@dataclass(frozen=True)
class Pool:
    """Images, grades and samples of one direction."""

    images: np.ndarray  # [items, d], length 1
    grade: np.ndarray  # [query, target], an index into GRADES
    samples: list[tuple[np.ndarray, np.ndarray]]  # items of the queries, and of the targets
    k: int = K


@dataclass(frozen=True)
class Found:
    """What an encoder retrieves, over all samples."""

    xlr1: float
    xlr10: float
    bkr: float
    sim: float
    shares: np.ndarray  # of the queries whose retrieved text has each grade [grades]
    hits: np.ndarray  # BkR of those queries [grades]; 0 where there is none
    hub: float  # share of the queries that retrieve the most retrieved target
    ceiling: float  # what BkR cannot exceed, given how often each target is retrieved


def graded(source: Source, language: int) -> np.ndarray:
    """Return the grade of each item's text as an answer to each item [query, target], by words alone."""
    manifest = source.manifest
    rows = manifest.rows_of(source.pair[language])
    texts = np.empty(manifest.n_items, dtype=object)
    texts[manifest.item[rows]] = [manifest.text[row] for row in rows]
    vectors = TfidfVectorizer(sublinear_tf=True, token_pattern=r"\S+").fit_transform(texts)
    return np.searchsorted(GRADES, (vectors @ vectors.T).toarray(), side="right") - 1


def measured(
    pool: Pool, sides: tuple[np.ndarray, np.ndarray], repair: Repair = lambda cosines: cosines
) -> Found:
    """Return what an encoder retrieves: plain products in float64."""
    rows, shares, hits = [], np.zeros(len(GRADES)), np.zeros(len(GRADES))
    for s, t in pool.samples:
        n = len(s)
        back = pool.images[t] @ pool.images[s].T  # [target, query's image]
        reached = (-back).argsort(axis=1).argsort(axis=1) < pool.k
        found = repair(sides[0][s] @ sides[1][t].T).argmax(axis=1)
        hit = reached[found, np.arange(n)]
        true = repair(sides[0][s] @ sides[1][s].T)
        above = (true > np.diag(true)[:, None] + 1e-9).sum(axis=1)
        grade = pool.grade[s, t[found]]
        shares += np.bincount(grade, minlength=len(GRADES))
        hits += np.bincount(grade, weights=hit, minlength=len(GRADES))
        counts = np.bincount(found)
        rows.append(
            [
                *((above < 1).mean(), (above < 10).mean(), hit.mean(), back[found, np.arange(n)].mean()),
                *(counts.max() / n, np.minimum(counts, pool.k).sum() / n),
            ]
        )
    means = np.mean(rows, axis=0)
    return Found(
        *means[:4],
        shares=shares / shares.sum(),
        hits=hits / np.maximum(shares, 1),
        hub=means[4],
        ceiling=means[5],
    )


def expected(found: dict[str, Found], name: str) -> float:
    """Return the BkR that an encoder would have if its hits depended on grades alone.

    The hits of a grade are those of all other encoders, each counting alike.
    """
    others = [one for other, one in found.items() if other != name]
    shares = np.sum([one.shares for one in others], axis=0)
    hits = np.sum([one.shares * one.hits for one in others], axis=0) / np.maximum(shares, 1e-12)
    return float(found[name].shares @ hits)


def kept(found: dict[str, Found], truth: str, measure: str) -> float:
    """Return the share of pairs that differ by `DIFFER` in truth and that the measure orders alike."""
    of = {name: (getattr(one, truth), getattr(one, measure)) for name, one in found.items()}
    signs = [
        (of[a][0] - of[b][0]) * (of[a][1] - of[b][1]) > 0
        for a, b in combinations(of, 2)
        if abs(of[a][0] - of[b][0]) >= DIFFER
    ]
    return float(np.mean(signs))


def number(value: float) -> str:
    """Return a number with three decimals and a true minus."""
    return f"{value:.3f}".replace("-", "−")


def assumptions(
    direction: str, pool: Pool, encoders: dict[str, tuple[np.ndarray, np.ndarray]]
) -> dict[str, Found]:
    """Print the test of A2 and A3 over the real encoders; return what they retrieve."""
    found = {name: measured(pool, sides) for name, sides in encoders.items()}
    ordered = sorted(found, key=lambda name: found[name].xlr10)
    thirds = np.array_split(np.array(ordered), 3)
    rows = [["grade: cosine from", "queries", "BkR, weakest third", "middle", "strongest third"]]
    for g, low in enumerate(GRADES):
        row = [f"{low:g}", f"{np.mean([one.shares[g] for one in found.values()]):.3f}"]
        for part in thirds:
            share = sum(found[name].shares[g] for name in part)
            row.append(number(sum(found[name].shares[g] * found[name].hits[g] for name in part) / share))
        rows.append(row)
    table(f"{direction}: BkR by grade of what is retrieved (A2: rows are level)", rows)
    by_grade = np.array([expected(found, name) for name in found])
    bkr = np.array([one.bkr for one in found.values()])
    rows = [["", "Spearman", "share of pairs in order"]]
    both = {name: replace(one, sim=expected(found, name)) for name, one in found.items()}
    for truth, label in (("xlr1", "XLR R@1"), ("xlr10", "XLR R@10")):
        values = [getattr(one, truth) for one in found.values()]
        rows.append(
            [f"{label} and BkR", number(spearmanr(values, bkr).statistic), number(kept(found, truth, "bkr"))]
        )
        rows.append(
            [
                f"{label} and grades (A3)",
                number(spearmanr(values, by_grade).statistic),
                number(kept(both, truth, "sim")),
            ]
        )
    rows.append(["grades and BkR (A2)", number(spearmanr(by_grade, bkr).statistic), ""])
    table(f"{direction}: the two links of the chain, 24 encoders", rows)
    gaps = bkr - by_grade
    least, most = number(gaps.min()), number(gaps.max())
    print(f"\nBkR beyond what grades give: mean {number(gaps.mean())}, from {least} to {most}")
    return found


def changed(
    direction: str,
    pool: Pool,
    source: Source,
    real: dict[str, Found],
    encoders: dict[str, tuple[np.ndarray, np.ndarray]],
) -> None:
    """Print what repair, looks and exact matching change: truth, grades, and what is beyond the grades."""
    best = max(real, key=lambda name: real[name].xlr10)
    order = (0, 1) if direction == "-".join(source.pair) else (1, 0)

    def both(sides: Sides) -> tuple[np.ndarray, np.ndarray]:
        one, other = (unit(sides[source.pair[i]]) for i in order)
        return one, other

    cases: dict[str, Found] = {
        f"{best} (best)": real[best],
        f"{best}, CSLS": measured(pool, encoders[best], csls),
    }
    cases["look, noise 0.75"] = measured(pool, both(look(source, 0.75)))
    cases["hash"] = measured(pool, both(hashed(source)))
    rows = [
        ["encoder", "XLR R@1", "XLR R@10", "BkR", "by grades", "beyond", "largest hub", "ceiling of hubs"]
    ]
    for name, one in cases.items():
        by_grade = expected({**real, name: one}, name)
        values = [one.xlr1, one.xlr10, one.bkr, by_grade, one.bkr - by_grade, one.hub, one.ceiling]
        rows.append([name, *map(number, values)])
    table(f"{direction}: what breaks the order", rows)
    moves = {name: (real[name], measured(pool, sides, csls)) for name, sides in encoders.items()}
    slope = np.polyfit([one.xlr1 for one in real.values()], [one.bkr for one in real.values()], 1)[0]
    rows = [
        [
            "XLR R@1 with cosine",
            "encoders",
            "XLR R@1",
            "XLR R@10",
            "BkR",
            "BkR expected of the change of XLR R@1",
            "by grades",
        ]
    ]
    for low, high in ((0, 0.2), (0.2, 0.6), (0.6, 1.01)):
        part = {name: pair for name, pair in moves.items() if low <= pair[0].xlr1 < high}
        means = [
            np.mean([getattr(b, label) - getattr(a, label) for a, b in part.values()])
            for label in ("xlr1", "xlr10", "bkr")
        ]
        grades = [expected({**real, "": b}, "") - expected({**real, "": a}, "") for a, b in part.values()]
        rows.append(
            [
                f"{low:g} to {min(high, 1):g}",
                f"{len(part)}",
                *map(number, means),
                number(slope * means[0]),
                number(float(np.mean(grades))),
            ]
        )
    table(f"{direction}: what CSLS changes, mean over encoders", rows)


def swept(direction: str, pool: Pool, encoders: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    """Print how the order holds with worse images, smaller pools and other K."""
    rng = np.random.default_rng(0)
    noise = unit(rng.standard_normal(pool.images.shape))
    middle = unit(pool.images - pool.images.mean(axis=0))

    def smaller(n: int) -> list[tuple[np.ndarray, np.ndarray]]:
        return [(rng.permutation(s)[:n], rng.permutation(t)[:n]) for s, t in pool.samples]

    sweeps: dict[str, dict[str, Callable[[], Pool]]] = {
        "image noise": {
            f"{size:g}": lambda size=size: replace(pool, images=unit(middle + size * noise))
            for size in (0, 1, 2, 4, 8, 16)
        },
        "queries": {f"{n}": lambda n=n: replace(pool, samples=smaller(n)) for n in (25, 50, 100, 200, 365)},
        "K": {f"{k}": lambda k=k: replace(pool, k=k) for k in (1, 5, 10, 20, 50, 100)},
    }
    for label, cases in sweeps.items():
        rows = [
            [
                label,
                "best BkR",
                "BkR, XLR@1",
                "BkR, XLR@10",
                "SIM, XLR@1",
                "SIM, XLR@10",
                "one sample: BkR, XLR@10",
            ]
        ]
        for name, make in cases.items():
            whole = make()
            found = {one: measured(whole, sides) for one, sides in encoders.items()}
            single = []
            for sample in whole.samples[:REPEATS]:
                part = replace(whole, samples=[sample])
                single.append(
                    kept({one: measured(part, sides) for one, sides in encoders.items()}, "xlr10", "bkr")
                )
            rows.append(
                [name, number(max(one.bkr for one in found.values()))]
                + [
                    number(kept(found, truth, measure))
                    for measure in ("bkr", "sim")
                    for truth in ("xlr1", "xlr10")
                ]
                + [number(float(np.mean(single)))]
            )
        table(f"{direction}: pairs of encoders in order, by {label}", rows)


def main() -> None:
    """Print all tables, in both directions."""
    if not DATA.is_dir():
        raise SystemExit(f"no real data in {DATA}: set XLINGUAL_DATA")
    source = ikea()
    images = unit(source.images)
    samples = list(zip(source.samples["S"], source.samples["T"], strict=True))
    known = by_core(source, source.texts)
    for language, direction in ((1, "en-de"), (0, "de-en")):
        pool = Pool(images, graded(source, language), samples)
        sides = {
            name: tuple(unit(one[source.pair[i]]) for i in ((0, 1) if language else (1, 0)))
            for name, one in source.texts.items()
        }
        found = assumptions(direction, pool, sides)
        if language:  # the program gives the same, but for ties
            for name, one in found.items():
                assert abs(one.bkr - known[name]["BkR R@10"][0]) < 0.01, (name, one.bkr, known[name])
                assert abs(one.xlr10 - known[name]["XLR R@10"][0]) < 0.01, (name, one.xlr10, known[name])
        changed(direction, pool, source, found, sides)
        swept(direction, pool, sides)


if __name__ == "__main__":
    main()
