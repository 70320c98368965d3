"""What a step would take: texts that are to be encoded, pairs that are ranked, time, memory and cost.

Data are read and the store is asked; no model is loaded. The formulas are those of
docs/explanation/growth.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xlingual.data.manifest import Manifest
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.samples import resolve_pairs
from xlingual.data.sentence_pairs import parse_columns, read_sentence_pairs
from xlingual.embed import fit_texts_for, joined, load_fit_texts
from xlingual.embed.encoding import is_kept, row_keys
from xlingual.encoders import Encoder, image_encoder
from xlingual.encoders.base import Stacked, Wrapped
from xlingual.errors import InputError, XlingualError
from xlingual.records import Images, Texts
from xlingual.requests import values
from xlingual.results import Results
from xlingual.store import Store
from xlingual.systems import ListSystem, systems
from xlingual.systems import joined as with_runs
from xlingual.workflows.suites.reading import Suite
from xlingual.workflows.suites.step import Step

RATE = 1.25e11  # float32 operations of one core a second
TEXT_PAIR, IMAGE_PAIR = 0.4e-9, 3.0e-9  # seconds for each pair, beside the product
QUERY = 22e-6  # seconds for each query: checks, statistics, tables
MEMORY, QUERY_BYTES = 0.3e9, 2300.0
TEXT_DIM, IMAGE_DIM = 768, 2048  # where the dimensions of vectors are not known


@dataclass(frozen=True)
class Encoding:
    """What is to be encoded by one encoder."""

    name: str
    missing: int  # texts or images that are not in the store yet
    known: int
    seconds: float | None  # None: the encoder's speed is not known
    cost: str = ""  # of a service: tokens, requests and, with a price, money
    problem: str = ""  # why nothing more is known


@dataclass
class Estimate:
    """What a step would take."""

    encodings: list[Encoding] = field(default_factory=list)
    queries: int = 0
    pairs: float = 0.0  # of vectors whose similarity is computed, over all encoders and seeds
    ranking: float = 0.0  # seconds of one core
    memory: float = 0.0  # bytes, vectors included

    @property
    def seconds(self) -> float:
        """The seconds that are known of: encoding and ranking."""
        return self.ranking + sum(one.seconds or 0.0 for one in self.encodings)


class Estimator:
    """Estimates the steps of a suite in order: what one encodes, a later one finds in the store."""

    def __init__(self, suite: Suite) -> None:
        self._speeds = dict(_speeds(suite))
        self._planned: dict[str, set[bytes]] = {}

    def of(self, step: Step) -> Estimate:
        """Return what an evaluation would take; raise InputError where its data cannot be read."""
        asked, found = values(step.request), Estimate()
        store = _store(asked)
        data, texts, sizes = _data(asked)
        encoders = _systems(asked, data)
        for name, encoder in encoders.items():
            found.encodings.append(self._encoding(name, encoder, texts, store))
        self._images(asked, data, found, store)
        n_systems = max(1, len(encoders))
        by_images = asked.get("image_encoder") is not None
        seeds = int(asked.get("seeds") or 1)
        for queries, candidates in sizes:
            pairs = float(queries) * candidates * seeds
            found.queries += queries * seeds
            found.pairs += pairs * n_systems
            found.ranking += n_systems * pairs * (2 * TEXT_DIM / RATE + TEXT_PAIR)
            if by_images:  # queries against the images of all sources
                found.ranking += pairs * (2 * IMAGE_DIM / RATE + n_systems * IMAGE_PAIR)
        found.ranking += QUERY * found.queries * n_systems
        found.memory = MEMORY + QUERY_BYTES * found.queries + 4.0 * TEXT_DIM * len(texts)
        return found

    def _images(self, asked: Mapping[str, Any], data: Any, found: Estimate, store: Store | None) -> None:  # noqa: ANN401
        specs = asked.get("image_encoders") or [asked.get("image_encoder")]
        if not isinstance(data, Manifest) or not data.has_images:
            return
        rows = np.unique(data.image, return_index=True)[1]
        images = data.images(rows[data.image[rows] >= 0])
        for spec in filter(None, specs):
            try:
                name, encoder = image_encoder(spec, languages=data.languages)
            except XlingualError as error:
                found.encodings.append(Encoding(str(spec), len(images), 0, None, problem=str(error)))
                continue
            found.encodings.append(self._encoding(name, encoder, images, store))

    def _encoding(self, name: str, encoder: Any, batch: Texts | Images, store: Store | None) -> Encoding:  # noqa: ANN401
        """Return what an encoder has to encode of a batch, without loading it."""
        if isinstance(encoder, Exception):
            return Encoding(name, len(batch), 0, None, problem=str(encoder))
        if isinstance(encoder, ListSystem):
            return Encoding(name, 0, 0, 0.0)
        while isinstance(encoder, Stacked):
            encoder = encoder.base
        if not is_kept(encoder):  # files that are read, or vectors that are made anew in no time
            free = encoder.by_number or encoder.depends_on_batch or not isinstance(encoder, Wrapped)
            return Encoding(
                name,
                0 if free else len(batch),
                len(batch) if free else 0,
                0.0 if free else self._time(name, len(batch)),
            )
        try:
            keys, identity = row_keys(encoder, batch), encoder.identity
        except XlingualError as error:
            return Encoding(name, len(batch), 0, None, problem=str(error))
        if keys is None:
            return Encoding(name, len(batch), 0, self._time(name, len(batch)))
        rows = list({key: row for row, key in enumerate(keys)}.items())
        planned = self._planned.setdefault(identity, set())
        stored = [False] * len(rows)
        if store is not None:
            stored = (store.collection(identity).find([key for key, _ in rows]) >= 0).tolist()
        missing = [
            (key, row)
            for (key, row), there in zip(rows, stored, strict=True)
            if not there and key not in planned
        ]
        planned.update(key for key, _ in missing)
        cost = ""
        if missing and encoder.has_estimate:
            try:
                cost = str(encoder.estimate(batch.take(np.array([row for _, row in missing]))))
            except InputError as error:  # more than it may cost
                cost = str(error)
        return Encoding(name, len(missing), len(rows) - len(missing), self._time(name, len(missing)), cost)

    def _time(self, name: str, count: int) -> float | None:
        if not count:
            return 0.0
        speed = self._speeds.get(name)
        return None if speed is None else count / speed


def _speeds(suite: Suite) -> Iterator[tuple[str, float]]:
    """Yield how many texts a second each encoder encoded when its step was last computed."""
    for step in suite.steps:
        if step.kind == "evaluate" and (step.folder / "results.json").is_file():
            try:
                costs = Results.read(step.folder).costs
            except InputError:
                continue
            for name, cost in costs.items():
                if speed := cost.get("texts_per_second"):
                    yield name, float(speed)


def _store(asked: Mapping[str, Any]) -> Store | None:
    if asked.get("no_store"):
        return None
    return Store.default() if asked.get("store") is None else Store(asked["store"])


def _data(asked: Mapping[str, Any]) -> tuple[Any, Texts, list[tuple[int, int]]]:
    """Return the data, all texts that may be encoded, and (queries, candidates) of what is ranked."""
    if "pool" in asked:
        pool = MultilingualPool.read(
            asked["pool"], asked.get("languages"), asked.get("split"), asked.get("equal_ids")
        )
        return (
            pool,
            joined(pool.question_texts(), pool.candidate_texts(asked["candidate_text"])),
            [(len(pool.questions), len(pool.candidates))],
        )
    if "files" in asked:
        found = read_sentence_pairs(asked["files"], parse_columns(asked.get("columns")))
        sentences = [text for pairs in found for text in (*pairs.first, *pairs.second)]
        language = [asked["language"]] * len(sentences)
        return found, Texts(sentences, language, list(map(str, range(len(sentences))))), []
    columns = {name: asked[name] for name in (*_COLUMNS, "split", "rows")}
    manifest = Manifest.read(asked["manifest"], **columns)
    if "sample_size" not in asked:  # sentences against images, both ways
        rows = np.arange(len(manifest))
        return manifest, manifest.texts(rows), [(2 * len(rows), len(manifest.image_source))]
    pairs = resolve_pairs(asked["pairs"], manifest.languages)
    languages = list(dict.fromkeys(tag for pair in pairs for tag in pair))
    count = {tag: len(manifest.rows_of(tag)) for tag in languages}
    most = asked.get("sample_size") or max(count.values())
    rows = np.concatenate([manifest.rows_of(tag) for tag in languages])
    sizes = [
        (min(count[source], most, asked.get("queries") or most), min(count[target], most))
        for source, target in pairs
    ]
    return manifest, manifest.texts(rows), sizes


_COLUMNS = (
    *("text_column", "image_column", "item_column", "id_column", "lang_column", "cluster_column"),
    *("separator", "encoding", "images"),
)


def _systems(asked: Mapping[str, Any], data: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the encoders and runs by name; an error in place of those that cannot be opened."""
    own = isinstance(data, Manifest | MultilingualPool)
    languages: Any = data.languages if own else (asked.get("language"),)
    fit = fit_texts_for(data) if isinstance(data, Manifest) else load_fit_texts
    found: dict[str, Encoder | ListSystem | Exception] = {}
    runs = asked.get("runs", ())
    for one in asked["text_encoders"]:
        try:
            found |= systems([one], languages=languages, fit_texts=fit)
        except XlingualError as error:
            found[one] = error
    if runs:
        found |= systems(with_runs((), runs), languages=languages)
    return found
