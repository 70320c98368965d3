"""Folders of results that MTEB wrote (2 or newer, and 1 since 1.11), read as they are: plain JSON.

MODEL/REVISION/TASK.json holds the scores of one task, `model_meta.json` beside it the model's name. Folders
above these are read too: those of several models, and the cache of MTEB.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import Struct

from xlingual.errors import InputError, why
from xlingual.files import regular_file
from xlingual.typed import convert

_META = "model_meta.json"
_EXPERIMENTS = "experiments"  # of a revision: the same model with other arguments
_DEEPEST = 7  # folders between the one that is given and a file
_REMEDY = "give the folder that mteb.evaluate wrote, with MTEB 2 or newer"


class Subset(Struct, frozen=True):
    """The scores of one subset of a split; the main score is None where MTEB found no number."""

    main_score: float | None
    hf_subset: str
    languages: list[str]


class TaskScores(Struct, frozen=True):
    """What TASK.json holds, as far as it is used."""

    task_name: str
    dataset_revision: str
    scores: dict[str, list[Subset]]
    mteb_version: str | None = None
    date: float | str | None = None


class ModelMeta(Struct, frozen=True):
    """What model_meta.json holds, as far as it is used; older ones call the name `model_name`."""

    name: str | None = None
    model_name: str | None = None
    revision: str | None = None
    embed_dim: int | list[int] | None = None


@dataclass(frozen=True)
class MtebResult:
    """The scores of one model in one task."""

    path: Path
    model: str
    revision: str
    dimensions: int | None
    scores: TaskScores


def read_mteb(folder: Path) -> list[MtebResult]:
    """Return the results of MTEB in a folder, by path; none where it holds no file of MTEB.

    Raises InputError that names file and field where a file of MTEB is not what it must be.
    """
    found = []
    for path in sorted(folder.rglob("*.json")):
        inside = path.relative_to(folder)
        if path.name == _META or len(inside.parts) > _DEEPEST or not path.is_file():
            continue
        content = _json(path)
        if not isinstance(content, Mapping):
            continue
        if "mteb_dataset_name" in content:
            raise InputError(f"{path} was written by MTEB before 1.11, whose files differ: {_REMEDY}")
        if "task_name" not in content or "scores" not in content:
            continue  # somebody else's
        scores = convert(content, TaskScores, where=str(path), remedy=_REMEDY)
        found.append(_of_model(path, scores))
    return found


def _of_model(path: Path, scores: TaskScores) -> MtebResult:
    """Return the result with its model: as model_meta.json has it, else by the names of its folders."""
    place = path.parent
    experiment = place.name if place.parent.name == _EXPERIMENTS else ""
    revision = place.parent.parent if experiment else place
    meta = next((_meta(one) for one in (place / _META, revision / _META) if one.is_file()), ModelMeta())
    name = meta.name or meta.model_name or revision.parent.name.replace("__", "/", 1)
    return MtebResult(
        path,
        f"{name} ({experiment})" if experiment else name,
        meta.revision or revision.name,
        meta.embed_dim if isinstance(meta.embed_dim, int) else None,
        scores,
    )


def _meta(path: Path) -> ModelMeta:
    return convert(_json(path), ModelMeta, where=str(path), remedy=_REMEDY)


def _json(path: Path) -> Any:  # noqa: ANN401  (what JSON holds)
    """Return what a file holds; MTEB writes NaN for a score that it could not compute: None here."""
    regular_file(path, "a file that MTEB wrote")
    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=lambda _: None)
    except (RecursionError, ValueError) as error:
        raise InputError(f"{path} is not valid JSON ({error}): {_REMEDY}") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {why(error)}") from error
