"""Options of schemes: what a value must look like, and the options that several schemes share."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

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
PROMPT_NAMES = (  # of models that name prompts of their own
    *(
        Option(f"{name}_name", not_empty, None, f"name of one of the model's own prompts, instead of {name}")
        for name in ("prompt", "query_prompt", "candidate_prompt")
    ),
    Option("prompts", one_of("model", "none"), "model", "whether the model's own prompts are used"),
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
