"""Rows for order confidence: what is seen of two encoders without labels, and which truly retrieves better.

BkR, SIM and XLR are plain products in float64, with the intervals of the program. A cell is a data set, a
language pair (or the mean over all of a data set), and a condition of images and sample size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import stdtr
from scipy.stats import skew

from benchmarks.blind_spots import TIE, Repair, unit
from benchmarks.order_data import Data, conditions
from xlingual.arrays import Floats, Ints
from xlingual.evaluation.estimates import Score, score
from xlingual.measures import MeanImageSimilarity, RecallAt
from xlingual.stats.intervals import effective_clusters

K, BOOTSTRAPS, NEAREST, MOST = 10, 20, 10, 400  # more queries than MOST: BkR and SIM alone
R10, SIM = RecallAt(K), MeanImageSimilarity()
ALL = ("all", "pairs")
VECTORS = ("mutual", "skewness", "margin", "near", "own language", "language id")  # signals of vectors alone


@dataclass(frozen=True)
class TextView:
    """What one encoder's texts say in one direction: nearest targets, and signals of the vectors."""

    nearest: Ints  # [n] position among the targets, of ties the first
    share: Floats  # [n, m] of ties; rows sum to 1
    single: Ints  # [n] the same position, −1 where several tie
    signals: Mapping[str, float]
    cosines: Floats  # [n, n] of the sources to each other


@dataclass(frozen=True)
class Seen:
    """BkR, SIM and signals of an encoder in a cell."""

    bkr: Score
    sim: Score
    signals: Mapping[str, float]
    halves: tuple[float, float]  # BkR by either half of the image dimensions
    replicates: Floats  # BkR under each image bootstrap
    by_pair: tuple[float, ...] = ()  # BkR of each language pair of a mean
    hits: Floats | None = None


def text_view(source: Floats, target: Floats, repair: Repair | None = None) -> TextView:
    """Return what an encoder retrieves, and the signals of its vectors; rows are unit vectors or zero."""
    cosines = source @ target.T
    scores = cosines if repair is None else repair(cosines)
    best = scores.max(axis=1, keepdims=True)
    tied = scores >= best - TIE
    share = tied / tied.sum(axis=1, keepdims=True)
    nearest = tied.argmax(axis=1)
    single = np.where(tied.sum(axis=1) == 1, nearest, -1)
    found = (
        vector_signals(source, target, scores, share)
        if len(source) <= MOST
        else dict.fromkeys(VECTORS, np.nan)
    )
    return TextView(nearest, share, single, found, source @ source.T)


def vector_signals(source: Floats, target: Floats, cosines: Floats, share: Floats) -> dict[str, float]:
    """Return signals that images do not see."""
    back = cosines >= cosines.max(axis=0, keepdims=True) - TIE
    back = back / back.sum(axis=0, keepdims=True)
    ordered = np.sort(cosines, axis=1)
    spread = np.maximum(cosines.std(axis=1), 1e-9)
    both = np.vstack([source, target])
    language = np.repeat([0, 1], [len(source), len(target)])
    alike = both @ both.T
    np.fill_diagonal(alike, -np.inf)
    near = np.argpartition(-alike, NEAREST, axis=1)[:, :NEAREST]
    own = (language[near] == language[:, None]).mean()
    hubs = skew(share.sum(axis=0)) if np.ptp(share.sum(axis=0)) > TIE else 0.0
    values = (
        (share * back).sum() / len(source),
        np.log1p(max(hubs, 0.0)),
        ((ordered[:, -1] - ordered[:, -2]) / spread).mean(),
        ((ordered[:, -1] - cosines.mean(axis=1)) / spread).mean(),
        own,
        language_id(both, language),
    )
    return dict(zip(VECTORS, map(float, values), strict=True))


def language_id(vectors: Floats, language: Ints) -> float:
    """Return how often a ridge regression on every other text tells the language of the rest."""
    right = []
    for part in (0, 1):
        fit = np.arange(len(vectors)) % 2 == part
        middle = vectors[fit].mean(axis=0)
        x, z = vectors[fit] - middle, vectors[~fit] - middle
        y = np.where(language[fit] == 0, -1.0, 1.0)
        weight = np.linalg.solve(x @ x.T + 0.1 * np.eye(len(x)), y - y.mean())
        right.append((((z @ (x.T @ weight) + y.mean()) > 0) == (language[~fit] == 1)).mean())
    return float(np.mean(right))


@dataclass(frozen=True)
class ImageView:
    """What the images of one sample say under a condition."""

    hit: Floats  # [m, n] chance that a target's image leads to a source's
    similarity: Floats  # [m, n]
    halves: tuple[Floats, Floats]
    bootstraps: Floats  # [replicates, m, n]
    drawn: Floats  # [replicates, n] how often a source was drawn
    cosines: Floats  # [n, n]
    oracle: float
    chance: float
    neighbours: float  # look-alikes above chance


def image_view(images: Floats, s: Ints, t: Ints) -> ImageView:
    """Return what the images of sources `s` and targets `t` say."""
    rng = np.random.default_rng(3)
    similarity = images[t] @ images[s].T
    order = rng.permutation(images.shape[1])
    parts = [unit(images[:, half]) for half in np.array_split(order, 2)]
    among = images[s] @ images[s].T
    other = among.copy()
    np.fill_diagonal(other, -np.inf)
    hit = reached(similarity)
    own = np.arange(len(s))
    nearest = similarity.argmax(axis=0)
    boots, drawn = [], []
    for _ in range(BOOTSTRAPS if len(s) <= MOST else 1):
        weight = np.bincount(rng.integers(len(s), size=len(s)), minlength=len(s))
        kept = weight > 0
        found = np.zeros_like(similarity)
        found[:, kept] = reached(similarity[:, kept])
        boots.append(found)
        drawn.append(weight / len(s))
    chance = K / len(s)
    return ImageView(
        hit, similarity,
        (reached(parts[0][t] @ parts[0][s].T), reached(parts[1][t] @ parts[1][s].T)),
        np.array(boots, dtype=np.float32), np.array(drawn),
        among, float(hit[nearest, own].mean()), chance,
        float(hit[nearest[other.argmax(axis=1)], own].mean()) - chance,
    )  # fmt: skip


def reached(similarity: Floats) -> Floats:
    """Return whether each source's image is among the K first of each target's."""
    ranks = (-similarity).argsort(axis=1).argsort(axis=1)
    found: Floats = (ranks < K).astype(np.float64)
    return found


def seen(texts: TextView, images: ImageView, s: Ints, t: Ints, group: Ints) -> Seen:
    """Return BkR, SIM and all signals of an encoder."""

    def values(of: Floats) -> Floats:  # [m, n] → [n], ties averaged
        found: Floats = np.einsum("nm,mn->n", texts.share, of)
        return found

    alone = np.where(texts.single < 0, -1 - np.arange(len(s)), group[t[texts.nearest]])
    clusters = [group[s], alone]
    own = values(images.hit)
    pairs = np.triu_indices(len(s), 1)
    looks = np.corrcoef(texts.cosines[pairs], images.cosines[pairs])[0, 1]
    boots = images.bootstraps[:, texts.nearest, np.arange(len(s))]
    return Seen(
        score(R10, own, clusters),
        score(SIM, values(images.similarity), clusters),
        {**texts.signals, "looks": float(np.nan_to_num(looks))},
        (float(values(images.halves[0]).mean()), float(values(images.halves[1]).mean())),
        (boots * images.drawn).sum(axis=1),
        hits=own,
    )


def truth(data: Data, name: str, pair: tuple[str, str], k: int = K, repair: Repair | None = None) -> Score:
    """Return XLR R@k over all items, clustered by equal texts."""
    one, other = (unit(data.texts[name][tag]) for tag in pair)
    scores = one @ other.T
    scores = scores if repair is None else repair(scores)
    own = np.diag(scores)[:, None]
    above = (scores > own + TIE).sum(axis=1)
    tied = (np.abs(scores - own) <= TIE).sum(axis=1)
    return score(RecallAt(k), np.clip((k - above) / tied, 0, 1), [data.group])


def probability(one: Score, other: Score) -> tuple[float, float]:
    """Return P(one truly above the other), by the t distribution of their paired difference; and that."""
    gap = one.less(other)
    assert gap is not None
    error = gap.standard_error()
    freedom = min(effective_clusters(part.ways[0], part.weights) for part in gap.parts) - 1
    if error == 0:
        return float(np.sign(gap.value) / 2 + 0.5), gap.value
    return float(stdtr(freedom, gap.value / error)), gap.value


def sample(data: Data, queries: int) -> tuple[Ints, Ints]:
    """Return the items of sources and of targets."""
    order = np.random.default_rng(0).permutation(len(data.images))
    return order[:queries], order[queries : 2 * queries]


def rows(data: Data) -> Iterator[dict[str, object]]:
    """Yield a row for each cell and two encoders; the one with the higher BkR comes first."""
    truths = {pair: {name: truth(data, name, pair) for name in data.texts} for pair in data.pairs}
    truths[ALL] = {name: Score.mean([truths[pair][name] for pair in data.pairs]) for name in data.texts}
    known = {
        (pair, a, b): probability(found[a], found[b])
        for pair, found in truths.items()
        for a, b in combinations(data.texts, 2)
    }
    views: dict[tuple[str, tuple[str, str], int], TextView] = {}
    for condition in conditions(data):
        s, t = sample(data, condition.queries)
        images = image_view(condition.images, s, t)
        found: dict[tuple[str, str], dict[str, Seen]] = {}
        for pair in data.pairs:
            found[pair] = {}
            for name, sides in data.texts.items():
                key = (name, pair, condition.queries)
                if key not in views:
                    views[key] = text_view(unit(sides[pair[0]])[s], unit(sides[pair[1]])[t])
                found[pair][name] = seen(views[key], images, s, t, data.group)
        for pair in [*data.pairs, ALL]:
            own = found[pair] if pair != ALL else mean_over(found)
            back = found.get(pair[::-1])
            best = max(one.bkr.value for one in own.values())
            for a, b in combinations(data.texts, 2):
                p, gap = known[pair, a, b]
                if own[a].bkr.value < own[b].bkr.value:
                    a, b, p, gap = b, a, 1 - p, -gap
                yield {
                    "data": data.name, "pair": "-".join(pair), "condition": condition.name,
                    "a": a, "b": b, "family a": data.family[a], "family b": data.family[b],
                    "p": p, "xlr gap": gap, "xlr": truths[pair][a].value,
                    "best": best - images.chance, "room": images.oracle - images.chance,
                    "neighbours": images.neighbours, "queries": len(s),
                    **between(own[a], own[b], images.chance, None if back is None else (back[a], back[b])),
                }  # fmt: skip


def mean_over(found: Mapping[tuple[str, str], Mapping[str, Seen]]) -> dict[str, Seen]:
    """Return the means over language pairs of each encoder."""
    several = list(found.values())
    made = {}
    for name in several[0]:
        own = [one[name] for one in several]
        made[name] = Seen(
            Score.mean([one.bkr for one in own]),
            Score.mean([one.sim for one in own]),
            {key: float(np.mean([one.signals[key] for one in own])) for key in own[0].signals},
            (float(np.mean([one.halves[0] for one in own])), float(np.mean([one.halves[1] for one in own]))),
            np.mean([one.replicates for one in own], axis=0),
            tuple(one.bkr.value for one in own),
        )
    return made


def between(a: Seen, b: Seen, chance: float, back: tuple[Seen, Seen] | None) -> dict[str, float]:
    """Return the signals of two encoders: differences (a − b), and those of both alike."""
    z = {name: ratio(getattr(a, name), getattr(b, name)) for name in ("bkr", "sim")}
    halves = [one - other for one, other in zip(a.halves, b.halves, strict=True)]
    gaps = [one - other for one, other in zip(a.by_pair, b.by_pair, strict=True)]
    if back is not None:
        gaps = [a.bkr.value - b.bkr.value, back[0].bkr.value - back[1].bkr.value]
    return {
        "z": z["bkr"], "z sim": z["sim"], "gap": a.bkr.value - b.bkr.value,
        "a above chance": a.bkr.value - chance, "b above chance": b.bkr.value - chance,
        "b z chance": float((b.bkr.value - chance) / max(b.bkr.standard_error(), 1e-9)),
        "a z chance": float((a.bkr.value - chance) / max(a.bkr.standard_error(), 1e-9)),
        "halves": float(np.mean(np.sign(halves))), "directions": float(np.mean(np.sign(gaps))),
        "bootstrap": float(np.mean(np.sign(a.replicates - b.replicates))),
        **{name: a.signals[name] - b.signals[name] for name in a.signals},
        "most looks": max(a.signals["looks"], b.signals["looks"]),
        "looks a": a.signals["looks"],
    }  # fmt: skip


def ratio(one: Score, other: Score) -> float:
    """Return a paired difference in standard errors; 0 where both are the same."""
    gap = one.less(other)
    assert gap is not None
    error = gap.standard_error()
    return 0.0 if gap.value == 0 else float(gap.value / max(error, 1e-9))
