"""One row of a leaderboard, with its numbers as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from xlingual.report import numbers, words
from xlingual.results import Approximation, Behind, Interval, Summary

Standing: TypeAlias = Literal["leader", "level", "behind", "unknown"]
Side: TypeAlias = Literal["above", "at", "below"]  # better than chance, at it, worse
System: TypeAlias = tuple[int, str, str | None]  # run, encoder, image encoder: what a row is about


@dataclass(frozen=True)
class Row:
    """One encoder in the leaderboard of one task and measure.

    `standing` is about the leader of the same run: "level" where the interval of the paired difference
    contains zero, "behind" where it does not, "unknown" where there is no such interval.
    """

    rank: int | None  # None where there is no value
    label: str  # the encoder, with its run or image encoder where the name alone would be ambiguous
    run: int  # 1-based place of its Results
    encoder: str
    image_encoder: str | None
    measure: str
    value: float | None
    ci: Interval | None
    chance: float | None
    oracle: float | None
    ceiling: float | None
    normalized: float | None
    behind: Behind | None  # positive where worse, also for measures where lower is better
    standing: Standing
    n_pairs: int
    n_seeds: int
    sd_seeds: float | None
    n_queries: int
    n_tied: int | None
    note: str | None
    approximation: Approximation | None = None
    ci_simultaneous: Interval | None = None

    @property
    def error(self) -> float | None:
        """How far the value may be off, None where it is exact."""
        return None if self.approximation is None else self.approximation.error

    @property
    def oracle_error(self) -> float | None:
        """How far the oracle may be off."""
        return None if self.approximation is None else self.approximation.oracle_error

    @property
    def system(self) -> System:
        """What the row is about."""
        return (self.run, self.encoder, self.image_encoder)

    @property
    def side_of_chance(self) -> Side | None:
        """On which side of what an encoder that knows nothing would score the whole interval lies.

        The interval is the simultaneous one, which allows for the number of encoders and pairs looked at.
        """
        return side_of_chance(self.ci_simultaneous or self.ci, self.chance, self.measure)

    @property
    def at_chance(self) -> bool:
        """Whether the interval contains chance."""
        return self.side_of_chance == "at"

    @property
    def looks_off_chance(self) -> bool:
        """Whether only the number of encoders and pairs looked at makes the value one at chance."""
        return self.at_chance and side_of_chance(self.ci, self.chance, self.measure) != "at"

    @property
    def rank_text(self) -> str:
        """The rank, or "–"."""
        return numbers.MISSING if self.rank is None else str(self.rank)

    @property
    def value_text(self) -> str:
        """The value, or "–"."""
        return numbers.number(self.value, self.measure, error=self.error, ci=self.ci)

    @property
    def interval_text(self) -> str:
        """The interval, or ""."""
        return numbers.interval(self.ci, self.measure, error=self.error)

    @property
    def behind_text(self) -> str:
        """How far behind the leader, with its interval, or "–"."""
        if self.behind is None:
            return numbers.MISSING
        return numbers.difference(self.behind.value, self.behind.ci, self.measure, error=self.behind.error)

    @property
    def normalized_text(self) -> str:
        """How far on the way from chance to oracle, or "–"."""
        return numbers.percent(self.normalized, error=self.normalized_error)

    @property
    def normalized_error(self) -> float | None:
        """How far that may be off, None where it is exact."""
        if self.error is None or self.oracle is None or self.chance is None:
            return None
        room = max(abs(self.oracle - self.chance) - (self.oracle_error or 0.0), 1e-9)
        return (self.error + abs(self.normalized or 0.0) * (self.oracle_error or 0.0)) / room

    @property
    def tied_text(self) -> str:
        """How many queries were tied."""
        return numbers.MISSING if self.n_tied is None else numbers.count(self.n_tied)


def side_of_chance(ci: Interval | None, chance: float | None, measure: str) -> Side | None:
    """Return whether an interval lies on the better side of chance, contains it or lies on the worse side."""
    if ci is None or chance is None:
        return None
    if contains(ci, chance):
        return "at"
    return "above" if (ci.low > chance) != words.lower_is_better(measure) else "below"


def contains(ci: Interval, value: float) -> bool:
    """Tell whether the interval contains the value, its ends included."""
    return ci.low <= value <= ci.high


def off(summary: Summary) -> float | None:
    """Return how far the value of a mean may be off, None where it is exact."""
    return None if summary.approximation is None else summary.approximation.error
