"""What a step would take: texts that are to be encoded, pairs that are ranked, time, memory and cost.

Data are read and the store is asked; no model is loaded. `times` has the formulas.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
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
from xlingual.evaluation.run_systems import RunSystem, systems
from xlingual.evaluation.run_systems import joined as with_runs
from xlingual.records import Images, Texts
from xlingual.requests import values
from xlingual.results import Results
from xlingual.store import Store
from xlingual.workflows.suites import times
from xlingual.workflows.suites.reading import Suite
from xlingual.workflows.suites.step import Step

MEMORY, QUERY_BYTES = 0.3e9, 2300.0


@dataclass(frozen=True)
class Encoding:
    """What is to be encoded by one encoder."""

    name: str
    missing: int  # texts or images that are not in the store yet
    known: int
    seconds: float | None  # None: the encoder's speed is not known
    problem: str = ""  # why nothing more is known


@dataclass
class Estimate:
    """What a step would take."""

    encoders: int = 0
    encodings: list[Encoding] = field(default_factory=list)
    queries: int = 0
    pairs: float = 0.0  # of vectors whose similarity is computed, over all encoders and seeds
    seconds: float = 0.0  # but for encoders whose speed is not known
    memory: float = 0.0  # bytes, vectors included

    @property
    def unknown(self) -> list[str]:
        """The encoders whose speed is not known."""
        return [one.name for one in self.encodings if one.seconds is None and not one.problem]

    @property
    def problems(self) -> list[str]:
        """What keeps it from being computed."""
        return [one.problem for one in self.encodings if one.problem]


class Estimator:
    """Estimates the steps of a suite in order: what one encodes, a later one finds in the store."""

    def __init__(self, suite: Suite) -> None:
        self.pace = times.pace()
        self._speeds = dict(_speeds(suite))
        self._planned: dict[str, set[bytes]] = {}
        self._found: dict[tuple[str, str], Estimate] = {}  # of an evaluation, by data and task

    def of(self, step: Step) -> Estimate:
        """Return what a step would take; raise InputError where its data cannot be read."""
        if step.kind == "evaluate":
            found = self._found[step.data, step.task] = self._evaluation(step)
            return found
        evaluated = self._found.get((step.data, step.task)) or Estimate()
        encoders = 1 if step.kind == "gate" else max(1, evaluated.encoders - 1)
        work = times.STEP + times.COMPARED_QUERY * evaluated.queries * encoders
        return Estimate(seconds=self.pace * work)

    def start(self) -> float:
        """Return the seconds that a run takes beside its steps."""
        return self.pace * times.START

    def _evaluation(self, step: Step) -> Estimate:
        asked, found = values(step.request), Estimate()
        store = _store(asked)
        data, texts, sizes = _data(asked)
        encoders = _systems(asked, data)
        for name, encoder in encoders.items():
            found.encodings.append(self._encoding(name, encoder, texts, store))
        self._images(asked, data, found, store)
        n = found.encoders = max(1, len(encoders))
        by_images, pool = asked.get("image_encoder") is not None, "pool" in asked
        seeds = int(asked.get("seeds") or 1)
        work = times.STEP + n * times.REPORT
        for queries, candidates in sizes:
            pairs = float(queries) * candidates * seeds
            found.queries += queries * seeds
            found.pairs += pairs * n
            work += times.ranking(pairs, n, by_images=by_images) + times.PART * n * seeds
        work += n * found.queries * (times.POOL_QUERY if pool else times.STATISTICS)
        encoding = sum(one.seconds or 0.0 for one in found.encodings)
        found.seconds = self.pace * work + encoding
        found.memory = MEMORY + QUERY_BYTES * found.queries + 4.0 * times.TEXT_DIM * len(texts)
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
        if isinstance(encoder, RunSystem):
            return Encoding(name, 0, 0, 0.0)
        while isinstance(encoder, Stacked):
            encoder = encoder.base
        fitting = self.pace * times.FIT * len(encoder.fitted_on)
        if not is_kept(encoder):  # files that are read, or vectors that are made anew in each step
            free = encoder.by_number or encoder.depends_on_batch or not isinstance(encoder, Wrapped)
            if not free:
                return Encoding(name, len(batch), 0, self._time(name, len(batch)))
            letters = 0
            if isinstance(batch, Texts) and encoder.depends_on_batch:
                letters = sum(len(text) for text in batch.text)
            return Encoding(name, 0, len(batch), fitting + self.pace * times.LETTER * letters)
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
        took = self._time(name, len(missing), encoder.fitted_on)
        return Encoding(name, len(missing), len(rows) - len(missing), took)

    def _time(self, name: str, count: int, fitted: Collection[bytes] = ()) -> float | None:
        """Return the seconds in which an encoder encodes, None where its speed is not known."""
        if not count:
            return 0.0
        if name in self._speeds:
            return count / self._speeds[name]
        if name == "pixels":
            return self.pace * times.IMAGE * count
        return self.pace * times.FIT * len(fitted) if fitted else None


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
    found: dict[str, Encoder | RunSystem | Exception] = {}
    runs = asked.get("runs", ())
    for one in asked["text_encoders"]:
        try:
            found |= systems([one], languages=languages, fit_texts=fit)
        except XlingualError as error:
            found[one] = error
    if runs:
        found |= systems(with_runs((), runs), languages=languages)
    return found
