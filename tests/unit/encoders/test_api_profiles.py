import signal
import ssl
import threading
import time
from functools import cache
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual.embed import embed_batch
from xlingual.encoders import text_encoders
from xlingual.encoders.api_profiles import PROFILES
from xlingual.encoders.api_requests import Clock
from xlingual.errors import DataWarning, InputError
from xlingual.hidden import shown
from xlingual.records import Texts
from xlingual.store import Store

pytest.importorskip("httpx")

services = SimpleNamespace(**run_path(str(Path(__file__).with_name("embedding_services.py"))))
serving, KEY, DIM, vector = services.fake["serving"], services.KEY, services.DIM, services.vector
WORDS = ["red chair", "blue table", "lamp", "red chair", "红色的椅子"]
# what a service adds for a role; None: texts without one
ADDED = {
    "cohere": {None: "search_document", "query": "search_query", "candidate": "search_document"},
    "voyage": {None: "", "query": "query", "candidate": "document"},
    "gemini": {None: "SEMANTIC_SIMILARITY", "query": "RETRIEVAL_QUERY", "candidate": "RETRIEVAL_DOCUMENT"},
    "jina": {None: "text-matching", "query": "retrieval.query", "candidate": "retrieval.passage"},
}


@pytest.fixture(scope="module", autouse=True)
def _certificates_read_once():
    """Let all clients share a context: each would read the certificates of the world again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture
def start(monkeypatch):
    """Give a function that starts the stand-in of a profile, or of a class."""
    opened = []
    for profile in PROFILES.values():
        monkeypatch.setenv(profile.key_env, KEY)

    def started(name):
        context = serving(services.SERVICES.get(name) or getattr(services, name))
        opened.append(context)
        return context.__enter__()

    yield started
    for context in opened:
        context.__exit__(None, None, None)


def texts(words, role=None):
    return Texts(list(words), ["en"] * len(words), [str(i) for i in range(len(words))], role=role)


class Idle(Clock):
    """A clock that never waits, and keeps how long it should have."""

    def __init__(self):
        super().__init__(now=lambda: 0.0, sleep=lambda seconds: None, jitter=lambda: 0.0)
        self.rests = []

    def rest(self, seconds, stop):
        self.rests.append(seconds)


def made(service, options, model="tiny"):
    (encoder,) = text_encoders([f"api:{model}?base_url={service.base}&{options}"], languages=["en"]).values()
    encoder.requests.clock = Idle()
    return encoder


def refused(call, *arguments):
    with pytest.raises(InputError) as caught:
        call(*arguments)
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value)
    return str(caught.value)


def right(words, added="", dim=DIM):
    return np.array([vector(added + word, dim) for word in words])


@pytest.mark.parametrize("name", PROFILES)
def test_every_service_is_asked_as_it_documents(start, name):
    service = start(name)
    encoder = made(service, f"profile={name}&batch=2")
    for role in (None, "query", "candidate"):
        found = encoder.encode(texts(WORDS, role))
        np.testing.assert_array_equal(found, right(WORDS, ADDED.get(name, {}).get(role, "")))
    assert len(service.sent) == 6
    assert encoder.content == (("text", "role") if name in ADDED else ("text",))
    shorter = made(service, f"profile={name}&dim=4").encode(texts(WORDS))
    np.testing.assert_array_equal(shorter, right(WORDS, ADDED.get(name, {}).get(None, ""), 4))


@pytest.mark.parametrize("name", PROFILES)
def test_mistakes_are_reported_in_the_words_of_the_service(start, name, monkeypatch):
    service = start(name)
    assert "field 'nope'" in refused(made(service, f"profile={name}&body.nope=1").encode, texts(["a"]))
    if name != "tei":  # it has one model
        said = refused(made(service, f"profile={name}", "huge").encode, texts(["a"]))
        assert "api:huge at 127.0.0.1" in said
        assert "unknown model, or wrong ?base_url= (404): " in said
        assert "huge" in said.partition("404")[2]  # its own words
        assert (f"profile={name} asks http://127.0.0.1" in said) is (name != "openai")
    monkeypatch.setenv(PROFILES[name].key_env, "another")
    said = refused(made(service, f"profile={name}").encode, texts(["a"]))
    assert f"refused the key in the environment variable {PROFILES[name].key_env} (401)" in said


def test_what_a_service_forbids_is_said(start):
    service = start("gemini")
    service.script = [(403, {}, service.error(403, "API has not been used in this project"))]
    said = refused(made(service, "profile=gemini").encode, texts(["a"]))
    assert (
        "GEMINI_API_KEY (403), and said 'API has not been used in this project': set it to a valid key"
        in said
    )


@pytest.mark.parametrize("name", PROFILES)
def test_the_variable_of_a_missing_key_is_named(name, monkeypatch):
    profile = PROFILES[name]
    monkeypatch.delenv(profile.key_env, raising=False)
    spec = f"api:tiny?profile={name}&base_url=https://x.example"
    assert f"set the environment variable {profile.key_env}" in refused(
        lambda: text_encoders([spec], languages=["en"])
    )


@pytest.mark.parametrize("name", PROFILES)
def test_batches_are_within_the_limit_of_the_service(start, name):
    service = start(name)
    words = [f"w{i}" for i in range(PROFILES[name].batch + 1)]
    made(service, f"profile={name}").encode(texts(words))
    assert len(service.sent) == 2
    if (most := PROFILES[name].most) is not None:
        assert most == service.most
        said = refused(made, service, f"profile={name}&batch={most + 1}")
        assert f"batch must be at most {most} with profile={name}" in said


def test_gemini_in_the_protocol_of_openai(start):
    service = start("GeminiOpenai")
    found = made(service, "encoding_format=none&batch=3").encode(texts(WORDS))
    np.testing.assert_array_equal(found, right(WORDS))
    assert "unknown field 'encoding_format'" in refused(made(service, "batch=3").encode, texts(WORDS))


def test_voyage_refuses_floats_and_knows_base64(start):
    service = start("voyage")
    found = made(service, "profile=voyage&encoding_format=base64").encode(texts(WORDS))
    np.testing.assert_array_equal(found, right(WORDS))
    assert "is invalid" in refused(made(service, "profile=voyage&encoding_format=float").encode, texts(WORDS))


def test_azure_has_a_version_and_a_header_of_its_own(start):
    service = start("azure")
    service.query = (("api-version", "2025-01-01"),)
    made(service, "profile=azure&url.api-version=2025-01-01").encode(texts(WORDS))
    assert "query 'api-version=2024-10-21'" in refused(made(service, "profile=azure").encode, texts(WORDS))
    service.path, service.query = "/openai/v1/embeddings", ()
    service.base += "/openai/v1"
    made(service, "key_header=api-key").encode(texts(WORDS))
    said = refused(lambda: text_encoders(["api:m?profile=azure"], languages=["en"]))
    assert "profile=azure needs base_url=, such as https://NAME.openai.azure.com" in said


def test_fields_of_the_spec_take_the_place_of_those_of_the_profile(start):
    service = start("cohere")
    encoder = made(service, "profile=cohere&body.input_type=clustering&body.truncate=NONE")
    for role in (None, "query", "candidate"):
        np.testing.assert_array_equal(encoder.encode(texts(WORDS, role)), right(WORDS, "clustering"))
    assert encoder.content == ("text",)
    assert service.sent[0]["truncate"] == "NONE"
    encoder = made(start("jina"), "profile=jina&body.task=")
    np.testing.assert_array_equal(encoder.encode(texts(WORDS, "query")), right(WORDS))
    encoder = made(start("tei"), "profile=tei&query_body.prompt_name=query&body.truncate=true")
    np.testing.assert_array_equal(encoder.encode(texts(WORDS, "query")), right(WORDS, "query"))
    np.testing.assert_array_equal(encoder.encode(texts(WORDS, "candidate")), right(WORDS))
    with pytest.warns(DataWarning, match=r"query_body\.prompt_name is not used; write body\.prompt_name="):
        encoder.encode(texts(WORDS))


def test_values_of_fields_are_json_or_text(start):
    service = start("ollama")
    made(
        service, 'profile=ollama&body.options={"num_ctx":512}&body.keep_alive=5m&body.truncate=false'
    ).encode(texts(["a"]))
    assert service.sent[0] == {
        "model": "tiny", "input": ["a"], "options": {"num_ctx": 512}, "keep_alive": "5m", "truncate": False,
    }  # fmt: skip
    made(service, 'profile=ollama&body.keep_alive="5"&body.truncate=null&body.options=NaN').encode(
        texts(["a"])
    )
    assert service.sent[1] == {"model": "tiny", "input": ["a"], "keep_alive": "5", "options": "NaN"}


def test_identity_names_the_profile_and_what_changes_vectors(start):
    service = start("cohere")
    place = service.base.removeprefix("http://")
    assert made(service, "profile=openai").identity == f"api:tiny@{place}"
    cohere = made(service, "profile=cohere").identity
    assert cohere == (
        f"api:tiny@{place}?profile=cohere&body.input_type=search_document&query_body.input_type=search_query"
    )
    same = "&parallel=3&rate=5&batch=2&key_env=CO_API_KEY&key_header=Authorization&encoding_format=float"
    assert made(service, f"profile=cohere{same}").identity == cohere
    assert made(service, "profile=cohere&body.input_type=search_document").identity != cohere
    options = ("body.a=1", "query_body.a=1", "candidate_body.a=1", "url.a=1", "dim=2", "body.a=2", "body.b=1")
    others = {made(service, f"profile=cohere&{option}").identity for option in options}
    assert len(others | {cohere}) == len(options) + 1


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("url.key=abc", "url.key would put a key into specs and results"),
        ("body.api_key=abc", "body.api_key would put a key"),
        (f"body.user={KEY}", "a parameter holds the key of OPENAI_API_KEY"),
        ("key_header=two words", "key_header must be the name of a header"),
        ("body.input=a", "body.input is made of the spec and the texts"),
        ("query_body.model=a", "query_body.model is made of the spec"),
        ("body.a=1&body.a=2", "'body.a' is given twice"),
        ("bodi.a=1", "has no option 'bodi.a'"),
        ("profile=opneai", "profile must be one of openai, azure"),
        ("parallel=0", "parallel must be a whole number of at least 1"),
    ],
)
def test_bad_parameters(start, option, says):
    assert says in refused(made, start("openai"), option)


def test_parameters_are_shown_but_for_keys():
    spec = "api:m?profile=cohere&body.input_type=x&url.api-version=1"
    assert shown(spec) == spec
    assert (
        shown("api:m?url.key=abc&body.accessToken=abc&other.a=abc")
        == "api:m?url.key=…&body.accessToken=…&other.a=…"
    )


# several requests at a time


def test_several_requests_are_under_way_and_order_is_kept(start):
    service = start("openai")
    service.stall.clear()
    words = [f"w{i}" for i in range(10)] + ["w3"]
    encoder = made(service, "batch=2&parallel=3")
    found = []
    thread = threading.Thread(target=lambda: found.append(encoder.encode(texts(words))))
    thread.start()
    while len(service.sent) < 3:
        assert thread.is_alive()
    thread.join(0.1)
    assert len(service.sent) == 3  # no more than that before there is an answer
    service.stall.set()
    thread.join(10)
    np.testing.assert_array_equal(found[0], right(words))
    assert len(service.sent) == 5
    assert encoder.piece == 6


def test_what_fails_in_passing_is_repeated_by_its_own_thread(start):
    service = start("openai")
    service.script = [(503, {}, ""), None, (429, {"Retry-After": "9"}, "")]
    encoder = made(service, "batch=1&parallel=3")
    np.testing.assert_array_equal(encoder.encode(texts(WORDS)), right(WORDS))
    assert {1.0, 9.0} <= set(encoder.requests.clock.rests)


def test_the_pace_holds_for_all_requests_together(start):
    service = start("openai")
    encoder = made(service, "batch=1&parallel=2&rate=30")
    encoder.encode(texts(["a", "b", "c", "d"]))
    assert sorted(encoder.requests.clock.rests) == [2, 4, 6]


@pytest.mark.parametrize("parallel", [1, 4])
def test_a_failure_keeps_what_was_done(start, parallel, tmp_path):
    service = start("openai")
    words = [f"w{i}" for i in range(8)]
    store = Store(tmp_path / "store")
    service.script = [None, None, None, (400, {}, {"error": {"message": "too long"}}), None]
    encoder = made(service, f"batch=1&parallel={parallel}")
    with pytest.raises(InputError, match="too long"):
        embed_batch(texts(words), "x", encoder, store=store)
    service.script = []
    before = len(service.sent)
    assert 4 <= before <= 3 + parallel
    found = embed_batch(texts(words), "x", encoder, store=store)
    np.testing.assert_array_equal(found.vectors, right(words))
    assert len(service.sent) == 8 + 1  # each text was answered once, and one was refused


def test_an_interruption_keeps_what_was_done_and_waits_for_nothing(start, tmp_path):
    service = start("Stalling")
    words = [f"w{i}" for i in range(8)]
    store = Store(tmp_path / "store")
    encoder = made(service, "batch=1&parallel=2")

    def interrupt():
        while len(service.sent) < 4:
            time.sleep(0.01)
        time.sleep(0.1)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        embed_batch(texts(words), "x", encoder, store=store)
    assert time.monotonic() - began < 5
    service.released.set()
    sent = len(service.sent)
    found = embed_batch(texts(words), "x", encoder, store=store)
    np.testing.assert_array_equal(found.vectors, right(words))
    assert len(service.sent) - sent == 5  # three were kept
