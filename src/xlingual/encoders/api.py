"""`api:`: vectors from a service that speaks OpenAI's embeddings protocol.

The key is read from the environment when a connection is opened, and no object that outlives it holds it. It
goes to the host of `base_url` alone: redirects are not followed.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.options import KIND, PROMPTS, TRAINED_ON, Option, amount, not_empty, whole_number
from xlingual.encoders.prompts import Prompts
from xlingual.encoders.runtime import distinct_rows
from xlingual.encoders.scheme import TEXTS, Context, Scheme
from xlingual.errors import InputError, MissingExtraError, warn
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
        Option("batch", whole_number(1), 128, "texts of one request"),
        Option("dim", whole_number(1), None, "dimensions to ask for"),
        Option("retries", whole_number(0), 6, "number of retries of a request that failed temporarily"),
        Option("timeout", amount, 60.0, "seconds to wait for an answer"),
        Option("revision", not_empty, None, "your own version name: a new one computes all vectors again"),
        *PROMPTS,
        TRAINED_ON,
        KIND,
    ),
    extra="api",
)
PASSING = (408, 409, 425, 429, 500, 502, 503, 504, 529)  # statuses after which a request is repeated
TOO_LARGE = (400, 413, 422)  # statuses after which the texts of a request are sent in two
LONGEST_WAIT, PATIENCE = 60.0, 600.0  # seconds between two tries; that a service may ask to wait
REMEDIES = {
    401: "the key is missing or refused: set {key_env} to a valid key",
    403: "the key may not be used for this: set {key_env} to another key",
    404: "unknown model, or wrong ?base_url=",
    429: "the quota of the account is used up",
}


class RefusedError(InputError):
    """A request failed in passing (`wait`: how many seconds the service asks for), or is too large (None)."""

    def __init__(self, sentence: str, wait: float | None = None) -> None:
        super().__init__(sentence)
        self.wait = wait


class ApiEncoder(Encoder):
    """Sends distinct texts in the order of their first appearance, `batch` in a request.

    A request that fails in passing (a timeout, a broken connection, a status of `PASSING`) is repeated up to
    `retries` times, after 1, 2, 4 … seconds, at most 60, shortened at random by up to a half; a longer
    `Retry-After` is respected. A request that is refused is sent in two halves, down to single texts. The
    service does not say whether it has cut a text, so none counts as cut.
    """

    origin = "general"
    is_service = True

    def __init__(self, model: str, url: str, options: Mapping[str, Any]) -> None:
        self.model, self.url, self.options = model, url, options
        self.prompts = Prompts.of(options)
        self.by_role = self.prompts.by_role
        self._dim: int | None = options["dim"]  # None until the first answer
        self._most: int = options["batch"]  # texts of a request that the service takes

    @property
    def piece(self) -> int:
        """The texts of one request."""
        return self._most

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
        """Return float32 [n, d]; equal texts are sent once, an empty batch sends nothing."""
        import httpx

        if not len(batch):
            return np.empty((0, self._dim or 0), dtype=np.float32)
        prompt = self.prompts.before(batch.role)
        whole = [(prompt + text).encode("utf-8", "replace").decode() for text in batch.text]  # no surrogates
        texts, index = distinct_rows(whole)
        key, timeout = key_of(self.options["key_env"], self.url), self.options["timeout"]
        parts: list[Vectors] = []
        start = 0
        with httpx.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(timeout, connect=min(10.0, timeout)),
            transport=httpx.HTTPTransport() if is_local(self.url) else None,  # without a proxy
            follow_redirects=False,  # the key is for this host alone
        ) as client:
            while start < len(texts):
                parts.append(self._request(client, texts[start : start + self._most]))
                start += len(parts[-1])
        return np.asarray(np.concatenate(parts)[index])

    def _request(self, client: httpx.Client, texts: Sequence[str]) -> Vectors:
        """Return the vectors of the texts, or of as many of the first ones as the service takes."""
        retries, attempt = self.options["retries"], 0
        while True:
            try:
                vectors = vectors_of(self._post(client, texts), len(texts), self._who)
                break
            except RefusedError as refusal:
                if refusal.wait is None and len(texts) > 1:
                    texts = texts[: len(texts) // 2]
                    self._most = len(texts)
                    continue
                if refusal.wait is None or attempt == retries or refusal.wait > PATIENCE:
                    raise
                usual = min(LONGEST_WAIT, 2.0**attempt) * (1 - 0.5 * random.SystemRandom().random())
                time.sleep(max(usual, refusal.wait))
                attempt += 1
        if self._dim not in (None, vectors.shape[1]):
            raise InputError(
                f"{self._who}: vectors have {vectors.shape[1]} dimensions, expected {self._dim}: leave dim= "
                "out where the model cannot shorten its vectors"
            )
        self._dim = vectors.shape[1]
        return vectors

    def _post(self, client: httpx.Client, texts: Sequence[str]) -> Any:  # noqa: ANN401  (JSON)
        """Return the JSON of the answer; raise RefusedError where other requests may help, else InputError.

        Errors of httpx are not chained: they hold the request, and so the key.
        """
        import httpx

        dim = {"dimensions": self.options["dim"]} if self.options["dim"] else {}
        body = {"model": self.model, "input": list(texts), "encoding_format": "float", **dim}
        later = f"after {self.options['retries'] + 1} tries; vectors so far are stored: run again later"
        try:
            answer = client.post(f"{self.url}/embeddings", json=body)
        except httpx.TransportError as error:
            answered = self._dim not in (None, self.options["dim"])
            if (
                isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError)
                and not answered
            ):
                raise InputError(
                    f"{self._who}: cannot connect: is the service running, and ?base_url= right?"
                ) from None
            raise RefusedError(f"{self._who}: no answer ({type(error).__name__}) {later}", 0.0) from None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise InputError(f"{self._who}: failed ({type(error).__name__}): check ?base_url=") from None
        status = answer.status_code
        quoted = f"({status}){message_of(answer, client.headers.get('Authorization', '')[7:])}"
        if status in PASSING and "insufficient_quota" not in answer.text:
            wait = retry_after(answer.headers.get("retry-after", ""))
            asks = f" asks to wait {wait:.0f} seconds" if wait > PATIENCE else " is busy or failing"
            raise RefusedError(f"{self._who}{asks} {quoted}, {later}", wait)
        if status in TOO_LARGE:
            raise RefusedError(
                f"{self._who}: refused the text {texts[0][:40]!r}, of {len(texts[0]):,} characters {quoted}: "
                "it may be empty or too long"
            )
        if status != 200:
            moved = "moved elsewhere: correct ?base_url=" if 300 <= status < 400 else "refused the request"
            remedy = REMEDIES.get(status, moved).format(key_env=self.options["key_env"])
            raise InputError(f"{self._who}: {remedy} {quoted}")
        with suppress(ValueError, RecursionError):
            return answer.json()
        raise InputError(f"{self._who}: the answer is no JSON: is ?base_url= right, as in https://HOST/v1?")

    @property
    def _who(self) -> str:
        return f"api:{self.model} at {self.url.partition('://')[2]}"


def vectors_of(answer: Any, count: int, who: str) -> Vectors:  # noqa: ANN401  (JSON)
    """Return float32 [count, d] in the order of the texts; raise InputError where the answer is not that.

    Rows stand in the order of their `index`; where they have none, in the order of the answer.
    """
    rows = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{who}: the answer has no list 'data' of embeddings: is it an embeddings service?")
    places = [row.get("index", at) for at, row in enumerate(rows)]
    if any(type(place) is not int for place in places) or sorted(places) != list(range(count)):
        raise InputError(
            f"{who}: {count} texts were sent, and their vectors are not numbered 0 to {count - 1}"
        )
    try:
        with np.errstate(over="ignore"):  # numbers too large for float32 become infinite, and are refused
            vectors = np.array([rows[at]["embedding"] for at in np.argsort(places)], dtype=np.float32)
    except (KeyError, ValueError, TypeError, OverflowError):
        vectors = np.empty(0, dtype=np.float32)
    if vectors.ndim != 2 or not vectors.shape[1]:
        raise InputError(f"{who}: the embeddings of an answer are not lists of numbers of one length")
    if not np.isfinite(vectors).all():
        raise InputError(f"{who}: a vector holds NaN or infinity: ask whoever runs the service")
    return vectors


def message_of(answer: httpx.Response, key: str) -> str:
    """Return the message of an error as ": '…'", at most 200 characters; "" where it repeats part of the key.

    Messages are written {"error": {"message": …}}, or as a part of that.
    """
    content: Any = ""
    with suppress(ValueError, RecursionError):
        content = answer.json()
    for name in ("error", "message", "detail"):
        content = content.get(name, content) if isinstance(content, dict) else content
    line = " ".join(content.split()) if isinstance(content, str) else ""
    if not line or (key and any(key[at : at + 6] in line for at in range(max(1, len(key) - 5)))):
        return ""
    line = "".join(filter(str.isprintable, line))
    return f": {line if len(line) <= 200 else line[:199] + '…'!r}"


def retry_after(value: str) -> float:
    """Return the seconds that a header Retry-After asks for, as a number or a date; else 0."""
    with suppress(ValueError):
        return max(0.0, float(value)) if np.isfinite(float(value)) else 0.0
    with suppress(ValueError, OverflowError):
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    return 0.0


def address_of(base_url: str, key_env: str) -> str:
    """Return the URL of a service without `/embeddings`; raise InputError that shows no secret of it."""
    try:
        parts = urlsplit(base_url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if (
        not host
        or parts.scheme not in ("http", "https")
        or "@" in parts.netloc
        or parts.query
        or parts.fragment
    ):
        raise InputError(
            "api: base_url must be scheme, host and path only, such as http://localhost:8080/v1; a user, "
            f"password or key belongs into the environment variable {key_env}"
        )
    if not key_env.replace("_", "a").isalnum() or not key_env.isascii():  # not shown: it may be a key
        raise InputError("api: key_env must be the name of an environment variable, such as MY_API_KEY")
    at = (f"[{host}]" if ":" in host else host) + ("" if port is None else f":{port}")
    return f"{parts.scheme}://{at}{parts.path.rstrip('/').removesuffix('/embeddings')}"


def is_local(url: str) -> bool:
    """Return whether a service is on this machine or in a private network."""
    host = urlsplit(url).hostname or ""
    try:
        address = ip_address(host)
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".internal"))
    return address.is_loopback or address.is_private or address.is_unspecified


def key_of(key_env: str, url: str) -> str:
    """Return the key for a service, "" for a local one without; raise InputError that shows no part of it."""
    key = os.environ.get(key_env, "").strip()
    if (key or is_local(url)) and all("!" <= sign <= "~" for sign in key):
        return key
    problem = "has characters that no key has" if key else "is not set"
    raise InputError(
        f"api: {url.partition('://')[2]} needs a key, and the environment variable {key_env} {problem}: set "
        "it to the key, or name another variable with ?key_env=NAME"
    )


def build(argument: str, options: Mapping[str, Any], context: Context) -> ApiEncoder:
    """Return the encoder for a spec; raise before any other work where its key or httpx is absent."""
    try:
        import httpx  # noqa: F401
    except ImportError:
        raise MissingExtraError("api:", "api") from None
    if options["timeout"] == 0:
        raise InputError("api: timeout must be more than 0")
    url, key_env = address_of(options["base_url"], options["key_env"]), options["key_env"]
    if key_of(key_env, url) and url.startswith("http://") and not is_local(url):
        warn(f"api: the key in {key_env} goes to {url.removeprefix('http://')} unencrypted: use https://")
    return ApiEncoder(argument, url, options)
