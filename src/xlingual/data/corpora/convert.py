"""A corpus in its folder as what the commands read: a manifest, a pool, or files of sentence pairs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from xlingual.data.corpora.files import CorpusFolder
from xlingual.data.corpora.table import Corpus, corpus_of
from xlingual.data.languages import check_tags
from xlingual.data.pools.folder import refuse_file_name, write_pool
from xlingual.data.pools.rows import PoolRows
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.files import atomic_file, make_folder

_BLOCK = 1 << 14  # rows that are Python objects at the same time


@dataclass
class Converted:
    """What was written of a corpus."""

    corpus: Corpus
    out: Path
    texts: Counter[str] = field(default_factory=Counter)  # by language, or pair of languages
    n_items: int = 0
    n_questions: int = 0  # of a pool
    images: Counter[str] = field(default_factory=Counter)  # texts whose image is "there", "missing" or "none"
    n_empty: int = 0  # texts without visible characters, which are left out

    @property
    def languages(self) -> list[str]:
        """The languages, those with most texts first."""
        return [tag for tag, _ in self.texts.most_common()]


def convert(
    name: str,
    folder: str | Path,
    out: str | Path,
    *,
    languages: Sequence[str] = (),
    split: str | None = None,
    format: str = "parquet",
    overwrite: bool = False,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> Converted:
    """Write the corpus `name`, which lies in `folder`, to `out`: a file for a manifest, else a folder.

    `languages` and `split` choose rows. Raises InputError where the folder does not hold the corpus.
    """
    corpus, out = corpus_of(name), Path(out)
    check_tags(languages, "--languages")
    place = CorpusFolder(corpus, Path(folder), languages, split or corpus.split)
    module, _, function = corpus.reader.partition(":")
    reader: Callable[[CorpusFolder], Any] = getattr(
        import_module(f"xlingual.data.corpora.{module}"), function
    )
    if not place.path.is_dir():
        raise place.wrong()
    if corpus.kind != "manifest":
        refuse_file_name(out, corpus.title)
    made = Converted(corpus, out)
    progress(f"reading {corpus.title}", 0, 1)  # how much there is shows when it is read
    if corpus.kind == "manifest":
        _write_manifest(reader(place), place, made)
    elif corpus.kind == "pool":
        _write_pool(reader(place), place, made, format, overwrite)
    else:
        _write_pairs(reader(place), place, made)
    return made


def _write_manifest(rows: Iterable[Mapping[str, Any]], place: CorpusFolder, made: Converted) -> None:
    """Write the rows block by block; those without text are left out and counted."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if made.out.suffix.lower() != ".parquet":
        raise InputError(
            f"--out {made.out}: the manifest of {made.corpus.title} is Parquet: name it ….parquet"
        )
    found = _rows(rows, place, made)
    block = list(islice(found, _BLOCK))
    if not block:
        raise _nothing(place)
    schema = pa.schema([(name, pa.string()) for name in block[0]])
    make_folder(made.out.parent)
    with atomic_file(made.out) as path, pq.ParquetWriter(path, schema, compression="zstd") as file:
        while block:
            file.write_table(pa.Table.from_pylist(block, schema=schema))
            block = list(islice(found, _BLOCK))
        _check_languages(place, made.texts)  # before the file takes its name


def _rows(
    rows: Iterable[Mapping[str, Any]], place: CorpusFolder, made: Converted
) -> Iterator[Mapping[str, Any]]:
    base, known, items = Path(os.path.realpath(made.out.parent)), dict[str, str](), set[str]()
    for row in rows:
        if not row["text"].strip():
            made.n_empty += 1
            continue
        made.texts[row["lang"]] += 1
        items.add(row["item"])
        made.n_items = len(items)
        name = row.get("image")
        if name is None:
            made.images["none"] += made.corpus.images
            yield row
            continue
        if name not in known:
            known[name] = _image(name, place, base)
        made.images["there" if name in place.images else "missing"] += 1
        yield {**row, "image": known[name]}


def _image(name: str, place: CorpusFolder, base: Path) -> str:
    """Return the path of an image relative to the manifest; its name where no such file is there."""
    if name not in place.images:
        return name
    path = os.path.relpath(os.path.realpath(place.images[name]), base)
    if path.startswith(".."):
        beside = place.path / f"{place.corpus.name}.parquet"
        raise InputError(
            f"the images lie in {place.images[name].parent}, outside the folder of the manifest ({base}), "
            f"where none is read: write it beside them, such as --out {beside}"
        )
    return path.replace(os.sep, "/")


def _write_pool(pool: PoolRows, place: CorpusFolder, made: Converted, format: str, overwrite: bool) -> None:
    made.texts.update(pool.languages[code] for code in pool.candidates.language.tolist())
    _check_languages(place, made.texts)
    made.n_questions = len(pool.questions)
    write_pool(pool, made.out, format, overwrite=overwrite)


def _write_pairs(
    pairs: Mapping[tuple[str, str], list[dict[str, Any]]], place: CorpusFolder, made: Converted
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not any(pairs.values()):
        raise _nothing(place)
    _check_languages(place, {tag for pair, rows in pairs.items() if rows for tag in pair})
    folder = make_folder(made.out)
    kinds = {"score": pa.float64()}
    names = ("id", "score", "sentence1", "sentence2", "lang1", "lang2")
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in names])
    for (one, other), rows in pairs.items():
        made.texts[f"{one}-{other}"] = len(rows)
        full = [row | {"lang1": one, "lang2": other} for row in rows]
        with atomic_file(folder / f"{one}-{other}.parquet") as path:
            pq.write_table(pa.Table.from_pylist(full, schema=schema), path, compression="zstd")


def _check_languages(place: CorpusFolder, there: Iterable[str]) -> None:
    """Raise InputError where a wanted language has no text: nothing is left out without a word."""
    if absent := [tag for tag in place.languages if tag not in {*there}]:
        raise _without(place, absent, {*there, *place.found} - {*absent})


def _without(place: CorpusFolder, absent: Sequence[str], known: set[str]) -> InputError:
    near = did_you_mean(absent[0], sorted(known))
    return InputError(
        f"{place.path} has no {place.corpus.title} in {listed(map(repr, absent))}"
        f"{f' of the split {place.split!r}' if place.split else ''}.{near} Its languages: "
        f"{listed(sorted(known), 40)}"
    )


def _nothing(place: CorpusFolder) -> InputError:
    """Return the error where no row is left: for want of a language or a split, or of files."""
    absent = [tag for tag in place.languages if tag not in place.found]
    if absent and place.found:
        return _without(place, absent, place.found)
    return place.wrong("no texts of the wanted languages and split" if place.languages or place.split else "")
