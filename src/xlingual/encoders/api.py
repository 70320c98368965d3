"""`api:`: vectors from a service over the network, whose way of being asked is a profile."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn
from urllib.parse import quote

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.api_profiles import OPENAI, PROFILES, Profile
from xlingual.encoders.api_requests import Requests
from xlingual.encoders.api_service import Service
from xlingual.encoders.base import Encoder
from xlingual.encoders.batching import distinct_rows
from xlingual.encoders.prompts import IdleOptions
from xlingual.encoders.scheme import Context
from xlingual.encoders.token_estimate import tokens_and_texts, whole_tokens
from xlingual.errors import InputError, MissingExtraError
from xlingual.hidden import names_secret
from xlingual.records import Encoded, Texts

FAMILIES = ("body.NAME", "query_body.NAME", "candidate_body.NAME", "url.NAME")  # parameters of requests
_ROLES = (None, "query", "candidate")


class ApiEncoder(Encoder):
    """Sends distinct texts, in the order given, `batch` in a request, `parallel` requests at a time.

    The service cannot say whether it has cut a text, so none is noted as cut. An empty batch sends nothing;
    its vectors have the dimensions that earlier answers had.
    """

    origin = "general"
    has_estimate = True

    def __init__(self, model: str, requests: Requests, options: Mapping[str, Any]) -> None:
        self.model, self.requests, self.options = model, requests, options
        names = ("prompt", "query_prompt", "candidate_prompt")
        self.prompts: dict[str, str] = {name: options[name] for name in names if options[name] is not None}
        self.fields = {role: _fields(role, requests.shape, options) for role in _ROLES}
        heads = ((family.removesuffix("NAME"), options[family] or {}) for family in FAMILIES)
        self._idle = IdleOptions(
            self.prompts | {head + name: given[name] for head, given in heads for name in given}
        )
        self._sent = (0.0, 0)  # tokens and texts, as estimated, of all requests so far
        self._found: int | None = options["dim"]  # dimensions of the vectors, once known

    @property
    def piece(self) -> int:
        """How many texts to hand over at a time: a request, or as many as are under way together.

        Vectors that were paid for are written after 1,024 of them or 30 seconds, and when the run ends.
        """
        return self._batch * self.workers

    @property
    def workers(self) -> int:  # type: ignore[override]
        """How many requests are under way at a time."""
        return self.requests.parallel

    @property
    def _batch(self) -> int:
        return int(self.options["batch"] or self.requests.shape.batch)

    @property
    def content(self) -> tuple[str, ...]:
        """What a vector depends on: the text, and with prompts or fields for roles the role."""
        plain, *by_role = self.fields.values()
        own = self.prompts.keys() - {"prompt"} or any(fields != plain for fields in by_role)
        return ("text", "role") if own else ("text",)

    @property
    def by_role(self) -> bool:  # type: ignore[override]
        """Whether queries and candidates have different prompts."""
        return "role" in self.content

    @property
    def identity(self) -> str:
        """The service's host and path, the model, and the options that change its vectors; never a key."""
        named = {name: self.options[name] for name in ("dim", "revision")} | self.prompts
        if self.requests.profile != OPENAI:
            named["profile"] = self.requests.profile
        plain = self.fields[None]
        for role, fields in self.fields.items():
            head = f"{role}_body" if role else "body"
            for name in sorted({**plain, **fields}):
                if role is None or fields.get(name) != plain.get(name):
                    named[f"{head}.{name}"] = fields.get(name, "")
        named |= {f"url.{name}": value for name, value in sorted(self.requests.url.items())}
        given = "&".join(f"{key}={_safe(str(value))}" for key, value in named.items() if value is not None)
        return f"api:{_safe(self.model)}@{_safe(self.requests.service.place)}" + (
            f"?{given}" if given else ""
        )

    def __repr__(self) -> str:
        return f"ApiEncoder({self.identity!r})"

    def estimate(self, batch: Texts, /) -> str:
        """Return tokens, requests and, with a price, the cost of a batch.

        Raises InputError where the batch, with all that has been sent before, costs more than `max_cost`.
        """
        distinct = list(dict.fromkeys(self._prompted(batch)))
        amount = tokens_and_texts(distinct)
        n_requests = -(-len(distinct) // self._batch)
        texts = f"{len(distinct):,} distinct {'text' if len(distinct) == 1 else 'texts'}"
        requests = f"{n_requests:,} {'request' if n_requests == 1 else 'requests'}"
        estimate = f"about {whole_tokens(*amount):,} tokens ({texts}, {requests})"
        if (price := self.options["price"]) is None:
            return estimate
        estimate += f", about {_money(self._cost(*amount))} at {price:g} a million tokens"
        together = self._cost(self._sent[0] + amount[0], self._sent[1] + amount[1])
        most = self.options["max_cost"]
        if most is not None and together > most:
            before, sent = "", "nothing was sent"
            if self._sent[1]:
                before = f", with about {_money(self._cost(*self._sent))} before it about {_money(together)}"
                sent = "nothing more was sent"
            raise InputError(
                f"api:{self.model}: {estimate}{before}: more than max_cost={most:g}; {sent}. "
                "Raise it, or encode fewer texts"
            )
        return estimate

    def _cost(self, tokens: float, texts: int) -> float:
        """Return the price of what was estimated for so many texts, in a currency of the user's."""
        return float(whole_tokens(tokens, texts) * self.options["price"] / 1e6)

    def encode(self, batch: Texts, /) -> Vectors:
        """Return float32 [n, d]; equal texts are sent once."""
        if self.options["max_cost"] is not None:
            self.estimate(batch)  # refuses what costs too much
        distinct, index = distinct_rows(self._prompted(batch))
        if not distinct:
            return np.empty((0, self._found or 0), dtype=np.float32)
        parts: dict[int, Vectors] = {}

        def keep(number: int, vectors: Vectors) -> None:
            self._check_size(vectors.shape[1])
            parts[number] = vectors

        try:
            self.requests.fetch(self._batches(distinct), self._request_fields(batch.role), keep)
        except BaseException as error:
            if parts:  # paid for: whoever keeps vectors can keep these
                rows = np.flatnonzero(np.isin(index // self._batch, list(parts)))
                found = [parts[at // self._batch][at % self._batch] for at in index[rows].tolist()]
                error.encoded = rows, Encoded(np.stack(found))  # type: ignore[attr-defined]
            raise
        return np.asarray(np.concatenate([parts[number] for number in sorted(parts)])[index])

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Yield the texts of each request, counted as sent: even if it fails, it may be billed."""
        for start in range(0, len(texts), self._batch):
            sending = list(texts[start : start + self._batch])
            tokens, count = tokens_and_texts(sending)
            self._sent = self._sent[0] + tokens, self._sent[1] + count
            yield sending

    def _prompted(self, batch: Texts) -> list[str]:
        if batch.role is None and len(batch):
            self._idle.report()
        prompt = self.prompts.get(f"{batch.role}_prompt", self.prompts.get("prompt", ""))
        # half of a surrogate pair cannot be sent
        return [(prompt + text).encode("utf-8", "replace").decode() for text in batch.text]

    def _request_fields(self, role: str | None) -> dict[str, Any]:
        """Return the fields of a request beside the model and the texts."""
        shape, wanted = self.requests.shape, self.options["encoding_format"]
        fields: dict[str, Any] = {**shape.body, shape.dim: self.options["dim"]}
        if wanted is not None:
            fields["encoding_format"] = None if wanted == "none" else wanted
        fields |= {name: _read(text) for name, text in self.fields.get(role, self.fields[None]).items()}
        return {name: value for name, value in fields.items() if value is not None}

    def _check_size(self, size: int) -> None:
        if self._found is not None and size != self._found:
            what = f"earlier ones had {self._found}"
            if (dim := self.options["dim"]) is not None:
                what = f"dim={dim} was asked for; leave it out where the model cannot shorten its vectors"
            raise InputError(
                f"api:{self.model} at {self.requests.service.place}: vectors have {size} dimensions, "
                f"but {what}"
            )
        self._found = size


def _fields(role: str | None, shape: Profile, options: Mapping[str, Any]) -> dict[str, str]:
    """Return what requests for texts of a role hold, as written: what the spec says, else the profile."""
    usual = {shape.role: shape.by_role[role]} if role in shape.by_role else {}
    given = options["body.NAME"] or {}
    own = (options[f"{role}_body.NAME"] or {}) if role else {}
    return {name: text for name, text in (usual | given | own).items() if text}


def _read(text: str) -> Any:  # noqa: ANN401  (JSON)
    """Return a value of a field: a number, true, false, null, a list or an object as in JSON, else a str."""
    try:
        return json.loads(text, parse_constant=_no_number)
    except ValueError:
        return text


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _safe(text: str) -> str:
    """Return the text as one printable word without the signs that separate parts of an identity."""
    return quote(text, safe="/:@+,.[]~-_")


def _money(amount: float) -> str:
    """Return an amount with at least two places, and at least two figures."""
    return f"{amount:,.2f}" if amount >= 0.1 or amount == 0 else f"{amount:.2g}"


def build(argument: str, options: Mapping[str, Any], context: Context) -> ApiEncoder:
    """Return the encoder for a spec; raises where its key or httpx is absent, before any other work."""
    try:
        import httpx  # noqa: F401
    except ImportError:
        raise MissingExtraError("api:", "api") from None
    if options["max_cost"] is not None and options["price"] is None:
        raise InputError("api: max_cost needs price=, what a million tokens cost")
    for name in ("rate", "timeout"):
        if options[name] == 0:
            raise InputError(f"api: {name} must be more than 0")
    profile = options["profile"]
    shape = PROFILES[profile]
    for family in FAMILIES:
        _check_names(family.partition(".")[0], options[family] or {}, shape)
    if shape.most is not None and (options["batch"] or 0) > shape.most:
        raise InputError(f"api: batch must be at most {shape.most} with profile={profile}: it takes no more")
    if (base_url := options["base_url"] or shape.base_url) is None:
        raise InputError(f"api: profile={profile} needs base_url=, such as {shape.example}")
    key_env, key_header = options["key_env"] or shape.key_env, options["key_header"] or shape.key_header
    service = Service.of(base_url, key_env, key_header, shape.path)
    service.check()
    key = service.key()
    if key and any(key in text for name in FAMILIES for text in (options[name] or {}).values()):
        raise InputError(f"api: a parameter holds the key of {key_env}, which specs and results would show")
    pace = {name: options[name] for name in ("rate", "retries", "timeout", "parallel")}
    requests = Requests(service, argument, profile, url=options["url.NAME"] or {}, **pace)
    return ApiEncoder(argument, requests, options)


def _check_names(head: str, given: Mapping[str, str], shape: Profile) -> None:
    """Raise InputError where a parameter would carry a key, or stand for the model or the texts."""
    for name in given:
        if names_secret(name):  # its value is not shown
            raise InputError(
                f"api: {head}.{name} would put a key into specs and results: set an environment variable "
                "to it and name that with key_env=, and its header with key_header="
            )
        if head != "url" and name in ("model", "content", shape.texts):
            raise InputError(f"api: {head}.{name} is made of the spec and the texts: leave it out")
