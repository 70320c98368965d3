"""N-best lists as arrays, for every part of re-ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError

_ROUNDING = 1e-12  # of a feature's size: less than that is no spread


@dataclass(frozen=True)
class NBestLists:
    """The n-best lists of s sentences: n hypotheses in all, with f features each.

    The hypotheses of sentence i are those at `offsets[i]:offsets[i + 1]`, in the order of the file; every
    list has at least one. `groups` are the labels of the features with the number of values each label has.
    """

    hypotheses: Sequence[str]  # n
    features: Floats  # [n, f]
    scores: Floats  # [n]: the decoder's own
    offsets: Ints  # [s + 1]
    groups: tuple[tuple[str, int], ...]
    extra: Sequence[tuple[str, ...]] = ()  # n, or none at all: the fields after the score, as they stand

    def __len__(self) -> int:
        """Return the number of lists."""
        return len(self.offsets) - 1

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the f features: the label, with [i] where it has several values.

        >>> NBestLists((), np.zeros((0, 3)), np.zeros(0), np.zeros(1, int), (("lm", 1), ("tm", 2))).names
        ('lm', 'tm[0]', 'tm[1]')
        """
        return tuple(
            label if count == 1 else f"{label}[{i}]" for label, count in self.groups for i in range(count)
        )

    @property
    def sizes(self) -> Ints:
        """The number of hypotheses of each list, [s]."""
        return np.diff(self.offsets)

    @cached_property
    def sentence(self) -> Ints:
        """The sentence of each hypothesis, [n]."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @cached_property
    def spread(self) -> Floats:
        """The standard deviation of each feature within its list, [f]; 0 where it never differs.

        Deviations are taken from the mean of the hypothesis' own list, and put together over all lists: what
        sentences differ in, such as their length, moves no hypothesis above another of its list.
        """
        sums = np.add.reduceat(self.features, self.offsets[:-1], axis=0)
        deviations = self.features - (sums / self.sizes[:, None])[self.sentence]
        most = np.abs(deviations).max(axis=0, initial=0.0)
        unit = np.where(most > 0, most, 1.0)  # so that squares of large values stay finite
        spread: Floats = unit * np.sqrt(((deviations / unit) ** 2).mean(axis=0))
        spread[spread <= _ROUNDING * np.abs(self.features).max(axis=0, initial=0.0)] = 0.0
        return spread

    def scale(self, standardize: bool) -> Floats:
        """Return what features are divided by before tuning, [f]: their spread, or 1."""
        if not standardize:
            return np.ones(self.features.shape[1])
        return np.where(self.spread > 0, self.spread, 1.0)

    def with_features(self, columns: dict[str, Floats]) -> NBestLists:
        """Return the lists with further features, each a label and values [n].

        Raises InputError where a label is there already, holds a blank or a bar, or has values that are not
        finite.
        """
        check_new_labels(list(columns), [label for label, _ in self.groups])
        for label, values in columns.items():
            if values.shape != (len(self.hypotheses),) or not np.isfinite(values).all():
                raise InputError(
                    f"feature {label!r} must have one finite value for each of {len(self.hypotheses):,} "
                    f"hypotheses: found {values.shape}, {int((~np.isfinite(values)).sum()):,} not finite"
                )
        added = [np.asarray(values, dtype=np.float64)[:, None] for values in columns.values()]
        return replace(
            self,
            features=np.hstack([self.features, *added]),
            groups=(*self.groups, *((label, 1) for label in columns)),
        )

    def take(self, sentences: Ints) -> NBestLists:
        """Return the lists of some of the sentences, in the order given."""
        rows = self.rows_of(sentences)
        return replace(
            self,
            hypotheses=[self.hypotheses[row] for row in rows],
            features=self.features[rows],
            scores=self.scores[rows],
            offsets=np.concatenate([[0], np.cumsum(self.sizes[sentences])]),
            extra=[self.extra[row] for row in rows] if self.extra else (),
        )

    def rows_of(self, sentences: Ints) -> Ints:
        """Return the rows of all hypotheses of some sentences."""
        sizes = self.sizes[sentences]
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        rows: Ints = np.repeat(self.offsets[sentences], sizes) + within
        return rows

    def keep_features(self, names: Sequence[str]) -> NBestLists:
        """Return the lists with some of the features only, as labels of one value each."""
        columns = [self.names.index(name) for name in names]
        return replace(self, features=self.features[:, columns], groups=tuple((name, 1) for name in names))


def check_new_labels(labels: Sequence[str], present: Sequence[str]) -> None:
    """Raise InputError where features of these labels cannot be added to those that are there."""
    for number, label in enumerate(labels):
        if label in present:
            raise InputError(f"the n-best list has a feature {label!r} already: choose another name")
        if label in labels[:number]:
            raise InputError(f"two features are named {label!r}: give one of them another name")
        if not label or any(c.isspace() or c == "|" for c in label) or label[-1] in "=:":
            raise InputError(
                f"a feature cannot be named {label!r}: use letters, digits and _ . -, no blanks or bars, "
                "and no '=' or ':' at the end"
            )
