"""Options that several verbs share, and what they turn into."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from xlingual.cli.sections import section
from xlingual.errors import InputError, listed
from xlingual.regular import regular_file

if TYPE_CHECKING:
    from xlingual.data.manifest import Manifest

F = TypeVar("F", bound="Callable[..., Any] | click.Command")

# options that say how a manifest is read, but for which rows are taken
COLUMNS = (
    *("text_column", "image_column", "item_column", "id_column", "lang_column", "cluster_column"),
    *("separator", "encoding"),
)

text_encoder_option = click.option(
    "--text-encoder",
    "text_encoders",
    multiple=True,
    required=True,
    metavar="SPEC",
    help="Text encoder: vectors:PATH (or just a path), st:, hf:, onnx:, wordvec:, translate:, api:, python:, "
    "model:, random, chargram or lsa:?fit=FILE#SPLIT; repeat for several. Quote patterns with *. "
    "See: xlingual encoders.",
)


cluster_option = click.option(
    "--cluster",
    default="declared",
    show_default=True,
    metavar="NAME",
    help="Which queries count as dependent: those of one declared cluster or item (declared), or those of "
    "near-equal texts and images too (near-duplicates).",
)


force_option = click.option("--force", is_flag=True, help="Replace the pool that DIR holds already.")


@section("Keeping vectors")
def encoding_options(function: F) -> F:
    """Add the options that say where vectors are kept, and what they may cost."""
    options = [
        click.option(
            "--store",
            type=click.Path(path_type=Path),
            metavar="DIR",
            help="Where vectors are kept, to be computed once.  [default: in the user's cache folder]",
        ),
        click.option("--no-store", is_flag=True, help="Keep no vectors, and use none that are kept."),
        click.option(
            "--max-cost",
            type=click.FloatRange(min=0),
            metavar="AMOUNT",
            help="Refuse api: encoders whose estimate is higher (each of them needs ?price=).",
        ),
    ]
    return _added(function, options)


def chosen_store(given: dict[str, Any]) -> Path | str | None:
    """Return the folder that --store names, None for --no-store, else "default"; both leave `given`.

    --max-cost leaves it too, for the specs of the text encoders that it limits.
    """
    most = given.pop("max_cost")
    if most is not None:
        given["text_encoders"] = tuple(limited(spec, most) for spec in given["text_encoders"])
    store, none = given.pop("store"), given.pop("no_store")
    if store is not None and none:
        raise InputError("--store and --no-store exclude each other: leave one out")
    return None if none else (store or "default")


def limited(spec: str, most: float) -> str:
    """Return the spec with the option max_cost, where it is of a service and has none."""
    from xlingual.encoders.plugins import Known
    from xlingual.encoders.spec import parse, shown

    parsed = parse(spec, Known())
    if parsed.base is not None:
        return str(replace(parsed, base=parse(limited(str(parsed.base), most), Known())))
    if parsed.scheme != "api" or "max_cost" in dict(parsed.options):
        return spec
    if "price" not in dict(parsed.options):
        raise InputError(f"--max-cost: {shown(spec)!r} has no price: add ?price=, what a million tokens cost")
    return str(replace(parsed, options=(*parsed.options, ("max_cost", f"{most:.9f}"))))


@section("Reading the manifest")
def manifest_options(function: F) -> F:
    """Add MANIFEST and the options that say how to read it."""
    options = [
        click.argument("manifest", type=click.Path(path_type=Path)),
        click.option(
            "--text-column", metavar="NAME", help="Column of texts, or a pattern such as name_{lang}."
        ),
        click.option("--image-column", metavar="NAME", help="Column of picture paths or bytes."),
        click.option("--item-column", metavar="NAME", help="Column that says which texts match."),
        click.option("--id-column", metavar="NAME", help="Column of ids."),
        click.option("--lang-column", metavar="NAME", help="Column of languages (long form)."),
        click.option("--cluster-column", metavar="NAME", help="Column of what makes texts dependent."),
        click.option(
            "--separator",
            metavar="CHAR",
            help="What separates the columns of a text file, such as ';' or tab.",
        ),
        click.option(
            "--encoding", metavar="NAME", help="Encoding of a text file, such as cp1252.  [default: UTF-8]"
        ),
        click.option("--split", metavar="NAME", help="Use only the rows of this split."),
        click.option("--rows", metavar="A:B", help="Use only rows A to B, counted from 0, B left out."),
    ]
    return _added(function, options)


def image_options(function: F) -> F:
    """Add the options that say how pictures are compared."""
    options = [
        click.option(
            "--image-encoder",
            required=True,
            metavar="SPEC",
            help="Image encoder: vectors:PATH, pixels, hf:MODEL, st:MODEL … See docs/encoders.md.",
        ),
        click.option(
            "--skip-broken",
            is_flag=True,
            help="Leave out texts whose picture is missing or broken, with a warning that counts them.",
        ),
    ]
    return _added(function, options)


def sample_options(function: F) -> F:
    """Add the options that say which languages and samples are evaluated."""
    return samples_of(1)(function)


def samples_of(seeds: int | None, otherwise: str = "") -> Callable[[F], F]:
    """Return what adds the options of `sample_options`, with a number of seeds to draw by default.

    None: the task itself decides where --seeds is not given; `otherwise` says how.
    """
    return lambda function: _added(function, _sample_options(seeds, otherwise))


def _sample_options(seeds: int | None, otherwise: str) -> list[Callable[[Any], Any]]:
    return [
        text_encoder_option,
        encoding_options,
        click.option(
            "--pairs",
            "--pair",
            "pairs",
            metavar="en-de,…",
            help="Language pairs, source-target.  [default: all]",
        ),
        click.option(
            "--sample-size", type=int, metavar="N", help="Items drawn for each side.  [default: all]"
        ),
        click.option("--splits", type=click.Path(path_type=Path), help="Fixed samples: .npz with S and T."),
        click.option(
            "--seeds",
            type=int,
            default=seeds,
            show_default=otherwise or True,
            help="How many samples are drawn.",
        ),
        click.option("--seed", type=int, default=0, show_default=True, help="The first seed."),
    ]


@section("Output")
def output_options(function: F) -> F:
    """Add the options that say what is written and shown."""
    options = [
        click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write results there."),
        click.option("--report", is_flag=True, help="Write DIR/report.html too."),
        click.option("--json", "as_json", is_flag=True, help="Print results.json instead of tables."),
        click.option("--quiet", is_flag=True, help="Print nothing but warnings and errors."),
    ]
    return _added(function, options)


def read_manifest(path: Path, given: Mapping[str, Any]) -> Manifest:
    """Read the manifest named on the command line with its options; they are taken out of `given`."""
    from xlingual.data.manifest import Manifest

    return Manifest.read(path, **read_options(given))


def read_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `Manifest.read` among those of a command."""
    return {name: given[name] for name in (*COLUMNS, "split", "rows")}


def refuse_extra(ctx: click.Context) -> None:
    """Raise InputError for arguments left over, which are mostly a pattern that the shell has expanded."""
    takes_encoders = any(parameter.name == "text_encoders" for parameter in ctx.command.params)
    if not ctx.args:
        return
    first = ctx.args[0]
    if first.startswith("-"):
        raise click.NoSuchOption(first, ctx=ctx)
    found = f"unexpected argument {first!r} ({len(ctx.args)} too many)"
    if not takes_encoders:
        raise InputError(f"{found}: give one manifest at a time")
    raise InputError(
        f"{found}: if it comes from a pattern with *, put quotes around the pattern so that the shell passes "
        "it on, for example --text-encoder 'vectors/*.{lang}.npy'; else give one manifest at a time"
    )


def check_output(out: Path | None, report: bool, task: str | None = None) -> None:
    """Refuse output options that cannot be met, before any work is done.

    A folder that holds the results of another task is refused: they would be lost.
    """
    if report and out is None:
        raise InputError("--report writes DIR/report.html: say where with --out DIR")
    if out is None:
        return
    check_folder(out)
    present = _tasks_in(out)
    if task is not None and present and task not in present:
        raise InputError(
            f"--out {out} holds results of {listed(sorted(present))}, which would be lost: choose another "
            "folder"
        )


def _tasks_in(folder: Path) -> set[str]:
    """Return the tasks whose results a folder holds; none where it holds no results that can be read."""
    try:
        content = json.loads(regular_file(folder / "results.json", "results").read_text(encoding="utf-8"))
        return {str(entry["task"]) for entry in content["results"]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set()  # nothing that could be lost


def check_folder(out: Path, option: str = "--out") -> None:
    """Raise InputError where a folder cannot be written or made."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{option} {out} is a file: name a folder")
    present = next(folder for folder in (out, *out.absolute().parents) if folder.exists())
    if not present.is_dir():
        raise InputError(f"{option} {out}: {present} is a file: choose another folder")
    if not os.access(present, os.W_OK | os.X_OK):
        raise InputError(f"{option} {out}: {present} cannot be written to: choose another folder")


def check_pool_folder(out: Path, force: bool) -> str:
    """Refuse a folder that cannot take a pool, before any work is done; return what will be replaced.

    Files of a pool that stand there are refused, unless `force`: then they are named ("" for none).
    """
    from xlingual.data.pools.folder import pool_files
    from xlingual.data.pools.writing import refuse_pool_in

    check_folder(out)
    if not force:
        refuse_pool_in(out, "replace them with --force")
    return listed(path.name for path in pool_files(out))


def available_cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _added(function: F, options: Sequence[Callable[[F], F]]) -> F:
    for option in reversed(options):
        function = option(function)
    return function
