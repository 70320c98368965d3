"""Fixed samples are used as they are, and refused where they cannot be right."""

import numpy as np
import pytest

from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sampler, read_samples, resolve_pairs
from xlingual.errors import InputError
from xlingual.streams import stream


@pytest.fixture
def manifest():
    return Manifest.of([{"id": str(i), "text_en": f"a{i}", "text_de": f"b{i}"} for i in range(12)])


def write(folder, **arrays):
    path = folder / "splits.npz"
    np.savez(path, **arrays)
    return path


def test_each_row_is_one_seed(manifest, tmp_path):
    S, T = np.array([[0, 3, 5], [7, 1, 2]]), np.array([[1, 2, 8], [0, 4, 11]])
    sampler = Sampler(manifest, sample=write(tmp_path, S=S, T=T))
    for source, target in (("en", "de"), ("de", "en")):
        samples = sampler.non_matching(source, target)
        assert [sample.seed for sample in samples] == [0, 1]
        for sample, s, t in zip(samples, S, T, strict=True):
            assert manifest.item[sample.source].tolist() == sorted(s)
            assert manifest.item[sample.target].tolist() == sorted(t)
            assert {manifest.languages[c] for c in manifest.language[sample.source]} == {source}
            assert {manifest.languages[c] for c in manifest.language[sample.target]} == {target}
        for sample, s in zip(sampler.matching(source, target), S, strict=True):
            assert manifest.item[sample.source].tolist() == sorted(s)
            assert manifest.item[sample.target].tolist() == sorted(s)


def test_an_item_on_both_sides_is_refused(manifest, tmp_path):
    path = write(tmp_path, S=np.array([[0, 3]]), T=np.array([[3, 4]]))
    sampler = Sampler(manifest, sample=path)
    with pytest.raises(InputError, match="row 0: 1 items are both source and target"):
        sampler.non_matching("en", "de")
    assert len(sampler.matching("en", "de")) == 1


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        ({"S": np.array([[0]])}, "S and T"),
        ({"S": np.array([[0.5]]), "T": np.array([[1]])}, "integer arrays"),
        ({"S": np.array([0]), "T": np.array([1])}, "integer arrays"),
        ({"S": np.array([[12]]), "T": np.array([[1]])}, "holds item 12"),
        ({"S": np.array([[-1]]), "T": np.array([[1]])}, "holds item -1"),
        ({"S": np.array([[2, 2]]), "T": np.array([[1, 3]])}, "names an item twice in row 0"),
        ({"S": np.array([[2], [3]]), "T": np.array([[1]])}, "S is int64"),
    ],
)
def test_splits_that_cannot_be_right_are_refused(tmp_path, arrays, complaint):
    with pytest.raises(InputError, match=complaint):
        read_samples(write(tmp_path, **arrays), 12)


def test_seeds_give_other_samples_and_a_stream_its_own_numbers(manifest):
    first, second = Sampler(manifest, seeds=2).non_matching("en", "de")
    assert first.source.tolist() != second.source.tolist()
    (alone,) = Sampler(manifest, seed=1).non_matching("en", "de")
    np.testing.assert_array_equal(alone.source, second.source)
    assert stream(0, "a").random() == stream(0, "a").random()
    assert len({stream(seed, name).random() for seed in (0, 1) for name in "ab"}) == 4


def test_pairs_are_cut_where_both_sides_are_languages():
    languages = ["en", "zh-Hant", "pt-BR"]
    assert resolve_pairs("zh-Hant-en, en:pt-BR", languages) == [("zh-Hant", "en"), ("en", "pt-BR")]
    assert len(resolve_pairs(None, languages)) == 6
    with pytest.raises(InputError, match="same language"):
        resolve_pairs("en-en", languages)
    with pytest.raises(InputError, match="unknown language 'ed'"):
        resolve_pairs("ed:pt-BR", languages)
