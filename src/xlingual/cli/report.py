"""`xlingual report`: one HTML file from folders of results."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from xlingual.cli import screen
from xlingual.cli.from_request import command
from xlingual.errors import InputError
from xlingual.files import regular_file
from xlingual.requests.single import ReportRequest
from xlingual.results.files import json_content

# kind, as its schema names it → its file, and what reads it
_KINDS = {
    "results": ("results.json", "evaluation:Results"),
    "validation": ("validation.json", "validation:Validation"),
    "validation_table": ("validation_table.json", "xlingual.papers.table1:ValidationTable"),
    "comparison": ("comparison.json", "comparison:Comparison"),
    "leaderboard": ("leaderboard.json", "leaderboard:Leaderboard"),
    "gate": ("gate.json", "gate:Gate"),
    "plan": ("plan.json", "plan:Plan"),
    "history": ("history.json", "history:Trend"),
    "repair": ("repair.json", "repair:BeforeAndAfter"),
    "pivot": ("pivot.json", "pivot:Pivot"),
    "paper_study": ("paper_study.json", "xlingual.papers.findings:StudyFindings"),
    "study_analysis": ("analysis.json", "study:StudyAnalysis"),
    "suite": ("suite.json", "suite:Suite"),
}


@command(ReportRequest)
def report(request: ReportRequest) -> None:
    """Make one report from folders of results (--out): an HTML file, or text in a chosen format.

    Folders of evaluations share one page. Folders of several multilingual pools share a table with the pools
    side by side. Any other result has a page of its own.
    """
    from xlingual.report import page_of
    from xlingual.report.render import html

    if request.out is None and request.form is None:
        raise InputError(
            "nothing to do: write the report with --out FILE, or print it with --format table, markdown, "
            "latex or csv"
        )
    kinds = {folder: _kind(folder) for folder in request.folders}
    alone = [folder for folder, kind in kinds.items() if kind not in ("results", None)]
    if alone and len(request.folders) > 1:
        validations = set(kinds.values()) == {"validation"}
        joined = ", or join them with xlingual papers backretrieval table1 DIR DIR" if validations else ""
        raise InputError(
            f"{alone[0]} holds {_named(kinds[alone[0]])}, which has its own report: give it "
            f"alone, and make one report for each{joined}"
        )
    for folder in (folder for folder, kind in kinds.items() if kind is None):
        _refuse_others(folder)
    found = [_read(folder, kinds[folder] or "results") for folder in request.folders]
    page = page_of(found[0] if alone else found, title=request.title)
    if request.out is not None:
        html.write(page, request.out)
        screen.wrote(request.out, quiet=request.quiet)
    if request.form is not None:
        screen.print_page(page, request.form)


def _read(path: Path, kind: str) -> Any:  # noqa: ANN401  (a record of results)
    file, reader = _KINDS[kind]
    module, _, name = reader.partition(":")
    if path.is_dir() and kind != "results":
        path /= file
    return getattr(import_module(module if "." in module else f"xlingual.results.{module}"), name).read(path)


def _kind(path: Path) -> str | None:
    """Return which kind of findings a folder (or such a file itself) holds, None where it holds none."""
    files = {file: kind for kind, (file, _) in _KINDS.items()}
    if path.name in files and not path.is_dir():
        return files[path.name]
    if path.is_file() and (kind := _schema_of(path)) in _KINDS:
        return kind
    return next((kind for name, kind in files.items() if (path / name).exists()), None)


def _named(kind: str | None) -> str:
    return "results" if kind == "results" else f"a {kind}".replace("_", " ")


def _refuse_others(path: Path) -> None:
    """Raise InputError that says what else a path holds; do nothing where that is nothing known."""
    for file in sorted(path.glob("*.json")) if path.is_dir() else [regular_file(path, "a file of results")]:
        kind = _schema_of(file)
        where = f"{path} is" if file == path else f"{path} holds"
        if kind == "study":
            raise InputError(
                f"{where} a study, which has no page: analyse it first, with xlingual study analyse STUDY "
                "--out DIR; a page is made from what that writes"
            )
        if kind in _KINDS:
            raise InputError(
                f"{where} {_named(kind)} under another name: give that file, or rename {file} to "
                f"{_KINDS[kind][0]}"
            )
    if path.is_file():
        raise InputError(f"{path} is a file: give the folder that was written with --out")


def _schema_of(file: Path) -> str | None:
    """Return "gate" for a file whose schema is xlingual/gate/1, None for anything else."""
    try:
        content = json_content(file, "its command")
    except InputError:
        return None
    schema = content.get("schema") if isinstance(content, dict) else None
    parts = schema.split("/") if isinstance(schema, str) else []
    return parts[1] if len(parts) == 3 and parts[0] == "xlingual" else None
