"""A validation from results that `evaluate` wrote: of Backretrieval, XLR and CORR, over the same encoders.

Samples need not be those of a validation; encoders and seeds must be in all three. Scores have the intervals
of their queries. CORR has none in results, so that its items are not drawn again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from xlingual.errors import InputError, listed
from xlingual.evaluation.estimates import Score
from xlingual.evaluation.metric_validation.degrade import NONE
from xlingual.evaluation.metric_validation.measure import Measured, at_1
from xlingual.evaluation.metric_validation.records import Assembly
from xlingual.evaluation.metric_validation.validate import FEWEST, family_of, family_pattern, recall_of
from xlingual.evaluation.numbers import Baseline, Subject
from xlingual.measures import Measure, RecallAt
from xlingual.results import Entry, Results
from xlingual.results.validation import TRUTH, TRUTH_AT_1, Validation
from xlingual.signature import Signature
from xlingual.stats import ResidualPart

TASKS = {"backretrieval": "BkR", "crosslingual-retrieval": TRUTH, "distance-correlation": "CORR"}


def validation_of(
    results: Sequence[Results | str | Path],
    *,
    measure: str | Measure = "R@10",
    family: str | None = None,
    threshold: float = 0.5,
    seed: int = 0,
) -> Validation:
    """Return the validation of results, or their folders: of Backretrieval, XLR and CORR.

    Only encoders, language pairs and seeds that are in all three take part. Other arguments are those of
    `validate_backretrieval`; `seed` is that of the bootstrap.

    Raises:
        InputError: a task is missing, fewer than three encoders are in all, or options are invalid.

    """
    recall, pattern = recall_of(measure), family_pattern(family)
    read = [one if isinstance(one, Results) else Results.read(one) for one in results]
    numbers = _numbers(read, recall)
    encoders, subjects = _in_all(numbers)
    measured = Measured(n_clusters=_most_cluster(read) + 1)
    for (name, encoder, subject), (entry, run) in numbers.items():
        if encoder in encoders and subject in subjects:
            measured.scores[NONE, name, encoder, subject] = _score(entry, run)
            measured.baselines[NONE, name, subject] = _baseline(entry)
            if entry.note:
                measured.notes[NONE, name, encoder, subject] = entry.note
    for pair, several in measured.pairs.items():
        own = {name: numbers[name, encoders[0], several[0]][0] for name in ("BkR", TRUTH)}
        measured.sizes[pair] = _sizes(own["BkR"], own[TRUTH], recall)
        signature = Signature.parse(own["BkR"].signature)
        sample = signature.conditions.get("sample", "").partition("#")[0]
        measured.conditions[pair] = {**signature.conditions, "sample": sample}
    families = {encoder: family_of(pattern, encoder) for encoder in encoders}
    assembly, first = Assembly(measured, recall, families, seed), at_1(recall)
    has_first = any(name == TRUTH_AT_1 for name, *_ in numbers)
    images = {entry.image_encoder for entry, _ in numbers.values() if entry.image_encoder}
    return Validation(
        recall.name,
        listed(sorted(images)),
        threshold,
        family,
        assembly.pairs(threshold),
        assembly.directions(),
        [],
        [warning for run in read for warning in run.warnings],
        measure_at_1=first.name if first is not None and has_first else None,
    )


Numbers = dict[tuple[str, str, Subject], tuple[Entry, Results]]


def _numbers(read: Sequence[Results], recall: RecallAt) -> Numbers:
    """Return the entries that a validation takes, by its names of measures, encoder and subject."""
    first = at_1(recall)
    named = {
        ("backretrieval", recall.name): "BkR",
        ("backretrieval", "SIM"): "SIM",
        ("distance-correlation", "CORR"): "CORR",
    }
    for hit in ("R", "Success"):
        named["crosslingual-retrieval", f"{hit}@{recall.k}"] = TRUTH
        if first is not None:
            named["crosslingual-retrieval", f"{hit}@1"] = TRUTH_AT_1
    numbers: Numbers = {}
    for run in read:
        for entry in run.entries:
            if name := named.get((entry.task, entry.measure)):
                subject = Subject(entry.source, entry.target, entry.seed)
                numbers[name, entry.encoder, subject] = entry, run
    counts = Counter(name for name, *_ in numbers)
    if counts[TRUTH_AT_1] < counts[TRUTH]:
        numbers = {key: entry for key, entry in numbers.items() if key[0] != TRUTH_AT_1}
    for task, name in TASKS.items():
        if not any(key[0] == name for key in numbers):
            what = recall.name if name != "CORR" else "CORR"
            raise InputError(
                f"a validation from results needs {what} of {task}, and none of them has it: evaluate {task} "
                "with the same encoders and pairs, and name its folder too"
            )
    return numbers


def _in_all(numbers: Numbers) -> tuple[list[str], list[Subject]]:
    """Return the encoders and subjects that have all measures; raise InputError for fewer than three."""
    names = list(dict.fromkeys(key[0] for key in numbers if key[0] != TRUTH_AT_1))
    keys = [{key[1:] for key in numbers if key[0] == name} for name in names]
    common = set.intersection(*keys)
    subjects = [one for one in dict.fromkeys(key[2] for key in numbers) if any(one == s for _, s in common)]
    every = dict.fromkeys(key[1] for key in numbers)
    encoders = [name for name in every if all((name, subject) in common for subject in subjects)]
    if len(encoders) < FEWEST:
        raise InputError(
            f"a validation correlates measures over text encoders, and {len(encoders)} are in all results "
            f"({listed(encoders, 12) or 'none'}): evaluate {FEWEST} at least, with the same pairs and seeds"
        )
    return encoders, subjects


def _score(entry: Entry, run: Results) -> Score | None:
    """Return the score of an entry with the residuals of its queries, where the table has them."""
    import pyarrow.compute as pc

    if entry.value is None:
        return None
    table, fields = run.per_query, ("task", "encoder", "source", "target", "measure", "seed")
    chosen = pc.equal(table["seed"], entry.seed)
    for field in fields[:-1]:
        chosen = pc.and_(chosen, pc.equal(table[field], getattr(entry, field)))
    rows = table.filter(chosen)
    values = rows["value"].to_numpy()
    if not len(values):
        return Score(entry.value, (), None, fixed=entry.ci)
    ways = [rows["cluster"].to_numpy()]
    if entry.task == "backretrieval":  # queries that retrieve the same text are not independent
        retrieved = rows["retrieved_cluster"]
        alone = -1 - np.arange(len(values)) - ((entry.seed % 2**20) << 40)  # in each sample another one
        ways.append(np.where(pc.is_valid(retrieved), retrieved.fill_null(0).to_numpy(), alone))
    part = ResidualPart((values - entry.value) / len(values), tuple(ways))
    bounds = (-1.0, 1.0) if entry.measure == "SIM" else (0.0, 1.0)
    return Score(entry.value, (part,), bounds, bounds[1] - bounds[0])


def _baseline(entry: Entry) -> Baseline:
    """Return the baseline of an entry; results have no residuals of its oracle."""
    none = ResidualPart(np.zeros(1), (np.full(1, -1),))
    oracle = None if entry.oracle is None else Score(entry.oracle, (none,), None)
    return Baseline(entry.chance, oracle, entry.ceiling)


def _sizes(bkr: Entry, truth: Entry, recall: RecallAt) -> dict[str, int]:
    """Return the sizes of samples; chance is K of the distinct images."""
    images = round(recall.k / bkr.chance) if bkr.chance else bkr.n_source
    return {
        "n_source": bkr.n_source,
        "n_target": bkr.n_target,
        "n_matching": truth.n_source,
        "n_pictures": images,
    }


def _most_cluster(read: Sequence[Results]) -> int:
    """Return the largest number of a cluster."""
    import pyarrow.compute as pc

    columns = [run.per_query[name] for run in read for name in ("cluster", "retrieved_cluster")]
    return max((pc.max(column).as_py() or 0 for column in columns if len(column)), default=0)
