"""`api:`: vectors from a service that speaks OpenAI's embeddings protocol (many local servers do)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.api_requests import Clock, Requests
from xlingual.encoders.api_service import Service
from xlingual.encoders.base import Encoder
from xlingual.encoders.batching import distinct_rows
from xlingual.encoders.prompts import IdleOptions
from xlingual.encoders.schemes import Context
from xlingual.encoders.token_estimate import tokens_and_texts, whole_tokens
from xlingual.errors import InputError, MissingExtraError
from xlingual.records import Texts


@dataclass(frozen=True)
class Price:
    """What a million tokens cost, and the most that one run may cost, in a currency of the user's."""

    of_a_million: float | None = None
    most: float | None = None

    def of(self, tokens: int) -> float | None:
        """Return the price of so many tokens, None where it is not known."""
        return None if self.of_a_million is None else tokens * self.of_a_million / 1e6


class ApiEncoder(Encoder):
    """Sends distinct texts, in the order given, `batch` in a request.

    The service cannot say whether it has cut a text, so none is noted as cut. An empty batch sends nothing;
    its vectors have the dimensions that earlier answers had.
    """

    has_estimate = True

    def __init__(self, model: str, requests: Requests, options: Mapping[str, Any]) -> None:
        self.model, self.requests, self.options = model, requests, options
        given = {name: options[name] for name in ("prompt", "query_prompt", "candidate_prompt")}
        self.prompts: dict[str, str] = {name: text for name, text in given.items() if text is not None}
        self._idle = IdleOptions(self.prompts)
        self.price = Price(options["price"], options["max_cost"])
        self._sent = (0.0, 0)  # tokens and texts, as estimated, of all requests so far
        self._found: int | None = options["dim"]  # dimensions of the vectors, once known

    @property
    def piece(self) -> int:
        """How many texts to hand over at a time: a request.

        What was paid for is written at 1,024 vectors, after 30 seconds, and when the run ends or fails.
        """
        return int(self.options["batch"])

    @property
    def content(self) -> tuple[str, ...]:
        """What a vector depends on: the text, and with prompts for roles the role."""
        return ("text", "role") if self.prompts.keys() - {"prompt"} else ("text",)

    @property
    def identity(self) -> str:
        """The service's host and path, the model, and what changes its vectors; never a key."""
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
        tokens = whole_tokens(*amount)
        asked = -(-len(distinct) // self.piece)
        cost = self.price.of(tokens)
        texts = f"{len(distinct):,} distinct {'text' if len(distinct) == 1 else 'texts'}"
        said = f"about {tokens:,} tokens ({texts}, {asked:,} {'request' if asked == 1 else 'requests'})"
        if cost is not None:
            said += f", about {_money(cost)} at {self.price.of_a_million:g} a million tokens"
        self._refuse_beyond_most(amount, said)
        return said

    def _refuse_beyond_most(self, amount: tuple[float, int], said: str) -> None:
        together = self.price.of(whole_tokens(self._sent[0] + amount[0], self._sent[1] + amount[1]))
        if together is None or self.price.most is None or together <= self.price.most:
            return
        before, sent = "", "nothing was sent"
        if self._sent[1]:
            spent = self.price.of(whole_tokens(*self._sent)) or 0.0
            before = f", with about {_money(spent)} before it about {_money(together)}"
            sent = "nothing more was sent"
        raise InputError(
            f"api:{self.model}: {said}{before}: more than max_cost={self.price.most:g}; {sent}. "
            "Raise it, or encode fewer texts"
        )

    def encode(self, batch: Texts, /) -> Vectors:
        """Return float32 [n, d]; equal texts are sent once."""
        if self.price.most is not None:
            self.estimate(batch)  # refuses what costs too much
        distinct, index = distinct_rows(self._prompted(batch))
        if not distinct:
            return np.empty((0, self._found or 0), dtype=np.float32)
        parts = []
        with self.requests.open() as client:
            for start in range(0, len(distinct), self.piece):
                sending = distinct[start : start + self.piece]
                tokens, count = tokens_and_texts(sending)
                self._sent = (
                    self._sent[0] + tokens,
                    self._sent[1] + count,
                )  # even if it fails: it may be billed
                vectors = self.requests.vectors(client, self._request(sending))
                self._check_size(vectors.shape[1])
                parts.append(vectors)
        return np.asarray(np.concatenate(parts)[index])

    def _prompted(self, batch: Texts) -> list[str]:
        if batch.role is None and len(batch):
            self._idle.tell()
        prompt = self.prompts.get(f"{batch.role}_prompt", self.prompts.get("prompt", ""))
        # half of a surrogate pair cannot be sent
        return [(prompt + text).encode("utf-8", "replace").decode() for text in batch.text]

    def _request(self, texts: list[str]) -> dict[str, Any]:
        dim, encoding = self.options["dim"], self.options["encoding_format"]
        more = {} if dim is None else {"dimensions": dim}
        return {"model": self.model, "input": texts, "encoding_format": encoding, **more}

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
    return ApiEncoder(argument, Requests(service, **pace, clock=Clock()), options)
