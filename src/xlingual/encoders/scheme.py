"""Schemes: their rows, their options and readers of these, prompts by role, and what an adapter gets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote

from xlingual.encoders.base import Encoder
from xlingual.errors import InputError, warn
from xlingual.records import Texts

T = TypeVar("T")


@dataclass(frozen=True)
class Option:
    """An option of a scheme: its reader returns the value, or raises ValueError with the expected form."""

    name: str
    read: Callable[[str], Any]
    default: Any
    summary: str


def _written(pattern: str, value: Callable[[str], T], expected: str) -> Callable[[str], T]:
    """Return a reader of what the pattern matches."""

    def read(text: str) -> T:
        if not re.fullmatch(pattern, text):
            raise ValueError(expected)
        return value(text)

    return read


amount = _written(r"[0-9]{1,12}(\.[0-9]{1,9})?|\.[0-9]{1,9}", float, "a number of at least 0, such as 0.5")
share = _written(r"0?\.[0-9]{1,9}|0|1(\.0{1,9})?", float, "a number from 0 to 1, such as 0.75")
not_empty = _written(r"(?s:.+)", str, "a value")


def one_of(*words: str) -> Callable[[str], str]:
    """Return a reader of one of the words."""
    return _written("|".join(map(re.escape, words)), str, f"one of {', '.join(words)}")


def whole_number(least: int) -> Callable[[str], int]:
    """Return a reader of whole numbers of at least `least`."""

    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) < least:
            raise ValueError(f"a whole number of at least {least}")
        return int(text)

    return read


def number_range(text: str) -> tuple[int, int]:
    """Read `3-5`, or `3` for `3-3`."""
    found = re.fullmatch(r"([0-9]{1,2})(?:-([0-9]{1,2}))?", text)
    low, high = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= low <= high:
        raise ValueError("a range such as 3-5, or one number of at least 1")
    return low, high


BATCH = Option("batch", whole_number(1), 32, "batch size in texts or images; changes no vector")
DEVICE = Option("device", not_empty, None, "cpu, cuda, cuda:1, mps …; the best available unless given")
MODEL = (  # of every scheme that runs a network
    BATCH,
    DEVICE,
    Option(
        "dtype",
        one_of("float32", "float16", "bfloat16"),
        "float32",
        "of the network: float32, float16 or bfloat16",
    ),
    Option("revision", not_empty, None, "branch, tag or commit of a model from a hub"),
)
PROMPTS = (
    Option("prompt", not_empty, None, "put before every text"),
    Option("query_prompt", not_empty, None, "put before questions, instead of prompt"),
    Option("candidate_prompt", not_empty, None, "put before candidates, instead of prompt"),
)
TEXT = (  # of every network that reads texts
    *PROMPTS,
    Option("max_length", whole_number(1), None, "most tokens of a text; the model's own limit unless given"),
)
OWN_PROMPTS = Option(  # of models that name prompts of their own
    "prompts", one_of("model", "none"), "model", "whether the model's own prompts are used"
)
DIM = Option("dim", whole_number(1), None, "keep the first dimensions only")
POOL = Option(
    "pool", one_of("mean", "cls", "pooler", "last"), None, "mean, cls, pooler or last: one vector of many"
)
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
SEED = Option("seed", whole_number(0), None, "seed of the random numbers (0 unless the command gives one)")
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
        """Return a function that loads the texts of `fit=reference`; None where there is no reference."""
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
    # options for roles that a warning names where texts have none; they are named once
    idle: list[str] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def of(cls, options: Mapping[str, Any], model: Prompts | None = None) -> Prompts:
        """Read the prompts of options; where these have none, those of the model."""
        plain = options.get("prompt")
        usual = (model or cls()) if plain is None else cls(plain, plain, plain)
        roles = {name: options.get(name) for name in ("query_prompt", "candidate_prompt")}
        idle = [name for name, prompt in roles.items() if prompt is not None and plain is None]
        query, candidate = roles.values()
        return cls(
            usual.plain,
            usual.query if query is None else query,
            usual.candidate if candidate is None else candidate,
            idle,
        )

    def before(self, role: str | None) -> str:
        """Give the prompt of a role; warn once where options count for other roles only."""
        if role is None and self.idle:
            warn(f"these texts have no role: {' and '.join(self.idle)} has no effect; write prompt=")
            self.idle.clear()
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
