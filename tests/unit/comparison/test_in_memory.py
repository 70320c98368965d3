"""Comparisons of results in memory: the numbers of the same results in folders, to the last digit."""

from __future__ import annotations

import pytest

from xlingual import compare, gate, plan
from xlingual.errors import InputError
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.results.document import plain


@pytest.fixture
def two(folders):
    """Two encoders of one name and one of another, in two results, and the folders that hold them."""
    one = crosslingual_retrieval(
        folders.manifest(), text_encoders=[folders.given("same", 0.4)], measures=["R@1", "RR"]
    )
    other = crosslingual_retrieval(
        folders.manifest(),
        text_encoders=[folders.given("same", 0.6, 1), folders.given("third", 0.5, 2)],
        measures=["R@1", "RR"],
    )
    one.write(folders.path / "one")
    other.write(folders.path / "other")
    return one, other, folders.path


def numbers(found):
    """Return what was found without names, paths and times; of results it is derived from, their digests."""
    content = plain(found)
    for name in ("request", "run", "folders", "timings"):
        content.pop(name, None)
    assert content.pop("provenance")["derived_from"]
    return content


def test_results_in_memory_and_in_folders_have_equal_digests(two):
    one, other, path = two
    held = compare([one, other]).provenance.derived_from
    read = compare([path / "one", path / "other"]).provenance.derived_from
    assert {found.digest for found in held} == {found.digest for found in read} and len(held) == 2
    assert {found.path for found in read} == {str(path / name / "results.json") for name in ("one", "other")}


def renamed(content, **names):
    """Return the content with labels replaced."""
    text = repr(content)
    for folder, name in names.items():
        text = text.replace(f"{folder}#", f"{name}#")
    return text


def test_compare_of_results_gives_the_numbers_of_their_folders(two):
    one, other, path = two
    held = compare({"one": one, "other": other}, baseline="third", per_pair=True, by=["category"])
    read = compare([path / "one", path / "other"], baseline="third", per_pair=True, by=["category"])
    assert numbers(held) == numbers(read)
    assert [row.encoder for row in held.boards[0].rows] == [row.encoder for row in read.boards[0].rows]
    assert held.folders == ["one", "other"]


def test_a_list_of_results_is_numbered_and_may_be_mixed_with_folders(two):
    one, _, path = two
    found = compare([one, path / "other"], measures=["RR"])
    read = compare([path / "one", path / "other"], measures=["RR"])
    assert renamed(numbers(found), **{"results 1": "one"}) == repr(numbers(read))
    assert {row.encoder for row in found.boards[0].rows} == {"results 1#same", "other#same", "third"}


def test_one_results_of_several_encoders_is_compared_alone(two):
    _, other, path = two
    assert numbers(compare(other)) == numbers(compare([path / "other"]))


def test_backretrieval_keeps_the_clusters_of_what_was_retrieved(folders):
    options = {"image_encoder": folders.given("images", 0.1), "measures": ["R@5"], "seeds": 2}
    found = backretrieval(
        folders.manifest(), text_encoders=[folders.given("a", 0.4), folders.given("b", 0.8)], **options
    )
    found.write(folders.path / "both")
    assert numbers(compare(found)) == numbers(compare([folders.path / "both"]))


def test_gate_and_plan_of_results_give_the_numbers_of_folders(two):
    one, other, path = two
    held = gate(other.only("third"), one, margin=0.1)
    read = gate(f"{path / 'other'}#third", str(path / "one"), margin=0.1)
    assert numbers(held) == numbers(read)
    held = plan({"one": one, "other": other}, effect=0.05, baseline=one, queries=[500])
    read = plan([path / "one", path / "other"], effect=0.05, baseline=path / "one", queries=[500])
    assert numbers(held) == numbers(read)


def test_a_baseline_may_be_results(two):
    one, other, path = two
    held = compare([other], baseline=one)
    read = compare([path / "other"], baseline=path / "one")
    assert renamed(numbers(held), **{"results 1": "other", "results 2": "one"}) == repr(numbers(read))


def test_only_keeps_one_encoder_everywhere(two):
    _, other, _ = two
    third = other.only("third")
    assert {row.encoder for row in (*third.entries, *third.summary)} == {"third"}
    assert set(third.per_query["encoder"].to_pylist()) == {"third"}
    with pytest.raises(InputError, match=r"no encoder 'thrid'. Did you mean 'third'"):
        other.only("thrid")
