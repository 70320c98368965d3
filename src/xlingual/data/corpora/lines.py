"""Corpora of lines that belong together: Multi30k, the IKEA set, FLORES, Tatoeba and BUCC."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from xlingual.data.corpora.captions import Row
from xlingual.data.corpora.files import CorpusFolder, aligned, lines_of, parts_of
from xlingual.data.rows import read_lines, read_rows
from xlingual.errors import InputError


def multi30k(folder: CorpusFolder) -> Iterator[Row]:
    """Yield the descriptions of task 1 and their translations; an image is an item."""
    yield from _multi30k(folder, "task1", r"(?P<split>[\w]+)\.(?P<lang>[a-z]{2})")


def multi30k_task2(folder: CorpusFolder) -> Iterator[Row]:
    """Yield the independent descriptions of task 2; an image is an item."""
    yield from _multi30k(folder, "task2", r"(?P<split>[\w]+)\.(?P<number>[0-9])\.(?P<lang>[a-z]{2})")


def _multi30k(folder: CorpusFolder, task: str, pattern: str) -> Iterator[Row]:
    by_split: dict[str, list[tuple[str, str, Path]]] = {}
    for path in folder.needed(f"{task}/raw/*"):
        parts = parts_of(path, pattern)
        if parts and folder.wants_split(parts["split"]) and folder.wants(parts["lang"]):
            by_split.setdefault(parts["split"], []).append((parts["lang"], parts.get("number", "1"), path))
    for split, files in by_split.items():
        images = _image_list(folder, task, split)
        paths = [path for *_, path in files]
        for row, texts in enumerate(aligned([*paths, *([images] if images else [])])):
            image = texts[len(paths)].partition("#")[0].strip() if images else None
            key = f"{split}:{row}"
            for (tag, number, _), text in zip(files, texts, strict=False):
                name = key if number == "1" else f"{key}#{number}"
                item = image or key
                yield {
                    "id": name, "lang": tag, "text": text, "item": item, "image": image, "split": split,
                }  # fmt: skip


def _image_list(folder: CorpusFolder, task: str, split: str) -> Path | None:
    """Return the list of the images of a split; those of both tasks are the same."""
    other = "test_2016_flickr" if split == "test_2016" else split
    lists = folder.files(f"{task}/image_splits/*.txt") + folder.files("image_splits/*.txt")
    return next(
        (path for path in lists if path.stem in (split, f"{split}_images", other, f"{other}_images")), None
    )


def ikea(folder: CorpusFolder) -> Iterator[Row]:
    """Yield product descriptions, normalised and tokenised as published, with the raw text beside them."""
    for path in folder.needed("data.norm.tok.lc/*.norm.tok.lc.en"):
        split, pair = path.name.partition(".")[0], path.parents[1].name
        other = pair.rpartition(".")[2]
        if not folder.wants_split(split):
            continue
        languages = ("en", other)
        paths = [path.with_name(f"{split}.norm.tok.lc.{tag}") for tag in languages]
        lists = folder.files(f"{pair}/image.index/{split}_WMT_2017_images.txt")
        if not all(one.is_file() for one in paths):
            raise folder.wrong(f"{paths[1]} is missing")
        raw = [_raw(path.parents[1] / "data.raw", f"{split}_WMT_2017.{tag}") for tag in languages]
        sources = [*paths, *(one for one in raw if one), *lists[:1]]
        for row, texts in enumerate(aligned(sources)):
            image = texts[-1].strip().rpartition("/")[2] if lists else None
            beside = dict(
                zip([tag for tag, one in zip(languages, raw, strict=True) if one], texts[2:], strict=False)
            )
            for tag, text in zip(languages, texts, strict=False):
                if folder.wants(tag):
                    key = f"{pair}:{split}:{row}"
                    yield {
                        "id": key, "lang": tag, "text": text, "item": key, "image": image, "split": split,
                        "raw": beside.get(tag, ""),
                    }  # fmt: skip


def _raw(folder: Path, name: str) -> Path | None:
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def flores(folder: CorpusFolder) -> Iterator[Row]:
    """Yield the sentences of all languages; sentences of one article are a cluster."""
    by_split: dict[str, list[tuple[str, Path]]] = {}
    for path in folder.needed("*_*.dev", "*_*.devtest"):
        parts = parts_of(path, r"(?P<lang>[a-z]{3}_[A-Z][a-z]{3})\.(?P<split>dev|devtest)")
        tag = folder.language(parts["lang"], path) if parts else ""
        if parts and folder.wants_split(parts["split"]) and folder.wants(tag):
            by_split.setdefault(parts["split"], []).append((tag, path))
    for split, files in by_split.items():
        about = folder.files(f"metadata_{split}.tsv")
        articles = [record.get("URL") for _, record in read_rows(about[0])] if about else []
        for row, texts in enumerate(aligned([path for _, path in files])):
            key = f"{split}:{row}"
            cluster = articles[row] if row < len(articles) else key
            for (tag, _), text in zip(files, texts, strict=True):
                yield {"id": key, "lang": tag, "text": text, "item": key, "cluster": cluster, "split": split}


def tatoeba(folder: CorpusFolder) -> Iterator[Row]:
    """Yield the sentences of each language with their English ones: LASER's files, or pairs."""
    files = folder.needed("tatoeba.*-*.*", "*.txt")
    for path in files:
        parts = parts_of(path, r"tatoeba\.(?P<lang>[a-z]{3})-eng\.(?P=lang)")
        if parts:
            tag = folder.language(parts["lang"], path)
            english = path.with_name(path.name.removesuffix(parts["lang"]) + "eng")
            if not english.is_file():
                raise folder.wrong(f"{english} is missing")
            pairs = aligned([english, path]) if folder.wants(tag) else iter(())
        elif path.suffix == ".txt" and (parts := parts_of(path, r"(?P<lang>[a-z]{3})(?:-eng)?\.txt")):
            tag = folder.language(parts["lang"], path)
            pairs = _tabbed(path) if folder.wants(tag) else iter(())
        else:
            continue
        for row, texts in enumerate(pairs):
            key = f"{tag}-en:{row}"
            for own, text in zip(("en", tag), texts, strict=True):
                if own == "en" or folder.wants(own):
                    yield {"id": key, "lang": own, "text": text, "item": key}


def _tabbed(path: Path) -> Iterator[tuple[str, ...]]:
    for number, line in read_lines(path):
        fields = line.split("\t")
        if len(fields) < 2:
            raise InputError(
                f"{path}, line {number}: no tab: expected an English sentence, a tab, its translation"
            )
        yield fields[0], fields[1]


def bucc(folder: CorpusFolder) -> Iterator[Row]:
    """Yield the sentences of both corpora; those of a pair in the gold file are one item, all others none."""
    for gold in folder.needed("*.gold"):
        parts = parts_of(gold, r"(?P<one>[a-z]{2})-(?P<other>[a-z]{2})\.(?P<split>[a-z]+)\.gold")
        if parts is None or not folder.wants_split(parts["split"]):
            continue
        item: dict[str, str] = {}
        for pair in map(str.split, lines_of(gold)):
            if len(pair) != 2:
                raise InputError(
                    f"{gold}: expected two ids in each line, such as fr-000000001, a tab, en-000000002"
                )
            new = f"{parts['one']}-{parts['other']}:{pair[0]}"
            item |= dict.fromkeys(pair, item.get(pair[0]) or item.get(pair[1]) or new)
        for word in (parts["one"], parts["other"]):
            path = gold.with_name(gold.name.removesuffix("gold") + word)
            if not path.is_file():
                raise folder.wrong(f"{path} is missing")
            tag = folder.language(word, path)
            for number, line in read_lines(path) if folder.wants(tag) else ():
                name, mark, text = line.partition("\t")
                if not mark:
                    raise InputError(f"{path}, line {number}: no tab: expected an id, a tab and a sentence")
                own, split = f"{parts['one']}-{parts['other']}:{name}", parts["split"]
                yield {
                    "id": own, "lang": tag, "text": text, "item": item.get(name, own), "split": split,
                }  # fmt: skip
