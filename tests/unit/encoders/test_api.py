import copy
import io
import json
import logging
import math
import pickle
import socket
import ssl
import traceback
from email.utils import formatdate
from functools import cache
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual.encoders import text_encoders
from xlingual.encoders.api_requests import Clock
from xlingual.encoders.api_service import Service, without_key
from xlingual.encoders.token_estimate import RATES, tokens_and_texts, whole_tokens
from xlingual.errors import DataWarning, InputError, MissingExtraError
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


def tokens_of(words):
    """Return the estimated number of tokens of some texts."""
    return whole_tokens(*tokens_and_texts(words))


class Watch(Clock):
    """A clock that moves only when it is slept on."""

    def __init__(self):
        super().__init__(now=lambda: self.time, sleep=self.go, jitter=lambda: 0.0)
        self.time = 100.0
        self.slept = []

    def go(self, seconds):
        self.slept.append(seconds)
        self.time += seconds


def texts(words, role=None):
    return Texts(list(words), ["en"] * len(words), [str(i) for i in range(len(words))], role=role)


def made(server, options=""):
    """Return the encoder of a spec, with a watch for a clock."""
    (encoder,) = text_encoders([server.spec + options], languages=["en"]).values()
    encoder.requests.clock = Watch()
    return encoder


def refused(call, *arguments, error=InputError):
    with pytest.raises(error) as caught:
        call(*arguments)
    message = str(caught.value)
    assert "\n" not in message
    return message


def right(words, dim=fake.DIM):
    return np.array([fake.vector(word, dim) for word in words])


def test_texts_are_sent_once_in_order_in_requests_of_batch(server):
    found = made(server, "&batch=3").encode(texts(WORDS))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, right(WORDS))
    assert [request["input"] for request in server.sent] == [WORDS[:3], ["lamp", *WORDS[5:7]], WORDS[7:]]
    assert all(request["model"] == "tiny" and "dimensions" not in request for request in server.sent)
    assert all("Authorization" not in headers for headers in server.headers)


def test_vectors_may_travel_as_base64_and_have_fewer_dimensions(server):
    found = made(server, "&encoding_format=base64&dim=4").encode(texts(WORDS))
    np.testing.assert_array_equal(found, right(WORDS, 4))
    assert server.sent[0]["dimensions"] == 4


def test_rows_are_put_in_order_of_their_index(server):
    server.script = [lambda answer: answer | {"data": answer["data"][::-1]}]
    np.testing.assert_array_equal(made(server).encode(texts(WORDS)), right(WORDS))


def test_an_empty_batch_sends_nothing(server):
    encoder = made(server)
    assert encoder.encode(texts([])).shape == (0, 0)
    encoder.encode(texts(["a"]))
    assert encoder.encode(texts([])).shape == (0, fake.DIM)
    assert len(server.sent) == 1


def test_half_of_a_surrogate_pair_is_sent_as_a_question_mark(server):
    np.testing.assert_array_equal(made(server).encode(texts(["a\ud83d"])), right(["a?"]))


def test_prompts(server):
    encoder = made(server, "&prompt=text: &query_prompt=query%3A%20")
    encoder.encode(texts(["a"]))
    encoder.encode(texts(["a"], "query"))
    encoder.encode(texts(["a"], "candidate"))
    assert [request["input"][0] for request in server.sent] == ["text: a", "query: a", "text: a"]
    assert encoder.content == ("text", "role")
    assert made(server, "&prompt=x").content == made(server).content == ("text",)


def test_a_prompt_for_questions_is_not_ignored_silently(server):
    encoder = made(server, "&query_prompt=query%3A%20")
    encoder.encode(texts(["a"], "query"))
    with pytest.warns(DataWarning, match="these texts have no role: query_prompt is not used; write prompt="):
        encoder.encode(texts(["a"]))
    encoder.encode(texts(["b"]))  # warned once
    assert [request["input"][0] for request in server.sent] == ["query: a", "a", "b"]


def test_identity_names_what_changes_vectors_and_nothing_else(server):
    place = server.url.removeprefix("http://")
    assert made(server).identity == f"api:tiny@{place}"
    same = made(server, "&batch=2&rate=5&price=3&max_cost=9&retries=0&timeout=5&encoding_format=base64")
    assert same.identity == made(server).identity
    others = ("&dim=4", "&revision=2", "&prompt=a|b %25", "&query_prompt=a|b %25", "&candidate_prompt=b")
    identities = {made(server, option).identity for option in others}
    assert len(identities | {made(server).identity}) == 6
    assert all(name.isprintable() and "|" not in name and " " not in name for name in identities)
    assert identities == {made(server, option).identity for option in others}


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529, None])
def test_what_fails_in_passing_is_tried_again_with_growing_pauses(server, status):
    step = (None, {}, "") if status is None else status
    server.script = [step] * 4
    encoder = made(server)
    np.testing.assert_array_equal(encoder.encode(texts(["a"])), right(["a"]))
    assert encoder.requests.clock.slept == [1, 2, 4, 8]
    assert len(server.sent) == 5


def test_pauses_are_shortened_at_random_and_never_longer_than_a_minute(server):
    encoder = made(server, "&retries=8")
    encoder.requests.clock.jitter = lambda: 0.5
    server.script = [503] * 8
    encoder.encode(texts(["a"]))
    assert encoder.requests.clock.slept == [0.75, 1.5, 3, 6, 12, 24, 45, 45]
    assert all(0 <= Clock().jitter() < 1 for _ in range(5))


def test_retry_after_is_kept_to(server):
    server.script = [
        (429, {"Retry-After": "17"}, {}),
        (503, {"Retry-After": "0"}, {}),
        (429, {"Retry-After": "soon"}, {}),
    ]
    encoder = made(server)
    encoder.encode(texts(["a"]))
    assert encoder.requests.clock.slept == [17, 2, 4]


def test_retry_after_may_be_a_date(server):
    import time

    server.script = [(429, {"Retry-After": formatdate(time.time() + 590, usegmt=True)}, {})]
    encoder = made(server)
    encoder.encode(texts(["a"]))
    assert 60 < encoder.requests.clock.slept[0] <= 591  # as much as is left of it on a busy machine


def test_a_service_that_asks_for_an_hour_ends_the_run(server):
    server.script = [(429, {"Retry-After": "3600"}, {})]
    assert "asks to wait 3600 seconds" in refused(made(server).encode, texts(["a"]))
    assert len(server.sent) == 1


def test_it_gives_up_after_the_last_retry(server):
    server.script = [503] * 9
    message = refused(made(server, "&retries=2").encode, texts(["a"]))
    assert "tried 3 times, at last: answered 503: 'scripted 503'" in message
    assert "?retries=" in message
    assert len(server.sent) == 3


def test_a_service_that_stalls_is_not_waited_for(server):
    server.stall.clear()
    message = refused(made(server, "&timeout=0.2&retries=1").encode, texts(["a"]))
    assert "tried 2 times, at last: no answer within 0.2 seconds" in message


def test_requests_are_paced(server):
    encoder = made(server, "&rate=30&batch=1")
    encoder.encode(texts(["a", "b", "c"]))
    assert encoder.requests.clock.slept == [2, 2]
    encoder.requests.clock.time += 1.5
    encoder.encode(texts(["d"]))  # the pace is kept from one call to the next
    assert encoder.requests.clock.slept == [2, 2, 0.5]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda rows: rows[:-1], "3 texts were sent and 2 vectors came back"),
        (lambda rows: [*rows, rows[0]], "3 texts were sent and 4 vectors came back"),
        (lambda rows: [row | {"index": 0} for row in rows], "the indices of the vectors are not 0 to 2"),
        (lambda rows: [{"embedding": row["embedding"]} for row in rows], "the indices of the vectors"),
        (lambda rows: [row | {"index": row["index"] + 1} for row in rows], "the indices of the vectors"),
        (lambda rows: [row | {"embedding": [1.0, math.nan]} for row in rows], "NaN or infinity"),
        (lambda rows: [row | {"embedding": [1.0, 1e300]} for row in rows], "NaN or infinity"),
        (lambda rows: [row | {"embedding": [1.0, None]} for row in rows], "NaN or infinity"),
        (lambda rows: [row | {"embedding": ["1"]} for row in rows], "not a list of numbers"),
        (lambda rows: [row | {"embedding": [[1.0]]} for row in rows], "not a list of numbers"),
        (lambda rows: [row | {"embedding": "%%%"} for row in rows], "not a list of numbers"),
        (lambda rows: [row | {"embedding": None} for row in rows], "not a list of numbers"),
        (lambda rows: [row | {"embedding": []} for row in rows], "0 to 0 dimensions"),
        (lambda rows: [rows[0], rows[1], rows[2] | {"embedding": [1.0]}], "1 to 6 dimensions"),
        (lambda rows: "none", "no list 'data'"),
        (lambda rows: [1, 2, 3], "no list 'data'"),
    ],
)
def test_answers_that_cannot_be_used(server, change, says):
    server.script = [lambda answer: answer | {"data": change(answer["data"])}]
    message = refused(made(server).encode, texts(["a", "b", "c"]))
    assert says in message
    assert server.url.removeprefix("http://") in message


def test_an_answer_that_is_no_json(server):
    server.script = [(200, {"Content-Type": "text/html; charset=utf-8"}, "<html>hello</html>")]
    assert "no JSON (text/html): is ?base_url= right?" in refused(made(server).encode, texts(["a"]))
    server.script = [(200, {}, [1, 2])]
    assert "no list 'data'" in refused(made(server).encode, texts(["a"]))


def test_dimensions_must_stay_what_they_were(server):
    encoder = made(server, "&batch=1")
    short = {"data": [{"index": 0, "embedding": [1.0, 2.0]}]}
    server.script = [lambda answer: answer, lambda answer: short]
    assert "2 dimensions, but earlier ones had 6" in refused(encoder.encode, texts(["a", "b"]))
    server.script = [lambda answer: short]
    assert "dim=4 was asked for; leave it out" in refused(made(server, "&dim=4").encode, texts(["a"]))


def test_refusals_are_reported_in_one_line_and_not_repeated(server):
    cases = {
        400: ["refused the request (400): 'scripted 400'", "too long for the model", "?batch="],
        404: ["unknown model, or wrong ?base_url= (404)"],
        301: ["answered 301", "?base_url="],
        418: ["refused the request (418)"],
    }
    for status, words in cases.items():
        server.script = [status]
        message = refused(made(server).encode, texts(["a"]))
        assert all(word in message for word in words), message
    server.script = [422]
    assert "one of the texts is empty" in refused(made(server).encode, texts(["a", ""]))
    quota = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    server.script = [(429, {}, quota)]
    assert "quota of the account is used up" in refused(made(server).encode, texts(["a"]))
    assert len(server.sent) == 6


def test_an_unknown_model(server):
    (encoder,) = text_encoders([server.spec.replace("tiny", "tinny")], languages=["en"]).values()
    message = refused(encoder.encode, texts(["a"]))
    assert "api:tinny at 127.0.0.1" in message
    assert "The model 'tinny' does not exist" in message


def test_nobody_listens(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (encoder,) = text_encoders([f"api:m?base_url=http://localhost:{port}"], languages=["en"]).values()
    encoder.requests.clock = Watch()
    message = refused(encoder.encode, texts(["a"]))
    assert f"api:m at localhost:{port}: cannot connect" in message
    assert "is the service running" in message
    assert encoder.requests.clock.slept == []


def test_what_is_paid_for_comes_in_pieces_of_a_request(server):
    assert made(server, "&batch=7").piece == 7


def test_a_service_elsewhere_is_reached_through_the_proxy(monkeypatch):
    with fake.serving() as proxy:  # a proxy is asked for the whole address
        for name in ("NO_PROXY", "no_proxy", "http_proxy"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("K_TEST", KEY)
        with pytest.warns(DataWarning, match="unencrypted"):
            found = text_encoders(["api:tiny?key_env=K_TEST&base_url=http://x.example/v1"], languages=["en"])
        message = refused(found["api"].encode, texts(["a"]))
    assert "no such path http://x.example/v1/embeddings" in message


def test_a_service_that_was_there_before_is_waited_for(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with fake.serving() as server:
        encoder = made(server, "&retries=2")
        encoder.encode(texts(["a"]))
    assert "tried 3 times, at last: cannot connect" in refused(encoder.encode, texts(["b"]))
    assert encoder.requests.clock.slept == [1, 2]


# the key


@pytest.fixture(scope="module", autouse=True)
def _certificates_read_once():
    """Let all clients share a context: each would read the certificates of the world again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture
def log():
    """Give a handler that keeps all that is logged, at the level of the root logger."""
    root, handler = logging.getLogger(), logging.StreamHandler(io.StringIO())
    level = root.level
    root.addHandler(handler)
    yield handler
    root.removeHandler(handler)
    root.setLevel(level)


def test_the_key_is_sent_and_shown_nowhere(server, monkeypatch, capsys, log):
    monkeypatch.setenv("MY_KEY", f" {KEY}\n")
    logging.getLogger().setLevel(logging.DEBUG)
    server.needs_key = True
    encoder = made(server, "&key_env=MY_KEY&retries=1")
    np.testing.assert_array_equal(encoder.encode(texts(["a"])), right(["a"]))
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    shown = [repr(encoder), encoder.identity, encoder.estimate(texts(["a"])), str(vars(encoder))]
    shown += [str(vars(encoder.requests)), repr(encoder.requests.service)]
    encoder.requests.clock = Clock()
    shown.append(repr(pickle.dumps(copy.copy(encoder.requests.service))))
    echo = {"error": {"message": f"bad header Authorization: Bearer {KEY}", "key": KEY}}
    encoder.requests.clock = Watch()
    for step in (
        *((401, {}, echo), (403, {}, echo), (404, {}, echo), (400, {}, echo)),
        (200, {}, KEY),
        lambda answer: {"data": KEY},
        lambda answer: {"data": [{"index": 0, "embedding": KEY}]},
    ):
        server.script = [step]
        shown += _everything(encoder)
    for status in (500, None):
        server.script = [(status, {}, echo)] * 2
        shown += _everything(encoder)
    server.script = [(400, {}, {"error": f"wrong key {KEY[:9]}***"})]
    shown += _everything(encoder)
    logging.getLogger().setLevel(logging.INFO)  # httpcore itself logs the headers that a service answers
    for status in (200, 429):
        server.script = [(status, {"Content-Type": KEY, "Retry-After": KEY}, KEY)] * 2
        shown += _everything(encoder)
    out, err = capsys.readouterr()
    everything = "\n".join([*shown, out, err, log.stream.getvalue()])
    assert "refused the key in the environment variable MY_KEY (401)" in everything
    for piece in (KEY, KEY[:8], KEY[-8:]):
        assert piece not in everything


def _everything(encoder):
    """Return all that an error could show: its text, its traceback and the errors behind it."""
    with pytest.raises(InputError) as caught:
        encoder.encode(texts(["a"]))
    shown = ["".join(traceback.format_exception(caught.value))]
    error = caught.value
    while error is not None:
        shown += [str(error), repr(error), repr(error.args)]
        error = error.__cause__ or error.__context__
    return shown


def test_a_wrong_key_and_none(server, monkeypatch):
    server.needs_key = True
    message = refused(made(server).encode, texts(["a"]))
    assert "asks for a key, and there is none in the environment variable OPENAI_API_KEY (401)" in message
    monkeypatch.setenv("OPENAI_API_KEY", "wrong-key-123")
    message = refused(made(server).encode, texts(["a"]))
    assert "refused the key in the environment variable OPENAI_API_KEY (401)" in message
    assert "wrong" not in message


def spec_refused(spec):
    return refused(lambda: text_encoders([spec], languages=["en"]))


def test_a_service_elsewhere_needs_a_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert "set the environment variable OPENAI_API_KEY" in spec_refused("api:text-embedding-3-small")
    assert "variable MINE" in spec_refused("api:m?base_url=https://x.example/v1&key_env=MINE")
    monkeypatch.setenv("MINE", "two words")
    assert "MINE holds no key" in spec_refused("api:m?base_url=https://x.example/v1&key_env=MINE")
    monkeypatch.setenv("MINE", "sk-ключ")
    message = spec_refused("api:m?base_url=https://x.example/v1&key_env=MINE")
    assert "MINE holds no key" in message
    assert "ключ" not in message
    monkeypatch.setenv("MINE", KEY)
    with pytest.warns(DataWarning, match=r"MINE goes to x\.example/v1 unencrypted"):
        text_encoders(["api:m?base_url=http://x.example/v1&key_env=MINE"], languages=["en"])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("base_url=ftp://x/v1", "must begin with http:// or https://"),
        ("base_url=localhost:8000", "must begin with http:// or https://"),
        ("base_url=http://[%3A%3A1", "no URL"),
        ("base_url=http://localhost:99999", "no URL"),
        ("base_url=http://", "and a host"),
        (f"base_url=https://u:{KEY}@x.example/v1", "may hold no user, password"),
        (f"base_url=https://x.example/v1%3Fkey={KEY}", "may hold no user, password, query"),
        (f"key_env={KEY}", "must be the name of an environment variable"),
        ("max_cost=3", "max_cost needs price="),
        ("rate=0", "rate must be more than 0"),
        ("timeout=0", "timeout must be more than 0"),
        ("retries=-1", "whole number"),
        ("encoding_format=int8", "one of float, base64"),
        ("price=-1", "number of at least 0"),
    ],
)
def test_bad_options(options, says, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    local = "" if "base_url" in options else "base_url=http://localhost&"
    message = spec_refused(f"api:m?{local}{options}")
    assert says in message
    assert KEY not in message


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:8080/v1", True),
        ("http://127.0.0.1/v1", True),
        ("http://[::1]:80/v1", True),
        ("http://0.0.0.0:8000/v1", True),
        ("http://192.168.1.7/v1", True),
        ("http://vllm:8000/v1", True),
        ("http://box.local/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://localhost.example.com/v1", False),
        ("https://8.8.8.8/v1", False),
    ],
)
def test_which_services_are_local(url, local):
    assert Service.of(url, "K").local is local


def test_an_address_is_written_in_one_way():
    for written in ("https://X.example/v1/", "https://x.example/v1", " https://x.example/v1/embeddings"):
        assert Service.of(written, "K") == Service("https://x.example/v1", "K")
    assert Service.of("http://[::1]:80/v1", "K").place == "[::1]:80/v1"


def test_words_of_a_service_are_kept_short_and_without_the_key():
    assert without_key("a\nb \x1b[31mred", KEY) == "a b [31mred"
    assert len(without_key("x" * 999, None)) == 200
    assert without_key(f"key {KEY[4:12]} is wrong", KEY) == ""
    assert without_key("no key", "") == "no key"


# what it will cost


def test_the_estimate(server):
    words = ["red chair"] * 5 + ["blue table"]
    tokens = tokens_of(["red chair", "blue table"])
    assert made(server, "&batch=1").estimate(texts(words)) == (
        f"about {tokens} tokens (2 distinct texts, 2 requests)"
    )
    said = made(server, "&price=20000&max_cost=5").estimate(texts(words))
    assert said.endswith(f"1 request), about {tokens * 0.02:.2f} at 20000 a million tokens")
    assert server.sent == []


def test_a_run_that_costs_too_much_is_not_begun(server):
    encoder = made(server, "&price=1000000&max_cost=5")
    for call in (encoder.estimate, encoder.encode):
        message = refused(call, texts(["some words, more than five tokens of them"]))
        assert "more than max_cost=5; nothing was sent" in message
    assert server.sent == []
    encoder.encode(texts(["five"]))
    assert len(server.sent) == 1


def test_what_was_sent_before_counts_too(server):
    encoder = made(server, "&price=1000000&max_cost=8")  # one a token
    for words in ("one two", "three four"):
        encoder.encode(texts([words]))
    message = refused(encoder.encode, texts(["five six seven"]))
    assert "with about 5.00 before it about 9.00: more than max_cost=8; nothing more was sent" in message
    assert len(server.sent) == 2
    encoder.encode(texts(["8"]))
    assert len(server.sent) == 3


def test_pieces_cost_no_more_than_the_whole(server):
    words = list("abcdefgh")
    whole = tokens_of(words)
    encoder = made(server, f"&batch=2&price=1000000&max_cost={whole}")
    encoder.estimate(texts(words))
    for start in range(0, len(words), 2):
        encoder.encode(texts(words[start : start + 2]))
    assert len(server.sent) == 4
    refused(encoder.encode, texts(["a"]))


def test_tokens_are_counted_by_script():
    parts = [
        ("a b", 0),
        ("1,.", 1),
        ("éß", 2),
        ("да", 3),
        ("سل", 4),
        ("नम", 5),
        ("สว", 6),
        ("日本語한か", 7),
        ("Ω☃", 8),
    ]
    rates = list(RATES.values())
    for text, kind in parts:
        assert tokens_of([text * 1000]) == math.ceil(round(1000 * len(text) * rates[kind], 6)), text
    assert tokens_of([""] * 7) == 7
    assert tokens_of([]) == 0
    many = ["red chair"] * 4100
    assert tokens_of(many) == math.ceil(4100 * 9 * rates[0])


def test_without_httpx(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "httpx", None)
    call = lambda: text_encoders(["api:m?base_url=http://localhost"], languages=["en"])  # noqa: E731
    message = refused(call, error=MissingExtraError)
    assert message.endswith("(httpx: not installed): pip install 'xlingual[api]'")


def test_the_server_of_these_tests_speaks_json(server):
    assert json.loads(json.dumps(server.right({"input": ["a"], "encoding_format": "float"})))["data"]
