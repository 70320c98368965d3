"""Mixed pools: who asks, who answers, and in which shares."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.data.manifest import Manifest
from xlingual.data.pools.mix import largest_remainder, mix_pool, most_possible
from xlingual.errors import DataWarning, InputError

TAGS = ("en", "de", "fr")


quiet = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")


def manifest_of(items, **columns):
    """Return the manifest of items, each {language: how many texts}; all texts differ."""
    rows = [
        {"id": f"{i}.{k}", "lang": tag, "text": f"{tag} text {k} of {i}", "item": f"item {i}"}
        for i, texts in enumerate(items)
        for tag, count in texts.items()
        for k in range(count)
    ]
    return Manifest.of([row | {name: of(row) for name, of in columns.items()} for row in rows])


def by_language(pool, side):
    return Counter(pool.languages[code] for code in side.language)


def check_sound(pool):
    """Assert what holds for every mixed pool."""
    q, c = pool.questions, pool.candidates
    question, candidate = pool.relevant
    assert set(question.tolist()) == set(range(len(q)))  # every question has an answer
    for i, j in zip(question.tolist(), candidate.tolist(), strict=True):
        assert (q.text[i], q.language[i]) != (c.text[j], c.language[j])  # which is not itself
        assert c.keys[j] == (q.key[i],) == (q.ids[i],)
        assert q.cluster[i] == c.cluster[j]
    assert {*q.language, *c.language} == set(range(len(pool.languages)))
    assert set(c.language) == set(range(len(set(c.language)))) and len(set(c.language)) > 1  # they come first
    assert len(set(zip(q.language, q.ids, strict=True))) == len(q)
    assert len(set(zip(c.language, c.ids, strict=True))) == len(c)


def test_captions_first_text_asks_and_the_others_answer():
    pool = mix_pool(manifest_of([{"en": 3, "de": 2}] * 2))
    assert pool.languages == ("en", "de") and pool.warnings == ()
    assert pool.questions.text == ["en text 0 of 0", "en text 0 of 1", "de text 0 of 0", "de text 0 of 1"]
    assert pool.questions.ids == pool.questions.key == ["item 0", "item 1"] * 2
    assert pool.candidates.text == [
        *("en text 1 of 0", "en text 2 of 0", "en text 1 of 1", "en text 2 of 1"),
        *("de text 1 of 0", "de text 1 of 1"),
    ]
    assert pool.candidates.ids == ["0.1", "0.2", "1.1", "1.2", "0.1", "1.1"]
    assert pool.candidates.keys == [("item 0",)] * 2 + [("item 1",)] * 2 + [("item 0",), ("item 1",)]
    assert pool.questions.cluster.tolist() == [0, 1, 0, 1]
    assert pool.candidates.cluster.tolist() == [0, 0, 1, 1, 0, 1]
    check_sound(pool)


def test_a_language_may_ask_without_answering():
    manifest = manifest_of([{"en": 1, "de": 1, "fr": 1}] * 3)
    pool = mix_pool(manifest, question_languages=["en"])
    assert (pool.languages, pool.warnings) == (("de", "fr", "en"), ())
    assert by_language(pool, pool.questions) == {"en": 3}
    assert by_language(pool, pool.candidates) == {"de": 3, "fr": 3}
    check_sound(pool)
    named = mix_pool(manifest, question_languages=["en"], mix={"fr": 1, "de": 1})
    assert named.languages == ("de", "fr", "en")
    assert by_language(named, named.candidates) == {"fr": 3, "de": 3}


def test_blank_and_repeated_texts_are_left_out():
    rows = [
        {"lang": tag, "text": text, "item": i}
        for i in range(2)
        for tag in ("en", "de")
        for text in (f"{tag} {i}", f"{tag} {i}", f"{tag} {i} again")
    ]
    with pytest.warns(DataWarning, match="1 of 13 texts are empty"):
        manifest = Manifest.of([{"lang": "en", "text": " ", "item": 0}, *rows])
    with pytest.warns(DataWarning) as warned:
        pool = mix_pool(manifest)
    assert pool.candidates.text == ["en 0 again", "en 1 again", "de 0 again", "de 1 again"]
    notes = [str(each.message) for each in warned]
    assert pool.warnings == tuple(notes)


def test_context_split_and_clusters_come_along():
    manifest = manifest_of(
        [{"en": 2, "de": 2}] * 3,
        context=lambda row: f"around {row['text']}",
        split=lambda row: "train" if row["item"] == "item 0" else "test",
        cluster=lambda row: "film",
    )
    pool = mix_pool(manifest)
    assert pool.candidates.context == [f"around {text}" for text in pool.candidates.text]
    assert pool.questions.split == ["train", "test", "test"] * 2
    assert not pool.questions.cluster.any() and not pool.candidates.cluster.any()


@quiet
def test_candidates_and_questions_of_a_number():
    manifest = manifest_of([{"en": 5, "de": 5}] * 40)
    pool = mix_pool(manifest, mix={"en": 2, "de": 1}, candidates=100)
    assert by_language(pool, pool.candidates) == {"en": 67, "de": 33}
    check_sound(pool)
    pool = mix_pool(manifest_of([{"en": 4, "de": 2}] * 40), candidates=40)  # in the shares they have: 3 to 1
    assert by_language(pool, pool.candidates) == {"en": 30, "de": 10}


@quiet
def test_the_seed_alone_decides():
    manifest = manifest_of([{"en": 3, "de": 3}] * 30)
    options = {"mix": {"en": 1, "de": 2}, "candidates": 21}
    digests = [mix_pool(manifest, **options, seed=seed).digest for seed in (0, 0, 1)]
    assert digests[0] == digests[1] != digests[2]


@quiet
@given(
    items=st.lists(
        st.dictionaries(st.sampled_from(TAGS), st.integers(1, 3), min_size=1), min_size=1, max_size=12
    ),
    mix=st.none() | st.dictionaries(st.sampled_from(TAGS), st.integers(1, 4), min_size=2),
    asking=st.none() | st.lists(st.sampled_from(TAGS), min_size=1, unique=True),
    seed=st.integers(0, 9),
)
def test_every_pool_is_sound(items, mix, asking, seed):
    try:
        pool = mix_pool(manifest_of(items), mix=mix, question_languages=asking, seed=seed)
    except InputError:
        return
    check_sound(pool)
    assert set(pool.candidates.text).isdisjoint(pool.questions.text)
    assert asking is None or set(by_language(pool, pool.questions)) <= set(asking)
    counts = by_language(pool, pool.candidates)
    if mix is not None:
        total = sum(mix.values())
        for tag in TAGS:
            assert abs(counts[tag] - len(pool.candidates) * mix.get(tag, 0) / total) < 1


@given(
    supply=st.lists(st.integers(0, 12), min_size=2, max_size=4),
    weights=st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any),
    most=st.none() | st.integers(1, 30),
)
def test_the_most_that_is_possible_is_what_trying_every_number_finds(supply, weights, most):
    weights = np.array(weights[: len(supply)], dtype=float)
    if not weights.any():
        return
    shares, supply = weights / weights.sum(), np.array(supply)
    tried = [n for n in range(supply.sum() + 1) if (largest_remainder(shares, n) <= supply).all()]
    expected = max(n for n in tried if most is None or n <= most)
    assert most_possible(supply, shares, most) == expected
