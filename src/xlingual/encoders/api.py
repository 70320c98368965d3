"""`api:`: vectors from a service that speaks OpenAI's embeddings protocol (many local servers do)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.api_requests import Requests
from xlingual.encoders.api_service import Service
from xlingual.encoders.base import Encoder
from xlingual.encoders.batching import distinct_rows
from xlingual.encoders.prompts import IdleOptions
from xlingual.encoders.schemes import Context
from xlingual.encoders.token_estimate import tokens_and_texts, whole_tokens
from xlingual.errors import InputError, MissingExtraError
from xlingual.records import Texts


class ApiEncoder(Encoder):
    """Sends distinct texts, in the order given, `batch` in a request.

    The service cannot say whether it has cut a text, so none is noted as cut. An empty batch sends nothing;
    its vectors have the dimensions that earlier answers had.
    """

    has_estimate = True

    def __init__(self, model: str, requests: Requests, options: Mapping[str, Any]) -> None:
        self.model, self.requests, self.options = model, requests, options
        names = ("prompt", "query_prompt", "candidate_prompt")
        self.prompts: dict[str, str] = {name: options[name] for name in names if options[name] is not None}
        self._idle = IdleOptions(self.prompts)
        self._sent = (0.0, 0)  # tokens and texts, as estimated, of all requests so far
        self._found: int | None = options["dim"]  # dimensions of the vectors, once known

    @property
    def piece(self) -> int:
        """How many texts to hand over at a time: a request.

        Vectors that were paid for are written after 1,024 of them or 30 seconds, and when the run ends.
        """
        return int(self.options["batch"])

    @property
    def content(self) -> tuple[str, ...]:
        """What a vector depends on: the text, and with prompts for roles the role."""
        return ("text", "role") if self.prompts.keys() - {"prompt"} else ("text",)

    @property
    def by_role(self) -> bool:  # type: ignore[override]
        """Whether queries and candidates have different prompts."""
        return "role" in self.content

    @property
    def identity(self) -> str:
        """The service's host and path, the model, and the options that change its vectors; never a key."""
        named = {name: self.options[name] for name in ("dim", "revision")} | self.prompts
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
        n_requests = -(-len(distinct) // self.piece)
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
        parts = []
        with self.requests.open() as client:
            for start in range(0, len(distinct), self.piece):
                sending = distinct[start : start + self.piece]
                tokens, count = tokens_and_texts(sending)  # even if it fails: it may be billed
                self._sent = self._sent[0] + tokens, self._sent[1] + count
                parts.append(self.requests.vectors(client, self._request(sending)))
                self._check_size(parts[-1].shape[1])
        return np.asarray(np.concatenate(parts)[index])

    def _prompted(self, batch: Texts) -> list[str]:
        if batch.role is None and len(batch):
            self._idle.report()
        prompt = self.prompts.get(f"{batch.role}_prompt", self.prompts.get("prompt", ""))
        # half of a surrogate pair cannot be sent
        return [(prompt + text).encode("utf-8", "replace").decode() for text in batch.text]

    def _request(self, texts: list[str]) -> dict[str, Any]:
        given = {"encoding_format": self.options["encoding_format"], "dimensions": self.options["dim"]}
        options = {name: value for name, value in given.items() if value is not None}
        return {"model": self.model, "input": texts, **options}

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
    service = Service.of(options["base_url"], options["key_env"])
    service.check()
    pace = {name: options[name] for name in ("rate", "retries", "timeout")}
    return ApiEncoder(argument, Requests(service, **pace), options)
