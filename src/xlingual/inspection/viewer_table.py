"""A table of all queries for viewers of embeddings, such as embedding-atlas and Spotlight."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from xlingual.arrays import Floats
from xlingual.data.images import thumbnails
from xlingual.embed.sides import embed_batch, fit_texts_for
from xlingual.encoders import EncoderLike, text_encoders
from xlingual.errors import InputError, did_you_mean, listed, parameter
from xlingual.files import atomic_file, make_folder
from xlingual.inspection.encoder import Looked
from xlingual.store import StoreLike, open_store

Progress = Callable[[str, int, int], None]
EncoderSpecs: TypeAlias = "Sequence[EncoderLike] | Mapping[str, EncoderLike]"
_SIDE = 112  # pixels of an image


def check_table_file(path: Path) -> None:
    """Raise InputError where a table cannot be written to a file of this name."""
    if path.suffix.lower() != ".parquet" or path.is_dir():
        raise InputError(
            f"{parameter('table', str(path))}: expected the name of a file that ends in .parquet"
        )


def write_viewer_table(
    looked: Sequence[Looked],
    path: Path,
    encoders: EncoderSpecs = (),
    *,
    store: StoreLike = "default",
    progress: Progress | None = None,
) -> None:
    """Write the queries of the first samples of each encoder, failed or not, as Parquet.

    Columns: encoder, source, target, id, query and retrieved (texts), score, rank, value, kind ("answered"
    where it did not fail), slice (weak ones that hold it), image (JPEG), and x, y: the first two principal
    components of the unit vectors of the encoder's queries, null for an encoder that `encoders` do not name.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    points = _points(looked, encoders, store, progress)
    texts = ("encoder", "source", "target", "id", "query", "retrieved", "kind", "slice")
    schema = pa.schema(
        [(name, pa.string()) for name in texts]
        + [("rank", pa.int64()), ("image", pa.binary())]
        + [(name, pa.float64()) for name in ("score", "value", "x", "y")]
    )
    make_folder(path.parent)
    tables = [
        pa.Table.from_pylist(list(_rows(each, points.get(each.encoder, {}))), schema=schema)
        for each in looked
    ]
    with atomic_file(path) as temporary:
        pq.write_table(pa.concat_tables(tables), temporary, compression="zstd")


def _rows(looked: Looked, points: Mapping[int, Floats]) -> Iterator[dict[str, Any]]:
    data, asked, thumbnail = looked.data, looked.asked, thumbnails(looked.data.image_source, _SIDE)
    slices = [(words, set(rows.tolist())) for words, rows in looked.slices]
    for line in looked.lines(failed=False).tolist():
        row, above, kind = int(asked.row[line]), int(asked.above[line]), int(looked.kind[line])
        source, target = asked.pairs[asked.pair[line]]
        retrieved, score = next(iter(looked.nearest_of(line)), (None, None))
        x, y = points[row].tolist() if row in points else (None, None)
        yield {
            "encoder": looked.encoder,
            "source": source,
            "target": target,
            "id": data.ids[row],
            "query": data.text[row],
            "retrieved": None if retrieved is None else data.text[retrieved],
            "score": score,
            "rank": above + 1 if above >= 0 else None,
            "value": float(asked.value[line]),
            "kind": looked.served.kinds[kind] if kind >= 0 else "answered",
            "slice": "; ".join(words for words, rows in slices if row in rows) or None,
            "image": thumbnail(int(data.image[row])),
            "x": x,
            "y": y,
        }


def _points(
    looked: Sequence[Looked], specs: EncoderSpecs, store: StoreLike, progress: Progress | None
) -> dict[str, dict[int, Floats]]:
    """Return for each encoder with a spec the place of each query row, by two principal components."""
    if not specs:
        return {}
    data, names = looked[0].data, [each.encoder for each in looked]
    made = text_encoders(specs, languages=data.languages, fit_texts=fit_texts_for(data))
    for name in made:
        if name not in names:
            raise InputError(
                f"{parameter('text_encoders', name)}: the results have no such encoder."
                f"{did_you_mean(name, names)} They have {listed(names)}; name it as NAME=SPEC"
            )
    points = {}
    for each in looked:
        if each.encoder in made:
            encoder, rows = made[each.encoder], np.unique(each.asked.row)
            texts = replace(data.texts(rows), role="query" if encoder.by_role else None)
            vectors = embed_batch(
                texts, each.encoder, encoder, store=open_store(store), progress=progress
            ).vectors
            vectors = vectors.astype(np.float64)
            unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
            points[each.encoder] = dict(zip(rows.tolist(), _principal(unit), strict=True))
    return points


def _principal(vectors: Floats) -> Floats:
    """Return the first two principal components of vectors [n, d], each with its largest weight above 0."""
    centred = vectors - vectors.mean(axis=0)
    directions = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :2]
    directions = directions * np.sign(
        directions[np.abs(directions).argmax(axis=0), range(directions.shape[1])]
    )
    places: Floats = np.zeros((len(vectors), 2))
    places[:, : directions.shape[1]] = centred @ directions
    return places
