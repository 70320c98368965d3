"""Results of evaluations in TensorBoard, MLflow, Weights & Biases or CSV: a run for each encoder.

`log_results(results, ["mlflow:http://localhost:5000"])`, and `--log-to` of the commands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xlingual.errors import listed
from xlingual.hidden import shown
from xlingual.integrations.found import encoder_of, parts_of
from xlingual.results import Results
from xlingual.tasks import task_of
from xlingual.training.sinks import Sinks
from xlingual.training.trackers import parse_sink


def check_sinks(sinks: Sequence[str]) -> None:
    """Raise InputError where a sink is unknown or its package is missing; asked before any work."""
    for sink in sinks:
        parse_sink(sink).load()


def log_results(
    results: Results, sinks: Sequence[str], *, name: str = "", encoder: str | None = None
) -> list[str]:
    """Log the numbers of each encoder as a run of its own, named after it (with several pools NAME-ENCODER).

    `encoder` names one; all are logged otherwise. The settings of the evaluation are the run's; numbers are
    those of `numbers_of`. A line of CSV that is there already, with equal values, is not repeated; the others
    get a new run each time. Returns a sentence for each sink: what was written, and where.
    """
    known = list(dict.fromkeys(line.encoder for line in results.summary))
    written: dict[str, list[str]] = {sink: [] for sink in sinks}
    there: dict[str, list[str]] = {sink: [] for sink in sinks}
    for one in known if encoder is None else [encoder_of(results, encoder)]:
        run = f"{name}-{one}" if name else one
        made = {sink: parse_sink(sink, run) for sink in written}
        pending = Sinks(list(made.values()), "the results are not harmed")
        try:
            pending.config(settings_of(results, one), 0)
            values = numbers_of(results, one)
            pending.each(lambda sink, values=values: sink.log(values, 0))  # type: ignore[misc]
        finally:
            pending.close()
        for text, sink in made.items():
            if sink in pending.receiving:
                (there if getattr(sink, "repeated", False) else written)[text].append(run)
    return [
        *(f"wrote {_place(sink)} ({_runs(runs)})" for sink, runs in written.items() if runs),
        *(f"{_place(sink)} has {_runs(runs)} already, unchanged" for sink, runs in there.items() if runs),
    ]


def _place(sink: str) -> str:
    """Return where a sink writes: its file or folder, or the tracker without a password in its address."""
    kind, _, where = sink.partition(":")
    return where if kind in ("csv", "tensorboard") else shown(sink)


def _runs(names: Sequence[str]) -> str:
    return f"run{'s' if len(names) > 1 else ''} {listed(names, 5)}"


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
