"""Results of evaluations in TensorBoard, MLflow, Weights & Biases or CSV: a run for each encoder.

`log_results(results, ["mlflow:http://localhost:5000"])`, and `--log-to` of the commands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xlingual.integrations.found import parts_of
from xlingual.results import Results
from xlingual.tasks import task_of
from xlingual.training.sinks import Sinks
from xlingual.training.trackers import parse_sink


def check_sinks(sinks: Sequence[str]) -> None:
    """Raise InputError where a sink is unknown or its package is missing; asked before any work."""
    for sink in sinks:
        parse_sink(sink).load()


def log_results(results: Results, sinks: Sequence[str], *, name: str = "") -> None:
    """Log the numbers of each encoder as a run of its own, named after it (with several pools NAME-ENCODER).

    The settings of the evaluation are the run's; numbers are those of `numbers_of`.
    """
    for encoder in dict.fromkeys(line.encoder for line in results.summary):
        run = f"{name}-{encoder}" if name else encoder
        pending = Sinks([parse_sink(sink, run) for sink in sinks], "the results are not harmed")
        try:
            pending.config(settings_of(results, encoder), 0)
            values = numbers_of(results, encoder)
            pending.each(lambda sink, values=values: sink.log(values, 0))  # type: ignore[misc]
        finally:
            pending.close()


def numbers_of(results: Results, encoder: str) -> dict[str, float]:
    """Return the means of an encoder by name: bkr/R@10, of a pair bkr/R@10/en-de, and their intervals.

    The ends of an interval are bkr/R@10/low and bkr/R@10/high.
    """
    named = {}
    for part in parts_of(results, encoder):
        task = (*task_of(part.task).short, part.task)[0]
        for line in part.lines:
            name = "/".join(filter(None, (task, line.measure.replace("/", "-"), part.pair)))
            if line.value is not None:
                named[name] = float(line.value)
            if line.ci is not None:
                named |= {f"{name}/low": line.ci.low, f"{name}/high": line.ci.high}
    return named


def settings_of(results: Results, encoder: str) -> dict[str, Any]:
    """Return the settings of the evaluation of an encoder."""
    first = next(entry for entry in results.entries if entry.encoder == encoder)
    versions = {"xlingual": results.run["xlingual"]} if "xlingual" in results.run else {}
    return {"encoder": encoder, **results.request, "signature": first.signature, **versions}
