"""How golden and behaviour tests call the program: where a name or an option changes, this file changes.

Every function takes and returns plain values. What the program finds comes back as `Findings`: `rows`, one
for each number (see `Row`), `tables` of queries and neighbours as Arrow tables, the exit `code` of commands,
and `record`, the program's own object, which is only handed on to another function here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

import xlingual
from xlingual.cli.main import run

# field of a record that says of which thing it is → column of the row; the first of a column is kept
IDENTITY = {
    "encoder": "encoder",
    "system": "encoder",
    "spec": "encoder",
    "name": "encoder",
    "source": "source",
    "target": "target",
    "seed": "seed",
    "measure": "measure",
}
# fields that stand in the view: what a record in a list is about
# fmt: off
ABOUT = {
    "task", "kind", "column", "label", "part", "coefficient", "first", "second", "rater",
    "epoch", "map", "data", "similarity", "criterion", "language",
}
# how and of what something was made, and sentences
LEFT = {
    "signature", "note", "notes", "warnings", "timings", "provenance", "conditions", "request", "run",
    "diagnostics", "cost", "costs", "dropped", "truncated", "digest", "digests", "schema", "method", "test",
    "image_encoder", "examples", "folders", "seconds", "created", "date", "tables", "ratio_note",
    "level", "claim", "version", "history", "record", "no_mean", "untested", "labels", "study", "title",
    "origin", "signatures", "settings", "algorithm", "images", "folder", "result", "results", "judge",
    "model",
}
# fmt: on
NOBODY = ""  # in a column that does not apply


class Row(NamedTuple):
    """One value; `seed` is "mean" for means over seeds, `view` what the number is of beside these."""

    encoder: str
    source: str
    target: str
    seed: str
    view: str
    measure: str
    field: str
    value: float | str | None


class Outcome(NamedTuple):
    """The exit code of a command, and what it printed."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Findings:
    """What a step of the program found."""

    rows: list[Row]
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    record: Any = None
    code: int = 0

    def value(self, **keys: str) -> Any:
        """Return the value of the only row that has these keys; `field` is "value" unless given."""
        keys = {"field": "value", **keys}
        matching = [row for row in self.rows if all(getattr(row, k) == v for k, v in keys.items())]
        if len({row.value for row in matching}) != 1:
            raise LookupError(f"{len(matching)} rows have {keys}: {matching[:5]}")
        return matching[0].value


def rows_of(record: Any) -> list[Row]:
    """Return the rows of a record, an object of JSON or a list of these: a row for each number in it."""
    plain = msgspec.to_builtins(record, enc_hook=lambda number: number.item())  # of numpy
    return list(_rows(plain, dict.fromkeys(Row._fields[:-2], NOBODY), ()))


def _rows(value: Any, keys: dict[str, str], path: tuple[str, ...]) -> Iterator[Row]:
    if isinstance(value, Mapping):
        if "n_seeds" in value and "behind" in value:  # a mean over seeds, and perhaps over pairs
            keys = {**keys, "seed": "mean"}
        here = {column: str(value[name]) for name, column in reversed(IDENTITY.items()) if _says(value, name)}
        said = [name for name in sorted(ABOUT) if path and _says(value, name)]
        view = [keys["view"], *(f"{name}={value[name]}" for name in said)]
        keys = {**keys, **here, "view": ".".join(filter(None, view))}
        skipped = LEFT | {"task", *(name for name in IDENTITY if _says(value, name)), *said}
        for name, part in value.items():
            if name not in skipped:
                yield from _rows(part, keys, (*path, str(name)))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for place, part in enumerate(value):
            alone = isinstance(part, Mapping) and any(_says(part, name) for name in (*IDENTITY, *ABOUT))
            yield from _rows(part, keys, path if alone else (*path, str(place)))
    elif value is not None or path[-1:] in (("value",), ("ci",)):
        number = float(value) if isinstance(value, int | float) else value
        yield Row(**keys, field=".".join(path), value=number)


def _says(value: Mapping[str, Any], name: str) -> bool:
    return isinstance(value.get(name), str | int | float)


def command(*words: str | Path) -> Outcome:
    """Run a command line in this process, without the word xlingual."""
    streams = [TextIOWrapper(BytesIO(), encoding="utf-8") for _ in range(2)]
    with redirect_stdout(streams[0]) as out, redirect_stderr(streams[1]) as err:
        code = run([str(word) for word in words])
    for stream in streams:
        stream.seek(0)
    return Outcome(code, out.read(), err.read())


def words_of(options: Mapping[str, Any]) -> list[str]:
    """Return options as words: a list repeats its option, True is a switch, None and False are left out."""
    words = []
    for name, value in options.items():
        for each in value if isinstance(value, list | tuple) else [value]:
            if each is not None and each is not False:
                words += [f"--{name.replace('_', '-')}", *([] if each is True else [str(each)])]
    return words


def answer(verb: str, *words: str | Path, code: int = 0, **options: Any) -> Any:
    """Return what a command line prints as JSON; its exit code must be `code`."""
    outcome = command(*verb.split(), *words, *words_of(options), "--json")
    assert outcome.code == code, f"{verb}: exit code {outcome.code}: {outcome.err}"
    return json.loads(outcome.out)


def printed(*words: str | Path) -> Findings:
    """Run a command line that prints JSON; a gate may fail, an error is raised."""
    code, out, err = command(*words, "--json")
    if code not in (0, 1, 3):
        raise AssertionError(f"{' '.join(map(str, words))}: exit code {code}: {err}")
    record = json.loads(out)
    return Findings(rows_of(record), record=record, code=code)


TASKS = (
    "backretrieval",
    "crosslingual-retrieval",
    "multilingual-pool",
    "retrieval",
    "image-sentence",
    "sts",
    "distance-correlation",
)


def evaluate(
    task: str, data: Any, encoders: Any = (), *, out: Path | None = None, store: Any = None, **options: Any
) -> Findings:
    """Evaluate text encoders, and `runs` of search systems, on data; `out` is a folder for the results."""
    if task == "sts":
        options["text_encoders"] = encoders
        results = xlingual.sts(data, store=store, **options)
    else:
        results = getattr(xlingual, task.replace("-", "_"))(data, encoders, store=store, **options)
    if out is not None:
        results.write(out)
    return _of_results(results)


def read_results(folder: Path) -> Findings:
    """Read a folder of results."""
    return _of_results(xlingual.Results.read(folder))


def _of_results(results: Any) -> Findings:
    content = results.to_dict()
    rows = rows_of([*content["results"], *content["summary"]])
    return Findings(rows, {"per_query": results.per_query, **results.tables}, results)


def _found(record: Any) -> Findings:
    return Findings(rows_of(record), record=record)


def _given(findings: Any) -> Any:
    """Return what the program compares: results in memory, a folder, or several by name or in order."""
    if isinstance(findings, Mapping):
        return {name: _given(part) for name, part in findings.items()}
    if isinstance(findings, list):
        return [_given(part) for part in findings]
    return findings.record if isinstance(findings, Findings) else findings


def only(findings: Findings, *encoders: str) -> Findings:
    """Return the results of some encoders alone."""
    return _of_results(findings.record.only(*encoders))


def validate(data: Any, encoders: Any, *, image_encoder: Any, **options: Any) -> Findings:
    """Check how well Backretrieval agrees with true retrieval."""
    return _found(
        xlingual.validate_backretrieval(data, encoders, image_encoder=image_encoder, store=None, **options)
    )


def compare(results: Any, **options: Any) -> Findings:
    """Compare encoders query by query."""
    return _found(xlingual.compare(_given(results), **options))


def gate(candidate: Any, baseline: Any, *, margin: float, **options: Any) -> Findings:
    """Decide whether the candidate is no worse than the baseline by more than the margin."""
    return _found(xlingual.gate(_given(candidate), _given(baseline), margin=margin, **options))


def plan(results: Any, *, effect: float, **options: Any) -> Findings:
    """Compute how many queries show a difference."""
    return _found(xlingual.plan(_given(results), effect=effect, **options))


def leaderboard(results: Any, **options: Any) -> Findings:
    """Show encoders over data sets and tasks."""
    return _found(xlingual.leaderboard(_given(results), **options))


def history(path: Path, results: Mapping[str, Findings], **options: Any) -> Findings:
    """Write results into folders of a history under labels, and show what changed."""
    for label, findings in results.items():
        findings.record.write(path / label)
    return _found(xlingual.history(path, **options))


def inspect(results: Findings, data: Any, **options: Any) -> Findings:
    """Show where encoders fail; the table `failures` has the queries that did."""
    inspected = xlingual.inspect_results(results.record, data, examples=False, store=None, **options)
    return Findings(rows_of(inspected.found), {"failures": inspected.failures()}, inspected)


def repair(data: Any, text_encoder: Any, **options: Any) -> Findings:
    """Fit a map that brings languages together, by translations, and test it."""
    return _found(xlingual.repair_encoder(data, text_encoder, store=None, **options).found)


def pivot(data: Any, text_encoder: Any, image_encoder: Any, **options: Any) -> Findings:
    """Fit a map that brings languages together, by images, and test it."""
    return _found(xlingual.train_pivot(data, text_encoder, image_encoder, store=None, **options).found)


def train(recipe: str, data: Path, out: Path, *options: str | Path) -> Findings:
    """Train mlmme, triplet or dual-encoder on one thread; the rows are of the log's epochs."""
    words = (
        "train",
        recipe,
        data,
        "--out",
        out,
        "--threads",
        "1",
        "--device",
        "cpu",
        "--no-store",
        "--quiet",
    )
    code, _, err = command(*words, *options)
    assert code == 0, err
    lines = (out / "log.jsonl").read_text("utf-8").splitlines()
    return _found({"epochs": [json.loads(line) for line in lines]})


def rerank(step: str, *words: str | Path) -> Outcome:
    """Run features, tune, apply or score of n-best lists."""
    return command("rerank", step, *words)


def study(folder: Path, data: Path, systems: Mapping[str, str], *options: str | Path) -> list[dict[str, Any]]:
    """Make a blind study; return what a rater sees (query, suggestion, occasion) and its systems."""
    named = [word for name, spec in systems.items() for word in ("--system", f"{name}={spec}")]
    code, _, err = command("study", "new", data, *named, *options, "--out", folder, "--quiet", "--no-store")
    assert code == 0, err
    sheet = json.loads((folder / "study.json").read_text("utf-8"))
    credits = json.loads((folder / "secret" / "key.json").read_text("utf-8"))["credits"]
    return [
        {
            "query": page["query"],
            "suggestion": suggestion,
            "occasion": page.get("occasion", 0),
            "systems": [credit["system"] for credit in credits.get(suggestion, [])],
        }
        for page in sheet["orders"][0]
        for suggestion in page["suggestions"]
    ]


def study_analysis(folder: Path, ratings: Sequence[Mapping[str, Any]], *options: str | Path) -> Findings:
    """Rate a study (rater, query, suggestion, occasion, score) and analyse it."""
    study = json.loads((folder / "study.json").read_text("utf-8"))["id"]
    rows = [
        {**rating, "rater": str(rating["rater"]), "at": "2026-01-02T00:00:00Z", "seconds": 4.5}
        for rating in ratings
    ]
    content = {"schema": "xlingual/study_answers/1", "study": study, "ratings": rows}
    answers = folder.with_suffix(".json")
    answers.write_text(json.dumps(content), encoding="utf-8")
    code, _, err = command("study", "collect", folder, answers)
    assert code == 0, err
    return printed("study", "analyse", folder, *options)


def suite(file: Path, out: Path) -> tuple[int, dict[str, Findings]]:
    """Run a suite; return its exit code and the results by folder."""
    code = command("run", file, "--out", out).code
    folders = sorted(path.parent for path in out.rglob("results.json"))
    return code, {str(folder.relative_to(out)): read_results(folder) for folder in folders}


def pool(folder: Path, languages: str | None = None, split: str | None = None) -> Any:
    """Read a multilingual pool, or some languages or a split of it."""
    chosen = None if languages is None else languages.split(",")
    return xlingual.MultilingualPool.read(folder, languages=chosen, split=split)
