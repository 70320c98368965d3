"""The three parts of a pool, which share no cluster, answer or text: their vectors, and a file of rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.data.manifest import Manifest
from xlingual.data.near_texts import families, joined_units
from xlingual.data.pools.folder import pool_files
from xlingual.data.pools.mix import mix_pool
from xlingual.data.pools.pool import (
    TEST,
    TRAIN,
    MultilingualPool,
    NoQuestionError,
    Rows,
    build_pool,
    split_pool,
)
from xlingual.data.samples import dependent
from xlingual.errors import DataWarning, InputError, parameter
from xlingual.evaluation.multilingual_pool.ranks import (
    PoolPass,
    PoolRanks,
    alone_precision,
    language_precision,
    own_and_other,
    rank_vectors,
)
from xlingual.evaluation.near_duplicates import declared_units
from xlingual.evaluation.similarity import COSINE, banked
from xlingual.files import atomic_file, make_folder, refuse_loss
from xlingual.measures import average_precision
from xlingual.ranking import Banked, Ranker
from xlingual.records import HubCorrection, Texts
from xlingual.results.repair import PartSize, Repair
from xlingual.stats.paired import FEWEST_CLUSTERS
from xlingual.transforms.affine import Affine, unit_rows
from xlingual.transforms.moments import FitData
from xlingual.workflows.places import Places

SHARES = (0.4, 0.2, 0.4)  # fit, choose, test
HUB_PLACES = 10
POOL, CROSSLINGUAL = "pool", "crosslingual"  # what a repair is chosen by
PARTS = ("fit", "choose", "test")
POOL_FOLDER, ROWS = "pool", "parts.parquet"  # below the folder of a repair
_FEWEST_PAIRS = 20


def pool_of_families(data: Manifest | MultilingualPool, seed: int) -> tuple[MultilingualPool, int]:
    """Return the pool of the data, whose clusters are families, and how many clusters were joined.

    Items of a manifest that share an image are one family too.
    """
    if isinstance(data, Manifest):
        family = dependent(data)
        pool = mix_pool(replace(data, cluster=family), seed=seed)
        return pool, joined_units(declared_units(data), family)
    q, c = data.questions, data.candidates
    unit = np.concatenate([q.cluster, c.cluster])
    family = families([*q.text, *c.text], np.concatenate([q.language, c.language]), unit)
    sides = replace(q, cluster=family[: len(q)]), replace(c, cluster=family[len(q) :])
    return replace(data, questions=sides[0], candidates=sides[1]), joined_units(unit, family)


def three_parts(
    pool: MultilingualPool, shares: Sequence[float], seed: int, by: str
) -> tuple[MultilingualPool, MultilingualPool, MultilingualPool]:
    """Return the parts to fit on, to choose on and to test on; whole clusters, drawn with the seed.

    Raises InputError where there are too few clusters of questions to choose on or to test on, or a language
    has no question or candidate in a part.
    """
    fit, choose, test = shares
    try:
        first, rest = _halves(pool, fit / sum(shares), seed, by)
        second, third = _halves(rest, choose / (choose + test), seed, by)
    except NoQuestionError:
        raise _too_few(pool, "one of the three parts", 0) from None
    for what, part in (("the part for choosing", second), ("the part for testing", third)):
        if (clusters := len(np.unique(part.questions.cluster))) < FEWEST_CLUSTERS:
            raise _too_few(pool, what, clusters)
    for what, part in (("fitting", first), ("choosing", second), ("testing", third)):
        if set(part.languages) != set(pool.languages):
            lost = sorted(set(pool.languages) - set(part.languages))
            raise InputError(
                f"{pool.source}: the part for {what} has no texts in {', '.join(lost)}: there are too few; "
                "leave the language out with --languages, or give other --shares"
            )
    return first, second, third


def _too_few(pool: MultilingualPool, what: str, clusters: int) -> InputError:
    """Return the error for a part with so few clusters of questions."""
    found = f"{clusters} cluster{'' if clusters == 1 else 's'} of questions" if clusters else "no question"
    return InputError(
        f"{pool.source}: {what} has {found}, and choosing and testing need {FEWEST_CLUSTERS} clusters each. "
        f"There are {len(np.unique(pool.questions.cluster))} in all, and those with near-equal texts stay "
        f"together: give more data, or other {parameter('shares')}"
    )


def _halves(
    pool: MultilingualPool, share: float, seed: int, by: str
) -> tuple[MultilingualPool, MultilingualPool]:
    marked = split_pool(pool, share, seed, by, by_text=True)
    whole = Rows(pool.languages, marked.questions, marked.candidates)
    made = [build_pool(pool.source, whole, pool.languages, split) for split in (TRAIN, TEST)]
    first, second = (replace(part, warnings=()) for part in made)
    return first, second


def size_of(pool: MultilingualPool) -> PartSize:
    """Return what a part holds."""
    return PartSize(len(np.unique(pool.questions.cluster)), len(pool.questions), len(pool.candidates))


@dataclass(frozen=True)
class Found:
    """Where the answers of a part stand: values of each question [n], with answers by language [n, G]."""

    precision: Floats  # [n] over the pool of all languages
    crosslingual: Floats  # [n] among candidates of other languages, see `crosslingual`; NaN without an answer
    alone: Floats  # [n, G] among candidates of each language by itself; NaN for no answer in it
    single: Floats  # [n, G] of a single answer in the pool; NaN for no answer in the language
    monolingual: Floats  # [n] among candidates of the question's language; NaN without an answer there
    ranked: PoolPass


def crosslingual(ranks: PoolRanks, alone: Floats) -> Floats:
    """Return the mean over the other languages of the precision in each language by itself, [n] of [n, G].

    NaN where a question has no answer in another language.
    """
    return own_and_other(ranks, alone)[1]


def refuse_without_other(parts: Sequence[MultilingualPool]) -> None:
    """Raise InputError where a part to choose or to test on has no answer in another language."""
    for what, part in zip(("choosing", "testing"), parts[1:], strict=True):
        question, candidate = part.relevant
        if (part.questions.language[question] == part.candidates.language[candidate]).all():
            raise InputError(
                f"{part.source}: {parameter('criterion', CROSSLINGUAL)} needs questions with an answer in "
                f"another language, and the part for {what} has none: choose by {POOL!r}"
            )


@dataclass(frozen=True)
class WholeVectors:
    """Vectors of all texts of the data, of which parts take theirs."""

    questions: Vectors
    candidates: Vectors
    places: Places

    def part(self, pool: MultilingualPool) -> PartVectors:
        """Return the vectors of a pool's rows, at unit length."""
        asked, answered = self.places.rows(pool)
        return PartVectors(pool, unit_rows(self.questions[asked]), unit_rows(self.candidates[answered]))


def texts_of(
    data: Manifest | MultilingualPool, places: Places, part: MultilingualPool, candidate_text: str
) -> list[Texts]:
    """Return the texts of a part, with the ids that they have in the data."""
    if isinstance(data, Manifest):
        return [data.texts(np.union1d(*places.rows(part)))]
    return [part.question_texts(), part.candidate_texts(candidate_text)]


def digests_of(texts: Iterable[Texts]) -> frozenset[bytes]:
    """Return the digests of all rows of some texts."""
    return frozenset[bytes]().union(*(each.row_digests() for each in texts))


@dataclass(frozen=True)
class PartVectors:
    """A part of the pool and its vectors at unit length."""

    pool: MultilingualPool
    questions: Vectors
    candidates: Vectors

    def moved(self, map: Affine | None) -> tuple[Vectors, Vectors]:
        """Return the vectors of questions and of candidates through a map."""
        if map is None:
            return self.questions, self.candidates
        asked, answered = self._languages
        return map.apply(self.questions, asked), map.apply(self.candidates, answered)

    @cached_property
    def _languages(self) -> tuple[list[str], list[str]]:
        tags = self.pool.languages
        asked, answered = (
            [tags[code] for code in part.language.tolist()]
            for part in (self.pool.questions, self.pool.candidates)
        )
        return asked, answered

    def correction(self, map: Affine | None, similarity: str) -> HubCorrection | None:
        """Return a correction of hubs whose bank are the questions through a map; None for the cosine."""
        return None if similarity == COSINE else HubCorrection(similarity, self.moved(map)[0])

    def corrected(self, map: Affine | None, similarity: str) -> Banked | None:
        """Return the same, ready to rank with."""
        found = self.correction(map, similarity)
        return None if found is None else banked(found)

    def precision(
        self, map: Affine | None, ranker: Ranker, repair: Banked | None = None, criterion: str = POOL
    ) -> Floats:
        """Return the average precision of each question, by the criterion [n]; NaN where it has none."""
        ranks = rank_vectors(self.pool, *self.moved(map), ranker=ranker, repair=repair).ranks
        if criterion == CROSSLINGUAL:
            return crosslingual(ranks, language_precision(ranks))
        values: Floats = average_precision(ranks.targets())
        return values

    def found(self, map: Affine | None, ranker: Ranker, repair: Banked | None = None) -> Found:
        """Return where all answers stand."""
        top = min(HUB_PLACES, len(self.pool.candidates))
        ranked = rank_vectors(self.pool, *self.moved(map), top=top, ranker=ranker, repair=repair)
        ranks, alone = ranked.ranks, language_precision(ranked.ranks)
        return Found(
            average_precision(ranks.targets()),
            crosslingual(ranks, alone),
            alone,
            alone_precision(ranks),
            own_and_other(ranks, alone)[0],
            ranked,
        )

    def fit_data(self) -> FitData:
        """Return questions and candidates as texts to fit on, with translations as items.

        Questions of one id in several languages are translations of each other, and so are candidates that
        answer the same. Where no question is asked in two languages, an answer is a translation of it too,
        as in pools that are mixed of translations.
        """
        pool = self.pool
        asked, answered = self._languages
        q, c = pool.questions, pool.candidates
        apart = len(set(q.ids)) < len(q)
        question_items = [f"q {own}" if apart else f"a {key}" for own, key in zip(q.ids, q.key, strict=True)]
        answer_items = [f"a {keys[0]}" if keys else f"c {row}" for row, keys in enumerate(c.keys)]
        return FitData(
            np.concatenate([self.questions, self.candidates]),
            [*asked, *answered],
            [*question_items, *answer_items],
        )


def has_translations(data: FitData) -> bool:
    """Return whether there are enough items in two languages to fit a map from one to the other."""
    seen: dict[str, set[str]] = {}
    for item, language in zip(data.items, data.languages, strict=True):
        seen.setdefault(item, set()).add(language)
    return sum(len(tags) > 1 for tags in seen.values()) >= _FEWEST_PAIRS


@dataclass(frozen=True)
class Divided:
    """The data, and the rows of each part: of questions and of candidates; of a manifest, of its texts."""

    data: Manifest | MultilingualPool
    rows: Sequence[tuple[Ints, Ints]]

    @property
    def name(self) -> str:
        """What `write` writes: a pool, or a manifest."""
        return POOL_FOLDER if isinstance(self.data, MultilingualPool) else ROWS

    def write(self, folder: str | Path) -> Path:
        """Write the data with a split on every row, and return where: "fit", "choose", "test" or "" (unused).

        A manifest has a row for each text, in the order of the texts: also those before rows were chosen,
        where it was read from a file, so that files of vectors fit as they did. Images that are files are
        left out, since their paths are relative to the folder of the data.
        """
        refuse_replacing(folder, self.data.source)
        place = make_folder(folder) / self.name
        if isinstance(self.data, MultilingualPool):
            return self._pool(self.data).write(place, overwrite=True)
        whole, rows = _before_choosing(self.data)
        split = np.full(len(whole), "", dtype=object)
        split[rows] = _names(len(self.data), [np.concatenate(sides) for sides in self.rows])
        _write(whole, split.tolist(), place)
        return place

    def _pool(self, pool: MultilingualPool) -> MultilingualPool:
        asked, answered = ([sides[place] for sides in self.rows] for place in (0, 1))
        q, c = pool.questions, pool.candidates
        return replace(
            pool,
            questions=replace(q, split=_names(len(q), asked)),
            candidates=replace(c, split=_names(len(c), answered)),
        )


def refuse_replacing(folder: str | Path, source: str | Path) -> None:
    """Raise InputError where the rows would replace the data themselves, or what no repair has written."""
    folder = Path(folder)
    places = folder / POOL_FOLDER, folder / ROWS
    for place in places:
        if place.exists() and Path(source).exists() and place.samefile(source):
            raise InputError(
                f"{place} is the data, and would be replaced by its parts: choose another folder"
            )
    if not (folder / Repair.file).exists():
        present = [*pool_files(places[0]), *(place for place in places[1:] if place.exists())]
        refuse_loss(folder, present, "move them")


def _names(count: int, rows: Sequence[Ints]) -> list[str]:
    split = [""] * count
    for name, own in zip(PARTS, rows, strict=True):
        for row in own.tolist():
            split[row] = name
    return split


def _before_choosing(data: Manifest) -> tuple[Manifest, Ints]:
    """Return the manifest of all rows of the file, and which are those of `data`; else `data` itself."""
    own = np.arange(len(data))
    if data.path is None or len(np.unique(data.table_row)) == data.n_table_rows:
        return data, own
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # said when it was read first
            whole = Manifest.read(data.path, **data.columns)
    except InputError:  # gone since
        return data, own
    rows = np.flatnonzero(np.isin(whole.table_row, data.table_row))
    same = len(rows) == len(data) and whole.texts(rows).row_digests() == data.texts(own).row_digests()
    return (whole, rows) if same else (data, own)


def _write(data: Manifest, split: list[str], path: Path) -> None:
    """Write a manifest in long form, whose rows are its texts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    own: dict[str, Any] = {
        "id": list(data.ids),
        "lang": [data.languages[code] for code in data.language],
        "text": list(data.text),
        "item": [data.item_ids[code] for code in data.item],
        "cluster": pa.array(data.cluster.tolist(), type=pa.int64()),
        "split": split,
    }
    if data.has_images and all(isinstance(image, bytes) for image in data.image_source):
        images = [data.image_source[code] if code >= 0 else None for code in data.image]
        own["image"] = pa.array(images, type=pa.binary())
    columns: dict[str, Sequence[str | None]] = {**data.labels, **data.fields}
    further = {name: list(values) for name, values in columns.items() if name not in own}
    with atomic_file(path) as temporary:
        pq.write_table(pa.table(own | further), temporary, compression="zstd")
