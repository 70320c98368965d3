"""Where runs are logged: TensorBoard, MLflow, Weights & Biases, or a file of CSV; all are off by default.

A sink is written `tensorboard:DIR`, `mlflow` or `mlflow:URI`, `wandb` or `wandb:PROJECT`, `csv:FILE`.
Trainings and evaluations use the same ones. A sink's package is imported when it is needed.
"""

from __future__ import annotations

import csv
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from xlingual.errors import InputError, MissingExtraError, did_you_mean
from xlingual.files import atomic_file, make_folder


class Sink(Protocol):
    """Receives the settings of a training and its log, line by line."""

    def config(self, settings: Mapping[str, Any], after: int) -> None:
        """Begin, with the settings of the training; `after` epochs are over (0, or more when continued)."""

    def epoch(self, line: Mapping[str, Any]) -> None:
        """Take the log line of an epoch."""

    def close(self) -> None:
        """Write all that is still pending; also called after a failure."""


class Tracker(ABC):
    """A sink of this module: it takes numbers of any kind of run, a training or an evaluated encoder."""

    @abstractmethod
    def load(self) -> Any:  # noqa: ANN401  (of any package)
        """Import the package; raise InputError where it is missing."""

    @abstractmethod
    def config(self, settings: Mapping[str, Any], after: int) -> None:
        """Begin, with the settings of the run; `after` steps are over (0, or more when continued)."""

    @abstractmethod
    def log(self, values: Mapping[str, float], step: int) -> None:
        """Take the numbers of a step."""

    @abstractmethod
    def close(self) -> None:
        """Write all that is still pending; also called after a failure."""

    def epoch(self, line: Mapping[str, Any]) -> None:
        """Take the log line of an epoch."""
        self.log(numbers(line), line["epoch"])


def parse_sink(text: str, run: str = "") -> Tracker:
    """Return the sink that a text such as `tensorboard:DIR` names; raise InputError where there is none.

    `run` is the name of the run, where it has one.
    """
    kind, _, where = text.partition(":")
    if kind not in SINKS:
        raise InputError(
            f"sink {text!r} is unknown.{did_you_mean(kind, SINKS)} Write tensorboard:DIR, mlflow[:URI], "
            "wandb[:PROJECT] or csv:FILE"
        )
    return SINKS[kind](where, run)


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


class TensorBoard(Tracker):
    """Event files in a folder; a run that has a name has a folder of its own in it."""

    def __init__(self, where: str, run: str = "") -> None:
        if not where:
            raise InputError("sink tensorboard needs a folder: write tensorboard:DIR")
        self._folder, self._writer = Path(where, quote(run, safe=" +=,@")), None  # type: Path, Any

    def load(self) -> Any:  # noqa: ANN401  (a class)
        """Import the package."""
        try:
            return import_module("torch.utils.tensorboard").SummaryWriter
        except ImportError as error:
            raise MissingExtraError("sink tensorboard", "track") from error

    def config(self, settings: Mapping[str, Any], after: int) -> None:
        """Begin; hide the values of epochs that will be trained again."""
        self._writer = self.load()(str(self._folder), purge_step=after + 1)
        lines = [f"    {name} = {value}" for name, value in flat(settings).items()]  # indented: as it is
        self._writer.add_text("settings", "\n".join(lines))

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Write the numbers of a step."""
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def close(self) -> None:
        """Close the event file."""
        if self._writer is not None:
            self._writer.close()


class MLflow(Tracker):
    """A run of MLflow, at its default place or a tracking URI."""

    def __init__(self, where: str, run: str = "") -> None:
        self._uri, self._run, self._mlflow = where, run, None  # type: str, str, Any

    def load(self) -> Any:  # noqa: ANN401  (a module)
        """Import the package."""
        return _package("mlflow")

    def config(self, settings: Mapping[str, Any], after: int) -> None:
        """Start a run with the settings as its parameters."""
        mlflow = self.load()
        if self._uri:
            mlflow.set_tracking_uri(self._uri)
        mlflow.start_run(run_name=self._run or None)
        self._mlflow = mlflow
        mlflow.log_params({name: str(value)[:500] for name, value in flat(settings).items()})

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Log the numbers of a step; names have no @ there: R@10 is R_at_10."""
        named = {_UNSAFE.sub("_", name.replace("@", "_at_")): value for name, value in values.items()}
        self._mlflow.log_metrics(named, step=step)

    def close(self) -> None:
        """End the run."""
        if self._mlflow is not None:
            self._mlflow.end_run()


class Wandb(Tracker):
    """A run of Weights & Biases."""

    def __init__(self, where: str, run: str = "") -> None:
        self._project, self._name, self._run = where, run, None  # type: str, str, Any

    def load(self) -> Any:  # noqa: ANN401  (a module)
        """Import the package."""
        return _package("wandb")

    def config(self, settings: Mapping[str, Any], after: int) -> None:
        """Start a run with the settings as its configuration."""
        named = {"name": self._name} if self._name else {}
        self._run = self.load().init(project=self._project or None, config=flat(settings), **named)

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Log the numbers of a step."""
        self._run.log(dict(values), step=step)

    def close(self) -> None:
        """Finish the run."""
        if self._run is not None:
            self._run.finish()


class Csv(Tracker):
    """A file of CSV with a line for each step; lines of other runs stay, and no line is repeated."""

    repeated = False  # whether the last line was there already

    def __init__(self, where: str, run: str = "") -> None:
        if not where:
            raise InputError("sink csv needs a file: write csv:FILE")
        self._path, self._run = Path(where), run

    def load(self) -> None:
        """Do nothing: it needs no package."""

    def config(self, settings: Mapping[str, Any], after: int) -> None:
        """Take out the lines of epochs that will be trained again, where a training is continued."""
        kept = [line for line in read_lines(self._path) if self._again(line, after)]
        if len(kept) < len(read_lines(self._path)):
            write_lines(self._path, kept)

    def _again(self, line: Mapping[str, str], after: int) -> bool:
        return not after or line.get("run", "") != self._run or int(line.get("step") or 0) <= after

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Add a line, unless an equal one is there."""
        line = {"run": self._run, "step": step, **values}
        as_text = {name: str(value) for name, value in line.items() if value != ""}
        self.repeated = any(as_text == _filled(other) for other in read_lines(self._path))
        if not self.repeated:
            add_line(self._path, line)

    def close(self) -> None:
        """Do nothing: each line is on the disk."""


SINKS: Mapping[str, Callable[[str, str], Tracker]] = {
    "tensorboard": TensorBoard,
    "mlflow": MLflow,
    "wandb": Wandb,
    "csv": Csv,
}
_UNSAFE = re.compile(r"[^\w\-. :/]")  # what MLflow refuses in names


def add_line(path: Path, values: Mapping[str, Any]) -> None:
    """Add a line to a CSV file, made if need be; names that its header lacks become new columns."""
    make_folder(path.parent)
    write_lines(path, [*read_lines(path), values])


def read_lines(path: Path) -> list[dict[str, str]]:
    """Return the lines of a CSV file, [] where there is none."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _filled(line: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of a line that are not empty."""
    return {name: value for name, value in line.items() if value}


def write_lines(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    """Write a CSV file whose columns are all names of the lines."""
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for line in lines for name in line)))
        writer.writeheader()
        writer.writerows(lines)


def _package(name: str) -> Any:  # noqa: ANN401  (a module)
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(f"sink {name} needs the package {name}: pip install {name}") from error


def name_of(sink: Sink) -> str:
    """Return what a sink is called, for messages."""
    return next((name for name, kind in SINKS.items() if type(sink) is kind), type(sink).__name__)
