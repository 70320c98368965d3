"""Fixed repairs on real data, fit and test apart, five splits: none is chosen here, all are shown.

IKEA: all texts of the items to test on, English and German, are one pool; every text searches for its own
counterpart among all others (mean reciprocal rank), and among those of the other language alone, and
Backretrieval is computed on the same items. XQuAD-R in four languages with character n-grams: mAP over the
pool, and over the pool of the other languages only.
`python -m benchmarks.keep repair python -m benchmarks fixed_repairs`: a minute and a half.

Ranks of IKEA are counted by the formulas, in float64, without the ranking core.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.experiments import table
from benchmarks.splits import by_items, shown
from xlingual import DataWarning, MultilingualPool
from xlingual.arrays import Floats, Ints
from xlingual.data.pools.reading import read_pool
from xlingual.data.pools.splitting import split_pool
from xlingual.embed import load_fit_texts
from xlingual.encoders import text_encoders
from xlingual.evaluation.multilingual_pool.one_pass import one_pass
from xlingual.evaluation.multilingual_pool.relevant_ranks import RelevantRanks, precision_at, relevant_ranks
from xlingual.measures import average_precision
from xlingual.measures.harmonic import harmonic_difference
from xlingual.transforms import methods
from xlingual.transforms.affine import Affine, unit_rows
from xlingual.transforms.moments import FitData
from xlingual.workflows.places import Places
from xlingual.workflows.repairing.repaired import _whole

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data"))
SEEDS = range(5)
K, BETA, PLACES = 10, 10.0, 10
LANGUAGES = ["de", "en", "es", "vi"]
POOL_ENCODER = "chargram:?dim=200&n=2-3&fit={pool}#train"
GROUPS = (("all", 0.0, 1.01), ("XLR R@10 .3 to .9", 0.3, 0.9), ("XLR R@10 .8 to .9", 0.8, 0.9))

Fit = Callable[[FitData], Affine]
METHODS: Mapping[str, Fit | None] = {
    "none": None,
    "centre:": methods.centre,
    "whiten:": methods.whiten,
    "whiten:?shrink=0.5": lambda data: methods.whiten(data, shrink=0.5),
    "lir:3": lambda data: methods.lir(data, k=3),
    "lir:10": lambda data: methods.lir(data, k=10),
    "lsar:": methods.lsar,
}
PRINTED = (
    "none",
    "centre:",
    "centre: + csls?k=10",
    "centre: + inverted-softmax?beta=10",
    *list(METHODS)[2:6],
)


def unit(vectors: Floats) -> Floats:
    """Return rows at unit length, float64."""
    exact = np.asarray(vectors, dtype=np.float64)
    length = np.linalg.norm(exact, axis=1, keepdims=True)
    return np.asarray(exact / np.where(length > 0, length, 1))


def reciprocal_rank(scores: Floats, target: Ints) -> Floats:
    """Return E[1/rank] of each row's target among the columns [n]; −inf: no candidate."""
    own = scores[np.arange(len(scores)), target][:, None]
    above, tied = (scores > own).sum(axis=1), (scores == own).sum(axis=1)
    return np.asarray(harmonic_difference(above, tied) / tied)


def of_counterparts(vectors: Floats, offset: Floats) -> tuple[Floats, Floats]:
    """Return the reciprocal rank of each item's counterpart [n].

    Among all other texts of both languages, and among those of the other language alone. `vectors` [2n, d]
    are the items in one language, then in the other; the mean over both as the query.
    """
    n = len(vectors) // 2
    scores = np.round(vectors @ vectors.T - offset, 9)
    np.fill_diagonal(scores, -np.inf)
    found = reciprocal_rank(scores, np.r_[np.arange(n) + n, np.arange(n)])
    alone = [reciprocal_rank(each, np.arange(n)) for each in (scores[:n, n:], scores[n:, :n])]
    return np.asarray((found[:n] + found[n:]) / 2), np.asarray(np.mean(alone, axis=0))


def backretrieval(vectors: Floats, offset: Floats, images: Floats) -> float:
    """Return BkR R@10 of the first half of the items against the second, the mean of both directions."""
    n = len(vectors) // 2
    half = n // 2
    near = images @ images.T
    found = []
    for source, target in ((0, n), (n, 0)):
        to = slice(target + half, target + n)
        scores = np.round(vectors[source : source + half] @ vectors[to].T - offset[to], 9)
        best = scores == scores.max(axis=1, keepdims=True)  # tied ones count alike
        hit = (near[half:, :half][:, None, :] > near[half:, :half][:, :, None]).sum(axis=2) < PLACES
        found.append(((best / best.sum(axis=1, keepdims=True)) * hit.T).sum(axis=1).mean())
    return float(np.mean(found))


def csls(vectors: Floats, bank: Floats) -> Floats:
    """Return half the mean of the K largest cosines of each vector to the bank [n]."""
    return np.asarray(np.sort(bank @ vectors.T, axis=0)[-K:].mean(axis=0) / 2)


def inverted_softmax(vectors: Floats, bank: Floats) -> Floats:
    """Return the logarithm of the mean of exp(β·cosine) over the bank, divided by β [n]."""
    return np.asarray(np.log(np.exp(BETA * (bank @ vectors.T)).mean(axis=0)) / BETA)


def xlr(first: Floats, second: Floats) -> float:
    """Return R@10 of the match among all items, the mean of both directions."""
    scores = np.round(unit(first) @ unit(second).T, 9)
    own = np.diagonal(scores)
    found = []
    for each in (scores, scores.T):
        above, tied = (each > own[:, None]).sum(axis=1), (each == own[:, None]).sum(axis=1)
        found.append(np.clip((PLACES - above) / tied, 0, 1).mean())
    return float(np.mean(found))


def repaired(vectors: Sequence[Floats], tested: Ints, fitted: Ints) -> Iterator[tuple[str, Floats, Floats]]:
    """Yield the name of each repair, the vectors to test on [2n, d], and offsets of the candidates [2n]."""
    first, second = (unit_rows(each.astype(np.float32)) for each in vectors)
    tags = ["en", "de"]
    data = FitData(np.concatenate([first[fitted], second[fitted]]), np.repeat(tags, len(fitted)).tolist())
    own, languages = np.concatenate([first[tested], second[tested]]), np.repeat(tags, len(tested)).tolist()
    for name, fit in METHODS.items():
        if name == "lir:10" and own.shape[1] <= 10:
            continue
        map = None if fit is None else fit(data)
        moved = unit(own if map is None else map.apply(own, languages))
        yield name, moved, np.zeros(len(moved))
        if name == "centre:":
            assert map is not None
            bank = unit(map.apply(np.asarray(data.vectors), data.languages))
            yield "centre: + csls?k=10", moved, csls(moved, bank)
            yield "centre: + inverted-softmax?beta=10", moved, inverted_softmax(moved, bank)


def ikea() -> None:
    """Print the tables of IKEA."""
    folder = DATA / "ikea/embeddings"
    images = unit(np.load(DATA / "ikea/ikea_en_de_eval_features.npy"))
    names = sorted(json.loads((folder / "models.json").read_text())["models"])
    both: dict[str, dict[str, list[dict[str, float]]]] = {}  # by encoder, repair and split: of items
    alone: dict[str, dict[str, list[dict[str, float]]]] = {}
    back: dict[str, dict[str, list[float]]] = {}
    true: dict[str, float] = {}
    for encoder in names:
        vectors = [np.load(folder / f"{encoder}.{tag}.npy").astype(np.float64) for tag in ("en", "de")]
        true[encoder] = xlr(*vectors)
        for seed in SEEDS:
            order = np.random.default_rng(seed).permutation(len(images))
            fitted, tested = np.array_split(order, 2)
            for name, moved, offset in repaired(vectors, tested, fitted):
                for ranks, found in zip((both, alone), of_counterparts(moved, offset), strict=True):
                    values = dict(zip(map(str, tested.tolist()), found.tolist(), strict=True))
                    ranks.setdefault(encoder, {}).setdefault(name, []).append(values)
                score = backretrieval(moved, offset, images[tested])
                back.setdefault(encoder, {}).setdefault(name, []).append(score)
    groups = {title: [one for one in names if low <= true[one] <= high] for title, low, high in GROUPS}
    heads = [f"{title} ({len(own)} encoders)" for title, own in groups.items()]
    for ranks, title in (
        (both, "all texts of both languages"),
        (alone, "the texts of the other language alone"),
    ):
        rows = [
            [f"`{name}`", *(_group(ranks, own, name) for own in groups.values()), _lowers(ranks, name)]
            for name in PRINTED
        ]
        table(
            f"IKEA, mean reciprocal rank of the own counterpart among {title}",
            [["repair", *heads, "lowers"], *rows],
        )
    rows = [[f"`{name}`", *(_mean_back(back, own, name) for own in groups.values())] for name in PRINTED]
    table("IKEA, BkR R@10 of the same repairs, on the same items", [["repair", *heads], *rows])
    middle, upper = (", ".join(groups[title]) for title, _, _ in GROUPS[1:])
    print(f"\nXLR R@10 of .3 to .9: {middle}; .8 to .9: {upper}.")


def _mean_back(back: Mapping[str, Mapping[str, list[float]]], own: Sequence[str], name: str) -> str:
    """Return the mean BkR over encoders and splits, and its change."""
    have = [encoder for encoder in own if name in back[encoder]]
    before, after = (float(np.mean([back[encoder][of] for encoder in have])) for of in ("none", name))
    return f"{after:.3f}" if name == "none" else f"{after:.3f}, {after - before:+.3f}".replace("-", "−")


def _group(ranks: Mapping[str, Mapping[str, list[dict[str, float]]]], own: Sequence[str], name: str) -> str:
    """Return the mean over encoders, and its gain over none with the interval by items."""
    have = [encoder for encoder in own if name in ranks[encoder]]
    before, after = (
        [_mean([ranks[encoder][of][seed] for encoder in have]) for seed in range(len(SEEDS))]
        for of in ("none", name)
    )
    value = f"{by_items(after)[0]:.3f}"
    if name == "none":
        return value
    gains = [
        {item: one[item] - other[item] for item in one} for one, other in zip(after, before, strict=True)
    ]
    return f"{value}, {shown(*by_items(gains))}"


def _mean(several: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {item: float(np.mean([one[item] for one in several])) for item in several[0]}


def _lowers(ranks: Mapping[str, Mapping[str, list[dict[str, float]]]], name: str) -> str:
    if name == "none":
        return "–"
    changes = [by_items(of[name])[0] - by_items(of["none"])[0] for of in ranks.values() if name in of]
    lowered = sum(change < -0.0005 for change in changes)  # as it is printed
    return f"{lowered} of {len(changes)}; most {min(changes):+.3f}".replace("-", "−")


def in_other_languages(s: RelevantRanks) -> Floats:
    """Return each question's average precision in the pool of all languages but its own [n]; NaN: none."""
    rows = np.flatnonzero(~s.own)
    asked_in = s.asked_in[rows]
    above, tied = s.above[rows] - s.above_of(asked_in, rows), s.tied[rows] - s.tied_of(asked_in, rows)
    found = precision_at(above, tied, s.relevant_above(~s.own, rows), s.relevant_tied(~s.own, rows))
    return s.per_question(found, rows)


def xquad() -> None:
    """Print the table of XQuAD-R."""
    found: dict[str, list[tuple[dict[str, float], dict[str, float]]]] = {}
    whole = read_pool(DATA / "xquad_r")
    cluster = dict(zip(whole.questions.ids, whole.questions.cluster.tolist(), strict=True))
    for seed in SEEDS:
        with TemporaryDirectory() as folder:
            pool = Path(folder) / "pool"
            MultilingualPool.of(split_pool(whole, 0.5, seed)).write(pool)
            fit, test = (MultilingualPool.read(pool, LANGUAGES, split=part) for part in ("train", "test"))
            made = text_encoders(
                {"n-grams": POOL_ENCODER.format(pool=pool)}, languages=LANGUAGES, fit_texts=load_fit_texts
            )
            ((name, encoder),) = made.items()
            storing = {"store": None, "progress": None}
            first, second = (
                _whole(each, Places.of(each), name, encoder, "sentence", storing).part(each)  # type: ignore[arg-type]
                for each in (fit, test)
            )
            data = first.fit_data()
            for spec, method in METHODS.items():
                moved = second.moved(None if method is None else method(data))
                counts = one_pass(second.pool, *moved).counts
                pair = average_precision(counts.whole_pool()), in_other_languages(relevant_ranks(counts))
                found.setdefault(spec, []).append(tuple(_of_ids(second.pool, each) for each in pair))  # type: ignore[arg-type]
    rows = []
    for spec, runs in found.items():
        row = [f"`{spec}`"]
        for side in (0, 1):
            values = [run[side] for run in runs]
            before = [run[side] for run in found["none"]]
            gains = [
                {key: one[key] - other[key] for key in one} for one, other in zip(values, before, strict=True)
            ]
            row.append(f"{by_items(values)[0]:.3f}")
            row.append("–" if spec == "none" else shown(*by_items(gains, cluster)))
        rows.append(row)
    heads = ["repair", "mAP, all languages", "gain", "mAP, other languages only", "gain"]
    table("XQuAD-R, de en es vi, character 2- and 3-grams: fixed repairs", [heads, *rows])


def _of_ids(pool: MultilingualPool, values: Floats) -> dict[str, float]:
    """Return the mean of values by the id of the question, over its languages."""
    by: dict[str, list[float]] = {}
    for key, value in zip(pool.questions.ids, values.tolist(), strict=True):
        by.setdefault(key, []).append(value)
    return {key: float(np.mean(each)) for key, each in by.items()}


def main() -> None:
    """Print all tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        ikea()
        xquad()


if __name__ == "__main__":
    main()
