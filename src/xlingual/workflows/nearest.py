"""The texts of a manifest that are nearest to any text, in each language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from xlingual.data.manifest import DataOptions, ManifestLike, takes_data
from xlingual.embed.sides import embed_sides, fit_texts_for
from xlingual.encoders import EncoderLike, text_encoders
from xlingual.encoders.spec import parse
from xlingual.errors import InputError, did_you_mean, listed, parameter
from xlingual.ranking import one_library_thread, pairs, rows_of, similarity_of, top
from xlingual.records import Texts
from xlingual.store import StoreLike, open_store

_ALONE = "the encoder has vectors of the data's texts alone: name one that encodes any text"


@dataclass(frozen=True)
class NearText:
    """A text near another one: its score, and how many texts of its language are nearer."""

    language: str
    id: str
    text: str
    score: float
    above: int


@takes_data()
def nearest(
    manifest: ManifestLike,
    encoder: EncoderLike,
    text: str,
    *,
    language: str | None = None,
    k: int = 10,
    store: StoreLike = "default",
    progress: Callable[[str, int, int], None] | None = None,
    **columns: Unpack[DataOptions],
) -> dict[str, list[NearText]]:
    """Return the `k` texts of each language that an encoder puts nearest to `text`, best first.

    Equal scores stand in the order of the data. `language` is that of the text; None: the data's first.

    Raises:
        InputError: the text is empty, the data lack its language, or the encoder knows their texts alone.

    """
    data, language = manifest, language or manifest.languages[0]
    if language not in data.languages:
        raise InputError(
            f"{parameter('language', language)}: the data have {listed(data.languages)}."
            f"{did_you_mean(language, data.languages)}"
        )
    if not text.strip():
        raise InputError("the text is empty: write some words")
    if isinstance(encoder, str) and parse(encoder).scheme == "vectors":  # before a file is missed
        raise InputError(_ALONE)
    made = text_encoders([encoder], languages=data.languages, fit_texts=fit_texts_for(data))
    ((name, model),) = made.items()
    if model.by_number:
        raise InputError(_ALONE)
    query = Texts([text], [language], ["typed"])
    offered = data.texts(np.arange(len(data)))
    if model.by_role:
        query, offered = replace(query, role="query"), replace(offered, role="candidate")
    vectors = embed_sides(
        query, offered, name, model, store=open_store(store), progress=progress, any_form=True
    )
    sides = (rows_of(vectors.questions, np.arange(1)), rows_of(vectors.candidates, np.arange(len(data))))
    similarity = similarity_of(*sides)
    with one_library_thread():
        ranked = top(similarity, k, groups=data.language)
    near = {}
    for tag, best in zip(data.languages, ranked, strict=True):
        scores = pairs(similarity, best.query, best.candidate)
        order = np.lexsort((best.candidate, best.above))[:k]
        near[tag] = [
            NearText(tag, data.ids[row], data.text[row], float(scores[at]), int(best.above[at]))
            for at, row in zip(order.tolist(), best.candidate[order].tolist(), strict=True)
        ]
    return near
