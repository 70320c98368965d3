"""`data pivot-pairs`: pairs of texts in two languages whose images are alike, as a set to train on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from xlingual import encoders
from xlingual.align.choose import choose
from xlingual.align.fit import NONE, Options, fit
from xlingual.align.nodes import Nodes
from xlingual.align.pairs import NO_PAIRS, Pairs, alike, near_pairs, same_pairs
from xlingual.data.manifest import DataOptions, Manifest, ManifestLike, takes_data
from xlingual.embed.sides import fit_texts_for
from xlingual.encoders import EncoderLike
from xlingual.errors import InputError, parameter
from xlingual.evaluation.run import Progress, Storing
from xlingual.files import atomic_file, make_folder
from xlingual.ranking import Cpu, Ranker
from xlingual.store import StoreLike, open_store
from xlingual.transforms.affine import unit_rows
from xlingual.workflows.clock import Clock
from xlingual.workflows.one_encoder import one_encoder
from xlingual.workflows.pivoting.data import Embedded, parts_of, rows_to_use

COLUMNS = (
    "anchor",
    "positive",
    "anchor_language",
    "positive_language",
    "weight",
    "kind",
    "anchor_id",
    "positive_id",
)
FORMATS = (".parquet", ".jsonl")


@dataclass(frozen=True)
class TextPairs:
    """Pairs of texts, one record each, with the keys `COLUMNS`; and the map whose texts helped, if any."""

    records: Sequence[dict[str, Any]]
    map: str | None

    @property
    def summary(self) -> str:
        """How many there are of each kind, in a sentence."""
        near = sum(record["kind"] == "near" for record in self.records)
        texts = "" if self.map is None else f", with texts through the map {self.map}"
        return (
            f"{len(self.records):,} pairs: {near:,} of different items with near images{texts}; "
            f"{len(self.records) - near:,} of one item or image."
        )

    def write(self, path: str | Path) -> None:
        """Write them as Parquet or JSON lines, by the ending of the name; InputError for another."""
        path = Path(path)
        check_format(path)
        make_folder(path.parent)
        with atomic_file(path) as temporary:
            if path.suffix == ".jsonl":
                lines = (json.dumps(record, ensure_ascii=False) for record in self.records)
                temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
                return
            import pyarrow as pa
            import pyarrow.parquet as pq

            table = {name: [record[name] for record in self.records] for name in COLUMNS}
            pq.write_table(pa.table(table), temporary)


def check_format(path: Path) -> None:
    """Raise InputError where the name of a file does not say its format."""
    if path.suffix not in FORMATS:
        raise InputError(f"{path}: pairs are written to a file that ends in {' or '.join(FORMATS)}")


@takes_data()
def pivot_pairs(
    data: ManifestLike,
    image_encoder: EncoderLike,
    *,
    text_encoder: EncoderLike | None = None,
    languages: Sequence[str] | None = None,
    pairs_from: str = "both",
    most: int = 20_000,
    seed: int = 0,
    skip_broken: bool = False,
    threads: int = 1,
    ranker: Ranker | None = None,
    progress: Progress | None = None,
    store: StoreLike = "default",
    **columns: Unpack[DataOptions],
) -> TextPairs:
    """Return pairs of texts in two languages that belong together as their images say, with weights.

    Near pairs, of different items, are each other's nearest by images; with a `text_encoder`, by images and
    by its texts through the map that `train_pivot` would choose. Their weights are from 0.5 (least certain)
    to 1. Pairs of one item or image weigh 1. Of several texts of an item in a language, the first stands with
    the first of the other, the second with the second.

    Args:
        data: a manifest whose texts are in two languages or more, with images.
        image_encoder: of the images.
        text_encoder: whose texts help to choose; None: images alone.
        languages: only these; None: all.
        pairs_from: "near", "same" or "both".
        most: items of a language, at most.
        seed: of the sample, and of the map's choice.
        skip_broken: leave out texts whose image is missing or broken.
        threads: threads side by side; they change no number.
        ranker: what ranks images; None: this machine, with `threads`.
        progress: called with (what, done, total).
        store: where vectors are kept and found again, as in the evaluations.

    Raises:
        InputError: data, encoders or options are invalid, or no pair is found.

    """
    assert isinstance(data, Manifest)
    ranker = Cpu(threads=threads) if ranker is None else ranker
    clock, storing = Clock(progress), Storing(store=open_store(store), progress=progress)
    name, images = encoders.image_encoder(image_encoder, languages=list(data.languages))
    rows = rows_to_use(data, languages, images, skip_broken)
    parts = parts_of(data, rows, 0.0, seed, most)
    text = None
    if text_encoder is not None:
        text = one_encoder(text_encoder, languages or data.languages, fit_texts_for(data))
    embedded = Embedded.of(data, text, (name, images), parts, storing)
    nodes = embedded.nodes(parts.fit)
    near, map = NO_PAIRS, None
    if pairs_from != "same":
        candidates = alike(nodes, ranker=ranker)
        near = near_pairs(nodes, candidates)
        if text is not None:
            options = Options(int(np.bincount(nodes.language).argmax()), same=pairs_from == "both", seed=seed)
            best = choose(nodes, candidates, options, progress=clock.of("trying maps"), ranker=ranker)[
                0
            ].settings
            map = best.name
            if best.kind == NONE:
                near = near_pairs(nodes, candidates, unit_rows(nodes.text))
            else:
                near = fit(nodes, candidates, best, options).near
    same = same_pairs(nodes) if pairs_from != "near" else NO_PAIRS
    records = [*_records(embedded, nodes, near, "near"), *_records(embedded, nodes, same, "same")]
    if not records:
        both = parameter("pairs_from", "both")
        raise InputError(f"{data.source}: no pair of texts was found: give more items, or {both}")
    return TextPairs(records, map)


def _records(embedded: Embedded, nodes: Nodes, pairs: Pairs, kind: str) -> list[dict[str, Any]]:
    """Return a record for each pair of texts, the surest pair of nodes first."""
    data = embedded.data
    rows_of: dict[tuple[int, int], list[int]] = {}
    for row, item in zip(embedded.rows.tolist(), embedded.item.tolist(), strict=True):
        rows_of.setdefault((item, int(data.language[row])), []).append(row)

    def rows(node: int) -> list[int]:
        return rows_of[int(nodes.item[node]), int(nodes.language[node])]

    found = []
    for line in np.argsort(-pairs.weight, kind="stable").tolist():
        for one, other in zip(rows(pairs.left[line]), rows(pairs.right[line]), strict=False):
            values = (
                data.text[one],
                data.text[other],
                data.languages[data.language[one]],
                data.languages[data.language[other]],
                round(float(pairs.weight[line]), 6),
                kind,
                data.ids[one],
                data.ids[other],
            )
            found.append(dict(zip(COLUMNS, values, strict=True)))
    return found
