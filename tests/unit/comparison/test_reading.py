"""Folders of results become aligned queries, or an error that names what differs."""

import numpy as np
import pytest

from xlingual.comparison.queries import sample_weights
from xlingual.comparison.reading import read_aligned
from xlingual.comparison.references import parse_reference
from xlingual.errors import InputError
from xlingual.results import Results


@pytest.fixture
def pair(folders):
    return [folders.given("good", 0.2), folders.given("bad", 0.5, seed=1)]


def test_folders_evaluated_apart_align_as_if_evaluated_together(folders, pair):
    together = folders.bkr("both", pair, seeds=3)
    apart = [folders.bkr("one", pair[:1], seeds=3), folders.bkr("two", pair[1:], seeds=3)]
    for joint, split in zip(read_aligned([together]).queries, read_aligned(apart).queries, strict=True):
        assert (joint.measure, joint.encoders) == (split.measure, split.encoders)
        for name in ("values", "weight", "own", "retrieved"):
            np.testing.assert_array_equal(getattr(joint, name), getattr(split, name))


def test_means_are_those_of_the_results(folders, pair):
    folder = folders.bkr("both", pair, seeds=3)
    summary = {(s.encoder, s.measure): s.value for s in Results.read(folder).summary if s.source is None}
    for queries in read_aligned([folder]).queries:
        for encoder, mean in zip(queries.encoders, queries.means, strict=True):
            assert mean == pytest.approx(summary[encoder, queries.measure], abs=1e-12)


def test_retrieved_nodes_share_the_name_space_of_own_clusters(folders, pair):
    manifest = folders.manifest(cluster=lambda i: i // 2)
    folder = folders.bkr("both", pair, manifest=manifest)
    queries = read_aligned([folder]).queries[0]
    table = Results.read(folder).per_query.to_pylist()
    place = {text: i for i, text in enumerate(manifest.ids)}
    for row in table:
        if row["retrieved"] is not None:
            assert row["retrieved_cluster"] == manifest.cluster[place[row["retrieved"]]]
    assert set(queries.retrieved[queries.retrieved >= 0]) <= set(manifest.cluster)


def test_references(folders, pair):
    folder = folders.xlr("a#1", pair)
    assert parse_reference(folder).encoder is None
    assert parse_reference(f"{folder}/results.json").folder == folders.path / "a#1"
    assert parse_reference(f"{folder}#good") == parse_reference(f"{folder}/results.json#good")
    with pytest.raises(InputError, match=r"has no encoder 'god'. Did you mean 'good'"):
        read_aligned([f"{folder}#god"])
    with pytest.raises(InputError, match="is missing: give what was written by"):
        read_aligned([str(folders.path / "nosuch")])


def test_pairs_that_not_all_have_are_left_out_with_a_note(folders, pair):
    one = folders.xlr("one", pair[:1], pairs="en-de")
    two = folders.xlr("two", pair[1:])
    found = read_aligned([one, two])
    assert found.notes == ("left out: language pairs that not all encoders have (de-en)",)
    assert found.queries[0].labels["pair"].words == ("en-de",)
    with pytest.raises(InputError, match="share no language pair"):
        read_aligned([one, folders.xlr("three", pair[1:], pairs="de-en")])


def test_measures_without_a_test(folders, pair):
    folder = folders.xlr("a", pair, measures=["R@1", "MedR"])
    found = read_aligned([folder])
    assert [queries.measure for queries in found.queries] == ["R@1"]
    with pytest.raises(InputError, match="nothing to compare: MedR is a median"):
        read_aligned([folder], measures=["medr"])
    with pytest.raises(InputError, match="no encoder has RR: choose among R@1, MedR"):
        read_aligned([folder], measures=["RR"])
    with pytest.raises(InputError, match="CORR has no value for each query"):
        read_aligned([folders.corr("c", pair)])
    with pytest.raises(InputError, match="share no task and measure"):
        read_aligned([folder, folders.bkr("b", pair)])


def test_weights_are_equal_for_samples_whatever_their_size():
    weights = sample_weights(np.array([3, 3, 3, 7]))
    np.testing.assert_allclose(weights, [1 / 6, 1 / 6, 1 / 6, 1 / 2])


def test_slices_of_the_manifests_columns(folders, pair):
    queries = read_aligned([folders.xlr("a", pair)]).queries[0]
    assert {"category", "size", "sold", "source", "target", "pair", "seed"} == set(queries.labels)
    chairs = queries.slices("category")["chair"]
    assert len(chairs) == len(queries) / 2 and chairs.weight.sum() == pytest.approx(1)
    assert set(queries.slices("size")) == {"0", "1", "2"}
    assert set(queries.slices("sold")) == {"False", "True"}
    with pytest.raises(InputError, match=r"no column 'categry'.*Did you mean 'category'"):
        queries.slices("categry")
