"""What a page shows about answers from a multilingual pool: boards, bias, the worst questions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from xlingual.report import conditions, leaders, numbers, words
from xlingual.report.blocks import Block, Card, Cards, Finding, Fold, Group, Heading, Prose, Section, Text
from xlingual.report.figures import pool_maps
from xlingual.report.figures.labels import shortened
from xlingual.report.figures.multilingual_pool import losses, space, trade_off
from xlingual.report.findings.multilingual_pool import of_run
from xlingual.report.pages import hubs, pool_tables, pools_side_by_side
from xlingual.report.pages.boards import boards, notes
from xlingual.report.pages.evaluation import TaskPart, findings
from xlingual.report.pool_columns import columns
from xlingual.report.pool_views import PREFER_OWN, EncoderViews, policies_of, tables_of, views_of
from xlingual.report.table import Badge
from xlingual.results import Entry, Results, by_key
from xlingual.tasks import Task

MOST_ENCODERS = 3  # whose texts are shown
MOST_QUESTIONS = 5
MOST_ABOVE = 5
MOST_ANSWERS = 2
MOST_LETTERS = 400  # of a text: a candidate may come with a whole paragraph

POOLED = "Each question looks for its answers in one pool of candidates in all languages."
OWN = (
    "Only answers in the question's language count as right, and should rank above everything else: a right "
    "answer in another language is counted as a separate kind of error."
)
ANY = (
    "An answer is right in whatever language, and all of them should rank above everything else. "
    "An encoder that prefers its own language puts wrong candidates of that language above right "
    "ones of another."
)
BOTH = "With the policy prefer-own, only answers in the question's language count as right."

PRECISION = (
    "Mean average precision: for each question, the precision at the place of every one of its answers, "
    "averaged over them, then over questions. 1 means that all answers"
)
TERMS = {
    "Success@k and R@k": "Success@k is the share of questions with any right answer among the first k (hit "
    "rate); R@k is the share of a question's answers that is (set recall), averaged over questions.",
    "nDCG@k": "The discounted gain of the first k candidates: an answer at rank i adds its grade / log2(i + "
    "1), divided by what the best order would add, averaged over questions.",
    "One target only": "The pool holds a single answer of the question, in a given language; its other "
    "answers are removed. Own and other are the means over answers in the question's "
    "language and over those in other languages; the gap is own minus other.",
    "Found among the first": "The share of a question's answers that are among its first k candidates (R@k), "
    "apart for answers in the question's language (own) and in others (other); the gap is own minus other.",
    "Remove one, Δ": "How much lower mAP is after removing the answer in the question's language (same) "
    "than after removing one in another language (rand, averaged over all of them): Δ = "
    "(rand − same)/rand. 0 means no bias; above 0 the encoder prefers the question's "
    "language.",
    "Monolingual pool": "Only candidates in the question's language. It does not show whether languages "
    "share one space: an encoder may be good here and fail over the pool of all "
    "languages.",
    "Weak and strong alignment": "Weak: in one other language alone, the nearest candidate is an answer. "
    "Strong: answers in other languages are nearer than wrong candidates in the question's own; measured as "
    "the share of such pairs in that order, ties half, so that 0.5 is chance and below it language weighs "
    "more than meaning. Strict: every answer is before every other candidate.",
    "Language share": "The share of a question's best candidates that are in a given language. The ratio "
    "divides it by the language's share of the pool: 1 means no bias.",
    "Language identification": "How often a linear model identifies the language of a text from its vector, "
    "on paragraphs it was not fitted on. At chance, vectors do not reveal the "
    "language.",
    "Where the loss comes from": "How many irrelevant candidates rank above an answer, by their language: "
    "the question's, the answer's or a third one. Ties count half.",
    "PEER": "How equally the ranking treats the languages: p of a Kruskal-Wallis test that the candidates "
    "of all languages have the same ranks, among answers and among other candidates, mean over questions. 1 "
    "is fair.",
    hubs.TERM[0]: hubs.TERM[1],
    "Own-language answers only": "The policy prefer-own: answers in the question's language should come "
    "first. A right answer in another language is then counted as a separate kind of error.",
    "Chance": "The score on the same data of an encoder for which all candidates are equally similar.",
}
USED_BY = {  # a term → the views that need it
    "One target only": ("one_target", "one_target_summary"),
    "Found among the first": ("found", "found_summary"),
    "Remove one, Δ": ("remove_one",),
    "Monolingual pool": ("monolingual_pool", "monolingual_pool_average"),
    "Weak and strong alignment": (pool_tables.ALIGNMENT,),
    "Language share": (pool_maps.SHARES, pool_maps.RATIOS),
    "Language identification": ("language_id_accuracy",),
    "Where the loss comes from": ("loss",),
    "PEER": ("fairness",),
    "Hub": ("hubs",),
}

Boards: TypeAlias = Mapping[str, Sequence[leaders.BoardRow]]  # by measure, the headline's first


def part(runs: Sequence[Results], task: Task, budget: int) -> TaskPart:
    """Return the part of a task whose candidates are a pool of all languages."""
    measures = leaders.measures(runs, task.name)
    boards_of = {name: leaders.leaderboard(runs, task.name, name) for name in measures}
    rows = next(iter(boards_of.values()))
    found, strict = views_of(runs, rows), views_of(runs, rows, PREFER_OWN)
    policies = policies_of(runs)
    about = f"{POOLED} {OWN if policies == {PREFER_OWN} else ANY}"
    about += f" {BOTH}" if len(policies) > 1 else ""
    entries = [entry for run in runs for entry in by_key(run.entries, task=task.name)]
    about += "".join(f" {sentence}" for sentence in _graded(entries))
    over_pools = pools_side_by_side.side_by_side(runs, task)
    blocks: list[Block] = [*over_pools, *([Heading("Pool by pool")] if over_pools else [])]
    blocks += _boards(runs, task, boards_of)
    blocks.append(Group("pool", list(_languages(runs, task, found, strict))))
    sizes = {"questions": [e.n_source for e in entries], "candidates": [e.n_target for e in entries]}
    pools = columns(runs, measures[0])
    return TaskPart(
        section=Section(task.title, blocks, about),
        findings=_findings(runs, task, measures[0]),
        counts=[(len(pools), "pool")] if pools else [],
        encoders=len({row.encoder for pool in pools for row in pool.rows.values()}) or None,
        sizes=sizes if entries else {},
        terms=_terms(task, policies, boards_of, found, any(one.entry for one in strict)),
    )


def _graded(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield what answers are worth in nDCG, where not all the same."""
    for grades in conditions.collected(entries).get("grades", []):
        *of_pool, last = grades.split("*")
        worth = dict(part.split("=") for part in last.split(",")) if "=" in last else {}
        if worth:
            times = ", times its grade" if of_pool else ""
            yield (
                f"In nDCG an answer in the question's language is worth {worth['own']}, one in another "
                f"{worth['other']}{times}."
            )
        else:
            yield "In nDCG answers are worth their grades."


def _findings(runs: Sequence[Results], task: Task, measure: str) -> list[Finding]:
    """Return what is found in each run; of several pools, first what is found over all of them."""
    found, pools = findings(runs, task, of_run), columns(runs, measure)
    if not pools:
        return found
    over_all = pools_side_by_side.findings(pools, task.measure_name(measure))
    return [Finding(over_all, f"{len(pools)} pools"), *found[:-1]]  # the last is about runs over one pool


def _boards(runs: Sequence[Results], task: Task, boards_of: Boards) -> list[Block]:
    """Return the leaderboards; with numbers by language, a terminal shows encoders side by side instead."""
    both = {
        measure: (views_of(runs, rows), views_of(runs, rows, PREFER_OWN))
        for measure, rows in boards_of.items()
    }
    first, (found, strict) = next(iter(both.items()))
    of_languages = ("one_target", "remove_one", "monolingual_pool", "first", "found")
    if not any(one.has(name) for one in (*found, *strict) for name in of_languages):
        return boards(runs, task)
    blocks = boards(runs, task, where="page")
    remarks: dict[str, None] = {}
    for measure, rows in boards_of.items():
        blocks += pool_tables.in_terminal(*both[measure], task)
        if measure != first:  # the verdict has its notes
            remarks |= dict.fromkeys(notes(rows))
    return [*blocks, *(Prose(note, "note-line", "terminal") for note in remarks)]


def _languages(
    runs: Sequence[Results], task: Task, found: Sequence[EncoderViews], strict: Sequence[EncoderViews]
) -> Iterator[Block]:
    """Yield the blocks about languages, in the order of the page."""
    traded = trade_off(found)
    alone = traded is None or len(found) == 1  # two bars beside a large figure would leave half a page empty
    lost = losses(found, alone=alone)
    blocks: list[Block | None] = [
        pool_tables.glance(found, task),
        lost if alone else None,
        Group("beside", [one for one in (traded, None if alone else lost) if one]) if traded else None,
        pool_maps.one_target(found),
        pool_maps.found_among(found),
        pool_tables.alignment(found),
        pool_maps.weak_alignment(found),
        pool_maps.strong_alignment(found),
        pool_maps.by_question(found if any(one.entry for one in found) else strict, task),
        pool_tables.remove_one(found),
        pool_tables.own_first(strict, task),
        pool_maps.shares(found),
        pool_maps.ratios(found),
        *space(runs, found),
        *hubs.blocks(runs, [one.row for one in found]),
    ]
    yield from (block for block in blocks if block is not None)
    folded = {
        "Language identification, pair by pair": pool_maps.identification(found),
        "Subsets of the languages": pool_tables.subsets(found),
        "Language fairness": pool_tables.fairness(found),
    }
    yield from (Fold(title, [block]) for title, block in folded.items() if block is not None)
    yield from _worst(runs, found)


def _worst(runs: Sequence[Results], found: Sequence[EncoderViews]) -> Iterator[Block]:
    """Yield the worst questions of the leading encoders, with the candidates above their answers."""
    for place, (one, rows) in enumerate(tables_of(runs, found, "worst")[:MOST_ENCODERS]):
        questions: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in rows:
            questions.setdefault((row["question_id"], row["question_language"]), []).append(row)
        cards = [("", [_question(own)]) for own in list(questions.values())[:MOST_QUESTIONS]]
        if place == 0:
            yield Heading("The worst questions")
        yield Fold(one.row.label, [Cards(cards)], open=place == 0, data=True)


def _question(rows: Sequence[Mapping[str, Any]]) -> Card:
    """Return a question and its ranked candidates: wrong ones above its answers, then answers."""
    first = rows[0]
    best = f", its best answer at rank {_rank(first['rank_of_best'])}" if first.get("rank_of_best") else ""
    remark = f"{first.get('measure') or 'AP'} {numbers.number(first['value'])}{best}"
    question = Text(
        first["question_language"],
        shortened(first["question"] or "", MOST_LETTERS),
        "question",
        remark=remark,
    )
    ordered = sorted(rows, key=lambda row: math.inf if row["place"] is None else row["place"])
    ranked = [
        Text(
            row["candidate_language"],
            shortened(row["candidate"] or "", MOST_LETTERS),
            place=_rank(row["place"]),
            tone=kind,
            badge=Badge("answer") if kind == "answer" else None,
        )
        for kind, most in (("above", MOST_ABOVE), ("answer", MOST_ANSWERS))
        for row in [row for row in ordered if row["kind"] == kind][:most]
    ]
    return Card(question, ranked, style="asked")


def _rank(place: float | None) -> str:
    """Return a rank, with a decimal only where a tie makes it a mean; none of what was not returned."""
    if place is None:
        return numbers.MISSING
    return numbers.count(round(place)) if float(place).is_integer() else f"{place:,.1f}"


def _terms(
    task: Task, policies: set[str], boards_of: Boards, found: Sequence[EncoderViews], strict: bool
) -> list[tuple[str, str]]:
    """Return the terms of what is shown, with their meanings."""
    own = " in the question's language" if policies == {PREFER_OWN} else ""
    terms = {"mAP": f"{PRECISION}{own} rank above all other candidates."} | TERMS
    shown = {term: any(one.has(view) for one in found for view in views) for term, views in USED_BY.items()}
    shown |= {
        "mAP": task.viewed in boards_of,
        "Success@k and R@k": any(name.startswith("Success@") for name in boards_of),
        "nDCG@k": any(name.startswith("nDCG") for name in boards_of),
        "Own-language answers only": strict,
    }
    tied = any(row.n_tied for rows in boards_of.values() for row in rows)
    shared = ("Interval", "Tied") if tied else ("Interval",)
    glossary = [term for term in words.GLOSSARY if term[0] in shared]
    return [(term, text) for term, text in terms.items() if shown.get(term, True)] + glossary
