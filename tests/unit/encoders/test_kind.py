"""What is known of an encoder's kind: pretrained elsewhere, fitted in the domain, trained on images."""

from types import SimpleNamespace

import pytest

from xlingual.encoders import adopt, kind_of, text_encoders
from xlingual.encoders.checkpoints import trained_on_images

IMAGES = {"trained_on_images": True}


@pytest.mark.parametrize(
    ("settings", "answer"),
    [
        ({"model_type": "clip_text_model"}, True),
        ({"model_type": "siglip"}, True),
        ({"model_type": "new", "vision_config": {}}, True),
        ({"model_type": "xlm-roberta"}, False),
        ({}, False),
    ],
)
def test_the_settings_of_a_network_tell_whether_it_was_trained_on_images(settings, answer):
    assert trained_on_images(settings) is answer


def test_an_object_may_state_its_kind():
    def kind(**more):
        return kind_of(adopt(SimpleNamespace(encode=len, **more)))

    assert kind(trained_on_images=True, origin="fitted") == IMAGES | {"kind": "fitted"}
    assert kind(trained_on_images=False) == kind(origin=3) == kind() == {}


def test_a_spec_may_tell_it_and_the_identity_stays(tmp_path):
    import numpy as np

    np.save(tmp_path / "v.npy", np.eye(3, dtype=np.float32))
    path = f"vectors:{tmp_path / 'v.npy'}"
    specs = [f"stated={path}?trained_on=images", f"texts={path}?trained_on=texts", f"plain={path}"]
    found = text_encoders(specs, languages=["en"])
    assert {name: kind_of(encoder) for name, encoder in found.items()} == {
        "stated": IMAGES,
        "texts": {},
        "plain": {},
    }
    assert len({encoder.identity for encoder in found.values()}) == 1
