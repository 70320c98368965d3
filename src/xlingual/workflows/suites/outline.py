"""Writing a suite for data, with comments: what `xlingual init` makes."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xlingual.data.manifest import Manifest
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.pools.reading import is_pool
from xlingual.errors import InputError, parameter, warn
from xlingual.images import missing_files
from xlingual.online import page as address
from xlingual.tasks import TASKS
from xlingual.workflows.suites.reading import read_suite

_SPEC_PATH = re.compile(
    r"(?P<head>(?:[\w.-]+=)?(?:vectors:)?)(?P<path>[^:?#]+\.(?:npy|npz|safetensors|parquet)\S*)"
)


@dataclass(frozen=True)
class Outline:
    """What a suite is to hold."""

    data: Path
    kind: str  # manifest, pool or files
    tasks: Sequence[str]
    encoders: Mapping[str, str]
    image_encoder: str | None = None
    name: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    gate: tuple[str, str, float] | None = None  # candidate, baseline, margin


def tasks_for(data: Path, *, opens_images: bool = False) -> tuple[str, list[str]]:
    """Return what data are (manifest, pool or files), and the tasks that they allow.

    Where the suite `opens_images`, missing image files are reported (DataWarning).
    """
    if is_pool(data):
        MultilingualPool.read(data)
        return "pool", ["lareqa"]
    try:
        manifest = Manifest.read(data)
    except InputError as error:
        if "sentence1" in str(error) or _has_scores(data):
            return "files", ["sts"]
        raise
    missing = len(missing_files(manifest.image_source)) if opens_images and manifest.has_images else 0
    if missing:
        warn(
            f"{data}: {missing} of {len(manifest.image_source)} image files are missing: put them there, or "
            f"give vectors of the images ({parameter('image_encoder', 'vectors:FILE.npy')})"
        )
    languages, images = len(manifest.languages), manifest.has_images
    several = (
        len(set(zip(manifest.item.tolist(), manifest.language.tolist(), strict=True))) > manifest.n_items
    )
    found = ["bkr"] if images and languages > 1 else []
    found += ["xlr"] if several else []
    if not found:
        raise InputError(
            f"{data} has texts in {languages} {'language' if languages == 1 else 'languages'}, "
            f"{'with' if images else 'without'} images, and no item with texts in two: an evaluation "
            "needs images and two languages, or items in two languages"
        )
    return "manifest", found


def _has_scores(data: Path) -> bool:
    try:
        from xlingual.data.sentence_pairs import SentencePairs

        return len(SentencePairs.read(data)) > 0
    except InputError:
        return False


def name_for(data: Path) -> str:
    """Return a name for a data set that may be a folder."""
    return (
        re.sub(r"[^\w.-]+", "-", data.stem if data.is_file() else data.absolute().name).strip("-.") or "data"
    )


def written(outline: Outline, folder: Path) -> str:
    """Return the suite as TOML with comments; paths are written as the folder of the file sees them.

    It is read back: what it cannot be is an InputError now, and not when it is run.
    """
    name = outline.name or name_for(outline.data)
    lines = [
        "# A suite: what `xlingual run` computes; only what changed is computed again.",
        f"# What each key may be: {address('reference/suites')}",
        "# For an editor: xlingual run --schema suite > suite.schema.json",
        "#:schema suite.schema.json",
        "",
        f"title = {_text(name)}",
        'out = "results"  # the page over all is results/index.html',
        "",
        "[encoders]  # NAME = SPEC; xlingual encoders lists the kinds",
        *(f"{_key(key)} = {_text(_moved(spec, folder))}" for key, spec in outline.encoders.items()),
        "",
        f"[data.{_key(name)}]  # further data sets: another table [data.NAME]",
        f"{outline.kind} = {_value(outline, folder)}",
        *(f"{key} = {_text(value)}" for key, value in outline.options.items()),
    ]
    if outline.image_encoder is not None:
        lines += [f"image-encoder = {_text(_moved(outline.image_encoder, folder))}"]
    if outline.kind == "manifest":
        lines += ['# pairs = ["en-de", "de-en"]   # language pairs; without it all', "# sample-size = 1000"]
    for task in outline.tasks:
        lines += ["", f"[tasks.{task}]  # {_sentence(task)}"]
    lines += ["", *_gate(outline)]
    text = "\n".join(lines) + "\n"
    read_suite(tomllib.loads(text), "the suite")
    return text


def _gate(outline: Outline) -> list[str]:
    """Return the lines of a gate; commented out where none was asked for."""
    names = list(outline.encoders)
    candidate, baseline, margin = outline.gate or (names[0], names[-1] if len(names) > 1 else "other", 0.01)
    mark = "" if outline.gate else "# "
    return [
        f"{mark}[gates.{_key(candidate)}]  # exit code 0 pass, 1 fail, 3 cannot tell",
        f"{mark}candidate = {_text(candidate)}",
        f"{mark}baseline = {_text(baseline)}",
        f"{mark}margin = {margin:g}  # how much worse it may be",
    ]


def _value(outline: Outline, folder: Path) -> str:
    path = _text(_relative(outline.data, folder))
    return f"[{path}]" if outline.kind == "files" else path


def _moved(spec: str, folder: Path) -> str:
    """Return a spec whose path of vectors counts from another folder."""
    found = _SPEC_PATH.fullmatch(spec)
    if found is None or folder.absolute() == Path.cwd():
        return spec
    return f"{found['head']}{_relative(Path(found['path']), folder)}"


def _relative(path: Path, folder: Path) -> str:
    if path.is_absolute():
        return path.as_posix()
    return Path(os.path.relpath(path.absolute(), folder.absolute())).as_posix()


def _sentence(task: str) -> str:
    return next(row.sentence for row in TASKS.values() if task in (row.name, *row.short))


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else _text(name)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
