"""`xlingual validate`: whether a measure without translations orders encoders as true retrieval does."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from xlingual.cli import screen
from xlingual.cli.checks import check_output, refuse_vectors
from xlingual.cli.from_request import command, keywords
from xlingual.cli.opening import read_manifest, store_of
from xlingual.cli.outcome import check_emphasis, emphasis_of, say_written, write_and_show
from xlingual.cli.ranking import chosen_ranker
from xlingual.cli.tasks import Tasks
from xlingual.cli.wording import in_options
from xlingual.errors import InputError
from xlingual.requests import signed, values
from xlingual.requests.provenance import request_part, run_part
from xlingual.requests.validating import ValidateBackretrievalRequest, ValidateDataSetsRequest
from xlingual.results.provenance import noting

if TYPE_CHECKING:
    from xlingual.data.manifest import Manifest
    from xlingual.evaluation.run import Progress
    from xlingual.results.validation import Validation

_FILE = "validation.json"


@click.group(cls=Tasks)
def validate() -> None:
    """Test how well a measure that needs no translations agrees with true retrieval (bkr is a short name)."""


@command(
    ValidateDataSetsRequest,
    validate,
    short_help="Check whether Backretrieval orders encoders as true retrieval does.",
)
def backretrieval(request: ValidateDataSetsRequest) -> None:
    """Compare Backretrieval, SIM and CORR with cross-lingual retrieval, over three text encoders or more.

    MANIFEST holds items with an image and texts in both languages. Their translations give the true
    retrieval. Several manifests, or folders of finished validations, give one table with a row for each data
    set and language pair. Folders of results of evaluate (backretrieval, crosslingual-retrieval and
    distance-correlation, of the same encoders) are validated as they are. Leave out --seeds if you give
    --sample FILE.
    """
    sets = request.data_sets()
    if not sets:
        raise InputError("MANIFEST is missing: name a manifest, or folders of results or validations")
    folders = [Path(options["manifest"]) for options in sets.values()]
    if all((folder / "results.json").is_file() for folder in folders):
        of_results(request, folders)
        return
    if request.sets or len(sets) > 1 or is_finished(request.data.manifest):
        table_of(request, sets)
        return
    (one,) = map(request.of_one, sets.values())
    check_output(one.output.out, one.output.report, "validation")
    with screen.warnings_as_lines(), screen.progress(screen.silent(one.output)) as progress:
        validation = validated(one, progress)
    write_and_show(validation, one.output)
    say_written(validation, one.output, validation.file, emphasis_of(one))


def of_results(request: ValidateDataSetsRequest, folders: list[Path]) -> None:
    """Validate results that `evaluate` wrote."""
    from xlingual.evaluation.metric_validation import validation_of

    if options := [name for name in request.of_manifests() if name not in ("--measure", "--family")]:
        raise InputError(
            f"{options[0]} changes nothing here: results are read as they are; leave it out, or name a "
            "manifest"
        )
    check_output(request.output.out, request.output.report, "validation")
    with screen.warnings_as_lines():
        validation = validation_of(folders, measure=request.measure, family=request.family)
    of_run = {"request": request_part(type(request), values(request))}
    of_run |= {"run": run_part(type(request), values(request))}
    write_and_show(structs.replace(validation, **of_run), request.output)
    say_written(validation, request.output, validation.file, emphasis_of(request))


def table_of(request: ValidateDataSetsRequest, sets: Mapping[str, Mapping[str, Any]]) -> None:
    """Answer a request for several data sets: each is validated, or read if that is done; then the table."""
    from xlingual.evaluation.metric_validation.side_by_side import validation_table

    out, report, quiet = request.output.out, request.output.report, screen.silent(request.output)
    check_output(out, report, "a validation table")
    asked = {name: _asked(name, options, request) for name, options in sets.items()}
    if all(isinstance(one, Path) for one in asked.values()) and (options := request.of_manifests()):
        raise InputError(
            f"{options[0]} changes nothing here: finished validations are read as they are; leave it out, or "
            "name a manifest to validate again"
        )
    if out is not None and (out / _FILE).is_file():
        raise InputError(
            f"--out {out} holds a validation, whose report would be lost: choose another folder for the table"
        )
    found: dict[str, Validation] = {}
    with screen.warnings_as_lines(), screen.progress(quiet) as progress:
        for name, one in asked.items():

            def told(what: str, done: int, total: int, name: str = name) -> None:
                progress(f"{name}: {what}", done, total)

            with noting():  # each has inputs of its own
                found[name] = (
                    _finished(name, one, quiet)
                    if isinstance(one, Path)
                    else _validated(name, one, told, quiet)
                )
    table = validation_table(found)
    table = structs.replace(table, run=run_part(type(request), values(request)))
    write_and_show(table, request.output)
    say_written(table, request.output, table.file)


def validated(
    request: ValidateBackretrievalRequest, progress: Progress, manifest: Manifest | None = None
) -> Validation:
    """Return the validation of one data set."""
    from xlingual.evaluation.metric_validation.validate import validate_backretrieval

    store = store_of(request.keeping)
    given = keywords(request, validate_backretrieval)
    given |= {
        "text_encoders": request.text_encoders,
        "store": store,
        "ranker": chosen_ranker(request.ranking, store, quiet=request.output.quiet),
    }
    if manifest is None:
        progress("reading the manifest", 0, 1)
        manifest = read_manifest(request.data)
    check_emphasis(request, manifest)
    given["manifest"] = manifest
    found = validate_backretrieval(**given, progress=progress)
    found.warnings[:] = map(in_options, found.warnings)
    return signed(found, request)


def is_finished(path: Path | None) -> bool:
    """Tell whether a path is a finished validation, or its folder; one of a manifest too is a manifest."""
    if path is None:
        return False
    path = Path(str(path).partition("=")[2]) if not path.exists() and "=" in str(path) else path
    if path.name == _FILE:
        return path.is_file()
    return (path / _FILE).is_file() and not any(path.glob("metadata.*"))


def _asked(
    name: str, options: Mapping[str, Any], request: ValidateDataSetsRequest
) -> ValidateBackretrievalRequest | Path:
    """Return the request of a data set, or the path of its finished validation; InputError for neither."""
    path = Path(options["manifest"])
    if is_finished(path):
        if beside := [key for key in request.sets.get(name, {}) if key not in ("manifest", "command")]:
            raise InputError(
                f"[sets.{name}]: {beside[0]} changes nothing: {path} is a finished validation, which is read "
                "as it is; leave it out, or name a manifest to validate again"
            )
        return path
    refuse_vectors(path, "a manifest", "{lang}")
    if not path.exists():
        raise InputError(f"{name}: {path} does not exist: name a manifest, or a finished validation's folder")
    one = request.of_one(options, f"[sets.{name}]" if name in request.sets else "")
    check_output(one.output.out, False, "validation")
    return one


def _finished(name: str, path: Path, quiet: bool) -> Validation:
    from xlingual.results.validation import Validation

    if not quiet:
        screen.note(f"{name} is finished: read {path}")
    return Validation.read(path)


def _validated(
    name: str, request: ValidateBackretrievalRequest, progress: Progress, quiet: bool
) -> Validation:
    """Return the validation of a data set; one of the same request, data and files in its folder is read."""
    progress("reading the manifest", 0, 1)
    manifest, out = read_manifest(request.data), request.output.out
    if out is not None and (out / _FILE).is_file():
        kept, change = _kept(out, request, manifest)
        if not quiet:
            screen.note(f"{name}: {change}, computed again" if change else f"{name} is finished: read {out}")
        if change is None:
            _report(kept, request)
            return kept
    found = validated(request, progress, manifest)
    if out is not None:
        found.write(out)
        say_written(found, request.output.changed(quiet=quiet), found.file, emphasis_of(request))
    return found


def _report(found: Validation, request: ValidateBackretrievalRequest) -> None:
    """Make the report of a finished validation again: what stands out in its figures may be new."""
    from xlingual.report import write_report

    if request.output.report and request.output.out is not None:
        write_report(found, request.output.out / "report.html", emphasis=emphasis_of(request))


def _kept(
    folder: Path, request: ValidateBackretrievalRequest, manifest: Manifest
) -> tuple[Validation, str | None]:
    """Return the validation of a folder, and what has changed since: a setting, data, conventions, a file."""
    from xlingual.results.validation import Validation
    from xlingual.signature import CONVENTIONS

    kept = Validation.read(folder)
    asked = request_part(type(request), values(request))
    before = kept.request if isinstance(kept.request, dict) else {}
    changed = [key for key in (*asked, *before) if asked.get(key) != before.get(key)]
    if changed:
        return kept, f"{changed[0].replace('_', '-')} has changed"
    conditions = [pair.conditions for pair in kept.pairs]
    if any(own.get("data") != manifest.digest[:12] for own in conditions):
        return kept, "the data has changed"
    if any(own.get("conventions") != CONVENTIONS for own in conditions):
        return kept, "the conventions have changed"
    written = (folder / _FILE).stat().st_mtime
    newer = next((file for file in _files(request) if file.stat().st_mtime > written), None)
    return kept, None if newer is None else f"{newer} is newer"


def _files(request: ValidateBackretrievalRequest) -> Iterator[Path]:
    """Yield the files that encoders and samples of a request are read from."""
    from xlingual.data.samples import fixed_samples
    from xlingual.encoders.spec import Spec, parse

    if fixed_samples(request.sampling.sample):
        yield Path(str(request.sampling.sample))
    for text in (*request.text_encoders, request.images.image_encoder):
        spec: Spec | None = parse(text)
        while spec is not None:
            named = [spec.argument, spec.argument.rpartition(":")[0]]  # python:FILE:FUNCTION
            named += [value.partition("#")[0] for _, value in spec.options]
            for pattern in filter(None, named):
                for path in map(Path, glob.glob(re.sub(r"\{\w+\}", "*", pattern))):
                    yield from path.rglob("*") if path.is_dir() else [path]
            spec = spec.base
