"""A multilingual pool: questions, candidates, and which candidates are relevant to a question."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.languages import check_tags
from xlingual.data.manifest import split_reference
from xlingual.data.pools.folder import pool_files, read_pool_folder, write_pool_folder
from xlingual.data.pools.retrieval_folder import is_retrieval_folder, judged_by, read_retrieval_folder
from xlingual.data.pools.rows import Candidates, Questions, Rows, joined, no_split, taken
from xlingual.data.pools.squad import is_squad, read_squad, squad_files
from xlingual.data.rows import numbered
from xlingual.data.runs import QrelsLike
from xlingual.errors import InputError, did_you_mean, listed, parameter, warn, why
from xlingual.notebook import PoolOverview, html_of
from xlingual.records import Numbering, Texts
from xlingual.results.provenance import note_data
from xlingual.streams import stream

__all__ = ["CANDIDATE_TEXTS", "Candidates", "MultilingualPool", "Questions", "Rows"]
CANDIDATE_TEXTS = ("sentence", "sentence+context")
TRAIN, TEST = "train", "test"


class NoQuestionError(InputError):
    """A part would have no question."""


@dataclass(frozen=True, eq=False, repr=False)
class MultilingualPool:
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
    warnings: tuple[str, ...] = ()

    @classmethod
    def read(
        cls,
        path: str | Path,
        languages: Sequence[str] | None = None,
        split: str | None = None,
        qrels: QrelsLike | None = None,
        *,
        unanswered: bool = False,
    ) -> MultilingualPool:
        """Read a pool folder, a retrieval folder of BEIR or MTEB, or SQuAD-style files with sentence breaks.

        Args:
            path: a folder, or one SQuAD-style file; see reference/pools for the formats.
            languages: the languages to take, in this order; without it they are in the order of their first
                candidates (in SQuAD-style files: of the file names). A single one is that of a retrieval
                folder which says none.
            split: take the rows of this split alone.
            qrels: judgements in place of those of the folder: a file in the form of TREC, BEIR or ranx, or
                {query: {candidate: grade}}; they name texts by their ids, or as language:id.
            unanswered: keep questions of which all judged candidates are irrelevant; retrieval by judgements
                counts them, other tasks need an answer.

        """
        path, source, chosen_split = Path(path), str(path), split
        if isinstance(languages, str):
            languages = [tag.strip() for tag in languages.split(",") if tag.strip()]
        try:
            if pool_files(path):
                rows = read_pool_folder(path)
            elif is_retrieval_folder(path):
                language = languages[0] if languages and len(languages) == 1 else None
                rows = read_retrieval_folder(
                    path, language, split, with_qrels=qrels is None, unanswered=unanswered
                )
                chosen_split = split if qrels is None else None  # it chose files, which are read
            elif qrels is not None:
                raise InputError(
                    f"{path} is no retrieval folder of BEIR or MTEB or pool folder: leave out "
                    f"{parameter('qrels')}, which is for these"
                )
            elif path.suffix.lower() == ".json" or any(path.glob("*.json")):
                rows, _ = read_squad(squad_files([path]), source, languages)
            else:
                raise InputError(
                    f"{path}{' is no pool' if path.exists() else ': no such file or folder'}: give a pool "
                    "folder (questions.parquet and candidates.parquet, or .jsonl), a retrieval folder "
                    "(corpus.jsonl, queries.jsonl, qrels/*.tsv) or SQuAD-style *.json files; a manifest "
                    "becomes a pool by: xlingual data mix-pool MANIFEST --out DIR"
                )
            if qrels is not None:
                rows = judged_by(source, rows, qrels, unanswered=unanswered)
        except OSError as error:
            raise InputError(f"{error.filename or path} cannot be read: {why(error)}") from error
        pool = build_pool(source, rows, languages, chosen_split, unanswered=unanswered)
        n_rows = len(pool.questions) + len(pool.candidates)
        note_data("pool", path, pool, lambda: (pool.digest, n_rows))
        return pool

    def write(self, folder: str | Path, format: str = "parquet", *, overwrite: bool = False) -> Path:
        """Write the pool as a folder that reads back as this pool ("parquet" or "jsonl"); return it.

        Questions and candidates that stand there already are replaced with `overwrite`, else refused.
        """
        rows = Rows(self.languages, self.questions, self.candidates)
        return write_pool_folder(rows, Path(folder), format, overwrite=overwrite)

    @cached_property
    def relevant(self) -> tuple[Ints, Ints]:
        """(question, candidate), each int64 [p]: all pairs that share a key, by question, then candidate."""
        question, candidate, grade = self.judged
        return question[grade > 0], candidate[grade > 0]

    @cached_property
    def grades(self) -> Ints:
        """The grade of each pair of `relevant`, int64 [p]; 1 where candidates have none."""
        grade = self.judged[2]
        return grade[grade > 0]

    @cached_property
    def judged(self) -> tuple[Ints, Ints, Ints]:
        """(question, candidate, grade), each int64 [p]: all judged pairs, by question, then candidate.

        The grade of a pair that was judged irrelevant is 0.
        """
        c = self.candidates
        holders: dict[str, list[tuple[int, int]]] = {}
        for row, keys in enumerate(c.keys):
            for key, grade in zip(keys, c.grades[row] if c.grades else (1,) * len(keys), strict=True):
                holders.setdefault(key, []).append((row, grade))
            for key in c.irrelevant[row] if c.irrelevant else ():
                holders.setdefault(key, []).append((row, 0))
        pairs = [holders.get(key, []) for key in self.questions.key]
        question = np.repeat(np.arange(len(pairs)), [len(held) for held in pairs]).astype(np.int64)
        both = np.array([pair for held in pairs for pair in held], dtype=np.int64).reshape(-1, 2)
        return question, both[:, 0], both[:, 1]

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
        keys = ["\x00".join(held) for held in c.keys]
        tags = self._tags(q), self._tags(c)
        for column in (tags[0], q.ids, q.text, q.key, tags[1], c.ids, c.text, c.context, keys):
            raw = [value.encode("utf-8", "surrogatepass") for value in column]
            hasher.update(np.array([len(raw), *map(len, raw)], dtype="<i8").tobytes() + b"".join(raw))
        hasher.update(np.array([*q.cluster, -1, *c.cluster], dtype="<i8").tobytes())
        return hasher.hexdigest()

    def question_texts(self) -> Texts:
        """Give the questions as encoders take them, with the role "query"."""
        q = self.questions
        return Texts(q.text, self._tags(q), q.ids, "query", items=q.key, numberings=self.question_numberings)

    def candidate_texts(self, candidate_text: str = "sentence") -> Texts:
        """Give the candidates as encoders take them, with the role "candidate".

        With "sentence+context" each text is the sentence followed by its context.
        """
        c, text = self.candidates, self.candidates.text
        if candidate_text == "sentence+context":
            text = [f"{s} {context}".rstrip() for s, context in zip(c.text, c.context, strict=True)]
        numberings = self.candidate_numberings
        return Texts(text, self._tags(c), c.ids, "candidate", c.context, numberings=numberings)

    def fit_texts(self) -> Texts:
        """Give candidates and questions as one batch, in which rows of equal cluster are one item.

        Ids and texts are those that are evaluated, so that an encoder fitted on evaluated rows is detected.
        """
        sides = self.candidate_texts(), self.question_texts()
        text, language, ids = (
            [value for side in sides for value in getattr(side, name)] for name in ("text", "language", "ids")
        )
        clusters = [*self.candidates.cluster.tolist(), *self.questions.cluster.tolist()]
        return Texts(text, language, ids, items=[*map(str, clusters)])

    def counts(self) -> list[tuple[str, int, int, float]]:
        """Count questions, candidates, and relevant candidates of a question, of each language and of all."""
        q, c = self.questions, self.candidates
        relevant = np.bincount(self.relevant[0], minlength=len(q))
        rows = []
        for code, tag in [*enumerate(self.languages), (None, "all")]:
            asked = relevant if code is None else relevant[q.language == code]
            n_candidates = len(c) if code is None else int((c.language == code).sum())
            mean = float(asked.mean()) if len(asked) else float("nan")
            rows.append((tag, len(asked), n_candidates, mean))
        return rows

    def _tags(self, side: Questions | Candidates) -> list[str]:
        return [self.languages[code] for code in side.language.tolist()]

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.source}: {len(self.questions)} questions, {len(self.candidates)} "
            f"candidates, {', '.join(self.languages)})"
        )

    def _repr_html_(self) -> str | None:
        counts, name = self.counts()[:-1], Path(self.source).name
        questions, candidates = {tag: n for tag, n, *_ in counts}, {tag: m for tag, _, m, _ in counts}
        return html_of(PoolOverview(name, questions, candidates, len(self.relevant[0])))


def is_pool(path: str | Path) -> bool:
    """Whether a path looks like a pool: a pool folder, a retrieval folder, or SQuAD-style files."""
    path = Path(path)
    if path.is_dir():
        return bool(pool_files(path)) or any(map(is_squad, path.glob("*.json"))) or is_retrieval_folder(path)
    return path.suffix.lower() == ".json" and is_squad(path)


def read_pool_texts(reference: str, *, questions: bool = False) -> Texts:
    """Read the texts that `fit=POOL#SPLIT` names: candidates, then questions; or questions alone."""
    path, split, rows = split_reference(reference)
    if rows is not None:
        raise InputError(f"{reference!r}: a pool has no rows A:B: write POOL#SPLIT, as in pool#train")
    pool = MultilingualPool.read(path, split=split)
    return pool.question_texts() if questions else pool.fit_texts()


def build_pool(
    source: str,
    whole: Rows,
    chosen: Sequence[str] | None = None,
    split: str | None = None,
    *,
    unanswered: bool = False,
) -> MultilingualPool:
    """Build the pool of the chosen languages, in their order, and of the rows of a split.

    A language without chosen rows is left out, and so are questions that lose their relevant candidates by
    the choice, with a DataWarning. Questions with equal ids or equal keys are parallel, and of one cluster
    and one article; a DataWarning where the rows say otherwise. With `unanswered`, candidates judged
    irrelevant are enough for a question. Raises InputError where the whole pool is not sound, or a choice
    leaves nothing.
    """
    languages, questions, candidates, notes = whole
    check_tags(languages, source)
    if not len(questions) or not len(candidates):
        lacks = "candidates" if len(questions) else "questions"
        raise InputError(f"{source} has no {lacks}: a pool needs questions and candidates")
    held = candidates.judged_keys(irrelevant=unanswered)
    there = {key for keys in held for key in keys}
    if without := [row for row, key in enumerate(questions.key) if key not in there]:
        row, more = without[0], f" (and {len(without) - 1} more questions)" if len(without) > 1 else ""
        raise InputError(
            f"{source}: question {questions.ids[row]!r:.80} ({languages[questions.language[row]]}) has no "
            f"relevant candidate{more}: no candidate holds its key {questions.key[row]!r:.80}"
        )
    size = 1 + int(max(questions.cluster.max(), candidates.cluster.max()))
    label = joined(questions.cluster, questions.ids, questions.key, size=size)
    if len(np.unique(label[questions.cluster])) < len(np.unique(questions.cluster)):
        notes = (
            *notes,
            f"{source}: parallel questions (equal ids or keys) in different clusters are counted as one "
            "cluster: give questions that are not parallel different ids and keys",
        )
    questions = replace(questions, cluster=label[questions.cluster])
    candidates = replace(candidates, cluster=label[candidates.cluster])
    if (article := questions.article) is not None:
        article = joined(article, questions.ids, questions.key)[article]
        questions = replace(questions, article=article)
    order = languages if chosen is None else chosen_languages(source, languages, chosen)
    choice = listed(order, 40) + ("" if split is None else f", split {split!r}")
    splits = dict.fromkeys([*(questions.split or ()), *(candidates.split or ())])
    if split is not None and (split not in splits or split not in (questions.split or splits)):
        raise no_split(source, split, splits)
    codes = [languages.index(tag) for tag in order]
    asked_stages, pool_stages = (_stages(side, codes, split) for side in (questions, candidates))
    asked, pool = asked_stages[-1], pool_stages[-1]
    there = {key for row in pool.tolist() for key in held[row]}
    rows = np.array([row for row in asked.tolist() if questions.key[row] in there], dtype=np.int64)
    if not len(rows):
        lacks = f"question of {choice} has a relevant candidate there"
        raise InputError(f"{source}: no {lacks if len(pool) else f'candidate is of {choice}'}: choose others")
    if lost := [questions.ids[row] for row in np.setdiff1d(asked, rows)]:
        notes = (
            *notes,
            f"{source}: {len(lost)} of {len(asked)} questions of {choice} have no relevant candidate there "
            f"and are left out ({listed(map(repr, lost), 3)})",
        )
    if empty := sum(not candidates.text[row].strip() for row in pool.tolist()):
        notes = (*notes, f"{source}: {empty} of {len(pool)} candidates have an empty text")
    for note in notes:
        warn(note)
    present = {*questions.language[rows].tolist(), *candidates.language[pool].tolist()}
    codes = [code for code in codes if code in present]
    recode = np.full(len(languages), -1, dtype=np.int64)
    recode[codes] = np.arange(len(codes))
    q, c = taken(questions, rows), taken(candidates, pool)
    cluster, _ = numbered([*q.cluster.tolist(), *c.cluster.tolist()])
    article = None if q.article is None else numbered(q.article.tolist())[0]
    return MultilingualPool(
        source,
        tuple(languages[code] for code in codes),
        replace(q, language=recode[q.language], cluster=cluster[: len(q)], article=article),
        replace(c, language=recode[c.language], cluster=cluster[len(q) :]),
        _numberings("questions", [*asked_stages, rows], questions.language, languages),
        _numberings("candidates", pool_stages, candidates.language, languages),
        notes,
    )


def chosen_languages(source: str, languages: Sequence[str], chosen: Sequence[str]) -> tuple[str, ...]:
    """Check the chosen languages; raise InputError where one is absent or named twice, or none is named."""
    for place, tag in enumerate(chosen):
        if tag not in languages:
            near, there = did_you_mean(tag, languages), listed(languages, 40)
            raise InputError(f"{source} has no language {tag!r}.{near} Its languages: {there}")
        if tag in chosen[:place]:
            raise InputError(f"the language {tag!r} is named twice: name it once")
    if not chosen:
        raise InputError(f"{source}: no language is named: name some of {listed(languages, 40)}")
    return tuple(chosen)


def _stages(side: Questions | Candidates, codes: Sequence[int], split: str | None) -> list[Ints]:
    """Give the rows of the whole pool, of the chosen languages and of the split, each by language."""
    whole = np.argsort(side.language, kind="stable").astype(np.int64)
    rows = np.concatenate([np.flatnonzero(side.language == code) for code in codes]).astype(np.int64)
    if split is None or side.split is None:
        return [whole, rows]
    return [whole, rows, rows[[side.split[row] == split for row in rows.tolist()]]]


def _numberings(
    what: str, stages: Sequence[Ints], language: Ints, languages: Sequence[str]
) -> tuple[Numbering, ...]:
    """Say how files may number the last stage's rows: as it is, or as any stage before the choice."""
    last, numberings = stages[-1], list[Numbering]()
    for number, stage in reversed(list(enumerate(stages))):
        if any(np.array_equal(stage, later) for later in stages[number + 1 :]):
            continue
        earlier = "whole-pool " if np.array_equal(stage, stages[0]) else "chosen "
        note, codes = earlier if numberings else "", language[stage]
        counts = np.bincount(codes, minlength=len(languages)).tolist()
        position, place = np.full(len(language), -1), np.full(len(language), -1)
        for code, size in enumerate(counts):
            position[stage[codes == code]] = np.arange(size)
        place[stage] = np.arange(len(stage))
        sizes: dict[str | None, int] = {tag: n for tag, n in zip(languages, counts, strict=True) if n}
        numberings.append(Numbering(f"{note}{what} of the language", position[last].astype(np.int64), sizes))
        numberings.append(Numbering(f"{note}{what}", place[last].astype(np.int64), {None: len(stage)}))
    return tuple(numberings)


def split_pool(
    pool: MultilingualPool, train: float, seed: int = 0, by: str = "paragraph", *, by_text: bool = False
) -> MultilingualPool:
    """Give every row a split "train" or "test", drawn by clusters (paragraphs).

    A share `train` of the clusters with questions, rounded, is in train, and the same share of the others.
    No cluster and no key is in both; with `by="article"` no article either, and articles are drawn; with
    `by_text` no text of a language either. Raises InputError where a part would have no questions, or
    articles are not known.
    """
    q, c = pool.questions, pool.candidates
    groups = {"paragraph": q.cluster, "article": q.article}.get(by)
    if groups is None:
        raise InputError(f"{pool.source}: by={by!r}: its questions have no {by}s: split it by paragraph")
    question, candidate = pool.relevant
    pairs = [f"question {row}" for row in question.tolist()]
    codes, names = [q.cluster, q.cluster[question], c.cluster[candidate]], [*groups.tolist(), *pairs, *pairs]
    for side in (q, c) if by_text else ():
        rows = [row for row, text in enumerate(side.text) if text.strip()]
        codes.append(side.cluster[rows])
        names += [f"text {pool.languages[side.language[row]]} {side.text[row].strip()}" for row in rows]
    size = 1 + int(max(q.cluster.max(), c.cluster.max()))
    label = joined(np.concatenate(codes), names, size=size)
    asked = np.unique(label[q.cluster])
    silent = np.setdiff1d(label[c.cluster], asked)  # paragraphs without questions are divided apart
    rng = stream(seed, "pool split")
    chosen = [row for side in (asked, silent) for row in rng.permutation(side)[: round(train * len(side))]]
    splits = [np.where(np.isin(label[side.cluster], chosen), TRAIN, TEST).tolist() for side in (q, c)]
    if lacks := {TRAIN, TEST} - {*splits[0]}:
        raise NoQuestionError(
            f"{pool.source}: a share of {train} of {len(asked)} {by}s in {TRAIN!r} leaves no question in "
            f"{min(lacks)!r}: choose another --train"
        )
    return replace(pool, questions=replace(q, split=splits[0]), candidates=replace(c, split=splits[1]))
