"""`xlingual papers backretrieval validate` and `table1`: does Backretrieval order encoders as XLR does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import structs

from xlingual.cli import screen
from xlingual.cli.answering import within
from xlingual.cli.checks import check_output, refuse_vectors
from xlingual.cli.from_request import command, keywords
from xlingual.cli.opening import read_manifest, store_of
from xlingual.cli.outcome import say_written, write_and_show
from xlingual.cli.ranking import chosen_ranker
from xlingual.cli.wording import in_options
from xlingual.errors import InputError
from xlingual.requests import signed, values
from xlingual.requests.provenance import request_part, run_part
from xlingual.requests.reading import read_toml
from xlingual.requests.validating import Table1Request, ValidateRequest
from xlingual.results.provenance import noting

if TYPE_CHECKING:
    from xlingual.evaluation.run import Progress
    from xlingual.results.validation import Validation

_FILE = "validation.json"


@command(ValidateRequest, short_help="Check whether Backretrieval orders encoders as true retrieval does.")
def validate(request: ValidateRequest) -> None:
    """Compare Backretrieval, SIM and CORR with cross-lingual retrieval, over three text encoders or more.

    MANIFEST holds items with an image and texts in both languages. Their translations give the true
    retrieval. Leave out --seeds if you give --sample FILE.
    """
    check_output(request.output.out, request.output.report, "validation")
    with screen.warnings_as_lines(), screen.progress(screen.silent(request.output)) as progress:
        validation = _validated(request, progress)
    write_and_show(validation, request.output)
    say_written(validation, request.output, validation.file)


@command(Table1Request, short_help="Make the paper's Table 1 of several data sets.")
def table1(request: Table1Request) -> None:
    """Make the paper's Table 1: a row for each data set and language pair.

    PATH is a TOML file, which names data sets in tables [sets.NAME] with the options of validate; what stands
    above them holds for all. In place of a manifest, `validation` names the folder of a finished validation,
    and `results` those of results. Or PATHs are such folders: of validations, or of the results of evaluate
    (backretrieval, crosslingual-retrieval and distance-correlation of the same encoders) on one data set.
    """
    from xlingual.papers.table1 import validation_table

    output, validations = request.output, dict[str, "Validation | Path"]()
    check_output(output.out, output.report, "a validation table")
    if output.out is not None and (output.out / _FILE).is_file():
        raise InputError(f"--out {output.out} holds a validation: choose another folder for the table")
    with screen.warnings_as_lines(), screen.progress(screen.silent(output)) as progress:
        for name, validation in _data_sets(request, progress):
            if name in validations:
                raise InputError(
                    f"two data sets are called {name!r}: name them in a TOML file, as [sets.NAME]"
                )
            validations[name] = validation
    parts = {"request": request_part, "run": run_part}
    signature = {name: part(type(request), values(request)) for name, part in parts.items()}
    table = structs.replace(validation_table(validations), **signature)
    write_and_show(table, output)
    say_written(table, output, table.file)


def _validated(request: ValidateRequest, progress: Progress) -> Validation:
    """Validate one data set."""
    from xlingual.evaluation.metric_validation import validate_backretrieval

    refuse_vectors(request.data.manifest, "a manifest", "{lang}")
    progress("reading the manifest", 0, 1)
    store = store_of(request.keeping)
    options = keywords(request, validate_backretrieval) | {
        "manifest": read_manifest(request.data),
        "text_encoders": request.text_encoders,
        "store": store,
        "ranker": chosen_ranker(request.ranking, store, quiet=request.output.quiet),
        "progress": progress,
    }
    validation = validate_backretrieval(**options)
    validation.warnings[:] = map(in_options, validation.warnings)
    return signed(validation, request)


def _data_sets(request: Table1Request, progress: Progress) -> Iterator[tuple[str, Validation | Path]]:
    """Yield the validation of each data set with its name."""
    from xlingual.evaluation.metric_validation import validation_of

    paths = request.paths
    if any(path.suffix == ".toml" for path in paths):
        if len(paths) > 1:
            raise InputError(f"{paths[0]} and {paths[1]}: one TOML file names all data sets: give it alone")
        yield from _in_file(request, progress)
    elif all((path / "results.json").is_file() for path in paths):
        validation = validation_of(paths, measure=request.measure, family=request.family)
        yield paths[0].absolute().parent.name, validation
    else:
        for path in paths:
            folder = path.parent if path.name == _FILE else path
            yield folder.absolute().name, path


def _in_file(request: Table1Request, progress: Progress) -> Iterator[tuple[str, Validation | Path]]:
    """Yield the validations of a file's data sets; each that is computed gets a folder of its own."""
    from xlingual.evaluation.metric_validation import validation_of

    file, output = request.paths[0], request.output
    shared = {key.replace("-", "_"): value for key, value in read_toml(file).items()}
    sets = shared.pop("sets", None)
    if not isinstance(sets, dict) or not sets or not all(isinstance(own, dict) for own in sets.values()):
        raise InputError(f"{file} names no data set: write a table [sets.NAME] with its manifest for each")
    out = None if output.out is None else output.out.absolute()
    finished: dict[str, list[str]] = {}
    requests: dict[str, ValidateRequest] = {}
    with within(file.absolute().parent):
        for name, own in sets.items():
            place = f"{file}: [sets.{name}]"
            if Path(name).name != name or name.startswith("."):
                raise InputError(f"{place} is the name of a folder too: write it without / and leading .")
            if "validation" in own or "results" in own:
                folders = own["results"] if "results" in own else [own["validation"]]
                named = isinstance(folders, list) and all(isinstance(folder, str) for folder in folders)
                if len(own) > 1 or not folders or not named:
                    raise InputError(
                        f'{place}: write validation = "DIR" or results = ["DIR", …], and nothing else'
                    )
                finished[name] = folders
                continue
            options = shared | {key.replace("-", "_"): value for key, value in own.items()}
            options["quiet"] = output.quiet
            options |= {} if out is None else {"out": str(out / name), "report": output.report}
            requests[name] = cast(ValidateRequest, validate.request(options, place))
        if not requests and (idle := sorted(shared.keys() - {"measure", "family"})):
            raise InputError(
                f"{file}: {idle[0]} changes nothing where all data sets are finished: leave it out"
            )
        family = shared.get("family", request.family)
        options = {"measure": str(shared.get("measure", request.measure)), "family": family and str(family)}
        for name in sets:
            if name in finished and "results" in sets[name]:
                yield name, validation_of(finished[name], **options)
            elif name in finished:
                yield name, file.parent / finished[name][0]
            else:
                validation = _written(requests[name], name, progress)
                yield name, validation if output.out is None else output.out / name


def _written(request: ValidateRequest, name: str, progress: Progress) -> Validation:
    """Validate one data set of several, and write it to its folder."""

    def named(what: str, done: int, total: int) -> None:
        progress(f"{name}: {what}", done, total)

    with noting():  # each has inputs of its own
        validation = _validated(request, named)
    if request.output.out is not None:
        validation.write(request.output.out)
        say_written(validation, request.output, _FILE)
    return validation
