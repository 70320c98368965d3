"""Which steps of a suite are done: their requests, their inputs and their files are what they were."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from msgspec import structs

from xlingual.errors import InputError, listed
from xlingual.models.folder import file_digest
from xlingual.requests import values
from xlingual.requests.provenance import request_part, run_part
from xlingual.results import step as record
from xlingual.signature import CONVENTIONS
from xlingual.workflows.suites.inputs import changed, inputs
from xlingual.workflows.suites.reading import Step

NEW = "not done yet"
# settings that change no number, but the files or the report
_WRITTEN = ("examples", "neighbours", "name", "trec_depth")


def now(step: Step, images: dict[str, str]) -> record.Step:
    """Return what a step would be made from at present; it has no files yet."""
    asked = values(step.request)
    kept = run_part(type(step.request), asked)
    request = json.loads(json.dumps(request_part(type(step.request), asked)))
    return record.Step(
        step=step.name,
        request=request,
        settings={name: json.loads(json.dumps(kept[name])) for name in _WRITTEN if name in kept},
        program={"xlingual": version("xlingual"), "conventions": CONVENTIONS},
        inputs=inputs(step.request, images),
        files={},
    )


def reasons(step: Step, present: record.Step) -> list[str]:
    """Return why a step must be computed, in words; nothing where what is there is its answer."""
    try:
        before = record.Step.read(step.folder)
    except InputError:
        return [NEW]
    asked: dict[str, Any] = present.request | present.settings  # type: ignore[operator]
    was: dict[str, Any] = before.request | before.settings  # type: ignore[operator]
    settings = [
        name.replace("_", "-") for name in dict.fromkeys([*asked, *was]) if asked.get(name) != was.get(name)
    ]
    out = [f"{listed(settings, 4)} changed"] if settings else []
    if before.program != present.program:
        out.append("it was made by another version of xlingual")
    if files := changed(before.inputs, present.inputs):
        out.append(f"{listed(files, 4)} changed")
    if spoilt := changed(before.files, _files(step.folder, before.files)):
        out.append(f"{listed(spoilt, 4)} in its folder changed since")
    return out


def begin(step: Step) -> None:
    """Mark a step as not finished: from now on its folder may hold anything."""
    (step.folder / record.Step.file).unlink(missing_ok=True)


def finish(step: Step, present: record.Step) -> None:
    """Mark a step as finished, with the files of its folder."""
    names = [path.name for path in step.folder.iterdir() if path.is_file() and path.name != record.Step.file]
    done = structs.replace(present, files=_files(step.folder, names))
    done.write(step.folder)


def _files(folder: Path, names: Mapping[str, str] | list[str]) -> dict[str, str]:
    own = (folder / name for name in sorted(names) if Path(name).name == name)
    return {path.name: file_digest(path) for path in own if path.is_file() and not path.is_symlink()}
