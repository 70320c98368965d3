"""`api:`: vectors from a service that speaks OpenAI's embeddings protocol.

The key is read from the environment when a connection is opened and is kept in no object that outlives it. It
goes to the host of `base_url` alone: redirects are not followed.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.batching import distinct_rows
from xlingual.encoders.prompts import Prompts
from xlingual.encoders.scheme import Context
from xlingual.errors import InputError, MissingExtraError, warn
from xlingual.records import Texts

if TYPE_CHECKING:
    import httpx

BASE_URL, KEY_ENV = "https://api.openai.com/v1", "OPENAI_API_KEY"
_PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 529}  # statuses after which a request is repeated
_LONGEST_WAIT = 60.0  # seconds between two tries, unless the service asks for more
_PATIENCE = 600.0  # seconds; a service that asks for a longer pause ends the run
_CONNECT = 10.0  # seconds
_PIECE = 6  # so many characters of a key in a row give it away


@dataclass(frozen=True)
class Service:
    """An address such as https://api.openai.com/v1, and the environment variable of its key."""

    base_url: str
    key_env: str

    @classmethod
    def of(cls, base_url: str, key_env: str) -> Service:
        """Return the service at a URL; raise InputError where it is no http(s) address or holds a secret."""
        try:
            parts = urlsplit(base_url.strip())
            host, port = parts.hostname, parts.port
        except ValueError:
            raise InputError("api: base_url is no URL: write for example https://HOST/v1") from None
        if "@" in parts.netloc or parts.query or parts.fragment:  # not shown: it may be a password
            raise InputError(
                "api: base_url may hold no user, password, query or fragment: write scheme, host and path "
                f"only, and put the key into the environment variable {key_env}"
            )
        if parts.scheme not in ("http", "https") or not host:
            raise InputError(
                f"api: base_url must begin with http:// or https:// and a host, found {base_url!r}: "
                "write for example http://localhost:8080/v1"
            )
        if not key_env.replace("_", "a").isalnum() or not key_env.isascii():  # not shown: it may be a key
            raise InputError("api: key_env must be the name of an environment variable, such as MY_API_KEY")
        at = (f"[{host}]" if ":" in host else host) + ("" if port is None else f":{port}")
        return cls(f"{parts.scheme}://{at}{parts.path.rstrip('/').removesuffix('/embeddings')}", key_env)

    @property
    def place(self) -> str:
        """Host and path, as identities and errors name it."""
        return self.base_url.partition("://")[2]

    @property
    def local(self) -> bool:
        """Whether the service is on this machine or in a private network."""
        host = urlsplit(self.base_url).hostname or ""
        try:
            address = ip_address(host)
        except ValueError:
            return "." not in host or host.endswith((".localhost", ".local", ".internal"))
        return address.is_loopback or address.is_private or address.is_unspecified

    def key(self) -> str | None:
        """Return the key; None where there is none and a local service may need none.

        Raises InputError that names the variable, never what it holds.
        """
        key = os.environ.get(self.key_env, "").strip()
        if not key and self.local:
            return None
        if not key:
            raise InputError(
                f"api: {self.place} needs a key: set the environment variable {self.key_env} to it, or name "
                "another variable with ?key_env=NAME"
            )
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise InputError(
                f"api: the environment variable {self.key_env} holds no key: it has characters (spaces, line "
                "breaks or letters beyond ASCII) that no key has"
            )
        return key


class _AgainError(Exception):
    """A failure that may pass; `wait` is how long the service asks to wait, in seconds."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.wait = wait


class ApiEncoder(Encoder):
    """Sends distinct texts in the order of their first appearance, `batch` in a request.

    A request that fails in passing (a timeout, a broken connection, 408, 409, 425, 429, 500, 502, 503, 504,
    529) is repeated up to `retries` times, after 1, 2, 4 … seconds, at most 60, shortened at random by up to
    a half; a longer `Retry-After` of the service is kept to. The service cannot say whether it has cut a
    text, so none is noted as cut. An empty batch sends nothing.
    """

    origin = "general"
    is_service = True

    def __init__(self, model: str, service: Service, options: Mapping[str, Any]) -> None:
        self.model, self.service, self.options = model, service, options
        self.prompts = Prompts.of(options)
        self._dim: int | None = options["dim"]  # of the vectors, once known

    @property
    def piece(self) -> int:
        """The texts of one request."""
        return int(self.options["batch"])

    @property
    def content(self) -> tuple[str, ...]:
        """What a vector depends on: the text, and with prompts for roles the role."""
        return ("text", "role") if self.by_role else ("text",)

    @property
    def by_role(self) -> bool:  # type: ignore[override]
        """Whether queries and candidates have different prompts."""
        return self.prompts.by_role

    @property
    def identity(self) -> str:
        """The service's host and path, the model, and the options that change its vectors; never a key."""
        named = [
            f"{name}={_safe(str(self.options[name]))}" for name in ("dim", "revision") if self.options[name]
        ]
        options = ("&".join(named) + str(self.prompts)).lstrip("&")
        return f"api:{_safe(self.model)}@{_safe(self.service.place)}" + (f"?{options}" if options else "")

    def __repr__(self) -> str:
        return f"ApiEncoder({self.identity!r})"

    def encode(self, batch: Texts, /) -> Vectors:
        """Return float32 [n, d]; equal texts are sent once."""
        if not len(batch):
            return np.empty((0, self._dim or 0), dtype=np.float32)
        prompt = self.prompts.before(batch.role)
        # half of a surrogate pair cannot be sent
        texts, index = distinct_rows(
            [(prompt + text).encode("utf-8", "replace").decode() for text in batch.text]
        )
        with self._client() as client:
            parts = [
                self._vectors(client, texts[start : start + self.piece])
                for start in range(0, len(texts), self.piece)
            ]
        return np.asarray(np.concatenate(parts)[index])

    def _client(self) -> httpx.Client:
        """Return a connection with the key in its header; a local service is reached without a proxy."""
        import httpx

        key, timeout = self.service.key(), self.options["timeout"]
        return httpx.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(timeout, connect=min(_CONNECT, timeout)),
            transport=httpx.HTTPTransport() if self.service.local else None,
            follow_redirects=False,  # the key is for this host alone
        )

    def _vectors(self, client: httpx.Client, texts: Sequence[str]) -> Vectors:
        """Return float32 [n, d] for the texts of one request."""
        retries = self.options["retries"]
        for attempt in range(retries + 1):
            try:
                vectors = vectors_of(self._post(client, texts), len(texts), self._who)
                break
            except _AgainError as failure:
                last = failure
            if (last.wait or 0) > _PATIENCE:
                raise InputError(
                    f"{self._who}: asks to wait {last.wait:.0f} seconds; vectors stored so far are kept: run "
                    "again then"
                )
            if attempt < retries:
                usual = min(_LONGEST_WAIT, 2.0**attempt) * (1 - 0.5 * random.SystemRandom().random())
                time.sleep(max(usual, last.wait or 0.0))
        else:
            raise InputError(
                f"{self._who}: tried {retries + 1} times, at last: {last}; vectors stored so far are kept: "
                "run again later, or with more ?retries="
            )
        if self._dim not in (None, vectors.shape[1]):
            raise InputError(
                f"{self._who}: vectors have {vectors.shape[1]} dimensions, expected {self._dim}: leave dim= "
                "out where the model cannot shorten its vectors"
            )
        self._dim = vectors.shape[1]
        return vectors

    def _post(self, client: httpx.Client, texts: Sequence[str]) -> Any:  # noqa: ANN401  (JSON)
        """Return the JSON of the answer; raise _AgainError where it may help to ask again, else InputError.

        What httpx raises is not chained: it holds the request, and so the key.
        """
        import httpx

        dim = self.options["dim"]
        body = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        body |= {} if dim is None else {"dimensions": dim}
        key = client.headers.get("Authorization", "").removeprefix("Bearer ")
        try:
            answer = client.post(f"{self.service.base_url}/embeddings", json=body)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            why = f"cannot connect ({without_key(str(error), key) or type(error).__name__})"
            if self._dim is not None and self._dim != dim:  # it has answered before
                raise _AgainError(why) from None
            raise InputError(f"{self._who}: {why}: is the service running, and ?base_url= right?") from None
        except httpx.TransportError as error:
            raise _AgainError(f"no answer ({type(error).__name__})") from None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise InputError(
                f"{self._who}: the request failed ({type(error).__name__}): check ?base_url="
            ) from None
        status, words = answer.status_code, without_key(_message(answer), key)
        said = f": {words!r}" if words else ""
        if status in _PASSING and "insufficient_quota" not in answer.text:
            raise _AgainError(f"answered {status}{said}", retry_after(answer.headers.get("retry-after", "")))
        if status in (401, 403):
            problem = "refused the key in" if key else "asks for a key, and there is none in"
            # words of 401 tend to repeat parts of the key
            said = f", and said {words!r}" if status == 403 and words else ""
            raise InputError(
                f"{self._who}: {problem} the environment variable {self.service.key_env} ({status}){said}: "
                "set it to a valid key"
            )
        if status != 200:
            known = {404: "unknown model, or wrong ?base_url=", 429: "the quota of the account is used up"}
            if 300 <= status < 400:
                known[status] = "moved elsewhere: correct ?base_url="
            problem = known.get(
                status, "refused the request; a text may be empty or too long, or ?batch= too large"
            )
            raise InputError(f"{self._who}: {problem} ({status}){said}")
        try:
            return answer.json()
        except ValueError:
            raise InputError(
                f"{self._who}: the answer is no JSON: is ?base_url= right? It is usually such as {BASE_URL}"
            ) from None

    @property
    def _who(self) -> str:
        return f"api:{self.model} at {self.service.place}"


def vectors_of(answer: Any, count: int, who: str) -> Vectors:  # noqa: ANN401  (JSON)
    """Return float32 [count, d] in the order asked for; raise InputError where the answer is not that."""
    rows = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{who}: the answer has no list 'data' of embeddings: is it an embeddings service?")
    if len(rows) != count:
        raise InputError(f"{who}: {count} texts were sent and {len(rows)} vectors came back: lower ?batch=")
    places = [row.get("index", at) for at, row in enumerate(rows)]
    if any(type(place) is not int for place in places) or sorted(places) != list(range(count)):
        raise InputError(f"{who}: the indices of the vectors are not 0 to {count - 1}, each once: unusable")
    try:
        with np.errstate(over="ignore"):  # too large for float32: infinity, which is refused
            vectors = np.array([rows[at]["embedding"] for at in np.argsort(places)], dtype=np.float32)
    except (KeyError, ValueError, TypeError):
        vectors = np.empty(0, dtype=np.float32)
    if vectors.ndim != 2 or not vectors.shape[1]:
        raise InputError(f"{who}: the embeddings of an answer are not lists of numbers of one length")
    if not np.isfinite(vectors).all():
        raise InputError(f"{who}: a vector holds NaN or infinity: ask whoever runs the service")
    return vectors


def without_key(message: str, key: str | None) -> str:
    """Return a service's own words on one line, cut to a readable length; "" where they repeat the key.

    Services that refuse a key like to print parts of it.
    """
    line = " ".join(message.split())
    if key and any(key[i : i + _PIECE] in line for i in range(max(1, len(key) - _PIECE + 1))):
        return ""
    line = "".join(filter(str.isprintable, line))
    return line if len(line) <= 200 else f"{line[:199]}…"


def retry_after(value: str) -> float | None:
    """Return the seconds that a header Retry-After asks for, as a number or a date; else None."""
    with suppress(ValueError):
        return max(0.0, float(value)) if np.isfinite(float(value)) else None
    with suppress(ValueError, OverflowError):
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    return None


def _message(answer: httpx.Response) -> str:
    """Return the message of an error: {"error": {"message": …}}, or one of its parts."""
    try:
        content = answer.json()
    except ValueError:
        return ""
    for name in ("error", "message", "detail"):
        content = content.get(name, content) if isinstance(content, dict) else content
    return content if isinstance(content, str) else ""


def _safe(text: str) -> str:
    """Return the text as one printable word without the signs that separate parts of an identity."""
    return quote(text, safe="/:@+,.[]~-_")


def build(argument: str, options: Mapping[str, Any], context: Context) -> ApiEncoder:
    """Return the encoder for a spec; raises where its key or httpx is absent, before any other work."""
    try:
        import httpx  # noqa: F401
    except ImportError:
        raise MissingExtraError("api:", "api") from None
    if options["timeout"] == 0:
        raise InputError("api: timeout must be more than 0")
    service = Service.of(options["base_url"], options["key_env"])
    if service.key() and service.base_url.startswith("http://") and not service.local:
        warn(f"api: the key in {service.key_env} goes to {service.place} unencrypted: use https://")
    return ApiEncoder(argument, service, options)
