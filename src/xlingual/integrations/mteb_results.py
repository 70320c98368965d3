"""Results as the files that MTEB writes and reads: one of each task, for one model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from xlingual.data.language_codes import language_code
from xlingual.files import atomic_file, make_folder
from xlingual.integrations.found import camel, data_of, encoder_of, languages_of, metric_name, parts_of
from xlingual.results import Results
from xlingual.tasks import task_of

NO_REVISION = "no_revision_available"  # as MTEB names the folder of a model without one


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
