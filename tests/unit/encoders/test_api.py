"""`api:` against a server on this machine that speaks OpenAI's protocol, and misbehaves when asked to."""

import pickle
import time
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual.encoders import text_encoders
from xlingual.errors import InputError
from xlingual.records import Texts

pytest.importorskip("httpx")

fake = SimpleNamespace(**run_path(str(Path(__file__).with_name("embedding_server.py"))))
KEY = fake.KEY
WORDS = ["red chair", "blue table", "", "lamp", "red chair", "Ein roter Stuhl", "红色的椅子", "💡"]


@pytest.fixture
def server(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # a local service is reached without it
    with fake.serving() as running:
        yield running


@pytest.fixture
def pauses(monkeypatch):
    """Return the seconds that are slept, without sleeping."""
    slept = []
    monkeypatch.setattr(time, "sleep", slept.append)
    return slept


def texts(words, role=None):
    return Texts(list(words), ["en"] * len(words), [str(i) for i in range(len(words))], role=role)


def encoder(spec):
    (found,) = text_encoders([spec], languages=["en"]).values()
    return found


def test_equal_texts_are_sent_once_in_requests_of_batch(server):
    vectors = encoder(f"{server.spec}&batch=3").encode(texts(WORDS))
    np.testing.assert_array_equal(vectors, np.array([fake.vector(word) for word in WORDS]))
    assert [body["input"] for body in server.sent] == [WORDS[:3], [WORDS[3], *WORDS[5:7]], WORDS[7:]]
    shorter = encoder(f"{server.spec}&dim=3").encode(texts(WORDS))
    np.testing.assert_array_equal(shorter, np.array([fake.vector(word, 3) for word in WORDS]))


def test_rows_are_put_in_the_order_of_their_index(server):
    unnumbered = [{"embedding": fake.vector(word).tolist()} for word in "ab"]
    for change in (lambda right: {"data": right["data"][::-1]}, lambda right: {"data": unnumbered}):
        server.script = [change]
        vectors = encoder(server.spec).encode(texts(["a", "b"]))
        np.testing.assert_array_equal(vectors, np.array([fake.vector("a"), fake.vector("b")]))


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_batch_above_the_limit_of_the_service_is_split(server, status):
    server.script = [status, status, None]  # eight, four and two texts
    few = encoder(server.spec)
    words = [f"word {i}" for i in range(8)]
    np.testing.assert_array_equal(few.encode(texts(words)), np.array([fake.vector(word) for word in words]))
    assert [len(body["input"]) for body in server.sent] == [8, 4, 2, 2, 2, 2]
    server.script = [status]
    with pytest.raises(InputError, match="refused the text 'long'"):
        few.encode(texts(["long"]))


def test_prompts_stand_before_texts_by_their_role(server):
    prompted = encoder(f"{server.spec}&query_prompt=query: &candidate_prompt=passage: ")
    assert prompted.by_role and prompted.content == ("text", "role")
    for role, prompt in (("query", "query: "), ("candidate", "passage: ")):
        prompted.encode(texts(["a"], role))
        assert server.sent[-1]["input"] == [f"{prompt}a"]


def test_the_identity_names_what_changes_vectors_and_nothing_else(server):
    plain = encoder(server.spec).identity
    assert plain == f"api:tiny@{server.url.partition('//')[2]}"
    assert encoder(f"{server.spec}&batch=2&retries=0").identity == plain
    for option in ("dim=3", "revision=2", "prompt=q: ", "query_prompt=q: "):
        assert encoder(f"{server.spec}&{option}").identity != plain


def test_what_fails_in_passing_is_tried_again_with_growing_pauses(server, pauses):
    server.script = [500, 429, 503, None]
    assert encoder(server.spec).encode(texts(["a"])).shape == (1, fake.DIM)
    assert [0.5 <= pause / 2**n <= 1 for n, pause in enumerate(pauses)] == [True] * 3
    server.script = [503] * 3
    with pytest.raises(InputError, match=r"\(503\).* after 3 tries"):
        encoder(f"{server.spec}&retries=2").encode(texts(["a"]))


def test_the_key_goes_to_the_host_of_base_url_alone(server, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    with fake.serving() as elsewhere:
        server.script = [(307, {"Location": f"{elsewhere.url}/embeddings"}, {})]
        with pytest.raises(InputError, match="base_url"):
            encoder(f"{server.spec}&key_env=MY_KEY").encode(texts(["a"]))
        assert server.headers[0]["Authorization"] == f"Bearer {KEY}" and not elsewhere.headers


def test_the_key_is_shown_nowhere(server, monkeypatch):
    monkeypatch.setenv("MY_KEY", f"{KEY}x")
    server.needs_key = True
    refused = encoder(f"{server.spec}&key_env=MY_KEY")
    with pytest.raises(InputError, match=r"set MY_KEY to a valid key \(401\)$") as error:
        refused.encode(texts(["a"]))
    everything = f"{error.value}{refused!r}{refused.identity}{vars(refused)}".encode() + pickle.dumps(refused)
    assert KEY[:8].encode() not in everything
    server.needs_key = False
    server.script = [(409, {}, {"error": {"message": f"no {KEY[3:12]}"}}), (418, {}, {"detail": "a\n b"})]
    with pytest.raises(InputError, match=r"\(418\): 'a b'"):
        encoder(f"{server.spec}&key_env=MY_KEY").encode(texts(["a"]))


@pytest.mark.parametrize(
    "change",
    [
        lambda right: right | {"data": right["data"][1:]},
        lambda right: {"found": right["data"]},
        lambda right: {"data": [row | {"index": 0} for row in right["data"]]},
        lambda right: {"data": [row | {"embedding": "x"} for row in right["data"]]},
        lambda right: {"data": [row | {"embedding": [1e99]} for row in right["data"]]},
        lambda _: "no JSON",
    ],
)
def test_answers_that_cannot_be_used(server, change):
    server.script = [change]
    with pytest.raises(InputError, match="answer"):
        encoder(server.spec).encode(texts(["a", "b"]))
