"""The verdict about a multilingual pool: who finds answers across languages, and whose come first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from xlingual.languages import named
from xlingual.report import numbers
from xlingual.report.findings import leads
from xlingual.report.leaders import BoardRow, contains
from xlingual.report.pages import hubs
from xlingual.report.pages.evaluation import few_queries
from xlingual.report.pool_views import (
    ONE_TARGET,
    PREFER_OWN,
    EncoderViews,
    entries_of,
    policies_of,
    share,
    side_of_zero,
    times,
    views_of,
)
from xlingual.results import Results
from xlingual.tasks import Task

MUCH = 1.25  # times its share of the pool: from here on a language is over-retrieved, from 1/MUCH on under
DELTA = ("remove_one", "relative_delta")
ALONE = "monolingual_pool_average"
EVEN = 0.5  # strong alignment by chance
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def of_run(runs: Sequence[Results], task: Task, rows: Sequence[BoardRow]) -> list[str]:
    """Return the findings of one run, from the rows of its first measure, the most important first."""
    run = runs[rows[0].run - 1]
    name = task.measure_name(rows[0].measure)
    if policies_of([run]) == {PREFER_OWN}:
        name += " (own-language answers only)"
    found = [row for row in rows if row.value is not None]
    leader = next((row for row in found if row.standing == "leader"), None)
    sentences = []
    if leader is not None:
        where = _where(runs, leader)
        if leads.none_above(found):
            sentences += leads.nothing_found(found[0], found, name, where)
        else:
            every = views_of(runs, found)
            best = next(one for one in every if one.row is leader)
            sentences += [leads.lead(leader, found, name, where), *leads.position(leader)]
            sentences += [
                *bias(best, every),
                *misaligned(every),
                *order(every),
                *hardest(best),
                *shares(best),
                *hubs.alarm(runs, found),
            ]
            sentences += own_first(views_of(runs, [leader], PREFER_OWN)[0])
    if not (leads.none_above(found) and all(row.at_chance for row in found)):
        sentences += leads.at_or_below(found)
    sentences += leads.misses(run, rows)
    return sentences + leads.without_value(rows, name) + few_queries(run, task.name)


def bias(best: EncoderViews, every: Sequence[EncoderViews]) -> list[str]:
    """Return whether the leader prefers answers in the question's language, then the same for the others."""
    facts = []
    own, other, gap = ((best.summary, name) for name in ("own", "other", "gap"))
    values = best.number(*own), best.number(*other)
    if None not in values:
        here, there = map(numbers.finely, values)
        shown = best.difference(*gap).plain
        facts.append(
            f"with a single answer in the pool, mAP is {here} where it is in the question's language and "
            f"{there} where it is in another (gap {shown})"
            if best.summary == ONE_TARGET
            else f"among the first {best.cut} candidates are {here} of a question's answers in its own "
            f"language and {there} of those in others (gap {shown})"
        )
    if best.number(*DELTA) is not None:
        cost = best.share(*DELTA).plain
        facts.append(f"removing the own-language answer rather than another one costs {cost} of mAP (Δ)")
    if not facts:
        return []
    known = {side_of_zero(best.interval(*keys)) for keys in (gap, DELTA)} - {"unknown"}
    name = best.row.encoder
    match sorted(known):
        case ["above"]:
            head = f"{name} prefers the question's own language"
        case ["below"]:
            head = f"{name} prefers other languages to the question's own"
        case ["holds"]:
            head = f"{name} is not shown to be biased towards the question's own language"
        case []:
            head = f"Whether {name} prefers the question's own language is not known without an interval"
        case _:
            head = f"Whether {name} prefers the question's own language depends on how it is measured"
    return [f"{head}: {'; '.join(facts)}.", *_others(best, every)]


def _others(best: EncoderViews, every: Sequence[EncoderViews]) -> list[str]:
    known = [one for one in every if one is not best and one.number(*DELTA) is not None]
    if not known:
        return []
    free = [one.row.encoder for one in known if side_of_zero(one.interval(*DELTA)) == "holds"]
    if len(known) > leads.MOST_NAMED:
        high = max(known, key=lambda one: one.number(*DELTA) or 0.0)
        shown = f"; none can be shown for {numbers.in_words(free)}" if free else ""
        most = f"{high.row.encoder} prefers its own language most: Δ {high.share(*DELTA).plain}"
        return [f"Of the others, {most}{shown}."]
    unshown = dict.fromkeys(free, ", which may be zero")
    deltas = [(one.row.encoder, one.share(*DELTA).plain) for one in known]
    texts = [f"{name} {delta}{unshown.get(name, '')}" for name, delta in deltas]
    return [f"The same Δ for {'the other' if len(texts) == 1 else 'the others'}: {'; '.join(texts)}."]


def misaligned(every: Sequence[EncoderViews]) -> list[str]:
    """Return which encoders put wrong candidates of the own language before answers in other languages."""
    below = [one for one in every if (ci := one.interval("alignment", "strong")) and ci.high < EVEN]
    shown = [f"{one.row.encoder} {one.cell('alignment', 'strong').plain}" for one in below]
    if not shown:
        return []
    return [
        "Wrong candidates in the question's language usually rank above answers in another language: strong "
        f"alignment is below {EVEN:g} for {numbers.in_words(shown)}."
    ]


def monolingual_ranks(every: Sequence[EncoderViews]) -> dict[int, tuple[int, int]]:
    """Return (monolingual rank, rank over the whole pool) by place of those that have both.

    Runs that are ranked apart are so here too. An encoder alone in its ranking is left out.
    """
    both = [i for i, one in enumerate(every) if one.number(ALONE) is not None and one.row.value is not None]
    apart = len({every[i].row.rank for i in both}) < len(both)
    ranks: dict[int, tuple[int, int]] = {}
    for run in sorted({every[i].row.run for i in both}) if apart else [None]:
        own = [i for i in both if run in (None, every[i].row.run)]
        alone = sorted(own, key=lambda i: (-(every[i].number(ALONE) or 0.0), i))
        here = sorted(own, key=lambda i: (every[i].row.rank or 0, i))
        if len(own) > 1:
            ranks |= {i: (alone.index(i) + 1, here.index(i) + 1) for i in own}
    return ranks


def order(every: Sequence[EncoderViews]) -> list[str]:
    """Return whether the encoders come in another order where the pool holds one language only."""
    ranks = monolingual_ranks(every)
    if not ranks:
        return []
    moved = [i for i, (alone, here) in ranks.items() if alone != here]
    if not moved:
        return ["With candidates of the question's language only, the order of the encoders is the same."]
    first = next(i for i, (alone, _) in ranks.items() if alone == 1)
    best = next(i for i, (_, here) in ranks.items() if here == 1)
    one, other = every[first], every[best]
    value, other_value = (numbers.finely(each.number(ALONE), each.interval(ALONE)) for each in (one, other))
    if first == best:
        names = numbers.in_words([every[i].row.encoder for i in moved])
        return [
            f"With candidates of the question's language only, {one.row.encoder} is first too ({value} on "
            f"average), but the order of {names} changes."
        ]
    doubt = ": a difference that may be noise" if _alike(one, (ALONE,), other, (ALONE,)) else ""
    return [
        f"The order changes if the pool holds only the question's language: there {one.row.encoder} is first "
        f"with {value} on average, before {other.row.encoder} with {other_value}{doubt}; over all languages "
        f"it is {ordinal(ranks[first][1])} of {len(ranks)}."
    ]


def _alike(one: EncoderViews, keys: Sequence[str], other: EncoderViews, others: Sequence[str]) -> bool:
    """Tell whether the interval of either number contains the other."""
    both = ((one.interval(*keys), other.number(*others)), (other.interval(*others), one.number(*keys)))
    return any(ci is not None and value is not None and contains(ci, value) for ci, value in both)


def ordinal(place: int) -> str:
    """Return "first", "second" … or "11th".

    >>> ordinal(1), ordinal(12), ordinal(23)
    ('first', '12th', '23rd')
    """
    if place <= len(ORDINALS):
        return ORDINALS[place - 1]
    ending = "th" if 10 < place % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def hardest(best: EncoderViews) -> list[str]:
    """Return the hardest and easiest question language of the leader, and its hardest pair of languages."""
    sentences = []
    if ends := _ends(best, "by_question_language"):
        low, high = (("by_question_language", tag) for tag in ends)
        doubt = ", a difference that may be noise" if _alike(best, low, best, high) else ""
        sentences.append(
            f"The hardest questions for {best.row.encoder} are those in {named(ends[0])} with "
            f"{numbers.finely(best.number(*low), best.interval(*low))}; the easiest those in "
            f"{named(ends[1])} with {numbers.finely(best.number(*high))}{doubt}."
        )
    if ends := _ends(best, "one_target"):
        low = ("one_target", ends[0])
        question, _, answer = ends[0].partition("->")
        sentences.append(
            f"With a single answer in the pool, the hardest case is a question in {named(question)} with its "
            f"answer in {named(answer)}: {numbers.finely(best.number(*low), best.interval(*low))}."
        )
    return sentences


def _ends(best: EncoderViews, view: str) -> tuple[str, str] | None:
    """Return the keys of the least and the greatest value; None where all are the same."""
    known = {key: value for key, value in best.mapping(view).items() if value is not None}
    ordered = sorted(known, key=lambda key: (known[key], key))
    if len(ordered) < 2 or known[ordered[0]] == known[ordered[-1]]:
        return None
    return ordered[0], ordered[-1]


def shares(best: EncoderViews) -> list[str]:
    """Return the share of the question's language among the best, and which others are over-represented."""
    ratios = best.pairs("language_share_ratio_top100")
    own = [value for (question, answer), value in ratios.items() if question == answer and value is not None]
    parts = [f"its own language has {times(fmean(own))} times its share of the pool"] if own else []
    foreign = among_foreign(ratios)
    over = [name for name, value in foreign.items() if value >= MUCH][:2]
    under = [name for name, value in reversed(foreign.items()) if value <= 1 / MUCH][:2]
    if over or under:
        often = [f"{named(name)} comes {times(foreign[name])} times" for name in (*over, *under)]
        parts.append(f"of the other languages, {numbers.in_words(often)} as often as the average one")
    text = f"Among the {numbers.count(int(best.number('top') or 100))} best candidates of a question"
    return [f"{text}, {'; '.join(parts)} (1 means no bias)."] if parts else []


def among_foreign(ratios: Mapping[tuple[str, str], float | None]) -> dict[str, float]:
    """Return how much more than the average foreign language each one is found, the largest first.

    Within the candidates that are not in the question's language: where that takes much, all others have less
    than their share of the pool, which says nothing about any one of them.
    """
    rows: dict[str, dict[str, float]] = {}
    for (question, answer), value in ratios.items():
        if question != answer and value is not None:
            rows.setdefault(question, {})[answer] = value
    found: dict[str, list[float]] = {}
    for row in (row for row in rows.values() if len(row) > 1 and any(row.values())):
        average = fmean(row.values())
        for answer, value in row.items():
            found.setdefault(answer, []).append(value / average)
    means = {name: fmean(values) for name, values in found.items()}
    return dict(sorted(means.items(), key=lambda item: (-item[1], item[0])))


def own_first(best: EncoderViews) -> list[str]:
    """Return what comes first where answers in the question's language are wanted."""
    kinds = [best.number("first", kind) for kind in ("right", "right_meaning_wrong_language", "own_wrong")]
    if None in kinds:
        return []
    right, foreign, wrong = (share(value).text for value in kinds)
    return [
        f"If only answers in the question's language count, the first candidate of {best.row.encoder} is "
        f"such an answer for {right} of the questions, a right answer in another language for {foreign}, and "
        f"a wrong candidate in the question's language for {wrong}."
    ]


def _where(runs: Sequence[Results], leader: BoardRow) -> str:
    entries = entries_of(runs, leader)
    if not entries:
        return ""
    n_languages = len(EncoderViews(leader, entries[0]).languages)
    among = f" in {n_languages} languages" if n_languages > 1 else ""
    return f" over {numbers.count(entries[0].n_source)} questions{among}"
