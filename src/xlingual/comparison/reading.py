"""From folders of results to queries that several encoders answered, aligned one by one.

Numbers are compared only where the conditions in their signatures are equal; anything else is refused, and
the field in which they differ is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from xlingual.arrays import Ints
from xlingual.comparison.alignment import Key, check_means, check_same
from xlingual.comparison.queries import Labels, Queries, sample_of, sample_weights
from xlingual.comparison.references import (
    LabelledEncoder,
    Reference,
    SeveralGiven,
    as_references,
    each_folder_once,
    find_member,
    members,
    read_folders,
)
from xlingual.comparison.rows import FolderRows, QueryBlock
from xlingual.errors import InputError, listed
from xlingual.measures import parse_measure
from xlingual.results import Entry, Results
from xlingual.results.cautions import judged_share, less_judged, unanswered
from xlingual.results.kinds import differences, no_leader
from xlingual.signature import Signature
from xlingual.tasks import task_of

NOT_PER_QUERY = {
    "CORR": "CORR has no value for each query, so no paired test; use BkR, SIM or XLR",
    **{
        name: f"{name} has no value for each query; evaluate sts itself tests whether encoders differ: give "
        "it all of them, and --baseline NAME"
        for name in ("Pearson", "Spearman")
    },
}

_Entries = Mapping[LabelledEncoder, Mapping[Key, Entry]]
_Pairs = Mapping[LabelledEncoder, Mapping[tuple[str, str], None]]


@dataclass(frozen=True)
class Aligned:
    """Encoders on the same queries: one `Queries` for each task and measure they share."""

    members: tuple[LabelledEncoder, ...]
    queries: tuple[Queries, ...]
    notes: tuple[str, ...]  # what was left out, and why
    offered: Mapping[str, tuple[tuple[str, str], ...]]  # label → (task, measure) it has a test for, in order
    lacking: Mapping[str, tuple[str, ...]]  # task → which language pairs an encoder lacks, in words

    def label(self, reference: str | Reference) -> str:
        """Return the label of the encoder that `FOLDER#ENCODER`, a folder of one encoder or a label names."""
        return find_member(reference, self.members).label


def read_aligned(
    references: SeveralGiven, *, measures: Sequence[str] = (), pairs: Sequence[str] = ()
) -> Aligned:
    """Read folders of results (`FOLDER` or `FOLDER#ENCODER`), or take results, and align their queries.

    `measures` chooses some; by default all that have a value for each query and a mean, and that all encoders
    share. `pairs` ("en-de") chooses language pairs, which all encoders must have; default: those they share.

    Raises:
        InputError: a folder is not one of results; conditions or queries differ; nothing is shared.

    """
    parsed = each_folder_once(as_references(references))
    folders = read_folders(parsed)
    found = members(parsed, folders)
    entries = _entries(found, folders)
    _check_conditions(entries)
    notes: list[str] = []
    shared = _shared(entries)
    chosen = _chosen_measures(entries, shared, measures, notes)
    notes += _cautions(entries, chosen)
    lacking: dict[str, tuple[str, ...]] = {}
    shared_pairs = {}
    for task in dict.fromkeys(task for task, _ in chosen):
        shared_pairs[task], lacking[task] = _shared_pairs(entries, task, pairs, notes)
    rows = {folder: FolderRows.of(results.per_query, folder) for folder, results in folders.items()}
    digests = tuple(folders[member.folder].vectors_of(member.encoder) for member in found)
    differing = differences(
        {member.label: folders[member.folder].encoders.get(member.encoder, {}) for member in found}
    )
    queries = tuple(
        replace(
            _align(entries, rows, task, measure, shared_pairs[task]),
            vectors=digests,
            unlike=no_leader(differing) if differing and task_of(task).by_images else "",
        )
        for task, measure in chosen
    )
    offered = {
        member.label: tuple(dict.fromkeys(key[:2] for key in own if _no_test(key[1]) is None))
        for member, own in entries.items()
    }
    return Aligned(tuple(found), queries, tuple(notes), offered, lacking)


def _entries(found: Sequence[LabelledEncoder], folders: Mapping[Path, Results]) -> _Entries:
    """Return the numbers of each encoder, in the order of its folder."""
    numbers: dict[tuple[Path, str], dict[Key, Entry]] = {}
    for folder, results in folders.items():
        for entry in results.entries:
            key = entry.task, entry.measure, entry.source, entry.target, entry.seed
            numbers.setdefault((folder, entry.encoder), {})[key] = entry
    return {member: numbers.get((member.folder, member.encoder), {}) for member in found}


def _cautions(entries: _Entries, chosen: Sequence[tuple[str, str]]) -> list[str]:
    """Return which systems' numbers may be too low: of unanswered queries, and of results nobody judged."""
    found: list[str] = []
    for task, measure in chosen:
        own = {
            member.label: [one for key, one in of.items() if key[:2] == (task, measure)]
            for member, of in entries.items()
        }
        for label, numbers in own.items():
            found += unanswered(numbers, {one.encoder: label for one in numbers})
        shares = {label: judged_share(numbers[0]) for label, numbers in own.items() if numbers}
        found += less_judged(shares, measure, measure)
    return list(dict.fromkeys(found))


def _check_conditions(entries: _Entries) -> None:
    """Raise InputError where two folders have numbers of one name under different conditions."""
    seen: dict[Key, tuple[Path, Signature]] = {}
    for member, own in entries.items():
        for key, entry in own.items():
            signature = Signature.parse(entry.signature)
            folder, first = seen.setdefault(key, (member.folder, signature))
            if differing := first.differences(signature):
                raise InputError(
                    f"{folder} and {member.folder} cannot be compared, their conditions differ in "
                    f"{'; '.join(differing)}: evaluate both on the same data with the same options"
                )


def _shared(entries: _Entries) -> list[tuple[str, str]]:
    """Return the (task, measure) that all encoders have; raise InputError where there is none."""
    names = {member: dict.fromkeys(key[:2] for key in own) for member, own in entries.items()}
    first = next(iter(names.values()))
    shared = [name for name in first if all(name in own for own in names.values())]
    if shared:
        return shared
    have = [f"{m.name}: {listed(f'{task} {measure}' for task, measure in own)}" for m, own in names.items()]
    other = next(
        i
        for i, own in enumerate(names.values())
        if not any(name in first for name in own) or i + 1 == len(names)
    )
    raise InputError(
        f"the results share no task and measure ({'; '.join([have[0], have[other]])}): "
        f"give results of one task and measure"
    )


def _chosen_measures(
    entries: _Entries, shared: Sequence[tuple[str, str]], wanted: Sequence[str], notes: list[str]
) -> list[tuple[str, str]]:
    """Return the (task, measure) to compare; say in the notes, or as an error, which cannot be."""
    names = list(dict.fromkeys(measure for _, measure in shared))
    if wanted:
        named = [_measure_name(name, shared) for name in wanted]
        missing = [name for name in named if name not in names]
        if missing:
            some = any(key[1] == missing[0] for own in entries.values() for key in own)
            who = "not all encoders have" if some else "no encoder has"
            raise InputError(f"{who} {missing[0]}: choose among {listed(names)}")
        names = list(dict.fromkeys(named))
    reasons = {name: reason for name in names if (reason := _no_test(name))}
    usable = [name for name in names if name not in reasons]
    if not usable:
        raise InputError(f"nothing to compare: {'; '.join(reasons.values())}")
    notes += [f"left out: {reason}" for reason in reasons.values()]
    return [(task, measure) for measure in usable for task, name in shared if name == measure]


_SAME = {"image-sentence": ("R@", "Success@"), "backretrieval": ("Success@", "R@")}  # asked for → stored


def _measure_name(name: str, shared: Sequence[tuple[str, str]]) -> str:
    """Return the name that results have for a measure: as they have it, or the canonical one.

    Where R@k and Success@k are one number, either may be named.
    """
    stored = [*NOT_PER_QUERY, *(measure for _, measure in shared)]
    found = next((known for known in stored if known.lower() == name.strip().lower()), None)
    if found is not None:
        return found
    canonical = parse_measure(name).name
    for task, measure in shared:
        given, stored_as = _SAME.get(task, ("", ""))
        if given and canonical.startswith(given) and measure == stored_as + canonical[len(given) :]:
            return measure
    return canonical


def _no_test(measure: str) -> str | None:
    """Return why there is no paired test of a measure, None where there is one."""
    if measure in NOT_PER_QUERY:
        return NOT_PER_QUERY[measure]
    if not parse_measure(measure).higher_is_better:
        return f"{measure} is a median, which has no paired test; evaluate with R@k, RR or AP"
    return None


def _shared_pairs(
    entries: _Entries, task: str, wanted: Sequence[str], notes: list[str]
) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """Return the language pairs of a task that all encoders have, and in words what each lacks.

    Raises InputError where no pair is shared, or one that is wanted is not.
    """
    pairs = {
        member: dict.fromkeys((key[2], key[3]) for key in own if key[0] == task)
        for member, own in entries.items()
    }
    first = next(iter(pairs.values()))
    shared = [pair for pair in first if all(pair in own for own in pairs.values())]
    every = dict.fromkeys(pair for own in pairs.values() for pair in own)
    if wanted:
        return _wanted_pairs(pairs, task, wanted), ()
    if not shared:
        raise InputError(
            f"the results share no language pair of {task} "
            f"({'; '.join(_lacking(pairs, every, have=True))}): evaluate the same pairs (--pairs)"
        )
    if left := ["-".join(pair) for pair in every if pair not in shared]:
        notes.append(f"left out: language pairs that not all encoders have ({listed(left)})")
    return shared, tuple(_lacking(pairs, every))


def _wanted_pairs(pairs: _Pairs, task: str, wanted: Sequence[str]) -> list[tuple[str, str]]:
    """Return the language pairs that are wanted; raise InputError where an encoder lacks one."""
    chosen: dict[tuple[str, str], None] = {}
    for name in wanted:
        for member, own in pairs.items():
            named = next((pair for pair in own if "-".join(pair) == name), None)
            if named is None:
                raise InputError(
                    f"{member.name} has no language pair {name!r} of {task}: choose among "
                    f"{listed('-'.join(pair) for pair in own)}"
                )
            chosen[named] = None
    return list(chosen)


def _lacking(pairs: _Pairs, every: Mapping[tuple[str, str], None], *, have: bool = False) -> list[str]:
    """Return "FOLDER#ENCODER lacks de-en" of each encoder that does not have every pair."""
    out = []
    for member, own in pairs.items():
        names = ["-".join(pair) for pair in every if (pair in own) == have]
        if names:
            out.append(f"{member.name} {'has' if have else 'lacks'} {listed(names)}")
    return out[:4]


def _align(
    entries: _Entries,
    rows: Mapping[Path, FolderRows],
    task: str,
    measure: str,
    pairs: Sequence[tuple[str, str]],
) -> Queries:
    """Return the values of all encoders for the same queries; raise InputError where queries differ."""
    found = list(entries)
    blocks = [rows[member.folder].of_encoder(task, measure, member.encoder, pairs) for member in found]
    for member, block in zip(found[1:], blocks[1:], strict=True):
        check_same(found[0], blocks[0], member, block, pairs)
    for member, block in zip(found, blocks, strict=True):
        check_means(member, entries[member], block, (task, measure), pairs)
    labels: dict[str, Labels] = {}
    for block in blocks:
        labels = block.labels(pairs) | labels
    samples = [
        entry for key, entry in entries[found[0]].items() if key[:2] == (task, measure) and key[2:4] in pairs
    ]
    chances = [entry.chance for entry in samples if entry.chance is not None]
    signatures = [
        next(entry.signature for key, entry in entries[member].items() if key[0] == task) for member in found
    ]
    return Queries(
        task=task,
        measure=measure,
        encoders=tuple(member.label for member in found),
        values=np.stack([block.value for block in blocks]),
        weight=sample_weights(sample_of(labels)),
        own=blocks[0].own,
        retrieved=_retrieved(blocks),
        labels=labels,
        conditions=_common_conditions(samples),
        chance=float(np.mean(chances)) if len(chances) == len(samples) else None,
        n_source=float(np.mean([entry.n_source for entry in samples])),
        n_target=float(np.mean([entry.n_target for entry in samples])),
        query=np.unique(blocks[0].query.astype(str), return_inverse=True)[1],
        identities=tuple(  # name and system, whatever else an encoder is compared with
            f"{member.encoder}|{signature.partition('|system:')[2]}"
            for member, signature in zip(found, signatures, strict=True)
        ),
    )


def _retrieved(blocks: Sequence[QueryBlock]) -> Ints | None:
    """Return the clusters of what each encoder retrieved [E, n], None where the task retrieves nothing.

    An encoder that retrieves nothing where others do (all texts tie for it) has a separate cluster for each
    query.
    """
    if all(block.retrieved is None for block in blocks):
        return None
    alone = -1 - np.arange(len(blocks[0].own))
    return np.stack([alone if block.retrieved is None else block.retrieved for block in blocks])


def _common_conditions(samples: Sequence[Entry]) -> dict[str, str]:
    """Return the conditions that all samples share, the sample without its seed."""
    conditions = []
    for entry in samples:
        own = dict(Signature.parse(entry.signature).conditions)
        own["sample"] = own.get("sample", "").rpartition("#")[0]
        conditions.append(own)
    return {k: v for k, v in conditions[0].items() if all(own.get(k) == v for own in conditions)}
