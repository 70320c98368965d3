"""Corpora of the papers as manifests: Multi30k, STAIR Captions and the IKEA set, from downloaded folders.

`convert` writes FOLDER/NAME.parquet beside the images that it names. A corpus is a row of `CORPORA`; its
function yields a dictionary for each text: id, lang, text, item, image (a file's name, or None), split.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from xlingual.data.rows import parsed, read_bytes, read_lines
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.files import atomic_file

Row: TypeAlias = dict[str, Any]
_ROWS = 1 << 14  # rows that are Python objects at the same time
_IMAGES = (".jpg", ".jpeg", ".png", ".webp", ".gif")
_MULTI30K = (
    "texts: not stated; images: research only",
    "Elliott, Frank, Sima'an, Specia: Multi30K. Workshop on Vision and Language 2016",
    "https://github.com/multi30k/dataset",
)


class Corpus(NamedTuple):
    """A corpus of images with texts; files that match `needed` must lie below its folder."""

    title: str
    needed: str
    rows: Callable[[Path], Iterator[Row]]
    licence: str
    citation: str
    url: str


@dataclass
class Conversion:
    """The manifest that was written, and its counts."""

    corpus: Corpus
    manifest: Path
    texts: Counter[str] = field(default_factory=Counter)  # by language
    items: set[str] = field(default_factory=set)
    images: Counter[str] = field(
        default_factory=Counter
    )  # texts whose image is "there", "missing", "unnamed"
    n_empty: int = 0  # texts without visible characters, which are left out


def convert(name: str, folder: str | Path) -> Conversion:
    """Write the corpus `name`, which lies unpacked in `folder`, as the manifest FOLDER/NAME.parquet.

    Raises InputError where the folder does not hold the corpus.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if name not in CORPORA:
        raise InputError(f"corpus {name!r:.40}: expected {listed(CORPORA)}.{did_you_mean(name, CORPORA)}")
    corpus, folder = CORPORA[name], Path(folder)
    if not folder.is_dir() or not _files(folder, corpus.needed):
        holds = listed(sorted(path.name for path in folder.iterdir()), 6) if folder.is_dir() else "nothing"
        raise InputError(
            f"{folder} does not hold {corpus.title}: expected {corpus.needed} in it or in its folders, found "
            f"{holds or 'nothing'}. Download and unpack {corpus.url}"
        )
    conversion = Conversion(corpus, folder / f"{name}.parquet")
    rows = _counted(conversion, folder)
    block = list(islice(rows, _ROWS))
    if not block:
        raise InputError(f"{folder} holds no text of {corpus.title}: download {corpus.url} again")
    schema = pa.schema([(column, pa.string()) for column in block[0]])
    with (
        atomic_file(conversion.manifest) as path,
        pq.ParquetWriter(path, schema, compression="zstd") as file,
    ):
        while block:
            file.write_table(pa.Table.from_pylist(block, schema=schema))
            block = list(islice(rows, _ROWS))
    return conversion


def _counted(conversion: Conversion, folder: Path) -> Iterator[Row]:
    """Yield the rows that have text, with images as paths relative to the manifest, and count them."""
    paths: dict[str, str] = {}
    for place, _, names in sorted(os.walk(folder)):
        for name in names:
            if name.lower().endswith(_IMAGES):
                paths.setdefault(name, Path(place, name).relative_to(folder).as_posix())
    for row in conversion.corpus.rows(folder):
        if not row["text"].strip():
            conversion.n_empty += 1
            continue
        image = row["image"]
        conversion.texts[row["lang"]] += 1
        conversion.items.add(row["item"])
        conversion.images["unnamed" if image is None else "there" if image in paths else "missing"] += 1
        yield {**row, "image": paths.get(image, image)}


def _files(folder: Path, pattern: str) -> list[Path]:
    """Find the files below a folder whose path ends as a pattern says."""
    return sorted(path for path in folder.rglob(pattern) if path.is_file())


def _aligned(paths: Sequence[Path]) -> Iterator[tuple[str, ...]]:
    """Yield the lines of files that belong together; raise InputError where one has more than another."""
    columns = []
    for path in paths:
        lines = [line for _, line in read_lines(path)]
        columns.append(lines[:-1] if lines and not lines[-1] else lines)
        if len(columns[-1]) != len(columns[0]):
            raise InputError(
                f"{path} has {len(columns[-1]):,} lines and {paths[0]} {len(columns[0]):,}: they must belong "
                "together line by line, so download both again"
            )
    yield from zip(*columns, strict=True)


def _multi30k(folder: Path, task: str, pattern: str) -> Iterator[Row]:
    """Yield texts whose image is their item."""
    by_split: dict[str, list[tuple[str, str, Path]]] = {}
    for path in _files(folder, f"{task}/raw/*"):
        if parts := re.fullmatch(pattern, path.name.removesuffix(".gz")):
            number = parts.groupdict().get("number", "1")
            by_split.setdefault(parts["split"], []).append((parts["lang"], number, path))
    image_lists = [*_files(folder, f"{task}/image_splits/*.txt"), *_files(folder, "image_splits/*.txt")]
    for split, files in by_split.items():
        stems = {split, "test_2016_flickr"} if split == "test_2016" else {split}
        images = [path for path in image_lists if path.stem.removesuffix("_images") in stems][:1]
        for row, texts in enumerate(_aligned([*(path for *_, path in files), *images])):
            image = texts[-1].partition("#")[0].strip() if images else None
            key = f"{split}:{row}"
            for (lang, number, _), text in zip(files, texts, strict=False):
                text_id, item = key if number == "1" else f"{key}#{number}", image or key
                yield {
                    "id": text_id, "lang": lang, "text": text, "item": item, "image": image, "split": split
                }  # fmt: skip


def _task1(folder: Path) -> Iterator[Row]:
    """Yield descriptions and their translations."""
    return _multi30k(folder, "task1", r"(?P<split>\w+)\.(?P<lang>[a-z]{2})")


def _task2(folder: Path) -> Iterator[Row]:
    """Yield independent descriptions."""
    return _multi30k(folder, "task2", r"(?P<split>\w+)\.(?P<number>[0-9])\.(?P<lang>[a-z]{2})")


def _ikea(folder: Path) -> Iterator[Row]:
    """Yield product descriptions, normalised and tokenised as published, with the raw text beside them."""
    for path in _files(folder, "data.norm.tok.lc/*.norm.tok.lc.en"):
        split, pair = path.name.partition(".")[0], path.parents[1].name
        languages = ("en", pair.rpartition(".")[2])
        raw_names = [f"{pair}/data.raw/{split}_WMT_2017.{lang}" for lang in languages]
        raw_files = [[*_files(folder, name), *_files(folder, f"{name}.gz")][:1] for name in raw_names]
        images = _files(folder, f"{pair}/image.index/{split}_WMT_2017_images.txt")[:1]
        paths = [path.with_name(f"{split}.norm.tok.lc.{lang}") for lang in languages]
        for row, texts in enumerate(_aligned([*paths, *raw_files[0], *raw_files[1], *images])):
            key, image = f"{pair}:{split}:{row}", texts[-1].strip().rpartition("/")[2] if images else None
            raw_texts = iter(texts[2:])
            for lang, text, raw in zip(languages, texts, raw_files, strict=False):
                yield {
                    "id": key, "lang": lang, "text": text, "item": key, "image": image, "split": split,
                    "raw": next(raw_texts) if raw else "",
                }  # fmt: skip


def _stair(folder: Path) -> Iterator[Row]:
    """Yield Japanese captions, and COCO's English ones where they are there; an image is an item."""
    japanese = [path for path in _files(folder, "stair_captions*.json") if "tokenized" not in path.name]
    english = _files(folder, "captions_*2014.json")
    for path, lang in [*((path, "ja") for path in japanese), *((path, "en") for path in english)]:
        split = next((name for name in ("train", "val", "test") if name in path.name), "")
        content = parsed(read_bytes(path), str(path))
        try:
            names = {image["id"]: image.get("file_name") for image in content.get("images", [])}
            for caption in content["annotations"]:
                number = caption["image_id"]
                yield {
                    "id": str(caption["id"]), "lang": lang, "text": str(caption["caption"]),
                    "item": str(number), "image": names.get(number) or f"COCO_{split}2014_{number:012d}.jpg",
                    "split": split,
                }  # fmt: skip
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{path} is not in the layout of COCO's captions ({error!r:.60}): expected images and "
                "annotations with id, image_id and caption"
            ) from error


CORPORA = {
    "multi30k": Corpus("Multi30k, task 1", "task1/raw/*", _task1, *_MULTI30K),
    "multi30k-task2": Corpus("Multi30k, task 2", "task2/raw/*", _task2, *_MULTI30K),
    "stair": Corpus(
        "STAIR Captions",
        "stair_captions*.json",
        _stair,
        "CC BY 4.0; images: terms of Flickr",
        "Yoshikawa, Shigeto, Takeuchi: STAIR Captions. ACL 2017",
        "https://github.com/STAIR-Lab-CIT/STAIR-captions",
    ),
    "ikea": Corpus(
        "IKEA-Dataset",
        "data.norm.tok.lc/*.norm.tok.lc.en",
        _ikea,
        "MIT; texts of web shops",
        "Zhou, Cheng, Lee, Yu: A Visual Attention Grounding Neural Model … EMNLP 2018",
        "https://github.com/sampalomad/IKEA-Dataset",
    ),
}
