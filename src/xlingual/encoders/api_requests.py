"""Requests to an embeddings service: paced, tried again where that may help, answers checked."""

from __future__ import annotations

import base64
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from email.utils import parsedate_to_datetime
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.api_profiles import OPENAI, PROFILES, Profile
from xlingual.encoders.api_service import Service, without_key
from xlingual.errors import InputError

if TYPE_CHECKING:
    import httpx

_PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 529}  # answers that another time may be better
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0  # seconds
_PATIENCE = 600.0  # seconds; a service that asks for a longer pause ends the run
_CONNECT = 10.0  # seconds

Fields: TypeAlias = Mapping[str, Any]  # of a request, beside the model and the texts


@dataclass
class Clock:
    """Time as the requests see it; tests bring their own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    jitter: Callable[[], float] = field(default_factory=lambda: random.SystemRandom().random)  # 0 ≤ x < 1

    def rest(self, seconds: float, stop: threading.Event | None) -> None:
        """Sleep, no longer than until `stop` is set."""
        if stop is None:
            self.sleep(seconds)
        else:
            stop.wait(seconds)


class _AgainError(Exception):
    """A failure that may pass; `wait` is how long the service asks to wait, in seconds."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.wait = wait


@dataclass(eq=False)
class Requests:
    """Requests for one model, up to `parallel` at a time.

    At most `rate` requests are begun a minute, repeated ones included. A request that fails in passing (a
    timeout, a broken connection, 408, 409, 425, 429, 500, 502, 503, 504, 529) is repeated up to `retries`
    times, after 1, 2, 4 … seconds, at most 60, shortened at random by up to a half so that several runs do
    not return together; a longer `Retry-After` of the service is kept to, by all requests.
    """

    service: Service
    model: str
    profile: str = OPENAI
    _: KW_ONLY
    url: Mapping[str, str] = field(default_factory=dict)  # parameters of the address, beside the profile's
    rate: float | None
    retries: int
    timeout: float
    parallel: int = 1
    clock: Clock = field(default_factory=Clock)
    _next: float = field(default=-np.inf, init=False)  # the earliest time of the next request
    _answered: bool = field(default=False, init=False)  # whether the service has ever answered
    _lock: Any = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def shape(self) -> Profile:
        """How this service is asked and answers."""
        return PROFILES[self.profile]

    def open(self) -> httpx.Client:
        """Return a connection with the key in its header; close it when the run ends.

        The environment's proxies (HTTPS_PROXY, NO_PROXY) are used, but for a local service.
        """
        import httpx

        limits = httpx.Limits(max_connections=None, max_keepalive_connections=self.parallel)
        return httpx.Client(
            headers=self.service.headers(),
            params={**self.shape.url, **self.url},
            timeout=httpx.Timeout(self.timeout, connect=min(_CONNECT, self.timeout)),
            limits=limits,
            # this transport uses no proxy, but still the certificates of the environment
            transport=httpx.HTTPTransport(limits=limits) if self.service.local else None,
        )

    def fetch(
        self, batches: Iterable[list[str]], fields: Fields, keep: Callable[[int, Vectors], None]
    ) -> None:
        """Hand the number and the vectors of each batch of texts to `keep`, in this thread.

        What fails ends it, after the answers to requests that are under way were kept; an interruption does
        not wait for these.
        """
        with self.open() as client:
            if self.parallel == 1:
                for number, texts in enumerate(batches):
                    keep(number, self.vectors(client, texts, fields))
            else:
                self._side_by_side(client, enumerate(batches), fields, keep)

    def _side_by_side(
        self,
        client: httpx.Client,
        batches: Iterator[tuple[int, list[str]]],
        fields: Fields,
        keep: Callable[[int, Vectors], None],
    ) -> None:
        stop, taking = threading.Event(), threading.Lock()
        answers = SimpleQueue[tuple[int, Vectors] | BaseException | None]()

        def work() -> None:
            try:
                while not stop.is_set():
                    with taking:
                        number, texts = next(batches, (-1, []))
                    if number < 0:
                        break
                    answers.put((number, self.vectors(client, texts, fields, stop)))
            except BaseException as error:  # raised in the thread that waits
                answers.put(error)
            answers.put(None)

        # daemons: after an interruption the program need not wait for answers
        for _ in range(self.parallel):
            threading.Thread(target=work, daemon=True).start()
        failure, working = None, self.parallel
        try:
            while working:
                match answers.get():
                    case None:
                        working -= 1
                    case (number, vectors):
                        keep(number, vectors)
                    case error:
                        failure = failure or error
                        stop.set()
        finally:
            stop.set()
            with suppress(Empty):  # answers that were there before an interruption
                while working:
                    if isinstance(answer := answers.get_nowait(), tuple):
                        keep(*answer)
        if failure is not None:
            raise failure

    def vectors(
        self,
        client: httpx.Client,
        texts: list[str],
        fields: Fields,
        stop: threading.Event | None = None,
    ) -> Vectors:
        """Return float32 [n, d] for n texts; raise InputError where that fails or `stop` comes before."""
        for attempt in range(self.retries + 1):
            self._pace(stop)
            if stop is not None and stop.is_set():
                raise InputError(f"{self.who}: another request failed")
            try:
                return vectors_of(self._post(client, texts, fields), len(texts), self.who, self.shape)
            except _AgainError as failure:
                last = failure
            if attempt < self.retries:
                self._wait(attempt, last.wait, stop)
        times = "once" if self.retries == 0 else f"{self.retries + 1} times"
        raise InputError(
            f"{self.who}: tried {times}, at last: {last}; vectors stored so far are kept: run "
            "again later, with a lower ?rate= or more ?retries="
        )

    def _pace(self, stop: threading.Event | None) -> None:
        with self._lock:
            now = self.clock.now()
            pause = self._next - now
            if self.rate is not None:
                self._next = max(now, self._next) + 60 / self.rate
        if pause > 0:
            self.clock.rest(pause, stop)

    def _wait(self, attempt: int, requested: float | None, stop: threading.Event | None) -> None:
        if requested is not None and requested > _PATIENCE:
            raise InputError(
                f"{self.who}: asks to wait {requested:.0f} seconds; vectors stored so far are kept: run "
                "again then"
            )
        if requested:
            with self._lock:
                self._next = max(self._next, self.clock.now() + requested)
        usual = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0**attempt) * (1 - 0.5 * self.clock.jitter())
        self.clock.rest(max(usual, requested or 0.0), stop)

    def _post(self, client: httpx.Client, texts: list[str], fields: Fields) -> Any:  # noqa: ANN401
        """Return the JSON of the answer; raise _AgainError where it may help to ask again, else InputError.

        What httpx raises is not chained: it holds the request, and so the key.
        """
        import httpx

        who = self.who
        key = client.headers.get(self.service.key_header, "").removeprefix("Bearer ")
        address = self.shape.address(self.service.base_url, self.model)
        try:
            answer = client.post(address, json=self.shape.request(self.model, texts, fields))
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            why = f"cannot connect ({without_key(str(error), key) or type(error).__name__})"
            if self._answered:
                raise _AgainError(why) from None
            raise InputError(f"{who}: {why}: is the service running, and ?base_url= right?") from None
        except httpx.TimeoutException:
            raise _AgainError(f"no answer within {self.timeout:g} seconds") from None
        except httpx.TransportError as error:
            raise _AgainError(f"the connection broke ({type(error).__name__})") from None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise InputError(
                f"{who}: the request failed ({type(error).__name__}): check ?base_url="
            ) from None
        self._answered = True
        words = without_key(message(answer), key)
        if answer.status_code in _PASSING and "insufficient_quota" not in answer.text:
            raise _AgainError(with_message(f"answered {answer.status_code}", words), retry_after(answer))
        if answer.status_code != 200:
            refused = refusal(answer, words, texts, self.service.key_env, bool(key))
            if answer.status_code == 404 and self.profile != OPENAI:
                refused += f"; profile={self.profile} asks {address}"
            raise InputError(f"{who}: {refused}")
        try:
            return answer.json()
        except ValueError:
            kind = without_key(answer.headers.get("content-type", ""), key).partition(";")[0]
            raise InputError(
                f"{who}: the answer is no JSON ({kind or 'of no known type'}): is ?base_url= right? "
                f"It is usually such as {self.shape.example}"
            ) from None

    @property
    def who(self) -> str:
        """The model and where it is, as errors name it."""
        return f"api:{self.model} at {self.service.place}"


def refusal(answer: httpx.Response, words: str, texts: list[str], key_env: str, with_key: bool) -> str:
    """Return what an answer other than 200 means and what to do."""
    status = answer.status_code
    if status in (401, 403):
        found = "refused the key in" if with_key else "asks for a key, and there is none in"
        # words of 401 tend to repeat parts of the key
        said = f", and said {words!r}" if status == 403 and words else ""
        return f"{found} the environment variable {key_env} ({status}){said}: set it to a valid key"
    if 300 <= status < 400:
        return f"answered {status}, moved elsewhere: correct ?base_url="
    known = {
        404: "unknown model, or wrong ?base_url= (404)",
        429: "the quota of the account is used up (429)",
    }
    refused = with_message(known.get(status, f"refused the request ({status})"), words)
    if status not in known and "" in texts:
        refused += "; one of the texts is empty, which many services refuse: leave it out"
    if status in (400, 413, 422):
        refused += "; a text may be too long for the model, or a request too large (lower ?batch=)"
    return refused


def message(answer: httpx.Response) -> str:
    """Return the message of an error in one of the usual forms."""
    try:
        found = answer.json()
    except ValueError:
        return ""
    for name in ("error", "message", "detail", "msg"):
        found = found[0] if isinstance(found, list) and found else found
        found = found.get(name, found) if isinstance(found, dict) else found
    return found if isinstance(found, str) else ""


def with_message(what: str, words: str) -> str:
    """Return what happened and, where there are any, the words of the service."""
    return f"{what}: {words!r}" if words else what


def retry_after(answer: httpx.Response) -> float | None:
    """Return the seconds that a header Retry-After asks for, as a number or a date; else None."""
    value = answer.headers.get("retry-after", "").strip()
    with suppress(ValueError):
        return max(0.0, float(value)) if np.isfinite(float(value)) else None
    with suppress(ValueError, OverflowError):
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    return None


def vectors_of(answer: Any, count: int, who: str, shape: Profile) -> Vectors:  # noqa: ANN401
    """Return float32 [count, d] in the order asked for; raise InputError where the answer is not that."""
    rows = shape.found(answer)
    if rows is None:
        raise InputError(f"{who}: the answer has no {shape.form}: is it an embeddings service?")
    if len(rows) != count:
        raise InputError(f"{who}: {count} texts were sent and {len(rows)} vectors came back: lower ?batch=")
    if shape.index:
        # Gemini leaves out an index of 0
        places = [row.get("index", None if at else 0) for at, row in enumerate(rows)]
        if any(type(place) is not int for place in places) or sorted(places) != list(range(count)):
            raise InputError(
                f"{who}: the indices of the vectors are not 0 to {count - 1}, each once: unusable"
            )
        rows = [rows[at] for at in np.argsort(places)]
    try:
        found = [_vector(row if shape.vector is None else row.get(shape.vector)) for row in rows]
    except (ValueError, TypeError):
        raise InputError(f"{who}: an embedding is not a list of numbers (or base64 of float32)") from None
    sizes = sorted(map(len, found))
    if sizes[0] != sizes[-1] or sizes[0] == 0:
        raise InputError(f"{who}: vectors of one answer have {sizes[0]} to {sizes[-1]} dimensions")
    vectors = np.stack(found)
    if not np.isfinite(vectors).all():
        raise InputError(f"{who}: a vector holds NaN or infinity: ask whoever runs the service")
    return vectors


def _vector(value: object) -> Vectors:
    """Return float32 [d] of a list of numbers or of base64 of little-endian float32, else ValueError."""
    if isinstance(value, str):
        return np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4").astype(np.float32)
    with np.errstate(over="ignore"):  # too large for float32: infinity, which is refused
        array = np.asarray(value, dtype=np.float64).astype(np.float32)
    if not isinstance(value, list) or array.ndim != 1 or any(type(x) in (str, bool) for x in value):
        raise ValueError
    return array
