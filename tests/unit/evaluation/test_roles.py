"""Sources are queries and targets candidates, in every task that has both; nothing is encoded twice."""

import numpy as np
import pytest

from xlingual import (
    DataWarning,
    Encoder,
    Manifest,
    backretrieval,
    crosslingual_retrieval,
    distance_correlation,
    encoder,
    validate_backretrieval,
)
from xlingual.records import Encoded, Images
from xlingual.signature import Signature

N = 24


def noise(text, salt=0):
    return np.random.default_rng([salt, *text.encode()]).normal(size=8)


class Plain(Encoder):
    """Texts of one item are near each other; counts what it encodes, by role."""

    identity, content = "plain", ("text",)

    def __init__(self):
        self.seen = []

    def vector(self, text, role):
        return noise(text.split()[1]) + noise(text) / 2

    def encode(self, batch, /):
        self.seen += [(text, batch.role) for text in batch.text]
        return np.array([self.vector(text, batch.role) for text in batch.text], dtype=np.float32)


class Prompted(Plain):
    """Queries have a prompt that turns them towards other candidates."""

    identity, content, by_role = "prompted?query_prompt=q", ("text", "role"), True

    def vector(self, text, role):
        return super().vector(f"q{text}" if role == "query" else text, role)


class Pixels(Encoder):
    identity, content, opens_images = "images", ("bytes",), False

    def encode(self, batch: Images, /):
        return np.array([noise(row.split("-")[0], 1) for row in batch.ids], dtype=np.float32)


@pytest.fixture(scope="module")
def manifest():
    rows = [
        {"id": f"{i}-{tag}", "lang": tag, "text": f"{tag} {i}", "item": str(i), "image": bytes([i])}
        for i in range(N)
        for tag in ("en", "de")
    ]
    return Manifest.of(rows)


TASKS = {
    "backretrieval": lambda manifest, made: backretrieval(
        manifest, text_encoders={"mine": made}, image_encoder=Pixels(), measures="R@3", store=None
    ),
    "crosslingual-retrieval": lambda manifest, made: crosslingual_retrieval(
        manifest, text_encoders={"mine": made}, measures="R@3", store=None
    ),
}


@pytest.mark.parametrize("task", TASKS)
def test_without_roles_each_text_is_encoded_once(manifest, task):
    made = Plain()
    results = TASKS[task](manifest, made)
    assert {role for _, role in made.seen} == {None}
    assert len(made.seen) == len(set(made.seen)) == 2 * N
    assert not any("roles" in Signature.parse(entry.signature).system for entry in results.entries)


@pytest.mark.parametrize("task", TASKS)
def test_sources_are_queries_and_targets_candidates(manifest, task):
    made = Prompted()
    results = TASKS[task](manifest, made)
    assert {role for _, role in made.seen} == {"query", "candidate"}
    assert len(made.seen) == len(set(made.seen))  # both directions share what they can
    for entry in results.entries:
        assert Signature.parse(entry.signature).system["roles"] == "source=query,target=candidate"


def test_the_number_is_that_of_a_loop(manifest):
    made = Prompted()
    (entry,) = crosslingual_retrieval(
        manifest, text_encoders={"mine": made}, pairs="en-de", measures="R@3", store=None
    ).entries
    queries, candidates = (
        np.array([made.vector(f"{tag} {i}", role) for i in range(N)], dtype=np.float64)
        for tag, role in (("en", "query"), ("de", "candidate"))
    )
    hits = 0
    for i, query in enumerate(queries):
        cosines = [query @ c / np.linalg.norm(query) / np.linalg.norm(c) for c in candidates]
        hits += sorted(cosines, reverse=True).index(cosines[i]) < 3
    assert entry.value == pytest.approx(hits / N) and 0 < hits < N


def test_a_prompt_of_a_spec_and_of_an_object_is_used(manifest):
    def letters(texts):
        return np.array([noise(text) for text in texts])

    plain, prompted = (
        crosslingual_retrieval(
            manifest, text_encoders={"mine": made}, pairs="en-de", measures="RR", store=None
        ).entries[0]
        for made in (letters, encoder(letters, query_prompt="q: "))
    )
    assert plain.value != prompted.value
    assert "query_prompt=q%3A%20" in Signature.parse(prompted.signature).system["encoder"]


def test_a_correlation_of_distances_knows_no_role(manifest):
    made = Prompted()
    results = distance_correlation(manifest, text_encoders={"mine": made}, image_encoder=Pixels(), store=None)
    assert {role for _, role in made.seen} == {None}
    assert not any("roles" in Signature.parse(entry.signature).system for entry in results.entries)


def test_a_validation_ranks_by_role_and_correlates_without(manifest):
    class Alike(Prompted):
        identity, by_role = "alike", False

    made = {"by role": Prompted(), "alike": Alike(), "plain": Plain()}
    found = validate_backretrieval(
        manifest,
        text_encoders=made,
        image_encoder=Pixels(),
        pairs="en-de",
        measure="R@3",
        seeds=4,
        store=None,
    )
    scores = {row.encoder: row.scores for row in found.pairs[0].encoders}
    assert {role for _, role in made["by role"].seen} == {"query", "candidate", None}
    assert {role for _, role in made["plain"].seen} == {None}
    assert len(made["plain"].seen) == len(set(made["plain"].seen))
    assert scores["by role"]["CORR"] == scores["alike"]["CORR"] == scores["plain"]["CORR"]
    assert scores["alike"]["XLR@1"] == scores["plain"]["XLR@1"] != scores["by role"]["XLR@1"]
    assert scores["alike"]["BkR"] == scores["plain"]["BkR"] != scores["by role"]["BkR"]


class Short(Prompted):
    """Reads four characters: of texts such as "en 10", and with its prompt of all."""

    identity = "short?query_prompt=q"

    def encode_noting(self, batch, /):
        longest = [len(text) + (batch.role == "query") for text in batch.text]
        return Encoded(self.encode(batch), np.array(longest) > 4)


def test_a_text_that_is_cut_in_both_roles_counts_once(manifest):
    with pytest.warns(DataWarning) as caught:
        results = crosslingual_retrieval(manifest, {"s": Short()}, pairs="en-de", measures="R@3", store=None)
    (_sentence,) = [str(one.message) for one in caught if "were cut" in str(one.message)]
    with pytest.warns(DataWarning, match=r"48 of 48 texts .*were cut \(de 24, en 24\)"):
        both = crosslingual_retrieval(manifest, {"s": Short()}, measures="R@3", store=None)
    assert (results.truncated, both.truncated) == ({"s": {"en": 24, "de": 14}}, {"s": {"en": 24, "de": 24}})


def test_a_validation_counts_cut_texts_once(manifest):
    made = {"short": Short(), "by role": Prompted(), "plain": Plain()}
    given = {"image_encoder": Pixels(), "pairs": "en-de", "measure": "R@3", "seeds": 4, "store": None}
    with pytest.warns(DataWarning) as caught:
        found = validate_backretrieval(manifest, text_encoders=made, **given)
    (sentence,) = [str(one.message) for one in caught if "were cut" in str(one.message)]
    assert f" {sum(found.truncated['short'].values())} of 47 texts" in sentence  # an item is in no sample
    assert found.truncated["short"]["en"] == 23
    with pytest.warns(DataWarning, match=r"28 of 48 texts .*were cut \(de 14, en 14\)"):
        distance_correlation(manifest, {"short": Short()}, image_encoder=Pixels(), store=None)
