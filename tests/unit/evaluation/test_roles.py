"""Sources are queries and targets candidates, in every task that has both; nothing is encoded twice."""

import numpy as np
import pytest

from xlingual import (
    Encoder,
    Manifest,
    backretrieval,
    crosslingual_retrieval,
)
from xlingual.records import Images
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
