"""The search: every transform is fitted once, what they share is counted once, a callback judges each.

First transforms are judged with plain cosines; then corrections of hubs on top of the best of them. What is
best by the callback's number is chosen, and nothing is tested here: that needs data which no choice has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xlingual.arrays import Floats
from xlingual.errors import InputError
from xlingual.repair.candidates import Step
from xlingual.transforms.affine import Affine
from xlingual.transforms.moments import FitData

PLAIN = "none"  # the encoder as it is
COSINE = "cosine"


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
