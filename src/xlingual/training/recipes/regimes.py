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


class Regime:
    """An endless row of batches: passes over the data, each in an order of its own.

    A subclass says which batches a pass has, and which pairs of texts belong to a batch.
    """

    batches_of_a_pass: int

    def __init__(self, data: ParallelQuestions, batch: int, seed: int) -> None:
        self.data, self.size, self.seed = data, batch, seed
        self.order = lru_cache(maxsize=1)(self.batches_of)

    def batches_of(self, number: int) -> list[Ints]:
        """Return the rows of every batch of a pass."""
        raise NotImplementedError

    def pairs(self, rows: Ints, where: str) -> PairBatch:
        """Return the pairs of rows; `where` names pass and batch."""
        raise NotImplementedError

    def batch(self, number: int) -> PairBatch:
        """Return a batch by its number, from 0 on."""
        number_of_pass, place = divmod(number, self.batches_of_a_pass)
        return self.pairs(self.order(number_of_pass)[place], f"pass {number_of_pass}, batch {place}")

    def answered(
        self, question: Ints, asked_in: Ints, answered_in: Ints, draws: np.random.Generator
    ) -> PairBatch:
        """Return the pairs of questions in these languages, one of the answers drawn for each."""
        data = self.data
        place = question * len(data.languages) + answered_in
        which = data.first[place] + draws.integers(np.diff(data.first)[place])
        return PairBatch(question, data.asked[question, asked_in], data.answered[which])


class SameLanguage(Regime):
    """Every question with one of its answers in its own language, once in each language in a pass.

    `mono`: each batch is of one language. Of several answers one is drawn anew for every pass. What is left
    over for a last batch (`mono`: of a language) is a smaller one; a single pair is left out of the pass.
    """

    def __init__(
        self, data: ParallelQuestions, batch: int, seed: int, *, mono: bool, language: int | None = None
    ) -> None:
        super().__init__(data, batch, seed)
        self.mono = mono
        both = (data.asked >= 0) & (data.answer_counts > 0)
        if language is not None:
            both &= np.arange(len(data.languages)) == language
        self.question, self.language = np.nonzero(both)
        sizes = np.bincount(self.language) if mono else np.array([len(self.question)])
        self.batches_of_a_pass = sum(batches_in(size, batch) for size in sizes.tolist())
        if not self.batches_of_a_pass:
            raise InputError(
                f"{data.source}: {len(self.question)} questions have an answer in their own language "
                f"({listed(data.languages)}): two of one language are needed: choose other languages, or "
                "regime x-y"
            )

    def batches_of(self, number: int) -> list[Ints]:
        """Return the rows of every batch of a pass."""
        draws = stream(self.seed, f"order of pass {number}")
        order = draws.permutation(len(self.question))
        parts = [order]
        if self.mono:
            parts = [order[self.language[order] == code] for code in np.unique(self.language)]
        batches = [
            part[start : start + self.size]
            for part in parts
            for start in range(0, len(part), self.size)
            if len(part) - start > 1
        ]
        return [batches[i] for i in draws.permutation(len(batches))] if self.mono else batches

    def pairs(self, rows: Ints, where: str) -> PairBatch:
        """Return the questions of rows with an answer in the same language."""
        language = self.language[rows]
        return self.answered(
            self.question[rows], language, language, stream(self.seed, f"answers of {where}")
        )


class CrossLanguage(Regime):
    """Questions and answers whose languages are drawn independently and uniformly.

    A pass has each question as often as it is asked in languages, so that it is as long as one of `x-x`. The
    language in which it is asked, that of the answer, and the answer are drawn each time from the available
    ones.
    """

    def __init__(self, data: ParallelQuestions, batch: int, seed: int) -> None:
        super().__init__(data, batch, seed)
        self.question = np.repeat(np.arange(len(data)), (data.asked >= 0).sum(axis=1))
        self.batches_of_a_pass = batches_in(len(self.question), batch)

    def batches_of(self, number: int) -> list[Ints]:
        """Return the questions of every batch of a pass."""
        order = stream(self.seed, f"order of crossed pass {number}").permutation(self.question)
        return [order[start : start + self.size] for start in range(0, len(order), self.size)]

    def pairs(self, rows: Ints, where: str) -> PairBatch:
        """Return the questions, each asked and answered in a language of its own draw."""
        draws = stream(self.seed, f"languages of {where}")
        asked_in = _chosen(self.data.asked[rows] >= 0, draws)
        return self.answered(rows, asked_in, _chosen(self.data.answer_counts[rows] > 0, draws), draws)


class Alternating(Regime):
    """Batches of several regimes in turn; each goes on where it stopped."""

    def __init__(self, *regimes: Regime) -> None:
        self.regimes = regimes
        self.batches_of_a_pass = sum(regime.batches_of_a_pass for regime in regimes)

    def batch(self, number: int) -> PairBatch:
        """Return a batch by its number, from 0 on."""
        index, which = divmod(number, len(self.regimes))
        return self.regimes[which].batch(index)


def _chosen(available: np.ndarray, draws: np.random.Generator) -> Ints:
    """Return a column [b] for each row of bool [b, L], uniformly among those that are true."""
    which = draws.integers(available.sum(axis=1))
    columns: Ints = np.argmax(np.cumsum(available, axis=1) > which[:, None], axis=1)
    return columns


def make_regime(name: str, data: ParallelQuestions, batch: int, seed: int, english: str = "en") -> Regime:
    """Return the regime of a name; raise InputError where the data does not have what it needs."""
    if name not in REGIMES:
        raise InputError(
            f"regime {name!r} is unknown.{did_you_mean(name, REGIMES)} Choose one of {listed(REGIMES)}"
        )
    if batch < 2:
        raise InputError(f"batch must be 2 or more: found {batch}; a pair needs another one as its negative")
    if len(data) < 2:
        raise InputError(f"{data.source}: a single question is not enough to train on: every answer is right")
    used = np.flatnonzero((data.asked >= 0).any(axis=0) | (data.answer_counts > 0).any(axis=0)).tolist()
    if name in {"x-y", "hybrid"} and len(used) < 2:
        raise InputError(
            f"{data.source}: regime {name} draws languages, and there is only "
            f"{listed([data.languages[code] for code in used])}: choose more languages, or another regime"
        )
    if name == "en-en" and english not in data.languages:
        raise InputError(
            f"{data.source}: regime en-en trains on {english!r}, and there is only {listed(data.languages)}: "
            "give one of these with --language"
        )
    if name == "x-y":
        return CrossLanguage(data, batch, seed)
    if name == "hybrid":
        return Alternating(SameLanguage(data, batch, seed, mono=True), CrossLanguage(data, batch, seed))
    language = data.languages.index(english) if name == "en-en" else None
    return SameLanguage(data, batch, seed, mono=name != "x-x", language=language)
