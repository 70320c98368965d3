"""A multilingual pool: questions, candidates, and which candidates are relevant to a question."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.files import FOLDER_NAMES
from xlingual.data.languages import check_tags
from xlingual.data.manifest import split_reference
from xlingual.data.pools.folder import pool_files, read_pool_folder, write_pool_folder
from xlingual.data.pools.retrieval_folder import is_retrieval_folder, judged_by, read_retrieval_folder
from xlingual.data.pools.rows import (
    Candidates,
    EqualIds,
    Questions,
    Rows,
    check_answered,
    joined,
    no_split,
    taken,
)
from xlingual.data.pools.squad import read_squad, squad_files
from xlingual.data.rows import numbered
from xlingual.data.runs.qrels import QrelsLike
from xlingual.errors import InputError, did_you_mean, listed, parameter, warn, why
from xlingual.notebook import PoolOverview, html_of
from xlingual.records import Numbering, Texts
from xlingual.results.provenance import note_data
from xlingual.streams import stream

__all__ = ["CANDIDATE_TEXTS", "Candidates", "EqualIds", "MultilingualPool", "Questions", "Rows"]
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
        equal_ids: EqualIds | None = None,
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
            equal_ids: whether questions of a retrieval folder with equal ids in several languages are the
                "same" or "different" ones; None finds it in the judgements.
            qrels: judgements in place of those of the folder: a file in the form of TREC, BEIR or ranx, or
                {query: {candidate: grade}}; they name texts by their ids, or as language:id.
            unanswered: keep questions of which all judged candidates are irrelevant; retrieval by judgements
                counts them, other tasks need an answer.

        """
        path, source, chosen_split = Path(path), str(path), split
        if isinstance(languages, str):
            languages = [tag.strip() for tag in languages.split(",") if tag.strip()]
        try:
            is_folder = bool(pool_files(path))
            is_retrieval = not is_folder and is_retrieval_folder(path)
            for name, value, fits in (
                ("equal_ids", equal_ids, is_retrieval),
                ("qrels", qrels, is_folder or is_retrieval),
            ):
                if value is not None and not fits:
                    kinds = "retrieval folder of BEIR or MTEB" + " or pool folder" * (name == "qrels")
                    raise InputError(f"{path} is no {kinds}: leave out {parameter(name)}, which is for these")
            if is_folder:
                rows = read_pool_folder(path, unanswered=unanswered)
            elif is_retrieval:
                language = languages[0] if languages and len(languages) == 1 else None
                judged = qrels is None
                rows = read_retrieval_folder(
                    path, language, split, equal_ids, judged=judged, unanswered=unanswered
                )
                chosen_split = split if judged else None  # it chose files, which are read
            else:
                _check_path(path)
                rows, _ = read_squad(squad_files([path]), source, languages)
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
        tags = [self.languages[code] for code in q.language]
        return Texts(q.text, tags, q.ids, "query", items=q.key, numberings=self.question_numberings)

    def candidate_texts(self, candidate_text: str = "sentence") -> Texts:
        """Return the candidates as encoders take them, with the role "candidate".

        With "sentence+context" each text is the sentence followed by its context.
        """
        c, text = self.candidates, self.candidates.text
        if candidate_text == "sentence+context":
            text = [f"{s} {context}".rstrip() for s, context in zip(c.text, c.context, strict=True)]
        tags = [self.languages[code] for code in c.language]
        return Texts(text, tags, c.ids, "candidate", c.context, numberings=self.candidate_numberings)

    def fit_texts(self) -> Texts:
        """Return candidates and questions as one batch, in which rows of equal cluster are one item.

        Ids and texts are those that are evaluated, so that an encoder fitted on evaluated rows is detected.
        """
        parts = self.candidate_texts(), self.question_texts()
        text, language, ids = (
            [value for part in parts for value in getattr(part, name)] for name in ("text", "language", "ids")
        )
        clusters = [*self.candidates.cluster.tolist(), *self.questions.cluster.tolist()]
        return Texts(text, language, ids, items=[*map(str, clusters)])

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.source}: {len(self.questions)} questions, {len(self.candidates)} "
            f"candidates, {', '.join(self.languages)})"
        )

    def _repr_html_(self) -> str | None:
        questions, candidates = (
            {tag: int((part.language == code).sum()) for code, tag in enumerate(self.languages)}
            for part in (self.questions, self.candidates)
        )
        return html_of(PoolOverview(Path(self.source).name, questions, candidates, len(self.relevant[0])))


def is_pool(path: str | Path) -> bool:
    """Return whether a path looks like a pool: a pool folder, a retrieval folder, or SQuAD-style files."""
    path = Path(path)
    if path.is_dir():
        return bool(pool_files(path)) or any(path.glob("*.json")) or is_retrieval_folder(path)
    return path.suffix.lower() == ".json" and path.is_file()


def read_pool_texts(reference: str, *, questions: bool = False) -> Texts:
    """Return the texts that `fit=POOL#SPLIT` names: candidates, then questions; or questions alone."""
    path, split, rows = split_reference(reference)
    if rows is not None:
        raise InputError(f"{reference!r}: a pool has no rows A:B: write POOL#SPLIT, as in pool#train")
    pool = MultilingualPool.read(path, split=split)
    return pool.question_texts() if questions else pool.fit_texts()


def _check_path(path: Path) -> None:
    """Raise InputError where a path cannot be SQuAD-style files."""
    expected = (
        "give a pool folder (questions.parquet and candidates.parquet, or .jsonl), a retrieval folder "
        "(corpus.jsonl, queries.jsonl, qrels/*.tsv) or SQuAD-style *.json files"
    )
    if not path.exists():
        names = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InputError(f"{path}: no such file or folder.{did_you_mean(path.name, names)} {expected}")
    is_manifest = path.suffix.lower() in (".parquet", ".jsonl", ".csv", ".tsv", ".ndjson")
    if path.is_dir():
        is_manifest = any((path / name).is_file() for name in FOLDER_NAMES)
    if not any(path.glob("*.json")) if path.is_dir() else path.suffix.lower() != ".json":
        mixing = f". A manifest becomes a pool by: xlingual data mix-pool {path} --out DIR"
        raise InputError(f"{path} is no pool: {expected}{mixing if is_manifest else ''}")


# --- building a pool


def build_pool(
    source: str,
    whole: Rows,
    chosen: Sequence[str] | None = None,
    split: str | None = None,
    *,
    unanswered: bool = False,
) -> MultilingualPool:
    """Return the pool of the chosen languages, in their order, and of the rows of a split.

    A language without chosen rows is left out, and so are questions that lose their relevant candidates by
    the choice, with a DataWarning. Questions with equal ids or equal keys are parallel, and of one cluster
    and one article; a DataWarning where the rows say otherwise. With `unanswered`, candidates judged
    irrelevant are enough for a question. Raises InputError where the whole pool is not sound, or a choice
    leaves nothing.
    """
    languages = whole.languages
    check_tags(languages, source)
    if not len(whole.questions) or not len(whole.candidates):
        lacks = "candidates" if len(whole.questions) else "questions"
        raise InputError(f"{source} has no {lacks}: a pool needs questions and candidates")
    check_answered(whole, lambda row: source, unanswered=unanswered)
    questions, candidates = _with_joined_clusters(whole)
    order = languages if chosen is None else chosen_languages(source, languages, chosen)
    choice = listed(order, 40) + ("" if split is None else f", split {split!r}")
    splits = dict.fromkeys([*(questions.split or ()), *(candidates.split or ())])
    if split is not None and (split not in splits or split not in (questions.split or splits)):
        raise no_split(source, split, [*splits])
    codes = [languages.index(tag) for tag in order]
    question_stages, candidate_stages = (_stages(part, codes, split) for part in (questions, candidates))
    asked, pool = question_stages[-1], candidate_stages[-1]
    held = candidates.judged_keys(irrelevant=unanswered)
    there = {key for row in pool.tolist() for key in held[row]}
    rows = np.array([row for row in asked.tolist() if questions.key[row] in there], dtype=np.int64)
    if not len(rows):
        lacks = (
            f"question of {choice} has a relevant candidate there"
            if len(pool)
            else f"candidate is of {choice}"
        )
        raise InputError(f"{source}: no {lacks}: choose others")
    notes = [*whole.notes]
    if lost := [questions.ids[row] for row in np.setdiff1d(asked, rows)]:
        notes.append(
            f"{source}: {len(lost)} of {len(asked)} questions of {choice} have no relevant candidate there "
            f"and are left out ({listed(map(repr, lost), 3)})"
        )
    notes += _joined_notes(source, whole.questions, questions, rows)
    if empty := sum(not candidates.text[row].strip() for row in pool.tolist()):
        notes.append(f"{source}: {empty} of {len(pool)} candidates have an empty text")
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
        _numberings("questions", [*question_stages, rows], questions.language, languages),
        _numberings("candidates", candidate_stages, candidates.language, languages),
        tuple(notes),
    )


def chosen_languages(source: str, languages: Sequence[str], chosen: Sequence[str]) -> tuple[str, ...]:
    """Return the chosen languages; raise InputError where one is absent or named twice, or none is named."""
    for place, tag in enumerate(chosen):
        if tag not in languages:
            raise InputError(
                f"{source} has no language {tag!r}.{did_you_mean(tag, languages)} "
                f"Its languages: {listed(languages, 40)}"
            )
        if tag in chosen[:place]:
            raise InputError(f"the language {tag!r} is named twice: name it once")
    if not chosen:
        raise InputError(f"{source}: no language is named: name some of {listed(languages, 40)}")
    return tuple(chosen)


def _stages(part: Questions | Candidates, codes: Sequence[int], split: str | None) -> list[Ints]:
    """Return the rows of the whole pool, of the chosen languages and of the split, each by language."""
    whole = np.argsort(part.language, kind="stable").astype(np.int64)
    rows = np.concatenate([np.flatnonzero(part.language == code) for code in codes]).astype(np.int64)
    if split is None or part.split is None:
        return [whole, rows]
    return [whole, rows, rows[[part.split[row] == split for row in rows.tolist()]]]


def _numberings(
    what: str, stages: Sequence[Ints], language: Ints, languages: Sequence[str]
) -> tuple[Numbering, ...]:
    """Return how files may number the last stage's rows: as it is, or as any stage before the choice."""
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


def _with_joined_clusters(whole: Rows) -> tuple[Questions, Candidates]:
    """Return the rows with one cluster, and one article, for questions with an equal id or an equal key.

    They are one question in several languages, and never independent; candidates of their clusters follow.
    """
    questions, candidates, article = whole.questions, whole.candidates, whole.questions.article
    size = 1 + int(max(questions.cluster.max(), candidates.cluster.max(initial=-1)))
    label = joined(questions.cluster, questions.ids, questions.key, size=size)
    if article is not None:
        article = joined(article, questions.ids, questions.key)[article]
    together = replace(questions, cluster=label[questions.cluster], article=article)
    return together, replace(candidates, cluster=label[candidates.cluster])


def _joined_notes(source: str, before: Questions, after: Questions, rows: Ints) -> list[str]:
    """Return a sentence, with counts, for clusters and one for articles, where some were joined."""
    notes = []
    for name in ("cluster", "article"):
        first, last = getattr(before, name), getattr(after, name)
        if first is None:
            continue
        parts = np.bincount(np.unique(np.stack([last[rows], first[rows]]), axis=1)[0])  # of each joined one
        if parts.max(initial=0) > 1:
            notes.append(
                f"{source}: parallel questions in different {name}s are counted as one {name}: "
                f"{int((parts[last[rows]] > 1).sum())} of {len(rows)} questions, whose {name}s become "
                f"{int((parts > 1).sum())} instead of {int(parts[parts > 1].sum())}; equal ids or keys mean "
                "parallel questions, so give others different ones"
            )
    return notes


def split_pool(
    pool: MultilingualPool, train: float, seed: int = 0, by: str = "paragraph", *, by_text: bool = False
) -> MultilingualPool:
    """Return the pool with a split "train" or "test" on every row, drawn by clusters (paragraphs).

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
    for part in (q, c) if by_text else ():
        rows = [row for row, text in enumerate(part.text) if text.strip()]
        codes.append(part.cluster[rows])
        names += [f"text {pool.languages[part.language[row]]} {part.text[row].strip()}" for row in rows]
    size = 1 + int(max(q.cluster.max(), c.cluster.max()))
    label = joined(np.concatenate(codes), names, size=size)
    asked = np.unique(label[q.cluster])
    silent = np.setdiff1d(label[c.cluster], asked)  # paragraphs without questions are divided apart
    rng = stream(seed, "pool split")
    chosen = [row for part in (asked, silent) for row in rng.permutation(part)[: round(train * len(part))]]
    splits = [np.where(np.isin(label[part.cluster], chosen), TRAIN, TEST).tolist() for part in (q, c)]
    if lacks := {TRAIN, TEST} - {*splits[0]}:
        raise NoQuestionError(
            f"{pool.source}: a share of {train} of {len(asked)} {by}s in {TRAIN!r} leaves no question in "
            f"{min(lacks)!r}: choose another --train"
        )
    return replace(pool, questions=replace(q, split=splits[0]), candidates=replace(c, split=splits[1]))
