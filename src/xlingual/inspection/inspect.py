"""Inspect results: slices of queries that fail, kinds of error and hubs of each encoder, with examples."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.data.manifest import Manifest, ManifestLike
from xlingual.data.thumbnails import cut, thumbnails
from xlingual.embed.images import image_vectors
from xlingual.encoders import ImageModelLike
from xlingual.encoders import image_encoder as made_image_encoder
from xlingual.errors import InputError
from xlingual.inspection.evaluated import data_of
from xlingual.inspection.features import features_of
from xlingual.inspection.judged import Asked, asked, encoder_names, found_rows, measure_of, rows_of, task_of
from xlingual.inspection.kinds import NEAR_RANK, hubs_among, kinds_of
from xlingual.inspection.slices import ALPHA, Feature, FoundSlice, Slice, Values, difference_of, find_slices
from xlingual.measures import parse_measure
from xlingual.results import Results
from xlingual.results.inspection import (
    KINDS,
    Condition,
    ErrorKind,
    FailedQuery,
    HubFound,
    HubsOfEncoder,
    InspectedEncoder,
    Inspection,
    OverlappingSlice,
    ShownText,
    WeakSlice,
)
from xlingual.store import StoreLike, open_store

EXAMPLES = 5  # of a slice and of a kind of error
MOST_HUBS = 10
MOST_OVERLAPS = 10  # listed of a slice
_TEXTS = 100_000  # whose slices are searched for at the most; of more, a sample
Progress = Callable[[str, int, int], None]
_NO_NEIGHBOURS = (
    "these results keep no neighbours, so that less is known: evaluate again without --no-neighbours"
)


def inspect_results(
    results: Results,
    manifest: ManifestLike | None = None,
    *,
    encoders: Sequence[str] = (),
    measure: str | None = None,
    image_encoder: ImageModelLike | None = None,
    examples: bool = True,
    seed: int = 0,
    store: StoreLike = "default",
    progress: Progress | None = None,
) -> Inspection:
    """Return where encoders fail, and why.

    Args:
        results: of Backretrieval or cross-lingual retrieval.
        manifest: the data that were evaluated; None: those that the results name.
        encoders: names of those to look at; none: all.
        measure: by which queries fail; None: the first whose values are between 0 and 1.
        image_encoder: makes clusters of images, one kind of slice; None: that of the results, if any.
        examples: keep texts and thumbnails.
        seed: of clusters and shuffles.
        store: where vectors of images are kept.
        progress: called with (what, done, total).

    Raises:
        InputError: the data are not those of the results, or a name is not known.

    """
    task, names = task_of(results), encoder_names(results, tuple(encoders))
    measure = measure_of(results, measure)
    data = data_of(results, manifest)
    say = progress or (lambda what, done, total: None)
    of_all = [asked(results, data, name, measure) for name in names]
    rows = np.unique(np.concatenate([one.row for one in of_all]))
    if len(rows) > _TEXTS:
        rows = np.sort(np.random.default_rng(seed).choice(rows, _TEXTS, replace=False))
    named, images, wrong = _images(results, data, rows, image_encoder, store, progress)
    say("dividing texts", 0, 1)
    features = features_of(data, rows, images, seed)
    say("dividing texts", 1, 1)
    near, shown = NEAR_RANK * _cut(measure), _Shown(data, examples)
    found = []
    for place, (name, one) in enumerate(zip(names, of_all, strict=True)):
        say("looking for slices", place, len(names))
        looker = _Looker(results, data, shown, name, one, near, matching=task != "backretrieval")
        found.append(looker.inspected(rows, features, seed))
    say("looking for slices", len(names), len(names))
    found.sort(key=lambda one: -one.value)
    return Inspection(
        task=task,
        measure=measure,
        data=data.path.name if data.path is not None else data.source,
        encoders=found,
        features={feature.name: len(feature.labels) for feature in features},
        images=named,
        alpha=ALPHA,
        near=near,
        warnings=wrong,
    )


def _cut(measure: str) -> int:
    """Return the cut-off of a measure, 10 where it has none."""
    return int(getattr(parse_measure(measure), "k", 10) or 10)


def _images(
    results: Results,
    data: Manifest,
    rows: Ints,
    given: ImageModelLike | None,
    store: StoreLike,
    progress: Progress | None,
) -> tuple[str | None, Vectors | None, list[str]]:
    """Return the image encoder's name, vectors [n, d] of the images of text rows, and what went wrong."""
    spec = given if given is not None else results.request.get("image_encoder")
    shown = np.flatnonzero(data.image[rows] >= 0)
    if spec is None or not len(shown):
        return None, None, []
    try:
        name, encoder = made_image_encoder(spec, languages=data.languages)
        found = image_vectors(data, name, encoder, rows[shown], store=open_store(store), progress=progress)
    except InputError as error:
        if given is not None:
            raise
        return None, None, [f"there are no slices by the look of images: {error}"]
    vectors = np.zeros((len(rows), found.shape[1]), dtype=np.float32)
    vectors[shown] = found
    return name, vectors, []


class _Looker:
    """Looks at one encoder."""

    def __init__(
        self,
        results: Results,
        data: Manifest,
        shown: _Shown,
        encoder: str,
        queries: Asked,
        near: int,
        *,
        matching: bool,
    ) -> None:
        self.data, self.shown, self.encoder, self.asked = data, shown, encoder, queries
        self.nearest = _nearest(results, data, encoder, queries)
        self.asked = queries = self.nearest.asked
        self.near, self.matching = near, matching
        self.is_hub, self.hubs = hubs_among(queries, queries.first_sample)

    def inspected(self, rows: Ints, features: Sequence[Feature], seed: int) -> InspectedEncoder:
        """Return where the encoder fails; `features` are those of text rows [n]."""
        one = self.asked
        own, values = one.values(self.data)
        held = np.isin(own, rows)
        own, values = own[held], values.take(held)
        at = np.searchsorted(rows, own)
        search = find_slices(values, [feature.take(at) for feature in features], seed=seed)
        first = one.first_sample
        return InspectedEncoder(
            encoder=self.encoder,
            value=float(one.value.mean()),
            n_queries=int(first.sum()),
            n_failed=int((first & one.failed).sum()),
            n_texts=len(own),
            n_slices=search.n_slices,
            fixed=search.fixed,
            slices=[self._slice(found, own, values) for found in search.found],
            kinds=self._kinds(),
            hubs=self._hubs(),
        )

    def _slice(self, found: FoundSlice, rows: Ints, values: Values) -> WeakSlice:
        inside = found.slice.rows
        difference, ci = difference_of(values, found.slice)
        lost = 1 - values.value
        return WeakSlice(
            conditions=_conditions(found.slice),
            n=len(inside),
            n_clusters=len(np.unique(values.cluster[inside])),
            value=float(values.value[inside].mean()),
            difference=difference,
            ci=ci,
            p=found.p,
            of_texts=len(inside) / len(rows),
            of_errors=float(lost[inside].sum() / lost.sum()) if lost.sum() > 0 else 0.0,
            overlaps=[
                OverlappingSlice(_conditions(other), len(other.rows), shared)
                for other, shared in found.overlaps[:MOST_OVERLAPS]
            ],
            n_overlaps=len(found.overlaps),
            examples=self._failed(np.isin(self.asked.row, rows[inside])),
        )

    def _failed(self, chosen: np.ndarray) -> list[FailedQuery]:
        """Return the worst of some queries of the first sample, no text twice."""
        one = self.asked
        lines = np.flatnonzero(chosen & one.failed & one.first_sample)
        lines = lines[np.lexsort((-one.above[lines], one.value[lines]))]
        return list(islice(self._examples(lines), EXAMPLES))

    def _examples(self, lines: Ints) -> Iterator[FailedQuery]:
        one, used = self.asked, set[int]()
        if not self.shown.keep:
            return
        for line in lines.tolist():
            row, retrieved, above = int(one.row[line]), int(one.retrieved[line]), int(one.above[line])
            if row in used or retrieved in used:
                continue
            used |= {row} | ({retrieved} if retrieved >= 0 else set())
            yield FailedQuery(
                query=self.shown.text(row),
                target=one.pairs[one.pair[line]][1],
                retrieved=self.shown.text(retrieved) if retrieved >= 0 else None,
                rank=above + 1 if above >= 0 else None,
                value=float(one.value[line]),
            )

    def _kinds(self) -> list[ErrorKind]:
        one = self.asked
        kind = kinds_of(one, self.data, self.is_hub, self.nearest.score, self.near, matching=self.matching)
        found = []
        for code, name in enumerate(KINDS):
            own = (kind == code) & one.first_sample
            counts = np.bincount(one.pair[own], minlength=len(one.pairs)).tolist()
            by_pair = {
                f"{source}-{target}": count
                for (source, target), count in zip(one.pairs, counts, strict=True)
                if count
            }
            found.append(ErrorKind(name, int(own.sum()), by_pair, self._failed(own)))
        return sorted(found, key=lambda each: -each.n)

    def _hubs(self) -> HubsOfEncoder:
        one = self.asked
        looked = one.first_sample & (one.retrieved >= 0)
        failed = looked & one.failed
        lost = {
            (pair, row): int((failed & (one.pair == pair) & (one.retrieved == row)).sum())
            for pair, row, _ in self.hubs
        }
        largest = sorted(self.hubs, key=lambda hub: (-lost[hub[:2]], -hub[2], hub[1]))[:MOST_HUBS]
        never, by_chance, unfound = self.nearest.never(self.data)
        return HubsOfEncoder(
            largest=[
                HubFound(self.shown.text(row), one.pairs[pair][0], n, lost[pair, row])
                for pair, row, n in largest
                if self.shown.keep
            ],
            n=len(self.hubs),
            of_errors=float(self.is_hub[failed].mean()) if failed.any() else None,
            never=never,
            never_by_chance=by_chance,
            unfound=[self.shown.text(row) for row in unfound[:EXAMPLES] if self.shown.keep],
            note=None if self.nearest.kept else _NO_NEIGHBOURS,
        )


def _conditions(found: Slice) -> list[Condition]:
    return [Condition(feature, part) for feature, part in found.conditions]


class _Shown:
    """Texts and thumbnails of examples; none where they are not kept."""

    def __init__(self, data: Manifest, keep: bool) -> None:
        self.data, self.keep, self._thumbnail = data, keep, thumbnails(data)

    def text(self, row: int) -> ShownText:
        """Return a text with its image."""
        picture = self._thumbnail(int(self.data.image[row]))
        return ShownText(
            self.data.ids[row],
            self.data.languages[self.data.language[row]],
            cut(self.data.text[row]),
            None if picture is None else base64.b64encode(picture).decode("ascii"),
        )


@dataclass(frozen=True)
class _Nearest:
    """What neighbours add: the nearest text of each query, its score, and who is never found."""

    asked: Asked
    score: Floats  # [q], NaN where it is not known
    kept: bool
    pair: Ints  # of each line of the table
    neighbour: Ints  # row of the manifest

    def never(self, data: Manifest) -> tuple[float | None, float | None, list[int]]:
        """Return the share of targets among no query's nearest, that by chance, and these rows.

        Targets are known where queries have their own items among them, so these are looked at: the texts of
        the queries' items in the target language.
        """
        one = self.asked
        if not self.kept:
            return None, None, []
        lost, total, expected, unfound = 0, 0, 0.0, list[int]()
        for pair, (_, target) in enumerate(one.pairs):
            queries = one.row[one.first_sample & (one.pair == pair)]
            rows = data.rows_of(target)
            targets = rows[np.isin(data.item[rows], data.item[queries])]
            listed = self.neighbour[self.pair == pair]
            if not len(targets) or not np.isin(listed, targets).any():
                continue
            missing = np.setdiff1d(targets, listed)
            lost, total = lost + len(missing), total + len(targets)
            expected += len(targets) * (1 - len(listed) / len(queries) / len(targets)) ** len(queries)
            unfound += missing.tolist()
        if not total:
            return None, None, []
        return lost / total, expected / total, list(dict.fromkeys(unfound))


def _nearest(results: Results, data: Manifest, encoder: str, queries: Asked) -> _Nearest:
    """Return what the neighbours of an encoder say; where they were not kept, only what queries say."""
    import pyarrow as pa
    import pyarrow.compute as pc

    score = np.full(len(queries.row), np.nan)
    none = np.empty(0, dtype=np.int64)
    table = results.tables.get("neighbours")
    if table is None:
        return _Nearest(queries, score, False, none, none)
    table = table.filter(pc.equal(table["encoder"].cast(pa.string()), encoder))
    rows = rows_of(data)
    place = {pair: number for number, pair in enumerate(queries.pairs)}
    both = zip(table["source"].to_pylist(), table["target"].to_pylist(), strict=True)
    pair = np.array([place[one] for one in both], dtype=np.int64)
    query = found_rows(rows, table["source"], table["query"])
    neighbour = found_rows(rows, table["target"], table["neighbour"])
    alone = (table["above"].to_numpy() == 0) & (table["tied"].to_numpy() == 1)
    lines = np.flatnonzero(queries.first_sample)
    width = len(data)
    keys = queries.pair[lines] * width + queries.row[lines]
    order = np.argsort(keys)
    best = np.flatnonzero(table["above"].to_numpy() == 0)
    best = best[np.append(True, np.diff(pair[best] * width + query[best]) != 0)]
    at = lines[order[np.searchsorted(keys[order], pair[best] * width + query[best])]]
    numbers = table["score"].to_numpy(zero_copy_only=False).astype(np.float64)
    score[at] = numbers[best]
    retrieved = queries.retrieved.copy()
    retrieved[at] = np.where(alone[best], neighbour[best], -1)
    return _Nearest(replace(queries, retrieved=retrieved), score, True, pair, neighbour)
