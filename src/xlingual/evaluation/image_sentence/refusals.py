"""What cannot be ranked: sentences and images in two spaces, and pools in which every query is a hit."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.embed.sides import ImageIndex, TextVectors
from xlingual.errors import InputError, parameter
from xlingual.evaluation.image_sentence.captions import Slice
from xlingual.evaluation.image_sentence.systems import EncoderPair
from xlingual.measures import RankMeasure, SuccessAt


def refuse_other_dimensions(system: EncoderPair, texts: TextVectors, images: ImageIndex) -> None:
    """Raise InputError where texts and images do not lie in one space."""
    of_texts, of_images = int(texts.vectors.shape[1]), images.pool.vectors.dim
    if of_texts != of_images:
        raise InputError(
            f"text encoder {system.name!r} gives {of_texts} dimensions and image encoder "
            f"{system.image_name!r} gives {of_images}: sentences and images must lie in one space; give "
            "both encoders of one model"
        )


def refuse_small_pools(slices: Sequence[Slice], measures: Sequence[RankMeasure], language: str) -> None:
    """Raise InputError where every query would be a hit."""
    depth = max((m.k for m in measures if isinstance(m, SuccessAt)), default=0)
    for one in slices:
        count = min(len(one.images), len(one.texts))
        if depth >= count:
            what = "images" if len(one.images) == count else "texts"
            where = " in a slice" if len(slices) > 1 else ""
            raise InputError(
                f"Success@{depth} needs more than {depth} {what}, {language!r} has {count}{where}: every "
                "query would be a hit; give more items, or a smaller k "
                f"({parameter('measures', ['Success@k'])})"
            )
