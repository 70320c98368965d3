"""Which languages meet in a batch of questions and answers: LAReQA's regimes, by name.

================  ===============================================================================
`en-en`           questions and answers of one language only (English unless another is given)
`x-x`             every question with its answers in its own language; a batch mixes languages
`x-x-mono`        the same pairs, but each batch is of one language
`x-y`             the languages of question and answer are drawn independently of each other
`hybrid`          batches of `x-x-mono` and of `x-y` in turn
================  ===============================================================================

A regime is an endless row of batches, which passes over the data again and again in an order that is drawn
anew for every pass: a pure function of the seed. So trainings of different regimes can be given equally many
steps, whatever the number of their pairs. Numbers only: no text and no torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from xlingual.arrays import Ints
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.streams import stream
from xlingual.training.parallel import ParallelQuestions
from xlingual.training.recipes.dual_options import REGIMES
from xlingual.training.samplers import batches_in


@dataclass(frozen=True)
class PairBatch:
    """b pairs, as numbers: the parallel question, and the rows of the question's and the answer's text."""

    question: Ints  # [b]
    asked: Ints  # [b]
    answered: Ints  # [b]

    def __len__(self) -> int:
        return len(self.question)


class Regime(Protocol):
    """An endless row of batches."""

    @property
    def batches_of_a_pass(self) -> int:
        """How many batches pass once over the data."""

    def batch(self, number: int) -> PairBatch:
        """Return a batch by its number, from 0 on."""


def make_regime(name: str, data: ParallelQuestions, batch: int, seed: int, english: str = "en") -> Regime:
    """Return the regime of a name; raise InputError where the data does not have what it needs."""
    if name not in REGIMES:
        raise InputError(
            f"regime {name!r} is unknown.{did_you_mean(name, REGIMES)} Choose one of {listed(REGIMES)}"
        )
    if batch < 2:
        raise InputError(f"batch must be 2 or more: found {batch}; a pair needs another one as its negative")
    _check_enough(name, data)
    if name == "x-y":
        return CrossLanguage(data, batch, seed)
    if name == "hybrid":
        return Alternating((SameLanguage(data, batch, seed, mono=True), CrossLanguage(data, batch, seed)))
    if name == "en-en" and english not in data.languages:
        raise InputError(
            f"{data.source}: regime en-en trains on {english!r}, and there is only {listed(data.languages)}: "
            "give one of these with --language"
        )
    chosen = [data.languages.index(english)] if name == "en-en" else range(len(data.languages))
    return SameLanguage(data, batch, seed, mono=name != "x-x", languages=tuple(chosen))


def _check_enough(name: str, data: ParallelQuestions) -> None:
    """Raise InputError where there is one question, or one language although languages are drawn."""
    if len(data) < 2:
        raise InputError(f"{data.source}: a single question is not enough to train on: every answer is right")
    used = (data.asked >= 0).any(axis=0) | (data.answer_counts > 0).any(axis=0)
    used_languages = [data.languages[code] for code in np.flatnonzero(used).tolist()]
    if name in {"x-y", "hybrid"} and len(used_languages) < 2:
        raise InputError(
            f"{data.source}: regime {name} draws languages, and there is only {listed(used_languages)}: "
            "choose more languages, or another regime"
        )


class SameLanguage:
    """Every question with one of its answers in its own language, once in each language in a pass.

    `mono`: each batch is of one language. Of several answers one is drawn anew for every pass. What is left
    over for a last batch (`mono`: of a language) is a smaller one; a single pair is left out of the pass.
    """

    def __init__(
        self,
        data: ParallelQuestions,
        batch: int,
        seed: int,
        *,
        mono: bool,
        languages: tuple[int, ...] | None = None,
    ) -> None:
        self._data, self._batch, self._seed, self._mono = data, batch, seed, mono
        both = (data.asked >= 0) & (data.answer_counts > 0)
        if languages is not None:
            both &= np.isin(np.arange(len(data.languages)), languages)
        self._question, self._language = np.nonzero(both)
        self._order = lru_cache(maxsize=1)(self._pass)
        sizes = np.bincount(self._language) if mono else np.array([len(self._question)])
        self.batches_of_a_pass = sum(batches_in(size, batch) for size in sizes.tolist())
        if not self.batches_of_a_pass:
            raise InputError(
                f"{data.source}: {len(self._question)} questions have an answer in their own language "
                f"({listed(data.languages)}): two of one language are needed: choose other languages, or "
                "regime x-y"
            )

    def batch(self, number: int) -> PairBatch:
        """Return a batch by its number, from 0 on."""
        number_of_pass, place = divmod(number, self.batches_of_a_pass)
        rows = self._order(number_of_pass)[place]
        question, language = self._question[rows], self._language[rows]
        draws = stream(self._seed, f"answers of pass {number_of_pass}, batch {place}")
        return _pairs(self._data, question, language, language, draws)

    def _pass(self, number: int) -> list[Ints]:
        """Return the rows of every batch of a pass."""
        draws = stream(self._seed, f"order of pass {number}")
        order = draws.permutation(len(self._question))
        parts = [order]
        if self._mono:
            parts = [order[self._language[order] == code] for code in np.unique(self._language)]
        found = [
            part[start : start + self._batch]
            for part in parts
            for start in range(0, len(part), self._batch)
            if len(part) - start > 1
        ]
        return [found[i] for i in draws.permutation(len(found))] if self._mono else found


class CrossLanguage:
    """Questions and answers whose languages are drawn independently and uniformly.

    A pass has each question as often as it is asked in languages, so that it is as long as one of `x-x`. The
    language in which it is asked, that of the answer, and the answer are drawn each time from the available
    ones.
    """

    def __init__(self, data: ParallelQuestions, batch: int, seed: int) -> None:
        self._data, self._batch, self._seed = data, batch, seed
        self._asked_in = (data.asked >= 0).sum(axis=1)
        self._question = np.repeat(np.arange(len(data)), self._asked_in)
        self._order = lru_cache(maxsize=1)(self._pass)
        self.batches_of_a_pass = batches_in(len(self._question), batch)
        if not self.batches_of_a_pass:
            raise InputError(f"{data.source}: a single question is not enough to train on")

    def batch(self, number: int) -> PairBatch:
        """Return a batch by its number, from 0 on."""
        number_of_pass, place = divmod(number, self.batches_of_a_pass)
        question = self._order(number_of_pass)[place * self._batch : (place + 1) * self._batch]
        draws = stream(self._seed, f"languages of pass {number_of_pass}, batch {place}")
        asked_in = _chosen(self._data.asked[question] >= 0, draws)
        answered_in = _chosen(self._data.answer_counts[question] > 0, draws)
        return _pairs(self._data, question, asked_in, answered_in, draws)

    def _pass(self, number: int) -> Ints:
        """Return the questions of a pass in order."""
        return stream(self._seed, f"order of crossed pass {number}").permutation(self._question)


@dataclass(frozen=True)
class Alternating:
    """Batches of several regimes in turn; each goes on where it stopped."""

    regimes: tuple[Regime, ...]

    @property
    def batches_of_a_pass(self) -> int:
        """How many batches all of them have in a pass, together."""
        return sum(regime.batches_of_a_pass for regime in self.regimes)

    def batch(self, number: int) -> PairBatch:
        """Return a batch by its number, from 0 on."""
        index, which = divmod(number, len(self.regimes))
        return self.regimes[which].batch(index)


def _chosen(available: np.ndarray, draws: np.random.Generator) -> Ints:
    """Return a column [b] for each row of bool [b, L], uniformly among those that are true."""
    which = draws.integers(available.sum(axis=1))
    chosen: Ints = np.argmax(np.cumsum(available, axis=1) > which[:, None], axis=1)
    return chosen


def _pairs(
    data: ParallelQuestions, question: Ints, asked_in: Ints, answered_in: Ints, draws: np.random.Generator
) -> PairBatch:
    """Return the pairs of the questions in these languages, one of the answers drawn for each."""
    place = question * len(data.languages) + answered_in
    which = data.first[place] + draws.integers(np.diff(data.first)[place])
    return PairBatch(question, data.asked[question, asked_in], data.answered[which])
