"""What `verify` found: whether inputs are what they were, and whether the numbers come out again."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Struct, field

from xlingual.results.document import Document
from xlingual.results.values import Count, about

Outcome: TypeAlias = Literal["equal", "unchanged", "different", "changed", "missing", "not allowed"]
State: TypeAlias = Literal["same", "changed", "missing", "not looked at"]


class Use(Struct, frozen=True):
    """An encoder or a file that a record asks for."""

    what: Annotated[Literal["encoder", "run", "file"], about("What it is.")]
    name: Annotated[str, about("The spec of an encoder, or the path of a file.")]
    allowed: Annotated[bool, about("Whether the caller allows it.")]


class CheckedInput(Struct, frozen=True):
    """A file that a result was made from, or another result, as it is now."""

    role: Annotated[str, about("What it is: manifest, vectors, results and so on.")]
    path: Annotated[str, about("Its path, or what it is where it has none.")]
    state: Annotated[State, about("What it is now; not looked at: it has no digest of its own.")]
    note: Annotated[str, about("More about it, where there is more.")] = ""


class Difference(Struct, frozen=True):
    """A number that came out otherwise."""

    what: Annotated[str, about("Which number.")]
    kept: Annotated[str, about("What the result says.")]
    found: Annotated[str, about("The value that was computed now.")]


class Verification(Document, frozen=True, kw_only=True, tag="xlingual/verification/1"):
    """Whether a result can be made again."""

    made_by = "xlingual verify RESULTS --json"

    path: Annotated[str, about("The file of the result.")]
    outcome: Annotated[
        Outcome,
        about(
            "equal: the numbers came out again; unchanged: files are what they were, nothing was computed; "
            "different: other numbers came out; changed: a file is another; missing: something that it takes "
            "is not there; not allowed: the record asks for what the caller has not allowed."
        ),
    ]
    digest: Annotated[str | None, about("The result digest of the file; null where it is damaged.")] = None
    problems: Annotated[list[str], about("What is wrong with the file itself, or missing.")] = field(
        default_factory=list
    )
    uses: Annotated[list[Use], about("Encoders and files that the record asks for.")] = field(
        default_factory=list
    )
    inputs: Annotated[list[CheckedInput], about("What the result was made from.")] = field(
        default_factory=list
    )
    n_compared: Annotated[Count, about("Numbers and identities, or rows of queries, compared.")] = 0
    n_different: Annotated[Count, about("Those that came out otherwise.")] = 0
    differences: Annotated[list[Difference], about("The first of these.")] = field(default_factory=list)
    versions: Annotated[list[str], about("Programs and libraries that are others now.")] = field(
        default_factory=list
    )
