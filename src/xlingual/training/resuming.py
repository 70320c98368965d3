"""Whether a training may begin, or go on, in a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xlingual.errors import InputError
from xlingual.models.folder import CARD, CONFIG, NETWORK, WEIGHTS
from xlingual.training.checkpoints import Checkpoint, Checkpoints
from xlingual.training.options import FitOptions

_WRITTEN = (CARD, WEIGHTS, NETWORK)  # written beside a configuration or a checkpoint only
_SCHEMA = "xlingual/model/"  # what the "schema" of every model's configuration begins with
_MOST = 4  # differences named
_ABSENT = object()


def compared_settings(settings: Mapping[str, Any], options: FitOptions) -> dict[str, Any]:
    """Return all that must be equal where a training is continued, as JSON gives it back."""
    try:
        plain: dict[str, Any] = json.loads(
            json.dumps({"recipe": settings, "fit": options.compared()}, allow_nan=False)
        )
    except TypeError as error:
        raise TypeError(f"settings of a training must be plain JSON: {error}") from error
    return plain


def start(
    folder: Path, settings: Mapping[str, Any], options: FitOptions, *, resume: bool, replace: bool
) -> Checkpoint | None:
    """Return the checkpoint to go on from, or None for a training from the beginning.

    Raises InputError where `refuse` does, or where settings differ.
    """
    refuse(folder, resume=resume, replace=replace)
    if not resume:
        return None
    checkpoint = Checkpoints(folder).read()
    _check(folder, checkpoint, settings, options)
    return checkpoint


def refuse(folder: Path, *, resume: bool, replace: bool) -> None:
    """Raise InputError where a training can neither begin nor go on in a folder, whatever its settings.

    That is where a training or model is neither to be continued nor replaced, where nothing is to be
    continued, or where a file to be replaced was not written by a training.
    """
    checkpoints = Checkpoints(folder)
    if resume and replace:
        raise InputError("continue the training, or replace it: not both")
    if resume:
        if not checkpoints.exists():
            raise InputError(
                f"{folder} has no checkpoint to continue from (a training leaves one after each epoch): "
                "start without resume"
            )
        return
    foreign = _foreign(folder)
    if foreign is not None:
        raise InputError(
            f"{folder} has a {foreign} that no training wrote and that would be replaced: choose "
            "another folder"
        )
    present = [path.name for path in (folder / CONFIG, checkpoints.folder / "state.json") if path.is_file()]
    if present and not replace:
        raise InputError(
            f"{folder} already has {'a model' if CONFIG in present else 'a training that was interrupted'}: "
            "continue it (--resume), train it anew with --force, or choose another --out"
        )


def _foreign(folder: Path) -> str | None:
    """Return the name of a file that a training would replace though none wrote it; None without one."""
    if Checkpoints(folder).exists():
        return None
    config = folder / CONFIG
    if not config.is_file():
        return next((name for name in _WRITTEN if (folder / name).exists()), None)
    try:
        found = json.loads(config.read_bytes())
    except ValueError:
        return CONFIG
    ours = isinstance(found, dict) and str(found.get("schema")).startswith(_SCHEMA)
    return None if ours else CONFIG


def _check(folder: Path, checkpoint: Checkpoint, settings: Mapping[str, Any], options: FitOptions) -> None:
    done = checkpoint.standing.epoch
    if options.epochs < done:
        raise InputError(
            f"the training in {folder} already has {done} epochs, and {options.epochs} are asked for: give "
            f"epochs={done} to keep it as it is, or more"
        )
    before, now = _named(checkpoint.settings), _named(settings)
    if options.epochs == done:  # it only ends
        before.pop("epochs", None)
        now.pop("epochs", None)
    names = [name for name in {**before, **now} if before.get(name, _ABSENT) != now.get(name, _ABSENT)]
    if names:
        differences = "; ".join(
            f"{name} was {_shown(before.get(name, _ABSENT))} and is {_shown(now.get(name, _ABSENT))}"
            for name in names[:_MOST]
        )
        more = f"; and {len(names) - _MOST} more" if len(names) > _MOST else ""
        raise InputError(
            f"cannot continue the training in {folder} with other settings: {differences}{more}: give "
            "the same settings, train it anew with --force, or choose another --out"
        )


def _named(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the recipe's and the loop's settings by name; `fit.` sets equal names apart."""
    recipe, loop = _flat(settings["recipe"]), _flat(settings["fit"])
    return {**recipe, **{f"fit.{name}" if name in recipe else name: value for name, value in loop.items()}}


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested settings under names joined by dots.

    >>> _flat({"a": 1, "b": {"c": 2}})
    {'a': 1, 'b.c': 2}
    """
    named: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            named |= _flat(value, f"{prefix}{name}.")
        else:
            named[prefix + name] = value
    return named


def _shown(value: object) -> str:
    text = "not set" if value is _ABSENT else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"
