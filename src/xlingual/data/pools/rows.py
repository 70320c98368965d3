"""A multilingual pool: questions, candidates, and which candidates are relevant to a question."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.records import Numbering, Texts

EqualIds: TypeAlias = Literal["same", "different"]  # what questions of equal ids in several languages are

CANDIDATE_TEXTS = ("sentence", "sentence+context")


@dataclass(frozen=True, eq=False, repr=False)
class _Part:
    """Columns that questions and candidates share, n rows."""

    ids: list[str]  # [n], unique within a language
    language: Ints  # [n], index into the pool's languages
    text: list[str]  # [n]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, eq=False, repr=False)
class Questions(_Part):
    """n questions. Equal ids in several languages are one question, asked in each of them."""

    key: list[str]  # [n]: the candidates that carry this key are relevant
    cluster: Ints  # [n], from 0: questions that are not independent (of a paragraph, in all its languages)
    article: Ints | None = None  # [n], a coarser cluster, for a sensitivity check
    split: list[str] | None = None  # [n]
    labels: Mapping[str, list[str | None]] = field(default_factory=dict)  # further columns that divide them
    numbers: Mapping[str, Floats] = field(default_factory=dict)  # further columns of numbers, NaN: not known


@dataclass(frozen=True, eq=False, repr=False)
class Candidates(_Part):
    """m candidates, identified by their position, never by their text, which is a sentence."""

    context: list[str]  # [m], what surrounds it; "" where there is nothing
    keys: list[tuple[str, ...]]  # [m], may be empty
    cluster: Ints  # [m], in the numbers of the questions' clusters, and beyond them where no question is
    split: list[str] | None = None  # [m]
    grades: list[tuple[int, ...]] | None = None  # [m], of how relevant it is, one for each of its keys
    irrelevant: list[tuple[str, ...]] | None = None  # [m], further keys: of what it was judged irrelevant to


@dataclass(frozen=True, eq=False, repr=False)
class PoolRows:
    """Questions and candidates of several languages.

    `languages` are those of the candidates, then those that only questions have; where languages were chosen,
    they are in the order of the choice. `numberings` say how files of vectors may number the rows, as in a
    manifest; `warnings` are what in the source deserved a look, one sentence each (they were raised as
    DataWarning when it was read).
    """

    source: str  # the file or folder, for messages
    languages: tuple[str, ...]
    questions: Questions
    candidates: Candidates
    question_numberings: tuple[Numbering, ...]
    candidate_numberings: tuple[Numbering, ...]
    warnings: tuple[str, ...] = field(default=())

    @cached_property
    def relevant(self) -> tuple[Ints, Ints]:
        """(question, candidate), each int64 [p]: all pairs that share a key, by question, then candidate."""
        return self._sharing(self.candidates.keys)

    def _sharing(self, keys_of: Sequence[tuple[str, ...]]) -> tuple[Ints, Ints]:
        """Return (question, candidate) of all pairs that share a key; `keys_of` each candidate [m]."""
        holders: dict[str, list[int]] = {}
        for candidate, keys in enumerate(keys_of):
            for key in dict.fromkeys(keys):
                holders.setdefault(key, []).append(candidate)
        found = [holders.get(key, []) for key in self.questions.key]
        question = np.repeat(np.arange(len(found)), [len(own) for own in found])
        return question.astype(np.int64), np.array([c for own in found for c in own], dtype=np.int64)

    @cached_property
    def grades(self) -> Ints:
        """The grade of each pair of `relevant`, int64 [p]; 1 where candidates have none."""
        if self.candidates.grades is None:
            return np.ones(len(self.relevant[0]), dtype=np.int64)
        held = [
            dict(zip(keys, own, strict=True))
            for keys, own in zip(self.candidates.keys, self.candidates.grades, strict=True)
        ]
        pairs = zip(*(side.tolist() for side in self.relevant), strict=True)
        return np.array([held[c][self.questions.key[q]] for q, c in pairs], dtype=np.int64)

    @cached_property
    def judged(self) -> tuple[Ints, Ints, Ints]:
        """(question, candidate, grade), each int64 [p]: all judged pairs, by question, then candidate.

        The grade of a pair that was judged irrelevant is 0.
        """
        question, candidate = self.relevant
        if self.candidates.irrelevant is None:
            return question, candidate, self.grades
        wrong = self._sharing(self.candidates.irrelevant)
        sides = [np.concatenate(both) for both in zip((question, candidate), wrong, strict=True)]
        grades = np.concatenate([self.grades, np.zeros(len(wrong[0]), dtype=np.int64)])
        order = np.lexsort((sides[1], sides[0]))
        return sides[0][order], sides[1][order], grades[order]

    @property
    def role_languages(self) -> dict[str, list[str]]:
        """The languages of the questions (role "query") and of the candidates ("candidate"), in order."""
        roles = {"query": self.questions.language, "candidate": self.candidates.language}
        return {role: [self.languages[code] for code in np.unique(of)] for role, of in roles.items()}

    @cached_property
    def digest(self) -> str:
        """Hex hash of everything that an evaluation of this pool depends on."""
        hasher = hashlib.blake2b(b"xlingual/pool/1", digest_size=16)
        q, c = self.questions, self.candidates
        question_tags, candidate_tags = ([self.languages[code] for code in part.language] for part in (q, c))
        keys = ["\x00".join(own) for own in c.keys]
        for column in (question_tags, q.ids, q.text, q.key, candidate_tags, c.ids, c.text, c.context, keys):
            raw = [value.encode("utf-8", "surrogatepass") for value in column]
            hasher.update(np.array([len(raw), *map(len, raw)], dtype="<i8").tobytes() + b"".join(raw))
        hasher.update(np.array([*q.cluster, -1, *c.cluster], dtype="<i8").tobytes())
        return hasher.hexdigest()

    def question_texts(self) -> Texts:
        """Return the questions as encoders take them, with the role "query"."""
        q = self.questions
        return Texts(
            text=q.text,
            language=[self.languages[code] for code in q.language],
            ids=q.ids,
            role="query",
            items=q.key,
            numberings=self.question_numberings,
        )

    def candidate_texts(self, candidate_text: str = "sentence") -> Texts:
        """Return the candidates as encoders take them, with the role "candidate".

        With "sentence+context" each text is the sentence followed by its context.
        """
        c = self.candidates
        text = c.text
        if candidate_text == "sentence+context":
            text = [f"{s} {context}".rstrip() for s, context in zip(c.text, c.context, strict=True)]
        return Texts(
            text=text,
            language=[self.languages[code] for code in c.language],
            ids=c.ids,
            role="candidate",
            context=c.context,
            numberings=self.candidate_numberings,
        )

    def fit_texts(self) -> Texts:
        """Return candidates and questions as one batch, in which rows of equal cluster are one item.

        Ids and texts are those that are evaluated, so that an encoder fitted on evaluated rows is detected.
        """
        candidates, questions = self.candidate_texts(), self.question_texts()
        return Texts(
            text=[*candidates.text, *questions.text],
            language=[*candidates.language, *questions.language],
            ids=[*candidates.ids, *questions.ids],
            items=[
                str(number) for part in (self.candidates, self.questions) for number in part.cluster.tolist()
            ],
        )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.source}: {len(self.questions)} questions, {len(self.candidates)} "
            f"candidates, {', '.join(self.languages)})"
        )
