"""The verdict on retrieval (Backretrieval, known matches, distances): who leads, and whether that is real."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xlingual.report import conditions, leaders, numbers, words
from xlingual.report.blocks import Finding
from xlingual.report.findings import chance, hubs, sampling
from xlingual.report.findings.advice import advice
from xlingual.report.findings.leads import (
    alike,
    lead,
    misses,
    position,
    without_value,
)
from xlingual.report.leaders import BoardRow
from xlingual.results import Results, Summary
from xlingual.results.kinds import differences, no_leader, taken_as_one
from xlingual.tasks import Task

RunVerdict: TypeAlias = Callable[[Sequence[Results], Task, Sequence[BoardRow]], list[str]]

MANY_PAIRS = 12  # all directions of four languages
FEW_QUERIES = 50  # per pair
MANY_MATCHES = 50  # items with texts in both languages
MANY_DROPPED = 0.1  # share of the texts


def findings(
    runs: Sequence[Results], task: Task, of_run: RunVerdict | None = None, *, advised: bool = True
) -> list[Finding]:
    """Return the findings of one task, from its first measure, run by run.

    What to do comes first, then what the measure is, then the numbers. `of_run` gives the sentences of one
    run from the rows of its leaderboard; by default those of retrieval. `advised=False`: it says what to do.
    """
    of_run = of_run or _retrieval
    measure = leaders.measures(runs, task.name)[0]
    rows = leaders.leaderboard(runs, task.name, measure)
    places = sorted({row.run for row in rows})
    found = []
    for place in places:
        own = [row for row in rows if row.run == place]
        run = runs[place - 1]
        entries = [entry for entry in run.entries if entry.task == task.name]
        sentences = of_run(runs, task, own) + conditions.similarity(entries) + _about_the_run(run)
        if advised:
            unlike = task.by_images and bool(differences(leaders.kinds_of(own, run)))
            meaning = task.explained(measure) if place == places[0] and _any_value(own) else ""
            head = advice(task, own, run, unlike=unlike)
            sentences = [*head, *([meaning] if meaning else []), *sentences]
        name = leaders.run_names(runs)[place - 1]
        found.append(Finding(sentences, name.replace("run ", "Run ", 1) if len(places) > 1 else ""))
    return found if len(places) < 2 else [*found, Finding([_not_paired(runs, task.name, places)])]


def _any_value(rows: Sequence[BoardRow]) -> bool:
    return any(row.value is not None for row in rows)


def few_queries(run: Results, task: str) -> list[str]:
    """Return a remark where the samples are small, so that intervals are wide."""
    own = [entry for entry in run.entries if entry.task == task]
    sizes = [entry.n_source for entry in own]
    if not sizes or min(sizes) >= FEW_QUERIES:
        return []
    if max(sizes) >= FEW_QUERIES:
        least = f"{min(sizes)} {'query' if min(sizes) == 1 else 'queries'}"
        return [f"Some pairs have only {least}: their intervals are wide."]
    each = " per pair" if len({(entry.source, entry.target) for entry in own}) > 1 else ""
    noun = "query" if max(sizes) == 1 else "queries"
    return [f"Only {numbers.span(sizes)} {noun}{each}: the intervals are wide."]


def _retrieval(runs: Sequence[Results], task: Task, rows: Sequence[BoardRow]) -> list[str]:
    name = task.measure_name(rows[0].measure)
    found = [row for row in rows if row.value is not None]
    leader = next((row for row in found if row.standing == "leader"), found[0] if found else None)
    sentences = []
    run = runs[rows[0].run - 1]
    unlike = differences(leaders.kinds_of(found, run)) if task.by_images else []
    if unlike and not chance.none_above(found):
        sentences.append(f"No leader is named: {no_leader(unlike)}.")
    elif leader is not None:
        pairs = leaders.pair_rows(runs, task.name, leader.measure).get(leader.system, {})
        where = _where(leader, list(pairs))
        if chance.none_above(found):
            sentences += chance.nothing_found(found[0], found, name, where)
        else:
            sentences += [lead(leader, found, name, where), *position(leader)]
            sentences += _hardest(leader, pairs)
    if not (chance.none_above(found) and all(row.at_chance for row in found)):
        sentences += chance.at_or_below(found)
    sentences += [*hubs.alarm(runs, found), *misses(run, rows), *without_value(rows, name)]
    sentences += few_queries(run, task.name) if found else []
    if task.by_images and not unlike and not chance.none_above(found):
        sentences += taken_as_one(leaders.kinds_of(found, run))
    return sentences + _true_matches(run, task)


def _true_matches(run: Results, task: Task) -> list[str]:
    """Return a remark where images stand in for translations, and most items have texts in both languages."""
    both, total = run.diagnostics.get("items_with_both", 0), run.diagnostics.get("items", 0)
    if not task.by_images or both < MANY_MATCHES or 2 * both < total:
        return []
    return [
        f"{numbers.count(both)} of {numbers.count(total)} items have texts in both languages: these are true "
        "matches, which xlingual evaluate crosslingual-retrieval (xlr) ranks directly."
    ]


def _about_the_run(run: Results) -> list[str]:
    """Return remarks on what was evaluated: samples, texts that took no part, near-duplicates."""
    samples = conditions.collected(run.entries).get("sample", [])
    return sampling.sentences(run.request, samples) + _dropped(run) + _clusters(run)


def _clusters(run: Results) -> list[str]:
    found = run.diagnostics.get("near_duplicates", {})
    if "largest_share" not in found:
        return []
    return [
        f"Near-duplicates count as one: {found['n_joined']:,} clusters, the largest with "
        f"{100 * found['largest_share']:.1f} % of all items."
    ]


def _dropped(run: Results) -> list[str]:
    """Return a remark where a run left out so many texts that its numbers are about another data set."""
    left_out, total = run.dropped.get("texts", 0), run.dropped.get("of", 0)
    if not total or left_out <= MANY_DROPPED * total:
        return []
    return [
        f"{left_out:,} of {total:,} texts ({numbers.percent(left_out / total)}) were not evaluated; the "
        "numbers are for the others only, and the warnings say why."
    ]


def _where(leader: BoardRow, pairs: list[tuple[str, str]]) -> str:
    if leader.n_pairs == 1 and len(pairs) == 1:
        return f" for {words.pair(*pairs[0])}"
    return f" on average over {leader.n_pairs} language pairs" if leader.n_pairs > 1 else ""


def _hardest(leader: BoardRow, pairs: dict[tuple[str, str], Summary]) -> list[str]:
    valued = {key: row for key, row in pairs.items() if row.value is not None}
    if len(valued) < 2:
        return []
    ordered = sorted(
        valued, key=lambda key: (valued[key].value, key), reverse=words.lower_is_better(leader.measure)
    )
    low, high = valued[ordered[0]], valued[ordered[-1]]
    close = alike(low, high)
    if low.value == high.value or (close and len(valued) < MANY_PAIRS):
        return []
    hard = numbers.with_interval(low.value, low.ci, leader.measure)
    easy = numbers.number(high.value, leader.measure)
    caution = ", a difference that may be noise" if close else ""
    return [
        f"Its hardest pair is {words.pair(*ordered[0])} with {hard}; "
        f"its easiest is {words.pair(*ordered[-1])} with {easy}{caution}."
    ]


def _not_paired(runs: Sequence[Results], task: str, places: list[int]) -> str:
    names = leaders.run_names(runs)
    which = f"Runs {numbers.in_words([str(place) for place in places])}"
    if leaders.unit(runs) == "pool":
        which = numbers.in_words([names[place - 1] for place in places])
    text = (
        f"{which} were evaluated separately, so their encoders cannot be compared query by query, and "
        "their differences have no interval. Evaluate them together to get intervals."
    )
    unequal = conditions.unequal([runs[place - 1] for place in places], task)
    if unequal:
        text += f" The conditions differ too ({numbers.in_words(unequal)}), so the values are not comparable."
    return text
