"""Bad input: one line that says what, where and what to do."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xlingual import DataWarning, InputError, Manifest, image_sentence

_SPEC = importlib.util.spec_from_file_location("ranking_data", Path(__file__).with_name("data.py"))
assert _SPEC is not None and _SPEC.loader is not None
data = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(data)

N = 20
IMAGES = data.images(N)


def refused(match: str, **given: Any) -> None:
    options: dict[str, Any] = {
        "manifest": data.manifest(N, {"en": 1, "de": 1}),
        "text_encoders": [data.Captions("m", IMAGES, 1.0)],
        "image_encoders": data.Images(IMAGES),
        "store": None,
    }
    options |= given
    with pytest.raises(InputError, match=match) as caught:
        image_sentence(options.pop("manifest"), **options)
    assert "\n" not in str(caught.value)


class InSpace(data.Captions):  # type: ignore[misc, name-defined]
    space = "0123456789abcdef"


def test_a_language_of_which_no_text_has_a_image() -> None:
    rows = data.rows(N, {"en": 1})
    rows += [{"id": f"de{i}.0", "lang": "de", "text": "ohne Bild", "image": None} for i in range(3)]
    refused(
        "no text in 'de' belongs to an item with an image",
        manifest=Manifest.of(rows),
        languages=["en", "de"],
    )
    with pytest.warns(
        DataWarning, match="no text in 'de' belongs to an item with an image: the language is left out"
    ):
        results = image_sentence(
            Manifest.of(rows),
            text_encoders=data.Captions("m", IMAGES, 1.0),
            image_encoders=data.Images(IMAGES),
            store=None,
        )
    assert {entry.source for entry in results.entries} == {"en", "image"}


def test_encoders_of_one_space_may_be_paired() -> None:
    class SameSpace(data.Images):  # type: ignore[misc, name-defined]
        space = InSpace.space

    results = image_sentence(
        data.manifest(N, {"en": 1}),
        text_encoders=InSpace("m", IMAGES, 0.0),
        image_encoders=SameSpace(IMAGES),
        store=None,
    )
    assert np.mean([e.value for e in results.entries if e.measure == "Success@1"]) == 1
