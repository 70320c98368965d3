"""Corpora of the papers as manifests: Multi30k, STAIR Captions and the IKEA set, from downloaded folders."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from xlingual.data.languages import check_tags
from xlingual.data.rows import parsed, read_bytes, read_lines
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.files import atomic_file, make_folder

Row: TypeAlias = dict[str, Any]  # id, lang, text, item, image (a file's name, or None), split …
_BLOCK = 1 << 14  # rows that are Python objects at the same time
_IMAGES = (".jpg", ".jpeg", ".png", ".webp", ".gif")
_MULTI30K = "Elliott, Frank, Sima'an, Specia: Multi30K. Workshop on Vision and Language 2016"


@dataclass(frozen=True)
class CorpusFolder:
    """The folder that a corpus was unpacked to."""

    corpus: Corpus
    path: Path

    def files(self, pattern: str) -> list[Path]:
        """Return the files below the folder whose path ends as a pattern says, by path."""
        return sorted(path for path in self.path.rglob(pattern) if path.is_file())

    def wrong(self, reason: str) -> InputError:
        """Return the error for a folder that does not hold the corpus."""
        title, expected = self.corpus.title, "; ".join(f"{k}: {v}" for k, v in self.corpus.files.items())
        holds = listed(sorted(path.name for path in self.path.iterdir()), 6) if self.path.is_dir() else ""
        return InputError(
            f"{self.path} does not hold {title} ({reason}): expected in it, or in its folders, {expected}. "
            f"It holds {holds or 'nothing'}. Download: {self.corpus.url}"
        )


@dataclass(frozen=True)
class Corpus:
    """A corpus of images with texts. `files` are patterns below its folder: the first one is needed."""

    name: str
    title: str
    about: str
    files: Mapping[str, str]
    licence: str
    citation: str
    url: str
    read: Callable[[CorpusFolder], Iterator[Row]]


@dataclass
class Converted:
    """Counts of what was written of a corpus."""

    corpus: Corpus
    out: Path
    texts: Counter[str] = field(default_factory=Counter)  # by language
    n_items: int = 0
    images: Counter[str] = field(default_factory=Counter)  # texts whose image is "there", "missing" or "none"
    n_empty: int = 0  # texts without visible characters, which are left out


def convert(
    name: str,
    folder: str | Path,
    out: str | Path,
    *,
    languages: Sequence[str] = (),
    split: str | None = None,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> Converted:
    """Write the corpus `name`, which lies in `folder`, as the manifest `out` (Parquet).

    `languages` and `split` choose rows. Raises InputError where the folder does not hold the corpus, or where
    a chosen language or split has no text.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    corpus, out, place = corpus_of(name), Path(out), CorpusFolder(corpus_of(name), Path(folder))
    check_tags(languages, "--languages")
    if out.suffix.lower() != ".parquet":
        raise InputError(f"--out {out}: the manifest of {corpus.title} is Parquet: name it ….parquet")
    if not place.path.is_dir() or not place.files(next(iter(corpus.files))):
        raise place.wrong("no such files" if place.path.is_dir() else "no such folder")
    converted, seen = Converted(corpus, out), set[tuple[str, str]]()
    progress(f"reading {corpus.title}", 0, 1)  # its size shows when it is read
    rows = _chosen_rows(place, converted, seen, languages, split)
    block = list(islice(rows, _BLOCK))
    schema = pa.schema([(name, pa.string()) for row in block[:1] for name in row])
    make_folder(out.parent)
    with atomic_file(out) as path, pq.ParquetWriter(path, schema, compression="zstd") as file:
        while block:
            file.write_table(pa.Table.from_pylist(block, schema=schema))
            block = list(islice(rows, _BLOCK))
        there = sorted({tag for part, tag in seen if split in (None, part)})
        for tag in languages if there else ():  # before the file takes its name
            if tag not in converted.texts:
                raise InputError(
                    f"{place.path} has no {corpus.title} in {tag!r}.{did_you_mean(tag, there)} Its "
                    f"languages: {listed(there, 40)}"
                )
        if not converted.texts:
            splits = listed(sorted({part for part, _ in seen}))
            raise place.wrong(f"no text of the split {split!r}; its splits: {splits}" if seen else "no text")
    return converted


def corpus_of(name: str) -> Corpus:
    """Return the corpus of a name; raise InputError, with the nearest one, where there is none."""
    if name not in CORPORA:
        raise InputError(
            f"no corpus {name!r:.40} is known.{did_you_mean(name, CORPORA)} Known: {listed(CORPORA)}"
        )
    return CORPORA[name]


def _chosen_rows(
    place: CorpusFolder,
    converted: Converted,
    seen: set[tuple[str, str]],
    languages: Sequence[str],
    split: str | None,
) -> Iterator[Row]:
    """Yield the chosen rows that have text, images as paths relative to the manifest; count them."""
    base, items = Path(os.path.realpath(converted.out.parent)), set[str]()
    images: dict[str, Path] = {}
    for folder, _, names in sorted(os.walk(place.path)):
        for name in names:
            if name.lower().endswith(_IMAGES):
                images.setdefault(name, Path(folder, name))
    for row in place.corpus.read(place):
        seen.add((row["split"], row["lang"]))
        if (languages and row["lang"] not in languages) or split not in (None, row["split"]):
            continue
        if not row["text"].strip():
            converted.n_empty += 1
            continue
        converted.texts[row["lang"]] += 1
        items.add(row["item"])
        converted.n_items = len(items)
        image = row["image"]
        converted.images["none" if image is None else "there" if image in images else "missing"] += 1
        if image in images:
            image = os.path.relpath(os.path.realpath(images[image]), base).replace(os.sep, "/")
            if image.startswith(".."):
                name = f"{place.path / place.corpus.name}.parquet"
                raise InputError(
                    f"the images lie in {place.path}, outside the folder of the manifest ({base}), where "
                    f"none is read: write it beside them, such as --out {name}"
                )
        yield {**row, "image": image}


# --- the layouts


def _multi30k(folder: CorpusFolder, task: str, pattern: str) -> Iterator[Row]:
    by_split: dict[str, list[tuple[str, str, Path]]] = {}
    for path in folder.files(f"{task}/raw/*"):
        if parts := re.fullmatch(pattern, path.name.removesuffix(".gz")):
            number = parts.groupdict().get("number", "1")
            by_split.setdefault(parts["split"], []).append((parts["lang"], number, path))
    lists = [*folder.files(f"{task}/image_splits/*.txt"), *folder.files("image_splits/*.txt")]
    for split, files in by_split.items():
        stems = {split, "test_2016_flickr"} if split == "test_2016" else {split}
        images = [path for path in lists if path.stem.removesuffix("_images") in stems][:1]
        for row, texts in enumerate(_aligned([*(path for *_, path in files), *images])):
            image = texts[-1].partition("#")[0].strip() if images else None
            key = f"{split}:{row}"
            for (tag, number, _), text in zip(files, texts, strict=False):
                name, item = key if number == "1" else f"{key}#{number}", image or key
                yield {"id": name, "lang": tag, "text": text, "item": item, "image": image, "split": split}


def _task1(folder: CorpusFolder) -> Iterator[Row]:
    """Yield descriptions and their translations; an image is an item."""
    return _multi30k(folder, "task1", r"(?P<split>\w+)\.(?P<lang>[a-z]{2})")


def _task2(folder: CorpusFolder) -> Iterator[Row]:
    """Yield independent descriptions; an image is an item."""
    return _multi30k(folder, "task2", r"(?P<split>\w+)\.(?P<number>[0-9])\.(?P<lang>[a-z]{2})")


def _ikea(folder: CorpusFolder) -> Iterator[Row]:
    """Yield product descriptions, normalised and tokenised as published, with the raw text beside them."""
    for path in folder.files("data.norm.tok.lc/*.norm.tok.lc.en"):
        split, pair = path.name.partition(".")[0], path.parents[1].name
        languages = ("en", pair.rpartition(".")[2])
        raw_names = [f"data.raw/{split}_WMT_2017.{tag}" for tag in languages]
        raw = [
            [*folder.files(f"{pair}/{name}"), *folder.files(f"{pair}/{name}.gz")][:1] for name in raw_names
        ]
        images = folder.files(f"{pair}/image.index/{split}_WMT_2017_images.txt")[:1]
        paths = [path.with_name(f"{split}.norm.tok.lc.{tag}") for tag in languages]
        for row, texts in enumerate(_aligned([*paths, *raw[0], *raw[1], *images])):
            key, image = f"{pair}:{split}:{row}", texts[-1].strip().rpartition("/")[2] if images else None
            raw_texts = iter(texts[2:])
            for tag, text, raw_file in zip(languages, texts, raw, strict=False):
                yield {
                    "id": key, "lang": tag, "text": text, "item": key, "image": image, "split": split,
                    "raw": next(raw_texts) if raw_file else "",
                }  # fmt: skip


def _stair(folder: CorpusFolder) -> Iterator[Row]:
    """Yield Japanese captions, and COCO's English ones where they are there; an image is an item."""
    japanese = [path for path in folder.files("stair_captions*.json") if "tokenized" not in path.name]
    files = [*((path, "ja") for path in japanese), *((p, "en") for p in folder.files("captions_*2014.json"))]
    for path, language in files:
        split = next((name for name in ("train", "val", "test") if name in path.name), "")
        content = parsed(read_bytes(path), str(path))
        try:
            names = {image["id"]: image.get("file_name") for image in content.get("images", [])}
            for caption in content["annotations"]:
                key = caption["image_id"]
                yield {
                    "id": str(caption["id"]), "lang": language, "text": str(caption["caption"]),
                    "item": str(key), "image": names.get(key) or f"COCO_{split}2014_{key:012d}.jpg",
                    "split": split,
                }  # fmt: skip
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{path} is not in the layout of COCO's captions ({error!r:.60}): expected images and "
                "annotations with id, image_id and caption"
            ) from error


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


CORPORA: Mapping[str, Corpus] = {
    corpus.name: corpus
    for corpus in (
        Corpus(
            name="multi30k",
            title="Multi30k, task 1",
            about="image descriptions in English with translations into German, French and Czech",
            files={
                "task1/raw/*": "texts, a line each (train.de, or train.de.gz)",
                "image_splits/*.txt": "names of images, a line each",
            },
            licence="texts: not stated; images: research only",
            citation=_MULTI30K,
            url="https://github.com/multi30k/dataset",
            read=_task1,
        ),
        Corpus(
            name="multi30k-task2",
            title="Multi30k, task 2",
            about="five independent descriptions of an image in English, and five in German",
            files={
                "task2/raw/*": "texts, a line each (train.1.de, or train.1.de.gz)",
                "image_splits/*.txt": "names of images, a line each",
            },
            licence="texts: not stated; images: research only",
            citation=_MULTI30K,
            url="https://github.com/multi30k/dataset",
            read=_task2,
        ),
        Corpus(
            name="stair",
            title="STAIR Captions",
            about="Japanese captions of the images of COCO; with captions_*.json of COCO English ones, too",
            files={
                "stair_captions*.json": "Japanese captions",
                "captions_*2014.json": "English captions of COCO, if they were downloaded",
                "*.jpg": "images",
            },
            licence="CC BY 4.0; images: terms of Flickr",
            citation="Yoshikawa, Shigeto, Takeuchi: STAIR Captions. ACL 2017",
            url="https://github.com/STAIR-Lab-CIT/STAIR-captions",
            read=_stair,
        ),
        Corpus(
            name="ikea",
            title="IKEA-Dataset",
            about="product descriptions in English and German, English and French",
            files={
                "data.norm.tok.lc/*.norm.tok.lc.en": "texts, a line each (data.en.de, data.en.fr)",
                "image.index/*_WMT_2017_images.txt": "names of images, a line each",
            },
            licence="MIT; texts of web shops",
            citation="Zhou, Cheng, Lee, Yu: A Visual Attention Grounding Neural Model … EMNLP 2018",
            url="https://github.com/sampalomad/IKEA-Dataset",
            read=_ikea,
        ),
    )
}
