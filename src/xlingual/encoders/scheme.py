"""Schemes: their rows, their options and readers of these, prompts by role, and what an adapter gets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

from xlingual.encoders.base import Encoder
from xlingual.errors import InputError
from xlingual.records import Texts

T = TypeVar("T")


@dataclass(frozen=True)
class Option:
    """An option of a scheme: its reader returns the value, or raises ValueError with the expected form."""

    name: str
    read: Callable[[str], Any]
    default: Any
    summary: str


def reader(pattern: str, value: Callable[[str], T], expected: str) -> Callable[[str], T]:
    """Make a reader of what the pattern matches."""

    def read(text: str) -> T:
        if not re.fullmatch(pattern, text):
            raise ValueError(expected)
        return value(text)

    return read


amount = reader(r"[0-9]{1,12}(\.[0-9]{1,9})?|\.[0-9]{1,9}", float, "a number of at least 0, such as 0.5")
share = reader(r"0?\.[0-9]{1,9}|0|1(\.0{1,9})?", float, "a number from 0 to 1, such as 0.75")
not_empty = reader(r"(?s:.+)", str, "a value")
positive = reader(r"0*[1-9][0-9]{0,17}", int, "a whole number of at least 1")


def one_of(*words: str) -> Callable[[str], str]:
    """Make a reader of one of the words."""
    return reader("|".join(map(re.escape, words)), str, f"one of {', '.join(words)}")


BATCH = Option("batch", positive, 32, "batch size in texts or images; changes no vector")
DEVICE = Option("device", not_empty, None, "cpu, cuda, cuda:1, mps …; the best available unless given")
DTYPE = Option("dtype", one_of("float32", "float16", "bfloat16"), "float32", "numbers of the network")
REVISION = Option("revision", not_empty, None, "branch, tag or commit of a model from a hub")
PROMPTS = (
    Option("prompt", str, None, "put before every text; empty: none of the model's own prompts"),
    Option("query_prompt", str, None, "put before questions, instead of prompt"),
    Option("candidate_prompt", str, None, "put before candidates, instead of prompt"),
)
MAX_LENGTH = Option("max_length", positive, None, "most tokens of a text; the model's own limit unless given")
DIM = Option("dim", positive, None, "keep the first dimensions only")
POOL = Option("pool", one_of("mean", "cls", "last"), None, "mean, cls or last: one vector of many")
TRAINED_ON = Option(  # of every scheme whose files do not always say
    "trained_on",
    one_of("texts", "images"),
    None,
    "images, where it was trained on these too; changes no vector",
)
KIND = Option(
    "kind",
    one_of("general", "fitted"),
    None,
    "general: pretrained elsewhere; fitted: on texts of this domain; changes no vector",
)
SEED = Option(
    "seed",
    reader(r"[0-9]{1,18}", int, "a whole number of at least 0"),
    None,
    "seed of the random numbers (0 unless the command gives one)",
)
FIT = "texts it is fitted on: a manifest, and after # one of its splits or rows A:B"

TEXTS, IMAGES = "texts", "images"
LISTS = "lists"  # of a run, which has candidates and no vectors (`evaluation.run_systems`)


@dataclass(frozen=True)
class Scheme:
    """A row of the table: what a scheme encodes, its options, and the module whose `build` makes it."""

    name: str
    takes: tuple[str, ...]  # TEXTS, IMAGES or both
    summary: str
    module: str  # imported when the scheme is used, so that unused adapters cost nothing
    argument: str | None = None  # what the argument is called; None where there is none
    options: tuple[Option, ...] = ()
    extra: str | None = None  # the optional packages it needs
    over: str = "no"  # whether it stands on another encoder, scheme:…::SPEC: "no", "may" or "must"

    @property
    def form(self) -> str:
        """How its specs are written, options apart."""
        below = {"no": "", "may": "[::SPEC]", "must": "::SPEC"}[self.over]
        return f"{self.name}:{self.argument or ''}{below}"


@dataclass(frozen=True)
class Context:
    """The caller's settings that an adapter may need."""

    languages: Sequence[str]  # of all texts
    role_languages: Mapping[str, Sequence[str]] | None = None  # role of a text → languages; None: all in each
    fit_texts: Callable[[str], Texts] | None = None  # loads the texts that `fit=` names
    seed: int = 0  # of encoders whose spec has none
    kind: str = TEXTS  # texts or images, for a scheme that takes both
    base: Encoder | None = None  # the encoder below, for a scheme that stands on another
    scheme: str = ""  # the scheme's name, for a module that several schemes share

    def loader(self, scheme: str, reference: str | None) -> Callable[[], Texts] | None:
        """Make the function that loads the texts of `fit=reference`; None where there is no reference."""
        load = self.fit_texts
        if reference is None:
            return None
        if load is None:
            raise InputError(
                f"{scheme}: nothing here loads fit={reference}; pass `fit_texts`, which loads it"
            )

        def texts() -> Texts:
            fit = load(reference)
            if not len(fit):
                raise InputError(f"{scheme}: fit={reference} names no texts: choose a split that has some")
            return fit

        return texts


@dataclass(frozen=True)
class Prompts:
    """The words before texts without a role, before queries and before candidates."""

    plain: str = ""
    query: str = ""
    candidate: str = ""

    @classmethod
    def of(cls, options: Mapping[str, Any], model: Prompts | None = None) -> Prompts:
        """Read the prompts of options; where these have none, those of the model."""
        plain = options.get("prompt")
        usual = (model or cls()) if plain is None else cls(plain, plain, plain)
        query, candidate = options.get("query_prompt"), options.get("candidate_prompt")
        return cls(
            usual.plain,
            usual.query if query is None else query,
            usual.candidate if candidate is None else candidate,
        )

    def before(self, role: str | None) -> str:
        """Give the prompt of a role."""
        return {"query": self.query, "candidate": self.candidate}.get(role or "", self.plain)

    @property
    def by_role(self) -> bool:
        """Whether a text has other vectors in another role."""
        return not self.plain == self.query == self.candidate

    def __str__(self) -> str:
        """Write the part of an identity: empty without prompts."""
        parts = {"prompt": self.plain} if self.by_role or self.plain else {}
        if self.by_role:
            parts |= {"query_prompt": self.query, "candidate_prompt": self.candidate}
        return "".join(f"&{name}={quote(text, safe='')}" for name, text in parts.items())
