"""Options that all trainings share, and what they turn into."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from xlingual.cli.options import COLUMNS
from xlingual.errors import InputError

if TYPE_CHECKING:
    from xlingual.data.manifest import Manifest

F = TypeVar("F", bound="Callable[..., Any] | click.Command")


class NumberOrNone(click.ParamType):  # type: ignore[type-arg]  # generic in some versions of click only
    """A whole number, or the word "none"."""

    name = "N|none"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:  # noqa: ANN401
        """Return the number, or "none"."""
        if isinstance(value, int):
            return value
        if value == "none":
            return "none"
        if not str(value).isdecimal() or int(value) < 1:
            self.fail(f"{value!r} is neither a number of at least 1 nor 'none'", param, ctx)
        return int(value)


def whole(name: str, text: str) -> Callable[[F], F]:
    """Return an option that takes a whole number."""
    return click.option(name, type=int, metavar="N", help=text)


def number(name: str, text: str) -> Callable[[F], F]:
    """Return an option that takes a number."""
    return click.option(name, type=float, metavar="X", help=text)


def word(name: str, words: tuple[str, ...], text: str) -> Callable[[F], F]:
    """Return an option that takes one of some words."""
    return click.option(name, type=click.Choice(words), help=text)


# none has a default here, so that what is not told can come from --config, and else from the recipe
FIT = (
    whole("--epochs", "Most epochs."),
    click.option("--rate", "--lr", "rate", type=float, metavar="X", help="Learning rate of Adam."),
    click.option(
        "--patience", type=NumberOrNone(), help="Stop after so many epochs without a better validation."
    ),
    number("--clip", "Largest norm of the gradient.  [default: none]"),
    number("--weight-decay", "Weight decay.  [default: 0]"),
    word("--optimizer", ("adam", "adamw"), "Optimiser.  [default: adam]"),
    click.option(
        "--schedule",
        metavar="NAME",
        help="Of the rate: constant, linear, cosine, or step:E:F (every E epochs times F).",
    ),
    number("--warmup", "Epochs in which the rate rises to its value.  [default: 0]"),
    whole("--seed", "Of weights, batches and dropout.  [default: 0]"),
    click.option("--device", metavar="NAME", help="auto, cpu, cuda, cuda:1, mps.  [default: auto]"),
    word("--precision", ("float32", "bfloat16", "float16"), "Of products.  [default: float32]"),
    whole("--threads", "Threads of torch.  [default: its own choice]"),
)

RUN = (
    click.option(
        "--out", required=True, type=click.Path(path_type=Path), metavar="MODEL", help="Folder of the model."
    ),
    click.option(
        "--config", type=click.Path(path_type=Path), metavar="FILE.toml", help="Options from a file."
    ),
    click.option("--resume", is_flag=True, help="Continue an interrupted training."),
    click.option("--force", is_flag=True, help="Replace the model or training that MODEL holds."),
    click.option(
        "--log-to",
        multiple=True,
        metavar="SINK",
        help="Log there too: tensorboard:DIR, mlflow[:URI] or wandb[:PROJECT]; repeat for several.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print config.json instead of sentences."),
    click.option("--quiet", is_flag=True, help="Print nothing but warnings and errors."),
)  # fmt: skip

VALIDATION = click.option(
    "--validation",
    metavar="SPLIT|FILE#rows|SHARE",
    help="Where epochs are compared: a split of MANIFEST, another manifest (FILE, FILE#split, FILE#A:B), or "
    "a share of the items, held out.  [default: 0.1]",
)


def added(function: F, options: tuple[Callable[[F], F], ...]) -> F:
    """Add options, the first one first."""
    in_turn = options if isinstance(function, click.Command) else options[::-1]  # a command appends
    for option in in_turn:
        function = option(function)
    return function


def told(given: Mapping[str, Any], known: Mapping[str, Any], file: Path | None) -> dict[str, Any]:
    """Return the options of the file and of the command line, which wins; `known` has the type of each."""
    from xlingual.training.settings import read_settings

    settings = {} if file is None else read_settings(file, known)
    here = {name: given[name] for name in known if given.get(name) is not None}
    return settings | {name: None if value == "none" else value for name, value in here.items()}


def is_file(spec: str) -> bool:
    """Return whether an encoder is a file of vectors, which serves the pictures of one manifest only."""
    from xlingual.encoders.plugins import Known
    from xlingual.encoders.spec import parse

    return parse(spec, Known()).scheme == "vectors"


def validation_of(reference: str | None, path: Path, given: Mapping[str, Any]) -> Manifest | float:
    """Return what --validation means: a share, or a manifest that is read with the columns of MANIFEST."""
    from xlingual.data.manifest import Manifest, read_reference

    if reference is None:
        return 0.1
    columns = {name: given[name] for name in COLUMNS}
    try:
        share = float(reference)
    except ValueError:
        share = None
    if share is not None:
        if not 0 < share < 1:
            raise InputError(f"--validation {reference}: a share is between 0 and 1, such as 0.1")
        return share
    if "#" in reference or os.path.exists(reference):
        return read_reference(reference, **columns)
    return Manifest.read(path, **columns, split=reference)
