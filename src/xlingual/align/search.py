"""Fitting many transforms on some vectors, and choosing among them by what a callback says of each.

Every transform is fitted once, and what they share is counted once. First they are judged with plain
cosines; then corrections of hubs on top of the best of them. The best by the callback's number is chosen, and
nothing is tested here: that needs data which no choice has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from xlingual.arrays import Floats
from xlingual.errors import InputError
from xlingual.transforms import methods, paired
from xlingual.transforms.affine import Affine
from xlingual.transforms.moments import FitData

PLAIN = "none"  # the encoder as it is
COSINE = "cosine"
Fit: TypeAlias = "Callable[[FitData], Affine]"


@dataclass(frozen=True)
class Step:
    """A transform: how its spec is written, without fit=, and what fits it."""

    spec: str
    fit: Fit


CORRECTIONS = (  # of hubs, by the questions that transforms are fitted on
    *(f"csls?k={k}" for k in (5, 10, 20)),
    *(f"inverted-softmax?beta={beta}" for beta in (5, 10, 20, 50)),
)


def steps(dim: int, n_languages: int, *, translations: bool) -> list[tuple[Step, ...]]:
    """Return the transforms to try, each as steps in the order in which they are applied.

    `dim` is that of the vectors; those that need `translations` are left out where there are none.
    """
    found: list[tuple[Step, ...]] = [(step,) for step in _single(dim, n_languages)]
    after = [Step("centre:", methods.centre)]
    found += [(*after, step) for step in _after_centring(dim)]
    if translations:
        found.append((Step("delta:", paired.deltas),))
        alone = list(_of_translations(dim))
        found += [(step,) for step in alone]
        found += [(*after, step) for step in alone]
    return found


def _single(dim: int, n_languages: int) -> Iterator[Step]:
    yield Step("centre:", methods.centre)
    yield Step("centre:?by=all", partial(methods.centre, by="all"))
    yield Step("standardize:", methods.standardize)
    yield Step("standardize:?by=all", partial(methods.standardize, by="all"))
    yield Step("whiten:", methods.whiten)
    for shrink in (0.05, 0.2, 0.5, 0.8):
        yield Step(f"whiten:?shrink={shrink:g}", partial(methods.whiten, shrink=shrink))
    yield Step("whiten:?by=all", partial(methods.whiten, by="all"))
    yield Step("whiten:?by=all&shrink=0.5", partial(methods.whiten, by="all", shrink=0.5))
    for k in _ranks(dim, 1, 2, 5, round(dim / 100), round(dim / 30)):
        yield Step(f"all-but-the-top:{k}", partial(methods.all_but_the_top, k=k))
    for k in _ranks(dim, 1, 2, 3, 5, 10, 20):
        yield Step(f"lir:{k}", partial(methods.lir, k=k))
    for r in _ranks(n_languages, *range(1, min(n_languages, 7))):
        yield Step(f"lsar:{r}", partial(methods.lsar, r=r))
    for d in _ranks(dim, dim // 2, dim // 4):
        yield Step(f"pca:{d}", partial(methods.pca, d=d))


def _after_centring(dim: int) -> Iterator[Step]:
    """Yield what may help where languages lie together already."""
    yield Step("whiten:?by=all", partial(methods.whiten, by="all"))
    yield Step("whiten:?by=all&shrink=0.5", partial(methods.whiten, by="all", shrink=0.5))
    for k in _ranks(dim, 1, 2, 5):
        yield Step(f"all-but-the-top:{k}", partial(methods.all_but_the_top, k=k))
    for d in _ranks(dim, dim // 2, dim // 4):
        yield Step(f"pca:{d}", partial(methods.pca, d=d))


def _of_translations(dim: int) -> Iterator[Step]:
    yield Step("procrustes:", paired.procrustes)
    yield Step("ridge:", paired.ridge)
    for k in _ranks(dim, dim // 2, dim // 4):
        yield Step(f"cca:{k}", partial(paired.cca, k=k))


def _ranks(below: int, *ranks: int) -> Sequence[int]:
    """Return the ranks from 1 to below a limit, each once, in order."""
    return [rank for rank in dict.fromkeys(ranks) if 1 <= rank < below]


@dataclass(frozen=True)
class Judged:
    """What a callback says of a transform: the number to be as high as possible, and it by query [n]."""

    value: float
    values: Floats = field(repr=False)


@dataclass(frozen=True)
class Tried:
    """A transform and a similarity, and how they were judged."""

    spec: str  # of the steps, the last first: "whiten:::centre:"; PLAIN for none
    similarity: str
    judged: Judged
    map: Affine | None = field(repr=False, default=None)


@dataclass(frozen=True)
class NotFitted:
    """A transform that these data do not allow, and why."""

    spec: str
    why: str


@dataclass(frozen=True)
class Search:
    """All that was tried, the best first, and what could not be fitted."""

    tried: tuple[Tried, ...]
    left_out: tuple[NotFitted, ...]

    @property
    def chosen(self) -> Tried:
        """The best; of equal ones the first that was tried."""
        return self.tried[0]

    @property
    def plain(self) -> Tried:
        """The encoder as it is, compared by cosine."""
        return next(one for one in self.tried if one.spec == PLAIN and one.similarity == COSINE)


def search(
    data: FitData,
    judge: Callable[[Affine | None, str], Judged],
    candidates: Sequence[tuple[Step, ...]],
    *,
    similarities: Sequence[str] = (),
    corrected: int = 3,
    progress: Callable[[int, int], None] | None = None,
) -> Search:
    """Fit all transforms on `data` and return how `judge(map, similarity)` finds each.

    `candidates` are the steps of each, such as `candidates.steps`; steps that are fitted on more than
    vectors, languages and items hold it themselves. The encoder as it is comes first. `similarities` are
    tried on the `corrected` best transforms, and on none. Maps are rounded to float32, as they are written,
    before they are judged.
    """
    wanted: list[tuple[Step, ...]] = [(), *candidates]
    total = len(wanted) + len(similarities) * (corrected + 1)
    fits = _Fits(data)
    tried: list[Tried] = []
    left_out: list[NotFitted] = []
    for each in wanted:
        spec = "::".join(step.spec for step in reversed(each)) or PLAIN
        try:
            map = fits.of(each)
        except InputError as error:
            left_out.append(NotFitted(spec, str(error)))
        else:
            tried.append(Tried(spec, COSINE, judge(map, COSINE), map))
        _report(progress, len(tried) + len(left_out), total)
    best = _best_first(tried)[:corrected]
    best += [one for one in tried if one.spec == PLAIN and one not in best]
    for one in best:
        for similarity in similarities:
            tried.append(Tried(one.spec, similarity, judge(one.map, similarity), one.map))
            _report(progress, len(tried) + len(left_out), total)
    _report(progress, total, total)
    return Search(tuple(_best_first(tried)), tuple(left_out))


class _Fits:
    """Maps of steps, each fitted behind those before it; what steps have in common is fitted once."""

    def __init__(self, data: FitData) -> None:
        self._behind: dict[tuple[str, ...], tuple[Affine | None, FitData]] = {(): (None, data)}

    def of(self, steps: Sequence[Step]) -> Affine | None:
        """Return the map of several steps, as it is written; None for none."""
        map = self._fitted(tuple(steps), last=True)[0]
        return None if map is None else map.rounded()

    def _fitted(self, steps: tuple[Step, ...], *, last: bool = False) -> tuple[Affine | None, FitData]:
        key = tuple(step.spec for step in steps)
        if key not in self._behind:
            before, data = self._fitted(steps[:-1])
            own = steps[-1].fit(data)
            whole = own if before is None else before.then(own)
            if last:
                return whole, data  # nothing is fitted behind it
            self._behind[key] = whole, data.through(own)
        return self._behind[key]


def fitted(data: FitData, several: Sequence[Step]) -> Affine | None:
    """Return the map of several steps, each fitted behind those before it; None for none."""
    return _Fits(data).of(several)


def _best_first(tried: Sequence[Tried]) -> list[Tried]:
    return sorted(tried, key=lambda one: -one.judged.value)


def _report(progress: Callable[[int, int], None] | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
