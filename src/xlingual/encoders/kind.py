"""What is known of an encoder's kind: whether it was trained on images, or fitted on top of another.

Measures that use images in place of translations compare encoders of like kind only (docs/backretrieval.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TRAINED_ON_IMAGES, FITTED_TRANSFORM = "trained_on_images", "fitted_transform"
# how `model_type` begins where a network of transformers was trained on images and texts together
_WITH_IMAGES = ("clip", "siglip", "chinese_clip", "metaclip", "altclip", "align", "blip", "flava")


def trained_on_images(settings: Mapping[str, Any]) -> bool:
    """Tell whether the settings (config.json) of a text network are those of one trained with images."""
    return "vision_config" in settings or str(settings.get("model_type", "")).startswith(_WITH_IMAGES)


def kind_of(encoder: object) -> dict[str, bool]:
    """Return what is known of an encoder, or of the one that it stands on; empty where nothing is.

    An encoder tells it by attributes: `trained_on_images`, and `fitted_transform` where it changes the
    vectors of the encoder below as it has learnt from data.
    """
    base = getattr(encoder, "base", None)
    found = {} if base is None else kind_of(base)
    own = {name: getattr(encoder, name, None) for name in (TRAINED_ON_IMAGES, FITTED_TRANSFORM)}
    found |= {name: bool(value) for name, value in own.items() if value is not None}
    return {name: value for name, value in found.items() if value}
