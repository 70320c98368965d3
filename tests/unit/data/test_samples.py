"""Who serves on which side when items are scarce; the rest of the sampler is tested with the evaluations."""

import os

import numpy as np
import pytest

from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sampler, read_splits
from xlingual.errors import InputError


def lopsided():
    """Return 100 items in both languages, and 1000 more in English only."""
    rows = [{"id": f"b{i}", "text_en": f"en {i}", "text_de": f"de {i}"} for i in range(100)]
    rows += [{"id": f"e{i}", "text_en": f"only {i}", "text_de": None} for i in range(1000)]
    return Manifest.from_rows(rows)


@pytest.mark.parametrize("size", [1, 50, 80, 100])
def test_the_scarce_side_gets_the_shared_items_it_needs(size):
    manifest = lopsided()
    for source, target in (("en", "de"), ("de", "en")):
        (sample,) = Sampler(manifest, size=size).non_matching(source, target)
        assert len(sample.source) == len(sample.target) == size
        items = manifest.item[sample.source], manifest.item[sample.target]
        assert len(np.intersect1d(*items)) == 0


def test_more_than_the_scarce_side_can_have_is_refused():
    with pytest.raises(InputError, match="--sample-size 101 is larger than the data"):
        Sampler(lopsided(), size=101).non_matching("en", "de")


def test_without_a_size_shared_items_are_halved():
    (sample,) = Sampler(lopsided()).non_matching("en", "de")
    assert (len(sample.source), len(sample.target)) == (1050, 50)


def test_a_named_pipe_of_fixed_samples_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "s.npz")  # opening it would wait for ever
    with pytest.raises(InputError, match=r"s\.npz is a named pipe: fixed samples must be a regular file"):
        read_splits(tmp_path / "s.npz", 10)
