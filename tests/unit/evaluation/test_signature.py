"""Signatures print and parse both ways and name every condition that differs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.data.manifest import Manifest
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.signature import Signature

keys = st.text("abcdefgh_", min_size=1, max_size=8).filter(lambda key: key != "system")
values = st.text(st.characters(blacklist_categories=("Cs",)), max_size=20)
parts = st.dictionaries(keys, values, max_size=6)


@given(parts, parts)
def test_what_is_printed_parses_back(conditions, system):
    printed = str(Signature(conditions, system))
    read = Signature.parse(printed)
    assert str(read) == printed
    assert list(read.conditions) == list(conditions)
    assert list(read.system) == list(system)
    assert "\n" not in printed


def test_differences_name_conditions_only():
    one = Signature({"task": "a", "seed": "0"}, {"encoder": "x"})
    assert one.differences(Signature({"task": "a", "seed": "0"}, {"encoder": "y"})) == []
    other = Signature({"task": "a", "seed": "1", "measure": "RR"}, {"encoder": "x"})
    assert one.differences(other) == ["seed: 0 against 1", "measure: – against RR"]


class Numbered:
    def __init__(self, identity, seed):
        self.identity, self.seed = identity, seed

    def encode(self, batch):
        return np.random.default_rng(self.seed).normal(size=(len(batch), 4)).astype(np.float32)


def signature(n=24, **changes):
    rows = [{"id": str(i), "text_en": f"a{i}", "text_de": f"b{i}"} for i in range(n)]
    rows[0]["text_en"] = changes.pop("text", "a0")
    options = {"pairs": "en-de", "measures": ["R@3"], "seed": 0} | changes
    image = options.pop("image", "images-1")
    text = options.pop("encoder", "texts-1")
    results = backretrieval(
        Manifest.of(rows),
        text_encoders={"e": Numbered(text, 1)},
        image_encoder=Numbered(image, 2),
        **options,
    )
    return Signature.parse(results.entries[0].signature)


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"text": "another"}, "data"),
        ({"seed": 1}, "sample"),
        ({"sample": 9}, "sample"),
        ({"image": "images-2"}, "images"),
        ({"measures": ["R@4"]}, "measure"),
    ],
)
def test_whatever_changes_the_number_changes_the_conditions(change, key):
    differences = signature().differences(signature(**change))
    assert [difference.partition(":")[0] for difference in differences] == [key]


def test_the_encoder_and_the_threads_are_no_conditions():
    before = signature()
    assert before.differences(signature(encoder="texts-2", threads=2)) == []
    assert signature(encoder="texts-2").system == {"encoder": "texts-2"}
