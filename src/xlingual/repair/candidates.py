"""Which transforms are tried: the methods, their ranks, and two in a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from xlingual.transforms import methods, paired
from xlingual.transforms.affine import Affine
from xlingual.transforms.moments import FitData

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
