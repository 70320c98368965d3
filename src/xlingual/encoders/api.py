"""`api:`: vectors from a service that speaks OpenAI's embeddings protocol.

The key is read from the environment when a connection is opened, and no object that outlives it holds it. It
goes to the host of `base_url` alone: redirects are not followed.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.runtime import distinct_rows, require
from xlingual.encoders.scheme import (
    KIND,
    PROMPTS,
    TEXTS,
    TRAINED_ON,
    Context,
    Option,
    Prompts,
    Scheme,
    not_empty,
    positive,
    reader,
)
from xlingual.errors import InputError, warn
from xlingual.records import Texts

if TYPE_CHECKING:
    import httpx

SCHEME = Scheme(
    "api",
    (TEXTS,),
    "an embeddings service that speaks OpenAI's protocol",
    __name__,
    argument="MODEL",
    options=(
        Option("base_url", not_empty, "https://api.openai.com/v1", "where the service is"),
        Option("key_env", not_empty, "OPENAI_API_KEY", "environment variable that holds the key"),
        Option("batch", positive, 128, "texts of one request"),
        Option("dim", positive, None, "dimensions to ask for"),
        Option("retries", reader("[0-9]{1,3}", int, "a whole number"), 6, "tries after one that failed"),
        Option("revision", not_empty, None, "your own version name: a new one computes all vectors again"),
        *PROMPTS,
        TRAINED_ON,
        KIND,
    ),
    extra="api",
)
PASSING = (408, 409, 425, 429, 500, 502, 503, 504, 529)  # statuses after which a request is repeated
TOO_LARGE = (400, 413, 422)  # statuses after which the texts of a request are sent in two
LONGEST_WAIT, PATIENCE, TIMEOUT = (
    60.0,
    600.0,
    120.0,
)  # seconds between tries, at a service's wish, for an answer
REMEDIES = {
    401: "set {key_env} to a valid key",
    403: "set {key_env} to a key that may be used for this",
    404: "unknown model, or wrong ?base_url=",
    429: "the quota of the account is used up",
}


class ApiEncoder(Encoder):
    """Sends distinct texts in the order of their first appearance, `batch` in a request.

    A request that fails in passing (a timeout, a broken connection, a status of `PASSING`) is repeated up to
    `retries` times, after 1, 2, 4 … seconds, at most 60, shortened at random by up to a half; a longer
    `Retry-After` is respected. A request that is too large is sent in two halves, down to single texts. The
    service does not say whether it has cut a text, so none counts as cut.
    """

    origin = "general"

    def __init__(self, model: str, url: str, options: Mapping[str, Any]) -> None:
        self.model, self.url, self.options = model, url, options
        self.who = f"api:{model} at {url.partition('://')[2]}"
        self.prompts = Prompts.of(options)
        self.by_role = self.prompts.by_role
        self._dim: int | None = options["dim"]  # None until the first answer
        self._most: int = options["batch"]  # texts of a request that the service takes

    @property
    def content(self) -> tuple[str, ...]:
        """The text, and with prompts for roles the role."""
        return ("text", "role") if self.by_role else ("text",)

    @property
    def identity(self) -> str:
        """The service's host and path, the model, and the options that change its vectors; never a key."""
        options = [f"{name}={self.options[name]}" for name in ("dim", "revision") if self.options[name]]
        parts = (self.model, self.url.partition("://")[2], *options)
        model, place, *named = (quote(part, safe="/:@+,.[]~-_=") for part in parts)
        words = ("&".join(named) + str(self.prompts)).lstrip("&")
        return f"api:{model}@{place}" + (f"?{words}" if words else "")

    def encode(self, batch: Texts, /) -> Vectors:
        """Give float32 [n, d]; equal texts are sent once, an empty batch sends nothing."""
        import httpx

        prompt = self.prompts.before(batch.role)
        whole = [(prompt + text).encode("utf-8", "replace").decode() for text in batch.text]  # no surrogates
        texts, index = distinct_rows(whole)
        key_env = self.options["key_env"]
        key = key_of(key_env, self.url)
        parts = [np.empty((0, self._dim or 0), dtype=np.float32)]
        start = 0
        with httpx.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(TIMEOUT, connect=10.0),
            transport=httpx.HTTPTransport() if is_local(self.url) else None,  # without a proxy
            follow_redirects=False,  # the key is for this host alone
        ) as client:
            while start < len(texts):
                part = texts[start : start + self._most]
                answer = self._answer(client, part)
                status = answer.status_code
                if status in TOO_LARGE and len(part) > 1:
                    self._most = len(part) // 2
                    continue
                if status != 200:
                    refused, remedy = "the request", REMEDIES.get(status, "correct ?base_url=")
                    if status in TOO_LARGE:
                        refused = f"the text {part[0][:40]!r}, of {len(part[0]):,} characters"
                        remedy = "it may be empty or too long"
                    remedy = remedy.format(key_env=key_env)
                    raise InputError(f"{self.who}: refused {refused}: {remedy} {_quoted(answer, key)}")
                vectors = vectors_of(answer, len(part), self.who)
                if self._dim not in (None, vectors.shape[1]):
                    raise InputError(
                        f"{self.who}: vectors have {vectors.shape[1]} dimensions, expected {self._dim}: "
                        "leave dim= out where the model cannot shorten its vectors"
                    )
                self._dim = vectors.shape[1]
                parts.append(vectors)
                start += len(part)
        return np.asarray(np.concatenate(parts[len(parts) > 1 :])[index])

    def _answer(self, client: httpx.Client, texts: list[str]) -> httpx.Response:
        """Send texts until the service answers, whatever it says; raise InputError where it does not.

        Errors of httpx are not chained: they hold the request, and so the key.
        """
        import httpx

        dim = {"dimensions": self.options["dim"]} if self.options["dim"] else {}
        body = {"model": self.model, "input": texts, "encoding_format": "float", **dim}
        key, attempt, wait = client.headers.get("Authorization", "")[7:], 0, 0.0
        while attempt <= self.options["retries"] and wait <= PATIENCE:
            if attempt:
                usual = min(LONGEST_WAIT, 2.0 ** (attempt - 1)) * (1 - 0.5 * random.SystemRandom().random())
                time.sleep(max(usual, wait))
            attempt, wait = attempt + 1, 0.0
            try:
                answer = client.post(f"{self.url}/embeddings", json=body)
                if answer.status_code not in PASSING or "insufficient_quota" in answer.text:
                    return answer
                problem = f"is busy or failing {_quoted(answer, key)}"
                with suppress(ValueError):
                    wait = max(0.0, float(answer.headers.get("retry-after", "")))
            except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
                problem = f"no answer ({type(error).__name__}): is it running, and ?base_url= right?"
                unreachable = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError)
                never = self._dim in (None, self.options["dim"])  # it has not answered once
                if (unreachable and never) or not isinstance(error, httpx.TransportError):
                    break
        asked = f", asks to wait {wait:.0f} seconds" if wait > PATIENCE else ""
        raise InputError(
            f"{self.who}: {problem}{asked}, after {attempt} tries; vectors so far are stored: run again later"
        )


def _content(answer: httpx.Response) -> Any:  # noqa: ANN401
    """Read the JSON of an answer, None where it is none."""
    with suppress(ValueError, RecursionError):
        return answer.json()
    return None


def vectors_of(answer: httpx.Response, count: int, who: str) -> Vectors:
    """Read float32 [count, d] in the order of the texts; raise InputError where the answer is not that.

    Rows stand in the order of their `index`; where they have none, in the order of the answer.
    """
    content = _content(answer)
    vectors: Any = np.empty((0, 0), dtype=np.float32)
    try:
        rows = content["data"]
        places = [row.get("index", at) for at, row in enumerate(rows)]
        if sorted(places) != list(range(count)):
            raise InputError(f"{who}: the answer to {count} texts has vectors that are not numbered from 0")
        with np.errstate(over="ignore"):  # numbers too large for float32 become infinite, and are refused
            vectors = np.array([rows[at]["embedding"] for at in np.argsort(places)], dtype=np.float32)
    except InputError:
        raise
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError):
        pass
    if vectors.ndim != 2 or not vectors.shape[1] or not np.isfinite(vectors).all():
        raise InputError(
            f"{who}: the answer is no JSON with a list 'data' of embeddings, finite numbers of one length: "
            "is ?base_url= right?"
        )
    return np.asarray(vectors)


def _quoted(answer: httpx.Response, key: str) -> str:
    """Write the status and, unless it shows a part of the key, the message of an error."""
    content = _content(answer)
    for name in ("error", "message", "detail"):
        content = content.get(name, content) if isinstance(content, dict) else content
    line = " ".join(content.split()) if isinstance(content, str) else ""
    if not line or (key and any(key[at : at + 6] in line for at in range(max(1, len(key) - 5)))):
        return f"({answer.status_code})"
    return f"({answer.status_code}): {''.join(filter(str.isprintable, line))[:200]!r}"


def address_of(base_url: str, key_env: str) -> str:
    """Write the URL of a service without `/embeddings`; raise InputError that shows no secret of it."""
    try:
        parts = urlsplit(base_url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    more = "@" in parts.netloc or parts.query or parts.fragment
    if not host or parts.scheme not in ("http", "https") or more:
        raise InputError(
            "api: base_url must be scheme, host and path only, such as http://localhost:8080/v1; a user, "
            f"password or key belongs into the environment variable {key_env}"
        )
    at = (f"[{host}]" if ":" in host else host) + ("" if port is None else f":{port}")
    return f"{parts.scheme}://{at}{parts.path.rstrip('/').removesuffix('/embeddings')}"


def is_local(url: str) -> bool:
    """Tell whether a service is on this machine or in a private network."""
    host = urlsplit(url).hostname or ""
    try:
        address = ip_address(host)
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".internal"))
    return address.is_loopback or address.is_private or address.is_unspecified


def key_of(key_env: str, url: str) -> str:
    """Read the key for a service, "" for a local one without; raise InputError that shows no part of it."""
    key = os.environ.get(key_env, "").strip()
    if (key or is_local(url)) and all("!" <= sign <= "~" for sign in key):
        return key
    raise InputError(
        f"api: {url.partition('://')[2]} needs a key, and the environment variable {key_env} has none: set "
        "it to the key, or name another variable with ?key_env=NAME"
    )


def build(argument: str, options: Mapping[str, Any], context: Context) -> ApiEncoder:
    """Make the encoder for a spec; raise before any other work where its key or httpx is absent."""
    require("api:", "api", "httpx")
    key_env = options["key_env"]
    if not key_env.replace("_", "a").isalnum() or not key_env.isascii():  # not shown: it may be a key
        raise InputError("api: key_env must be the name of an environment variable, such as MY_API_KEY")
    url = address_of(options["base_url"], key_env)
    if key_of(key_env, url) and url.startswith("http://") and not is_local(url):
        warn(f"api: the key in {key_env} goes to {url.removeprefix('http://')} unencrypted: use https://")
    return ApiEncoder(argument, url, options)
