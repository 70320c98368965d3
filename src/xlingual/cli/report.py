"""`xlingual report`: one HTML file from folders of results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from xlingual.cli import screen
from xlingual.errors import InputError
from xlingual.files import regular_file


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR…", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The HTML file.")
@click.option("--title", help="Title of the page.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def report(folders: tuple[Path, ...], out: Path, title: str | None, quiet: bool) -> None:
    """Make one HTML report from folders that were written with --out.

    Folders of evaluations go on one page together; a validation, a comparison, a case study or the analysis
    of a blind study has a page of its own.
    """
    kinds = {folder: _kind(folder) for folder in folders}
    alone = [folder for folder, kind in kinds.items() if kind in _ALONE]
    if alone and len(folders) > 1:
        kind = str(kinds[alone[0]]).replace("_", " ")
        raise InputError(
            f"{alone[0]} holds a {kind}, which has a report of its own: give it alone, and make one report "
            "for each"
        )
    for folder in folders:
        if kinds[folder] is None:
            _refuse_others(folder)
    _WRITERS[kinds[folders[0]] or "results"](folders, out, title)
    screen.wrote(out, quiet=quiet)


def _write_results(folders: Sequence[Path], out: Path, title: str | None) -> None:
    from xlingual.files import make_folder
    from xlingual.report import write_report
    from xlingual.results import Results

    read = [Results.read(folder.parent if folder.name == "results.json" else folder) for folder in folders]
    make_folder(out.parent)
    write_report(read, out, title=title)


def _write_validation(folders: Sequence[Path], out: Path, title: str | None) -> None:
    from xlingual.files import make_folder
    from xlingual.report import write_validation_report
    from xlingual.results.validation import Validation

    validation = Validation.read(folders[0])
    make_folder(out.parent)
    write_validation_report(validation, out, title=title)


def _write_comparison(folders: Sequence[Path], out: Path, title: str | None) -> None:
    from xlingual.files import make_folder
    from xlingual.report.comparison import write_comparison
    from xlingual.results.comparison import Comparison

    comparison = Comparison.read(folders[0])
    make_folder(out.parent)
    write_comparison(comparison, out, title=title)


def _write_case_study(folders: Sequence[Path], out: Path, title: str | None) -> None:
    from xlingual.files import make_folder
    from xlingual.report.case_study import write_case_study
    from xlingual.results.case_study import CaseStudy

    study = CaseStudy.read(folders[0])
    make_folder(out.parent)
    write_case_study(study, out, title=title)


def _write_study(folders: Sequence[Path], out: Path, title: str | None) -> None:
    from xlingual.files import make_folder
    from xlingual.report.study import write_study
    from xlingual.results.study import StudyAnalysis

    analysis = StudyAnalysis.read(folders[0])
    make_folder(out.parent)
    write_study(analysis, out, title=title)


_WRITERS = {
    "results": _write_results,
    "validation": _write_validation,
    "comparison": _write_comparison,
    "case_study": _write_case_study,
    "study_analysis": _write_study,
}
_FILES = {kind: "analysis.json" if kind == "study_analysis" else f"{kind}.json" for kind in _WRITERS}
_ALONE = ("validation", "comparison", "case_study", "study_analysis")
_USES = {  # what has no page: the name of its schema, and what to do with it
    "calibration": "use it with xlingual evaluate backretrieval … --calibration FILE",
    "gate": "xlingual gate CANDIDATE BASELINE --github prints it for people",
    "plan": "xlingual plan RESULTS --effect E prints it for people",
    "study": "analyse it first, with xlingual study analyse STUDY --out DIR",
}


def _kind(path: Path) -> str | None:
    """Return which kind of page a folder (or such a file itself) makes, None where it makes none."""
    files = {file: kind for kind, file in _FILES.items()}
    if path.name in files and not path.is_dir():
        return files[path.name]
    return next((kind for name, kind in files.items() if (path / name).exists()), None)


def _refuse_others(path: Path) -> None:
    """Raise InputError that says what else a path holds; do nothing where that is nothing known."""
    for file in sorted(path.glob("*.json")) if path.is_dir() else [regular_file(path, "a file of results")]:
        kind = _schema_of(file)
        where = f"{path} is" if file == path else f"{path} holds"
        if kind in _USES:
            name = "" if file == path else f" ({file.name})"
            raise InputError(
                f"{where} a {kind}{name}, which has no page: {_USES[kind]}; "
                "a page is made from what evaluate, validate and compare write with --out"
            )
        if kind in _WRITERS:
            name = _FILES[kind]
            raise InputError(
                f"{where} a {kind.replace('_', ' ')} under another name: rename {file} to {name}"
            )
    if path.is_file():
        raise InputError(f"{path} is a file: give the folder that was written with --out")


def _schema_of(file: Path) -> str | None:
    """Return "gate" for a file whose schema is xlingual/gate/1, None for anything else."""
    if not file.is_file():  # a device has no end, and a named pipe waits for ever
        return None
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    schema = content.get("schema") if isinstance(content, dict) else None
    parts = schema.split("/") if isinstance(schema, str) else []
    return parts[1] if len(parts) == 3 and parts[0] == "xlingual" else None
