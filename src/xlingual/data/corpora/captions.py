"""Corpora of images with texts, in files of records: Crossmodal-3600, WIT, xFlickr&CO, COCO and STAIR."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from xlingual.data.corpora.files import CorpusFolder, parts_of
from xlingual.data.languages import tag_of
from xlingual.data.rows import read_rows
from xlingual.data.tables import first_line
from xlingual.errors import InputError

Row = dict[str, Any]  # id, lang, text, item and, where there are any, image (a file's name), split …
_WIT_TEXTS = ("caption_reference_description", "caption_alt_text_description")


def xm3600(folder: CorpusFolder) -> Iterator[Row]:
    """Yield the captions of every image in every language: {"image/key": …, "de": {"caption": […]}}."""
    for path in folder.needed("captions.jsonl"):
        for where, record in read_rows(path):
            key = record.get("image/key")
            if not isinstance(key, str):
                raise InputError(
                    f"{where}: no 'image/key': it is no line of Crossmodal-3600's captions.jsonl"
                )
            for word, own in record.items():
                captions = own.get("caption") if isinstance(own, dict) else None
                tag = tag_of(word, any_code=True) if captions else None
                if not captions or tag is None or not folder.wants(tag):
                    continue
                for number, caption in enumerate(captions, 1):
                    name = key if number == 1 else f"{key}#{number}"
                    yield {"id": name, "lang": tag, "text": caption, "item": key, "image": f"{key}.jpg"}


def xflickrco(folder: CorpusFolder) -> Iterator[Row]:
    """Yield the captions of the test sets, one file for each language."""
    for path in folder.needed("*/test.jsonl"):
        tag = folder.language(path.parent.name, path)
        if not folder.wants(tag):
            continue
        for where, record in read_rows(path):
            image, captions = record.get("img_path"), record.get("sentences")
            if not isinstance(image, str) or not isinstance(captions, list):
                raise InputError(f"{where}: expected 'img_path' and 'sentences', as in IGLUE's annotations")
            key = str(record.get("id", image))
            for number, caption in enumerate(captions, 1):
                name = key if number == 1 else f"{key}#{number}"
                yield {
                    "id": name, "lang": tag, "text": caption, "item": image, "split": "test",
                    "image": os.path.basename(image),
                }  # fmt: skip


def coco(folder: CorpusFolder) -> Iterator[Row]:
    """Yield the English captions of COCO."""
    files = [path for path in folder.needed("captions_*.json") if not path.name.startswith("stair")]
    yield from _coco(folder, files, "en")


def stair(folder: CorpusFolder) -> Iterator[Row]:
    """Yield Japanese captions, and English ones of COCO where they are there; an image is an item."""
    files = [path for path in folder.needed("stair_captions*.json") if "tokenized" not in path.name]
    yield from _coco(folder, files, "ja")
    yield from _coco(folder, folder.files("captions_*2014.json"), "en")


def _coco(folder: CorpusFolder, files: list[Path], language: str) -> Iterator[Row]:
    """Yield the captions of files in COCO's layout: images, and annotations with image_id and caption."""
    years = {part for path in files for part in ("2014", "2017") if part in path.name}
    if len(years) > 1:
        raise folder.wrong("its files are of 2014 and of 2017, which have the same images: keep one of them")
    for path in files if folder.wants(language) else ():
        split = next((name for name in ("train", "val", "test") if name in path.name), "")
        if not folder.wants_split(split):
            continue
        try:
            content = json.loads(path.read_bytes())
            names = {image["id"]: image.get("file_name") for image in content.get("images", [])}
            for own in content["annotations"]:
                key = own["image_id"]
                usual = f"COCO_{split}2014_{key:012d}.jpg"
                yield {
                    "id": str(own["id"]), "lang": language, "text": own["caption"], "item": str(key),
                    "image": names.get(key) or usual, "split": split or None,
                }  # fmt: skip
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{path} is not in the layout of COCO's captions ({first_line(error)}): expected images and "
                "annotations with id, image_id and caption"
            ) from error


def wit(folder: CorpusFolder) -> Iterator[Row]:
    """Yield a caption of every image of a page: the reference description, else the alternative text.

    Equal images are one item, whatever the language of the page.
    """
    paths = folder.needed("wit_v1.*.tsv.gz", "wit_v1.*.tsv")
    for path in paths:
        named = parts_of(path, r"wit_v1\.(?P<split>[a-z]+)\..*")
        split = named["split"] if named else ""
        if not folder.wants_split(split):
            continue
        for number, (where, record) in enumerate(read_rows(path), 1):
            url, word = record.get("image_url"), record.get("language")
            if not url or not word:
                raise InputError(f"{where}: expected the columns language and image_url, as WIT has them")
            tag = tag_of(word, any_code=True) or word
            text = next((record[name] for name in _WIT_TEXTS if record.get(name)), None)
            if text and folder.wants(tag):
                image = unquote(os.path.basename(urlsplit(url).path))
                yield {
                    "id": f"{path.name.partition('.tsv')[0]}:{number}", "lang": tag, "text": text,
                    "item": url, "image": image, "image_url": url, "split": split,
                    "title": record.get("page_title") or "",
                }  # fmt: skip
