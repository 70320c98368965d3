"""Where a training is logged: a file, and TensorBoard, MLflow, Weights & Biases, which are off by default.

The log, `log.jsonl` in the model's folder, has one line of JSON for each epoch.

A sink is written `tensorboard:DIR`, `mlflow` or `mlflow:URI`, `wandb` or `wandb:PROJECT`. Its package is
imported when a training starts. A failure at the start is an error; a sink that fails later is dropped with
one warning, since a training is worth more than its plots.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from xlingual.errors import DataWarning, InputError, MissingExtraError, XlingualError, did_you_mean
from xlingual.models.folder import LOG
from xlingual.store.disk import append, write_file


class Log:
    """Writes a log; lines of epochs after `after` are dropped, since these will be trained again."""

    def __init__(self, model_folder: Path, after: int = 0) -> None:
        self.path = model_folder / LOG
        kept = [line for line in read_log(self.path) if line["epoch"] <= after] if after else []
        if not kept and not self.path.exists():
            return  # a training that fails in its first epoch leaves nothing
        try:
            write_file(self.path, b"".join(_encoded(line) for line in kept))
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def add(self, line: Mapping[str, Any]) -> None:
        """Add the line of an epoch, on the disk when this returns."""
        try:
            append(self.path, _encoded(line))
        except OSError as error:
            raise _unwritable(self.path, error) from error


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a log, [] where there is none; a last line that was cut by a crash is left out."""
    if not path.is_file():
        return []
    lines = []
    for line in path.read_bytes().splitlines():
        try:
            lines.append(json.loads(line))
        except ValueError:
            break
    return lines


class Sink(Protocol):
    """Receives the settings of a training and its log, line by line."""

    def config(self, settings: Mapping[str, Any], after: int) -> None:
        """Begin, with the settings of the training; `after` epochs are over (0, or more when continued)."""

    def epoch(self, line: Mapping[str, Any]) -> None:
        """Take the log line of an epoch."""

    def close(self) -> None:
        """Write all that is still pending; also called after a failure."""


def parse_sink(text: str) -> Sink:
    """Return the sink that a text such as `tensorboard:DIR` names; raise InputError where there is none."""
    kind, _, where = text.partition(":")
    if kind not in SINKS:
        raise InputError(
            f"sink {text!r} is unknown.{did_you_mean(kind, SINKS)} Write tensorboard:DIR, mlflow[:URI] or "
            "wandb[:PROJECT]"
        )
    return SINKS[kind](where)


def flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested settings under names joined by dots.

    >>> flat({"a": 1, "b": {"c": 2}})
    {'a': 1, 'b.c': 2}
    """
    named: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            named |= flat(value, f"{prefix}{name}.")
        else:
            named[prefix + name] = value
    return named


def numbers(line: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers of a log line under flat names, without the ones that are null.

    >>> numbers({"epoch": 1, "loss": 0.5, "parts": {"a": 2.0}, "validation": {"score": 3.0, "parts": {}}})
    {'loss': 0.5, 'loss/a': 2.0, 'validation/score': 3.0}
    """
    validation = line.get("validation") or {}
    named = {name: line.get(name) for name in ("loss", "rate", "seconds")}
    named |= {f"loss/{name}": value for name, value in line.get("parts", {}).items()}
    named |= {"validation/score": validation.get("score")}
    named |= {f"validation/{name}": value for name, value in validation.get("parts", {}).items()}
    return {name: value for name, value in named.items() if value is not None}


class TensorBoard:
    """Event files in a folder."""

    def __init__(self, where: str) -> None:
        if not where:
            raise InputError("sink tensorboard needs a folder: write tensorboard:DIR")
        self._folder, self._writer = Path(where), None  # type: Path, Any

    def config(self, settings: Mapping[str, Any], after: int) -> None:
        """Begin; hide the values of epochs that will be trained again."""
        try:
            writer = import_module("torch.utils.tensorboard").SummaryWriter
        except ImportError as error:
            raise MissingExtraError("sink tensorboard", "track") from error
        self._writer = writer(str(self._folder), purge_step=after + 1)
        lines = [f"    {name} = {value}" for name, value in flat(settings).items()]  # indented: as it is
        self._writer.add_text("settings", "\n".join(lines))

    def epoch(self, line: Mapping[str, Any]) -> None:
        """Write the numbers of an epoch."""
        for name, value in numbers(line).items():
            self._writer.add_scalar(name, value, line["epoch"])
        self._writer.flush()

    def close(self) -> None:
        """Close the event file."""
        if self._writer is not None:
            self._writer.close()


class MLflow:
    """A run of MLflow, at its default place or a tracking URI."""

    def __init__(self, where: str) -> None:
        self._uri, self._mlflow = where, None  # type: str, Any

    def config(self, settings: Mapping[str, Any], after: int) -> None:
        """Start a run with the settings as its parameters."""
        mlflow = _package("mlflow")
        if self._uri:
            mlflow.set_tracking_uri(self._uri)
        mlflow.start_run()
        self._mlflow = mlflow
        mlflow.log_params({name: str(value)[:500] for name, value in flat(settings).items()})
        mlflow.log_param("continued_after_epoch", after)

    def epoch(self, line: Mapping[str, Any]) -> None:
        """Log the numbers of an epoch."""
        self._mlflow.log_metrics(numbers(line), step=line["epoch"])

    def close(self) -> None:
        """End the run."""
        if self._mlflow is not None:
            self._mlflow.end_run()


class Wandb:
    """A run of Weights & Biases."""

    def __init__(self, where: str) -> None:
        self._project, self._run = where, None  # type: str, Any

    def config(self, settings: Mapping[str, Any], after: int) -> None:
        """Start a run with the settings as its configuration."""
        config = {**flat(settings), "continued_after_epoch": after}
        self._run = _package("wandb").init(project=self._project or None, config=config)

    def epoch(self, line: Mapping[str, Any]) -> None:
        """Log the numbers of an epoch."""
        self._run.log(numbers(line), step=line["epoch"])

    def close(self) -> None:
        """Finish the run."""
        if self._run is not None:
            self._run.finish()


SINKS: Mapping[str, Callable[[str], Sink]] = {"tensorboard": TensorBoard, "mlflow": MLflow, "wandb": Wandb}


class Sinks:
    """Several sinks as one: one that fails is reported once and receives nothing more."""

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = list(sinks)

    def config(self, settings: Mapping[str, Any], after: int) -> None:
        """Begin; raise InputError (or MissingExtraError) where a sink cannot."""
        for sink in self._sinks:
            try:
                sink.config(settings, after)
            except XlingualError:
                raise
            except Exception as error:
                raise InputError(
                    f"sink {_name(sink)} cannot start ({_reason(error)}): leave it out"
                ) from error

    def epoch(self, line: Mapping[str, Any]) -> None:
        """Pass the log line of an epoch to all."""
        for sink in list(self._sinks):
            try:
                sink.epoch(line)
            except Exception as error:
                self._sinks.remove(sink)
                with suppress(Exception):
                    sink.close()
                warnings.warn(
                    f"sink {_name(sink)} failed at epoch {line['epoch']} ({_reason(error)}) and is "
                    "dropped: the training goes on, and its own log has every epoch",
                    DataWarning,
                    stacklevel=2,
                )

    def close(self) -> None:
        """Close all; one that fails gives a warning."""
        for sink in self._sinks:
            try:
                sink.close()
            except Exception as error:
                warnings.warn(
                    f"sink {_name(sink)} could not be closed ({_reason(error)}): it may lack the last epochs",
                    DataWarning,
                    stacklevel=2,
                )


def _package(name: str) -> Any:  # noqa: ANN401  (a module)
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(f"sink {name} needs the package {name}: pip install {name}") from error


def _name(sink: Sink) -> str:
    return next((name for name, kind in SINKS.items() if type(sink) is kind), type(sink).__name__)


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _encoded(line: Mapping[str, Any]) -> bytes:
    return (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot write {path} ({error.strerror}): is the disk full, or the folder locked?")
