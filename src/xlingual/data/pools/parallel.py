"""Parallel questions and answers: the same question in several languages, and its answers in each.

They are read from a multilingual pool, or from a table in which one row is one question in all its languages:
`question_LANG` and `answer_LANG` for each language, `context_LANG` (what surrounds the answer) where there is
any; `id`; `cluster` (rows that are not independent, such as those of one paragraph; default: each row is its
own); `split`. An empty or missing text is one that a language lacks. Parquet, JSON lines, CSV or TSV.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.languages import check_tags
from xlingual.data.near_texts import families
from xlingual.data.pools.build import chosen_languages
from xlingual.data.pools.folder import is_pool, read_pool
from xlingual.data.pools.rows import EqualIds, PoolRows
from xlingual.data.rows import name_of, numbered, read_rows, require, text_of
from xlingual.errors import InputError, listed
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


def read_parallel(
    path: str | Path,
    languages: Sequence[str] | None = None,
    split: str | None = None,
    equal_ids: EqualIds | None = None,
) -> ParallelQuestions:
    """Read parallel questions from a multilingual pool, or from a table.

    `languages` restricts and orders the languages, `split` takes the rows of one split, `equal_ids` is for
    retrieval folders, as in `MultilingualPool.read`.
    """
    if not Path(path).exists():
        raise InputError(
            f"{path}: no such file or folder; give a multilingual pool, or a table with the columns "
            "question_LANG and answer_LANG"
        )
    if equal_ids is not None or is_pool(path) or Path(path).is_dir():
        return of_pool(read_pool(path, languages, split, equal_ids))
    return _of_table(Path(path), languages, split)


def of_pool(pool: PoolRows) -> ParallelQuestions:
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


def _of_table(path: Path, languages: Sequence[str] | None, split: str | None) -> ParallelQuestions:
    """Read a table; raise InputError, naming file, row and column, where it is not what it must be."""
    read = list(read_rows(path))
    names = [*dict.fromkeys(name for _, row in read for name in row)]
    if split is not None:
        require(names, ["split"], path)
    chosen = [split is None or str(row.get("split")) == split for _, row in read]
    rows = list(compress(read, chosen))
    if not rows:
        raise InputError(f"{path}: no rows" + (f" of the split {split!r}" if split else ""))
    tags = _languages(names, str(path), languages)
    default = None if "id" in names else ""
    ids = [name_of(row, "id", where, default) for where, row in rows]
    ids = [name or str(number) for name, number in zip(ids, np.flatnonzero(chosen) + 1, strict=True)]
    double = next((name for name, times in Counter(ids).items() if times > 1), None)
    if double is not None:
        raise InputError(f"{path}, column 'id': {double!r} is there twice: give each question its own id")
    clusters = [
        name_of(row, "cluster", where, None if "cluster" in names else name)
        for name, (where, row) in zip(ids, rows, strict=True)
    ]
    cluster, _ = numbered(clusters)
    parts = {
        part: [[text_of(row, f"{part}_{tag}", where) for tag in tags] for where, row in rows]
        for part in ("question", "answer", "context")
    }
    for what in ("question", "answer"):
        for (where, _), texts in zip(rows, parts[what], strict=True):
            if not any(text.strip() for text in texts):
                raise InputError(
                    f"{where} has no {what} in any of {listed(tags)}: fill in one, or leave it out"
                )
    asked, questions = _texts(parts["question"], None, tags, ids, "query")
    answer, answers = _texts(parts["answer"], parts["context"], tags, ids, "candidate")
    there = answer.ravel() >= 0
    return ParallelQuestions(
        source=str(path),
        languages=tags,
        ids=ids,
        cluster=cluster,
        questions=questions,
        answers=answers,
        answer_cluster=cluster[np.nonzero(answer >= 0)[0]],
        asked=asked,
        first=np.concatenate([[0], np.cumsum(there)]).astype(np.int64),
        answered=answer.ravel()[there],
    )


def _languages(names: Sequence[str], source: str, wanted: Sequence[str] | None) -> tuple[str, ...]:
    asked, answered = (
        [name.removeprefix(part) for name in names if name.startswith(part)]
        for part in ("question_", "answer_")
    )
    tags = tuple(tag for tag in asked if tag in answered)
    for lone in sorted({*asked} ^ {*answered}):
        has, lacks = ("question", "answer") if lone in asked else ("answer", "question")
        raise InputError(
            f"{source} has a column {has}_{lone} but no {lacks}_{lone}: add it, or leave both out"
        )
    if not tags:
        raise InputError(
            f"{source} has no columns question_LANG and answer_LANG, such as question_en and answer_en; its "
            f"columns: {listed(names, 20)}"
        )
    check_tags(tags, source)
    return tags if wanted is None else chosen_languages(source, tags, wanted)


def _texts(
    texts: Sequence[Sequence[str]],
    contexts: Sequence[Sequence[str]] | None,
    tags: Sequence[str],
    ids: Sequence[str],
    role: str,
) -> tuple[Ints, Texts]:
    """Return the row of each text [n, L] (-1: none), and the texts."""
    owner, language = np.nonzero([[bool(text.strip()) for text in own] for own in texts])
    place = np.full((len(ids), len(tags)), -1, dtype=np.int64)
    place[owner, language] = np.arange(len(owner))
    pairs = list(zip(owner.tolist(), language.tolist(), strict=True))
    context = [] if contexts is None else [contexts[row][code] for row, code in pairs]
    return place, Texts(
        text=[texts[row][code] for row, code in pairs],
        language=[tags[code] for _, code in pairs],
        ids=[ids[row] for row, _ in pairs],
        role=role,
        context=context if any(context) else (),
    )
