"""Adding similarity features to the n-best list of a file: read twice as a stream, and written as one."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.languages import tag_problem
from xlingual.data.manifest import Manifest, read_reference
from xlingual.embed.encoding import Progress
from xlingual.embed.sides import joined
from xlingual.encoders import EncoderLike
from xlingual.errors import InputError
from xlingual.nbest.apply import read_texts
from xlingual.nbest.format import stream_nbest, warn_of_empty, write_lines
from xlingual.nbest.lists import check_new_labels
from xlingual.nbest.normalize import UNKNOWN_LANGUAGE, normalizer, parse_steps
from xlingual.nbest.parsing import line_of
from xlingual.nbest.similarity import fit, make_systems, rows_of_sentences, similarities
from xlingual.records import Texts
from xlingual.store import StoreLike, open_store


@dataclass(frozen=True)
class Added:
    """The features that were added to an n-best list."""

    features: list[str]
    n_lists: int
    n_hypotheses: int
    n_distinct: int  # hypotheses that were encoded


def add_features(
    nbest: str | Path,
    out: str | Path,
    text_encoders: Sequence[EncoderLike] | Mapping[str, EncoderLike] | EncoderLike,
    *,
    source: str | Path | None = None,
    images: str | Path | Manifest | None = None,
    image_encoders: Sequence[EncoderLike] | EncoderLike = (),
    source_language: str = UNKNOWN_LANGUAGE,
    target_language: str = UNKNOWN_LANGUAGE,
    normalize: str | Sequence[str] = (),
    normalize_source: str | Sequence[str] | None = None,
    store: StoreLike = "default",
    progress: Progress | None = None,
) -> Added:
    """Write the n-best list of `nbest` to `out` with further features behind its own.

    Args:
        nbest: file of the list, plain or gzip; it may be `out` too.
        out: file that is written, atomically; gzip where its name ends in .gz.
        text_encoders: one spec or encoder, several, or a mapping of names to them.
        source: file with the sentence of each list, one a line; each text encoder then adds the cosine of
            source and hypothesis, named as the encoder.
        images: manifest whose row (or item) i has the image of sentence i, or its path; each image encoder
            then adds the cosine of image and hypothesis, named as the encoder (with "-image" where a text
            encoder is called the same).
        image_encoders: one for all text encoders, or one for each in the same order.
        source_language: of the sources.
        target_language: of the hypotheses.
        normalize: steps (`nbest.normalize.STEPS`) taken with source and hypotheses before they are encoded;
            the list keeps its texts.
        normalize_source: other steps for the source.
        store: where vectors are kept and found again; None keeps none.
        progress: is called with (what, done, total).

    Every different text is encoded once; only the different hypotheses, and a number for each feature, are in
    memory. Raises InputError where list, source and images do not fit together, and for names of features
    that are taken.

    """
    _check_given(source, images, image_encoders)
    if normalize_source is not None and source is None:
        raise InputError("--normalize-source takes steps with the source: give --source")
    for option, tag in (("--source-language", source_language), ("--target-language", target_language)):
        if problem := tag_problem(tag):
            raise InputError(f"{option}: {problem}")
    steps = parse_steps(normalize)
    own = steps if normalize_source is None else parse_steps(normalize_source, "--normalize-source")
    languages = (
        [target_language] if source is None else list(dict.fromkeys((source_language, target_language)))
    )
    systems = make_systems(text_encoders, image_encoders, languages)
    labels = [label for system in systems for label in system.labels(source is not None)]
    distinct, hypothesis, sentence = _read(nbest, labels)
    sentences = int(sentence[-1]) + 1
    texts = _texts(distinct, normalizer(steps, target_language), target_language, "hypothesis")
    sources = None
    if source is not None:
        lines = read_texts(source)
        if len(lines) != sentences:
            raise InputError(
                f"{source} has {len(lines):,} lines, {nbest} {sentences:,} lists: give the source of each "
                "list, one a line"
            )
        sources = _texts(lines, normalizer(own, source_language), source_language, "source")
    image_rows = None
    if images is not None:
        manifest = images if isinstance(images, Manifest) else read_reference(str(images))
        image_rows = manifest, rows_of_sentences(manifest, sentences)
    fit(systems, texts if sources is None else joined(sources, texts))
    given: dict[str, Any] = {"store": open_store(store), "progress": progress}
    columns: list[Floats] = []
    for system in systems:
        columns += similarities(system, sources, texts, sentence, hypothesis, image_rows, **given)
    write_lines(out, _lines(nbest, labels, columns))
    return Added(labels, sentences, len(hypothesis), len(distinct))


def _read(path: str | Path, labels: Sequence[str]) -> tuple[list[str], Ints, Ints]:
    """Return the different hypotheses of a list, and for each line its hypothesis and sentence, [n] each.

    Raises InputError where features with these labels cannot be added.
    """
    if Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
        raise InputError(f"{path} is a pipe, and the list is read twice: write it to a file first")
    seen: dict[str, int] = {}
    empty = []
    number, sentence = array("q"), array("q")
    for line in stream_nbest(path):
        if not number:
            check_new_labels(labels, [label for label, _ in line.groups])
        number.append(seen.setdefault(line.hypothesis, len(seen)))
        sentence.append(line.sentence)
        if not line.hypothesis:
            empty.append(line.number)
    warn_of_empty(path, empty)
    return list(seen), np.array(number, dtype=np.int64), np.array(sentence, dtype=np.int64)


def _lines(path: str | Path, labels: Sequence[str], columns: Sequence[Floats]) -> Iterator[str]:
    """Yield the lines of a list with the features behind its own."""
    more = tuple((label, 1) for label in labels)
    for line, *values in zip(stream_nbest(path), *columns, strict=True):
        own = [*line.values, *map(float, values)]
        yield line_of(line.sentence, line.hypothesis, (*line.groups, *more), own, line.score, line.extra)


def _texts(texts: Sequence[str], normalized: Callable[[str], str], language: str, what: str) -> Texts:
    return Texts(
        text=[normalized(text) for text in texts],
        language=[language] * len(texts),
        ids=[f"{what} {number}" for number in range(len(texts))],
    )


def _check_given(source: object, images: object, image_encoders: Any) -> None:  # noqa: ANN401
    """Raise InputError where there is nothing to compare hypotheses with, or half of it."""
    with_encoder = bool(image_encoders) if isinstance(image_encoders, list | tuple) else True
    if (images is None) == with_encoder:
        raise InputError("--images and --image-encoder belong together: give both or none")
    if source is None and images is None:
        raise InputError("nothing to compare the hypotheses with: give --source, or --images, or both")
