"""Language identification: how well a linear model finds the language of a text from its vector.

The model is least squares from unit vectors, with an intercept, to the language: ±1 for two languages, one
indicator for each of several (the largest wins). It is fitted on the questions and candidates of two thirds
of the clusters (paragraphs) and tested on the others. LAReQA (Roy et al. 2020, section 5.4) does this for
English and Chinese; here it is done for all pairs of languages, and for all languages together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.evaluation.multilingual_pool.space import (
    FEWEST_CLUSTERS,
    MOST_LANGUAGES,
    Moments,
    SpaceStatistics,
    upper_scatter,
)
from xlingual.evaluation.multilingual_pool.views import View
from xlingual.ranking import one_library_thread
from xlingual.results import Interval
from xlingual.stats import mean_interval

RIDGE = 1e-5  # penalty on squared weights, as a share of the mean eigenvalue of the scatter matrix
ALL = "all"  # the key of the model of all languages
_NO_VARIANCE = 1e-12  # per vector: less is what float32 leaves of equal unit vectors


@dataclass(frozen=True)
class LanguageIdentification:
    """Shares of held-out vectors whose language is found, by "all" or by pair ("ar-de").

    Where a language has a hyphen, pairs are "ar:zh-Hant": "aa-bb-cc" could be two of them.
    `chance` is the share of the commonest language among the held-out vectors. Where a number cannot be given
    its key is absent from `accuracy`, `chance` and `ci`, and `notes` says why; the key "pairs" stands for all
    pairs. A vector for which several languages are equally likely counts as found in part.
    """

    accuracy: dict[str, float]
    chance: dict[str, float]
    ci: dict[str, Interval]
    notes: dict[str, str]
    n_train: int
    n_held_out: int
    dimensions: int  # fewer than the vectors have where they were projected

    def view(self) -> View:
        """Return the record that an entry keeps."""
        notes = {"language_id_notes": self.notes} if self.notes else {}
        shown = {"language_id_accuracy": self.accuracy, "language_id_chance": self.chance, **notes}
        return View(shown, {"language_id_accuracy": dict(self.ci)})


@dataclass(frozen=True, eq=False)
class _Model:
    """Scores x·weights + intercept, for coordinates x: weights [k, c], intercept [c]."""

    weights: Floats
    intercept: Floats


def language_identification(space: SpaceStatistics) -> LanguageIdentification:
    """Fit and test the models of all pairs of languages and of all languages; intervals by cluster.

    The sums of the training part give every model in closed form; one more pass over the held-out vectors
    tests all of them.

    Raises:
        ValueError: vectors hold NaN or infinity.

    """
    if few := _too_few(space):
        return LanguageIdentification({}, {}, {}, {ALL: few}, space.everything.n, 0, space.frame.kept)
    with one_library_thread():
        return _identified(space)


def _identified(space: SpaceStatistics) -> LanguageIdentification:
    wanted = list(combinations(range(len(space.languages)), 2)) if space.by_language else []
    trained = [pair for pair in wanted if space.sizes[list(pair)].all()]
    room = np.zeros((space.frame.kept, space.frame.kept))
    pairs = {pair: _pair_model(space, *pair, room) for pair in trained}
    found = _tested(space, _joint_model(space, room), pairs)
    accuracy, chance, ci, notes = {}, {}, {}, {}
    between = ":" if any("-" in tag for tag in space.languages) else "-"
    if not space.by_language:
        notes["pairs"] = f"left out: {len(space.languages)} languages, pairs are for at most {MOST_LANGUAGES}"
    for chosen in [None, *wanted]:
        name = ALL if chosen is None else between.join(space.languages[code] for code in chosen)
        parts = [p for p in found.get(chosen, []) if len(p[0])]
        if chosen is not None and len(parts) < 2:
            complete = [space.sizes[code] and len(found[None][code][0]) for code in chosen]
            missing = [
                space.languages[code] for code, there in zip(chosen, complete, strict=True) if not there
            ]
            notes[name] = f"no vectors of {' and '.join(missing)} in the training or the held-out part"
            continue
        values, clusters = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        accuracy[name] = float(values.mean())
        chance[name] = max(len(part[0]) for part in parts) / len(values)
        ci[name] = mean_interval(values, [clusters], bounds=(0.0, 1.0))
    held_out = sum(len(part[0]) for part in found[None])
    return LanguageIdentification(accuracy, chance, ci, notes, space.everything.n, held_out, space.frame.kept)


_Tested = list[tuple[Floats, Ints]]  # for each language: correct [n], cluster [n]


def _too_few(space: SpaceStatistics) -> str | None:
    """Return why no model can be tested, or None."""
    if space.clusters < FEWEST_CLUSTERS:
        return (
            f"too few clusters to hold out a third: {space.clusters}, at least {FEWEST_CLUSTERS} are needed"
        )
    if np.count_nonzero(space.sizes) < 2:
        return "there are training vectors of fewer than two languages"
    if not any(side.held_out.any() for side in space.sides):
        return "there are no vectors in the held-out clusters"
    return None


def _pair_model(space: SpaceStatistics, one: int, other: int, room: Floats) -> _Model:
    """Return the model whose score is positive for the first language of a pair, negative for the second."""
    first, second = space.by_language[one], space.by_language[other]
    n, total = first.n + second.n, first.total + second.total
    target = (first.n - second.n) / n
    right = first.total - second.total - total * target
    weights = _ridge([first, second], right[:, None], space.frame.dim, room)
    return _Model(weights, target - total / n @ weights)


def _joint_model(space: SpaceStatistics, room: Floats) -> _Model:
    """Return the model of all languages, one score for each."""
    shares = space.sizes / space.everything.n
    right = space.sums.T - np.outer(space.everything.total, shares)
    weights = _ridge([space.everything], right, space.frame.dim, room)
    return _Model(weights, shares - space.everything.mean @ weights)


def _ridge(parts: Sequence[Moments], right: Floats, dim: int, room: Floats) -> Floats:
    """Solve (scatter + penalty) w = right, [k, c], by Cholesky; zero where the vectors do not vary.

    The scatter is that of all parts, made in `room` [k, k]. The penalty is RIDGE times the mean eigenvalue
    (trace/d). Rounding of float32 products stays far below it (about 1e-7 of the mean eigenvalue for vectors
    spread evenly); should it not, the penalty grows tenfold.
    """
    from scipy.linalg.lapack import dpotrf, dpotrs

    scatter = upper_scatter(parts, room)
    trace = float(np.trace(scatter))
    if not np.isfinite(trace):
        raise ValueError("vectors hold NaN or infinity")
    if trace <= _NO_VARIANCE * sum(part.n for part in parts):
        return np.zeros_like(right)
    penalty = RIDGE * trace / dim
    while True:
        scatter.flat[:: len(scatter) + 1] += penalty
        # in place: what is above the diagonal is below it in the transpose, which is only another layout
        factor, failed = dpotrf(scatter.T, lower=1, clean=0, overwrite_a=1)
        if not failed:
            break
        scatter, penalty = upper_scatter(parts, room), penalty * 10
    return np.asarray(dpotrs(factor, right, lower=1)[0])


def _tested(
    space: SpaceStatistics, joint: _Model, pairs: dict[tuple[int, int], _Model]
) -> dict[tuple[int, int] | None, _Tested]:
    """Return the hits of each model (None: the joint one) on held-out vectors, language by language.

    One product for each language: its vectors with the weights of all models that know it.
    """
    found: dict[tuple[int, int] | None, _Tested] = {None: [], **{pair: [] for pair in pairs}}
    for code in range(len(space.languages)):
        own = [pair for pair in pairs if code in pair]
        sign = np.array([1.0 if pair[0] == code else -1.0 for pair in own])
        models = [joint, *(pairs[pair] for pair in own)]
        weights = np.concatenate([model.weights for model in models], axis=1)
        intercept = np.concatenate([model.intercept for model in models])
        every, each, clusters = [np.zeros(0)], [np.zeros((0, len(own)))], [np.zeros(0, dtype=np.int64)]
        for block, _, cluster in space.blocks(code, held_out=True):
            scores = block.astype(np.float64) @ weights + intercept
            every.append(_largest(scores[:, : len(space.languages)], code))
            each.append((np.sign(scores[:, len(space.languages) :] * sign) + 1) / 2)
            clusters.append(cluster)
        cluster = np.concatenate(clusters)
        found[None].append((np.concatenate(every), cluster))
        for pair, values in zip(own, np.concatenate(each).T, strict=True):
            found[pair].append((values, cluster))
    return found


def _largest(scores: Floats, code: int) -> Floats:
    """Return 1 where column `code` of scores [n, L] is the largest, its share where several are, else 0."""
    best = scores == scores.max(axis=1, keepdims=True)
    return np.asarray(best[:, code] / best.sum(axis=1))
