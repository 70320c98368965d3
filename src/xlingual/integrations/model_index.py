"""Results in a model card: the `model-index` in the front matter (YAML) of its README.md.

Only the lines of `model-index` change; all other lines of the front matter, and the text, stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xlingual.errors import InputError, MissingExtraError
from xlingual.files import atomic_file, make_folder, regular_file
from xlingual.integrations.found import data_of, encoder_of, metric_name, parts_of
from xlingual.results import Results, Summary
from xlingual.tasks import task_of

KEY = "model-index"
_FRONT = re.compile(r"\A(\s*---\r?\n)(.*?)(^---[ \t]*\r?$)", re.DOTALL | re.MULTILINE)


def model_index(
    results: Results, encoder: str | None = None, *, model: str | None = None, name: str | None = None
) -> list[dict[str, Any]]:
    """Return the `model-index` of an encoder: a result for the mean over language pairs, and for each pair.

    A metric has the type that MTEB gives it (`recall_at_10`), its value, and a name with the interval.
    """
    chosen = encoder_of(results, encoder)
    data, digest = data_of(results)
    split = results.request.get("split")
    entries = []
    parts = list(parts_of(results, chosen))
    for part in parts:
        if not part.pair and sum(other.task == part.task for other in parts) == 2:
            continue  # the mean of one pair
        task = task_of(part.task)
        metrics = [
            {
                "type": metric_name(line.measure),
                "value": line.value,
                "name": _named(task.measure_name(line.measure), line),
            }
            for line in part.lines
        ]
        dataset = {"type": name or data, "name": name or data, "revision": digest}
        if split is not None:
            dataset |= {"split": str(split)}
        if part.pair:
            dataset |= {"config": part.pair}
        entries.append(
            {"task": {"type": task.name, "name": task.title}, "dataset": dataset, "metrics": metrics}
        )
    return [{"name": model or chosen, "results": entries}]


def write_model_index(
    results: Results,
    path: str | Path,
    encoder: str | None = None,
    *,
    model: str | None = None,
    name: str | None = None,
) -> bool:
    """Write results into the front matter of a model card, and return whether the card is a new file.

    Earlier values of the same task, data and measure are replaced; all other results stay. Raises InputError
    where the front matter is no YAML.
    """
    path = Path(path)
    index = model_index(results, encoder, model=model, name=name)
    text, new = "", not path.exists()
    if not new:
        text = regular_file(path, "the model card").read_bytes().decode("utf-8")
    found = with_model_index(text, index, rename=model is not None, where=str(path))
    make_folder(path.parent)
    with atomic_file(path) as temporary:
        temporary.write_bytes(found.encode("utf-8"))
    return new


def with_model_index(
    text: str, index: Sequence[Mapping[str, Any]], *, rename: bool = False, where: str = "the model card"
) -> str:
    """Return the text of a model card with further results in its front matter.

    A card has one model: with results there already the new ones join it, under its name unless `rename`.
    """
    yaml = _yaml()
    front = _FRONT.match(text)
    head, block, rest = (
        ("---\n", "", "---\n" + text) if front is None else (*front.group(1, 2), text[front.start(3) :])
    )
    line_end = "\r\n" if "\r\n" in head else "\n"
    try:
        node, data = yaml.compose(block, Loader=yaml.SafeLoader), yaml.safe_load(block)
    except yaml.YAMLError as error:
        raise InputError(
            f"{where}: the front matter is no YAML ({' '.join(str(error).split())}): mend it"
        ) from error
    if node is not None and not isinstance(data, dict):
        raise InputError(f"{where}: the front matter is no mapping of names to values: mend it")
    before = (data or {}).get(KEY) or []
    _check(before, where)
    dumped = yaml.safe_dump(
        {KEY: merged(before, index, rename=rename)}, sort_keys=False, allow_unicode=True, width=10_000
    )
    lines = dumped.rstrip("\n").replace("\n", line_end)
    place = next(((key, value) for key, value in (node.value if node else ()) if key.value == KEY), None)
    if place is None:
        block = block + ("" if not block or block.endswith("\n") else line_end) + lines + line_end
    else:
        key, value = place
        block = block[: key.start_mark.index] + lines + block[max(_end(value), key.end_mark.index + 1) :]
    return f"{head}{block}{rest}"


def merged(
    before: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]], *, rename: bool = False
) -> list[dict[str, Any]]:
    """Return a `model-index` with new results: values of the same task, data and metric are replaced."""
    if not before:
        return [dict(one) for one in new]
    (own,) = new
    first, *others = [dict(one) for one in before]
    kept = [dict(result) for result in first.get("results") or []]
    for result in own["results"]:
        same = next((old for old in kept if _key(old) == _key(result)), None)
        if same is None:
            kept.append(dict(result))
            continue
        types = {metric["type"] for metric in result["metrics"]}
        rest = [metric for metric in same["metrics"] if metric["type"] not in types]
        same["metrics"] = [*rest, *result["metrics"]]
        same["dataset"] = {**same["dataset"], **result["dataset"]}
    return [{**first, **({"name": own["name"]} if rename else {}), "results": kept}, *others]


def _key(result: Mapping[str, Any]) -> tuple[Any, ...]:
    dataset = result["dataset"]
    return (result["task"]["type"], *(dataset.get(name) for name in ("type", "config", "split")))


def _check(index: Any, where: str) -> None:  # noqa: ANN401  (what YAML gives)
    """Raise InputError where a `model-index` is not what the format says."""
    try:
        for one in index:
            for result in one.get("results") or []:
                _key(result)
                [metric["type"] for metric in result["metrics"]]
    except (TypeError, KeyError, AttributeError) as error:
        raise InputError(
            f"{where}: its {KEY} is not of the form that the hub documents (missing: {error}): mend it, or "
            "take it out"
        ) from error


def _named(measure: str, line: Summary) -> str:
    if line.ci is None:
        return measure
    return f"{measure} ({line.ci.level:.0%} interval {line.ci.low:.3f} to {line.ci.high:.3f})"


def _end(node: Any) -> int:  # noqa: ANN401  (a node of YAML)
    """Return where the text of a node ends: a block ends with its last value, before what follows it."""
    if isinstance(node.value, str) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(last[1] if isinstance(last, tuple) else last)


def _yaml() -> Any:  # noqa: ANN401  (a module)
    try:
        import yaml
    except ImportError as error:
        raise MissingExtraError("writing into a model card (YAML)", "hf") from error
    return yaml
