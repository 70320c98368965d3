"""Parallel questions and answers: the same question in several languages, and its answers in each."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.near_texts import families
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.rows import numbered
from xlingual.errors import InputError
from xlingual.records import Texts
from xlingual.streams import stream


@dataclass(frozen=True, eq=False, repr=False)
class ParallelQuestions:
    """n questions, each asked and answered in some of L languages.

    Question i is row `asked[i, x]` of `questions` in language x, -1 where it is not asked in it. Its answers
    in language y are the rows `answered[first[i·L + y] : first[i·L + y + 1]]` of `answers`: several, or none.
    Texts that answer nothing may stand among `answers`. Questions, and answers, of one cluster are not
    independent.
    """

    source: str
    languages: tuple[str, ...]  # [L]
    ids: list[str]  # [n]
    cluster: Ints  # [n]
    questions: Texts  # role "query"
    answers: Texts  # [m], role "candidate"
    answer_cluster: Ints  # [m]
    asked: Ints  # [n, L]
    first: Ints  # [n·L + 1]
    answered: Ints  # [p]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def answer_counts(self) -> Ints:
        """How many answers each question has in each language, int64 [n, L]."""
        counts: Ints = np.diff(self.first).reshape(self.asked.shape)
        return counts

    @property
    def right(self) -> tuple[Ints, Ints]:
        """(question, answer), each int64 [p]: all pairs of n questions and m answers, in every language."""
        return np.repeat(np.arange(len(self)), self.answer_counts.sum(axis=1)), self.answered

    def digest(self) -> str:
        """Return a hash, in hex, of all that a training on these questions depends on."""
        hasher = hashlib.blake2b(b"xlingual/parallel/1", digest_size=16)
        texts = [self.languages, self.ids]
        for part in (self.questions, self.answers):
            texts += [part.text, part.language, part.context]
        for column in texts:
            raw = [text.encode("utf-8", "surrogatepass") for text in column]
            hasher.update(np.array([len(raw), *map(len, raw)], dtype="<i8").tobytes() + b"".join(raw))
        for numbers in (self.cluster, self.answer_cluster, self.asked, self.first, self.answered):
            hasher.update(numbers.astype("<i8").tobytes())
        return hasher.hexdigest()

    def take(self, rows: Ints) -> ParallelQuestions:
        """Return the chosen questions; all texts stay, with their numbers."""
        size = len(self.languages)
        places = (rows[:, None] * size + np.arange(size)).ravel()
        counts = np.diff(self.first)[places]
        each = np.repeat(self.first[places] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        return replace(
            self,
            ids=[self.ids[row] for row in rows.tolist()],
            cluster=self.cluster[rows],
            asked=self.asked[rows],
            first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            answered=self.answered[each],
        )

    def divided(self, held_out: float, seed: int) -> tuple[ParallelQuestions, ParallelQuestions]:
        """Return the questions to train on and those held out: a share of the clusters, drawn with the seed.

        Clusters with near-equal texts are one (`families`). At least one is held out and one is left;
        InputError where there are not two.
        """
        question, column = np.nonzero(self.asked >= 0)
        rows = self.asked[question, column].tolist()
        codes = [self.languages.index(tag) for tag in self.answers.language]
        family = families(
            [*(self.questions.text[row] for row in rows), *self.answers.text],
            np.concatenate([column, np.array(codes, dtype=np.int64)]),
            np.concatenate([self.cluster[question], self.answer_cluster]),
        )
        cluster = family[np.searchsorted(question, np.arange(len(self)))]
        clusters = np.unique(cluster)
        if len(clusters) < 2:
            what = "the one question is" if len(self) == 1 else f"all {len(self)} questions are"
            raise InputError(
                f"{self.source}: {what} of one paragraph (cluster), so nothing can be held out: "
                "train without validation"
            )
        count = min(max(1, round(held_out * len(clusters))), len(clusters) - 1)
        chosen = np.isin(cluster, stream(seed, "held out").permutation(clusters)[:count])
        return self.take(np.flatnonzero(~chosen)), self.take(np.flatnonzero(chosen))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source}: {len(self)} questions, {', '.join(self.languages)})"


def of_pool(pool: MultilingualPool) -> ParallelQuestions:
    """Return the questions of a pool with all their answers.

    Questions with an equal key are one question, asked in several languages; where a language has a key twice
    these are different questions, and those with an equal key and an equal id are one.
    """
    q, c = pool.questions, pool.candidates
    times = Counter(zip(q.key, q.language.tolist(), strict=True))
    twice = {key for (key, _), count in times.items() if count > 1}
    number, _ = numbered((key, own if key in twice else "") for key, own in zip(q.key, q.ids, strict=True))
    first_row = np.unique(number, return_index=True)[1]
    asked = np.full((len(first_row), len(pool.languages)), -1, dtype=np.int64)
    asked[number[::-1], q.language[::-1]] = np.arange(len(q))[::-1]
    row, candidate = pool.relevant
    pairs = np.unique(np.stack([number[row], c.language[candidate], candidate]), axis=1)
    places = pairs[0] * asked.shape[1] + pairs[1]  # by question and language
    counts = np.bincount(places, minlength=asked.size)
    return ParallelQuestions(
        source=pool.source,
        languages=pool.languages,
        ids=[q.ids[row] for row in first_row.tolist()],
        cluster=q.cluster[first_row],
        questions=pool.question_texts(),
        answers=pool.candidate_texts(),
        answer_cluster=c.cluster,
        asked=asked,
        first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        answered=pairs[2],
    )
