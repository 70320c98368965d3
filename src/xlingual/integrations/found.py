"""What a results' encoder has, by names that other programs use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xlingual.errors import InputError, did_you_mean, listed
from xlingual.results import Results, Summary
from xlingual.signature import Signature
from xlingual.tasks import task_of

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
        raise InputError(
            f"the results have {len(known)} encoders ({listed(known, 20)}): name one with --encoder"
        )
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
