"""Results for MTEB, as the files that it writes and reads, and for the front matter of a model card."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xlingual.data.languages import language_code
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.files import atomic_file, make_folder
from xlingual.results import Results, Summary
from xlingual.signature import Signature
from xlingual.tasks import task_of

NO_REVISION = "no_revision_available"  # as MTEB names the folder of a model without one
_KINDS = {  # measures → the names of MTEB, before "_at_10"
    "R": "recall",
    "Success": "hit_rate",
    "P": "precision",
    "AP": "map",
    "nDCG": "ndcg",
    "nDCG(dcg='exp-log2')": "ndcg_exp_log2",
    "RR": "mrr",
    "MedR": "median_rank",
}


@dataclass(frozen=True)
class Part:
    """The numbers of one task, and of one pair of languages or the mean over all."""

    task: str
    languages: tuple[str, ...]  # () of the whole
    pair: str  # "en-de", of a pool "ar", of images and texts "en-image"; "" of the whole
    lines: list[Summary]  # one for each measure, those without a value left out


def encoder_of(results: Results, wanted: str | None = None) -> str:
    """Return the encoder of a name, or the only one; raise InputError where there is none, or are several."""
    known = list(dict.fromkeys(line.encoder for line in results.summary))
    if wanted is None and len(known) != 1:
        raise InputError(f"the results have {len(known)} encoders ({listed(known, 20)}): name one")
    if wanted is not None and wanted not in known:
        raise InputError(
            f"the results have no encoder {wanted!r}.{did_you_mean(wanted, known)} They have "
            f"{listed(known, 20)}"
        )
    return wanted or known[0]


def parts_of(results: Results, encoder: str) -> Iterator[Part]:
    """Yield the numbers of an encoder: for each task its whole, then its pairs."""
    found: dict[tuple[str, str | None, str | None], list[Summary]] = {}
    for line in results.summary:
        if line.encoder == encoder and line.value is not None:
            found.setdefault((line.task, line.source, line.target), []).append(line)
    for (name, source, target), lines in sorted(
        found.items(), key=lambda row: (row[0][0], row[0][1] is not None)
    ):
        task = task_of(name)
        sides = [side for side in (source, target) if side is not None]
        languages = [side for side in sides if side not in task.no_languages]
        if not task.target_is_language:
            languages = languages[:1]
        yield Part(name, tuple(languages), "-".join(languages if task.whole else sides), lines)


def languages_of(results: Results, encoder: str, task: str) -> list[str]:
    """Return the languages of all numbers of a task."""
    parts = [part for part in parts_of(results, encoder) if part.task == task]
    return list(dict.fromkeys(tag for part in parts for tag in part.languages))


def metric_name(measure: str) -> str:
    """Return the name of a measure as MTEB writes names.

    >>> [metric_name(name) for name in ("R@10", "Success@1", "AP", "AP@20/min", "SIM", "R@0.1%")]
    ['recall_at_10', 'hit_rate_at_1', 'map', 'map_at_20_min', 'sim', 'recall_at_0.1_percent']
    >>> metric_name("nDCG@10"), metric_name("nDCG(dcg='exp-log2')@5")
    ('ndcg_at_10', 'ndcg_exp_log2_at_5')
    """
    kind, at, cut = measure.partition("@")
    kind, slash, more = kind.partition("/")
    name = _KINDS.get(kind) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower()
    return (name + slash + more + ("_at_" if at else "") + cut).replace("/", "_").replace("%", "_percent")


def data_of(results: Results) -> tuple[str, str]:
    """Return a name of the data and its digest: the pool's name, else data- and the digest."""
    digests = {Signature.parse(entry.signature).conditions.get("data", "") for entry in results.entries}
    digest = "-".join(sorted(digests))
    return str(results.run.get("name") or f"data-{digest[:8]}"), digest


def camel(words: Sequence[str]) -> str:
    """Return words as one name.

    >>> camel(["multilingual", "pool"])
    'MultilingualPool'
    """
    return "".join(word[:1].upper() + word[1:] for word in words)


def mteb_results(
    results: Results, encoder: str | None = None, *, name: str | None = None
) -> dict[str, dict[str, Any]]:
    """Return the content of a `TaskResult` of MTEB for each task, by the task's name.

    Each pair of languages is a subset; a multilingual pool is the subset "default". A subset has the value of
    each measure under MTEB's names (`recall_at_10`, `hit_rate_at_10`, `map`) and its interval
    (`recall_at_10_low`, `recall_at_10_high`); `main_score` is the first measure. `name` is that of the data.
    """
    chosen = encoder_of(results, encoder)
    data, digest = data_of(results)
    split = str(results.request.get("split") or "test")
    found: dict[str, dict[str, Any]] = {}
    parts = list(parts_of(results, chosen))
    for task in dict.fromkeys(part.task for part in parts):
        own = [part for part in parts if part.task == task]
        single = task_of(task).whole
        pairs = own[:1] if single else [part for part in own if part.pair]
        whole = languages_of(results, chosen, task)
        subsets = []
        for part in pairs:
            scores: dict[str, Any] = {"main_score": part.lines[0].value}
            for line in part.lines:
                key = metric_name(line.measure)
                scores[key] = line.value
                if line.ci is not None:
                    scores |= {f"{key}_low": line.ci.low, f"{key}_high": line.ci.high}
            tags = part.languages or whole
            scores |= {
                "hf_subset": "default" if single else part.pair,
                "languages": [language_code(tag) for tag in tags],
            }
            subsets.append(scores)
        named = camel([*task.split("-"), "-" + (name or data)])
        found[named] = {
            "dataset_revision": digest,
            "task_name": named,
            "mteb_version": None,  # it was not MTEB that computed them
            "scores": {split: subsets},
            "evaluation_time": sum(results.timings.values()) or None,
            "kg_co2_emissions": None,
            "date": results.run.get("date"),
        }
    return found


def write_mteb_results(
    results: Results,
    folder: str | Path,
    encoder: str | None = None,
    *,
    model: str | None = None,
    name: str | None = None,
) -> list[Path]:
    """Write FOLDER/MODEL/no_revision_available/TASK.json for each task, as MTEB does; return the paths.

    `model` is the model's name, such as org/name; the encoder's where none is given.
    """
    chosen = encoder_of(results, encoder)
    place = make_folder(Path(folder, (model or chosen).replace("/", "__"), NO_REVISION))
    paths = []
    for task, content in mteb_results(results, chosen, name=name).items():
        paths.append(place / f"{task.replace('/', '__')}.json")
        with atomic_file(paths[-1]) as temporary:
            temporary.write_text(
                json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2) + "\n", encoding="utf-8"
            )
    return paths


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


def _named(measure: str, line: Summary) -> str:
    if line.ci is None:
        return measure
    return f"{measure} ({line.ci.level:.0%} interval {line.ci.low:.3f} to {line.ci.high:.3f})"
