"""The page of answers from a multilingual pool: its verdict, boards, tables and maps of language bias."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from xlingual.languages import named
from xlingual.report import conditions, leaders, numbers, words
from xlingual.report.blocks import Block, Finding, Group, Heading, Section
from xlingual.report.figures import multilingual_pool as figures
from xlingual.report.findings import leads
from xlingual.report.leaders import BoardRow, contains
from xlingual.report.pages import hubs, pools_side_by_side
from xlingual.report.pages import pool_tables as tables
from xlingual.report.pages.evaluation import TaskPart, few_queries, findings
from xlingual.report.pool_views import (
    FOUND,
    ONE_TARGET,
    EncoderViews,
    times,
    views_of,
)
from xlingual.results import Results, by_key
from xlingual.tasks import Task

MUCH = 1.25  # times its share of the pool: from here on a language is over-retrieved, from 1/MUCH on under
EVEN = 0.5  # strong alignment by chance
ABOUT = (
    "Each question looks for its answers in one pool of candidates in all languages. An answer is right in "
    "whatever language, and all of them should rank above everything else. An encoder that prefers its own "
    "language puts wrong candidates of that language above right ones of another."
)
TERMS: Mapping[str, tuple[str, tuple[str, ...]]] = {  # term → its meaning, and the views that need it
    "One target only": (
        "The pool holds a single answer of the question, in a given language; its other answers are removed. "
        "Own and other are the means over answers in the question's language and over those in other "
        "languages; the gap is own minus other.",
        ("one_target", ONE_TARGET),
    ),
    "Found among the first": (
        "The share of a question's answers that are among its first k candidates (R@k), apart for answers in "
        "the question's language (own) and in others (other); the gap is own minus other.",
        ("found", FOUND),
    ),
    "Remove one, Δ": (
        "How much lower mAP is after removing the answer in the question's language (same) than after "
        "removing one in another language (rand, averaged over all of them): Δ = (rand − same)/rand. 0 means "
        "no bias; above 0 the encoder prefers the question's language.",
        ("remove_one",),
    ),
    "Monolingual pool": (
        "Only candidates in the question's language. It does not show whether languages share one space: an "
        "encoder may be good here and fail over the pool of all languages.",
        ("monolingual_pool", tables.ALONE),
    ),
    "Weak and strong alignment": (
        "Weak: in one other language alone, the nearest candidate is an answer. Strong: answers in other "
        "languages are nearer than wrong candidates in the question's own; measured as the share of such "
        "pairs in that order, ties half, so that 0.5 is chance and below it language weighs more than "
        "meaning. Strict: every answer is before every other candidate.",
        ("alignment",),
    ),
    "Language share": (
        "The share of a question's best candidates that are in a given language. The ratio divides it by the "
        "language's share of the pool: 1 means no bias.",
        (figures.SHARES, figures.RATIOS),
    ),
    "Language identification": (
        "How often a linear model identifies the language of a text from its vector, on paragraphs it was "
        "not fitted on. At chance, vectors do not reveal the language.",
        ("language_id_accuracy",),
    ),
    "PEER": (
        "How equally the ranking treats the languages: p of a Kruskal-Wallis test that the candidates of all "
        "languages have the same ranks, among answers and among other candidates, mean over questions. 1 is "
        "fair.",
        ("fairness",),
    ),
    hubs.TERM[0]: (hubs.TERM[1], ("hubs",)),
}
MEASURES = {  # prefix of a measure → its term
    "AP": (
        "mAP",
        "Mean average precision: for each question, the precision at the place of every one of its answers, "
        "averaged over them, then over questions. 1 means that all answers rank above all other candidates.",
    ),
    "Success@": (
        "Success@k and R@k",
        "Success@k is the share of questions with any right answer among the first k (hit rate); R@k is the "
        "share of a question's answers that is (set recall), averaged over questions.",
    ),
    "nDCG": (
        "nDCG@k",
        "The discounted gain of the first k candidates: an answer at rank i adds its grade / log2(i + 1), "
        "divided by what the best order would add, averaged over questions.",
    ),
}


def part(runs: Sequence[Results], task: Task, budget: int) -> TaskPart:
    """Return the part of a task whose candidates are a pool of all languages."""
    measures = leaders.measures(runs, task.name)
    boards_of = {name: leaders.leaderboard(runs, task.name, name) for name in measures}
    encoders = views_of(runs, boards_of[measures[0]])
    entries = [entry for run in runs for entry in by_key(run.entries, task=task.name)]
    graded = " In nDCG answers are worth their grades." if conditions.collected(entries).get("grades") else ""
    pools, name = pools_side_by_side.columns(runs, measures[0]), task.measure_name(measures[0])
    blocks: list[Block] = [*pools_side_by_side.side_by_side(runs, task)]
    blocks += [Heading("Pool by pool")] if blocks else []
    blocks += [
        *tables.pool_boards(runs, task, boards_of),
        Group("pool", list(tables.languages(runs, task, encoders))),
    ]
    verdict = findings(runs, task, of_run)
    if pools:  # the last is about runs over one pool
        over_all = Finding(pools_side_by_side.findings(pools, name), f"{len(pools)} pools")
        verdict = [over_all, *verdict[:-1]]
    tied = any(row.n_tied for rows in boards_of.values() for row in rows)
    chances = "The score on the same data of an encoder for which all candidates are equally similar."
    terms = [
        *(term for prefix, term in MEASURES.items() if _measured(prefix, measures)),
        *((t, text) for t, (text, used) in TERMS.items() if any(e.has(v) for e in encoders for v in used)),
        ("Chance", chances),
        *(term for term in words.GLOSSARY if term[0] in (("Interval", "Tied") if tied else ("Interval",))),
    ]
    return TaskPart(
        section=Section(task.title, blocks, ABOUT + graded),
        findings=verdict,
        counts=[(len(pools), "pool")] if pools else [],
        encoders=len({row.encoder for pool in pools for row in pool.rows.values()}) or None,
        sizes={"questions": [e.n_source for e in entries], "candidates": [e.n_target for e in entries]},
        terms=terms,
    )


def _measured(prefix: str, measures: Sequence[str]) -> bool:
    """Tell whether a term is about one of the measures; "AP" is one measure, the others begin several."""
    return any(name == "AP" if prefix == "AP" else name.startswith(prefix) for name in measures)


def of_run(runs: Sequence[Results], task: Task, rows: Sequence[BoardRow]) -> list[str]:
    """Return the findings of one run, from the rows of its first measure, the most important first."""
    run, name = runs[rows[0].run - 1], task.measure_name(rows[0].measure)
    valued = [row for row in rows if row.value is not None]
    leader = next((row for row in valued if row.standing == "leader"), None)
    sentences = []
    if leader is not None:
        encoders = views_of(runs, valued)
        best = next(encoder for encoder in encoders if encoder.row is leader)
        among = f" in {len(best.languages)} languages" if len(best.languages) > 1 else ""
        where = "" if best.entry is None else f" over {numbers.count(best.entry.n_source)} questions{among}"
        if leads.none_above(valued):
            sentences += leads.nothing_found(valued[0], valued, name, where)
        else:
            sentences += [leads.lead(leader, valued, name, where), *leads.position(leader), *bias(best)]
            sentences += [*_misaligned(encoders), *order(encoders), *_hardest(best), *_most_shown(best)]
            sentences += hubs.alarm(runs, valued)
    if not (leads.none_above(valued) and all(row.at_chance for row in valued)):
        sentences += leads.at_or_below(valued)
    sentences += leads.misses(run, rows)
    return sentences + leads.without_value(rows, name) + few_queries(run, task.name)


def bias(best: EncoderViews) -> list[str]:
    """Return whether the leader prefers answers in the question's language, by which numbers."""
    facts, gap = [], (best.summary, "gap")
    here, there = (best.number(best.summary, name) for name in ("own", "other"))
    if here is not None and there is not None:
        same, other, shown = numbers.finely(here), numbers.finely(there), best.difference(*gap).plain
        facts.append(
            f"with a single answer in the pool, mAP is {same} where it is in the question's language and "
            f"{other} where it is in another (gap {shown})"
            if best.summary == ONE_TARGET
            else f"among the first {best.cut} candidates are {same} of a question's answers in its own "
            f"language and {other} of those in others (gap {shown})"
        )
    if best.number(*tables.DELTA) is not None:
        cost = best.share(*tables.DELTA).plain
        facts.append(f"removing the own-language answer rather than another one costs {cost} of mAP (Δ)")
    if not facts:
        return []
    intervals = [ci for keys in (gap, tables.DELTA) if (ci := best.interval(*keys)) is not None]
    sides = {"holds" if contains(ci, 0.0) else "above" if ci.low > 0 else "below" for ci in intervals}
    name = best.row.encoder
    head = {
        (): f"Whether {name} prefers the question's own language is not known without an interval",
        ("above",): f"{name} prefers the question's own language",
        ("below",): f"{name} prefers other languages to the question's own",
        ("holds",): f"{name} is not shown to be biased towards the question's own language",
    }.get(tuple(sides), f"Whether {name} prefers the question's own language depends on how it is measured")
    return [f"{head}: {'; '.join(facts)}."]


def _misaligned(encoders: tables.Views) -> list[str]:
    """Return which encoders put wrong candidates of the own language before answers in other languages."""
    below = [e for e in encoders if (ci := e.interval("alignment", "strong")) and ci.high < EVEN]
    shown = [f"{e.row.encoder} {e.cell('alignment', 'strong').plain}" for e in below]
    if not shown:
        return []
    return [
        "Wrong candidates in the question's language usually rank above answers in another language: strong "
        f"alignment is below {EVEN:g} for {numbers.in_words(shown)}."
    ]


def order(encoders: tables.Views) -> list[str]:
    """Return whether the encoders come in another order where the pool holds one language only."""
    ranks = tables.monolingual_ranks(encoders)
    if not ranks:
        return []
    if all(alone == here for alone, here in ranks.values()):
        return ["With candidates of the question's language only, the order of the encoders is the same."]
    first = next(encoders[i] for i, (alone, _) in ranks.items() if alone == 1)
    best = next(encoders[i] for i, (_, here) in ranks.items() if here == 1)
    value, other = (numbers.finely(e.number(tables.ALONE), e.interval(tables.ALONE)) for e in (first, best))
    if first is best:
        moved = numbers.in_words([encoders[i].row.encoder for i, (a, here) in ranks.items() if a != here])
        return [
            f"With candidates of the question's language only, {first.row.encoder} is first too ({value} on "
            f"average), but the order of {moved} changes."
        ]
    return [
        f"The order changes if the pool holds only the question's language: there {first.row.encoder} is "
        f"first with {value} on average, before {best.row.encoder} with {other}."
    ]


def _hardest(best: EncoderViews) -> list[str]:
    """Return the hardest and easiest question language of the leader."""
    view = "by_question_language"
    values = {tag: value for tag, value in best.mapping(view).items() if value is not None}
    tags = sorted(values, key=lambda tag: (values[tag], tag))
    if len(tags) < 2 or values[tags[0]] == values[tags[-1]]:
        return []
    low, high = ((values[tag], best.interval(view, tag)) for tag in (tags[0], tags[-1]))
    both = ((high[0], low[1]), (low[0], high[1]))
    alike = any(ci is not None and contains(ci, value) for value, ci in both)
    return [
        f"The hardest questions for {best.row.encoder} are those in {named(tags[0])} with "
        f"{numbers.finely(*low)}; the easiest those in {named(tags[-1])} with {numbers.finely(high[0])}"
        f"{', a difference that may be noise' if alike else ''}."
    ]


def _most_shown(best: EncoderViews) -> list[str]:
    """Return the share of the question's language among the best, and which others come most and least.

    Other languages are compared with the average one of them: where the question's own takes much, all have
    less than their share of the pool, which says nothing about any one.
    """
    ratios = best.pairs(figures.RATIOS)
    same = [value for (asked, answer), value in ratios.items() if asked == answer and value is not None]
    parts = [f"its own language has {times(fmean(same))} times its share of the pool"] if same else []
    rows: dict[str, dict[str, float]] = {}
    for (asked, answer), value in ratios.items():
        if asked != answer and value is not None:
            rows.setdefault(asked, {})[answer] = value
    compared: dict[str, list[float]] = {}
    for row in (row for row in rows.values() if len(row) > 1 and any(row.values())):
        for answer, value in row.items():
            compared.setdefault(answer, []).append(value / fmean(row.values()))
    means = {tag: fmean(values) for tag, values in compared.items()}
    tags = sorted(means, key=lambda tag: (-means[tag], tag))
    often = [tag for tag in tags if means[tag] >= MUCH][:2]
    often += [tag for tag in reversed(tags) if means[tag] <= 1 / MUCH][:2]
    if often:
        shown = numbers.in_words([f"{named(tag)} comes {times(means[tag])} times" for tag in often])
        parts.append(f"of the other languages, {shown} as often as the average one")
    text = f"Among the {numbers.count(int(best.number('top') or 100))} best candidates of a question"
    return [f"{text}, {'; '.join(parts)} (1 means no bias)."] if parts else []
