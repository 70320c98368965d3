"""What a page shows about answers from a multilingual pool: boards, bias, the worst questions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from xlingual.report import leaders, numbers, words
from xlingual.report.blocks import Block, Card, Cards, Fold, Group, Heading, Prose, Section, Text
from xlingual.report.figures import pool_maps
from xlingual.report.figures.multilingual_pool import losses, space, trade_off
from xlingual.report.findings import approximation
from xlingual.report.findings.multilingual_pool import of_run
from xlingual.report.findings.retrieval import findings
from xlingual.report.pages import pool_tables
from xlingual.report.pages.boards import boards, notes
from xlingual.report.pages.evaluation import Part
from xlingual.report.pool_views import PREFER_OWN, EncoderViews, amount, policies_of, seen, tables_of
from xlingual.report.table import Badge
from xlingual.results import Results, by_key
from xlingual.tasks import Task

MOST_ENCODERS = 3  # whose texts are shown
MOST_HUBS = 5
MOST_QUESTIONS = 5
MOST_ABOVE = 5
MOST_ANSWERS = 2
MOST_LETTERS = 400  # of a text: a candidate may come with a whole paragraph

POOLED = "Each question looks for its answers in one pool of candidates in all languages"
OWN = (
    "Only answers in the question's language count as right, and should stand above everything else: a right "
    "answer in another language is an error of its own."
)
ANY = (
    "An answer is right in whatever language, and all of them should stand above everything else. An encoder "
    "that prefers its own language puts wrong candidates of that language above right ones of another."
)
BOTH = "With the policy prefer-own, only answers in the question's language count as right."

PRECISION = (
    "Mean average precision: for each question, the precision at the place of every one of its answers, "
    "averaged over them, then over questions. 1 means that all answers"
)
HIT_RATE = (
    "Success@k and R@k",
    "Success@k is the share of questions with any right answer among the first k (hit rate); R@k is the "
    "share of a question's answers that is (set recall), averaged over questions.",
)
CHANCE = ("Chance", "What an encoder scores on the same data to which all candidates are equal.")
# Term, the views or parts of the page that use it, meaning.
TERMS = (
    (
        "One target only",
        ("one_target", "one_target_summary"),
        "The pool holds a single answer of the question, in a given language; its other answers are taken "
        "out. Own and other are the means over answers in the question's language and over those in other "
        "languages; the gap is own minus other.",
    ),
    (
        "Remove one, Δ",
        ("remove_one",),
        "How much lower mAP is after taking away the answer in the question's language (same) than after "
        "taking away one in another language (rand, averaged over all of them): Δ = (rand − same)/rand. 0 is "
        "no bias; above 0 the own language is preferred.",
    ),
    (
        "Monolingual pool",
        ("monolingual_pool", "monolingual_pool_average"),
        "Only candidates in the question's language. It does not tell whether languages share one space: "
        "an encoder may do well here and fail over the pool of all languages.",
    ),
    (
        "Language share",
        (pool_maps.SHARES, pool_maps.RATIOS),
        "Of the best candidates of a question, how many are in a given language. The ratio divides that by "
        "the language's share of the pool: 1 is no bias.",
    ),
    (
        "Language identification",
        ("language_id_accuracy",),
        "How often a linear model tells the language of a text from its vector, on paragraphs it was not "
        "fitted on. At chance, vectors do not give the language away.",
    ),
    (
        "Where the loss comes from",
        ("loss",),
        "How many irrelevant candidates stand above an answer, by their language: the question's, the "
        "answer's or a third one. Ties count half.",
    ),
    (
        "PEER",
        ("fairness",),
        "How equally the ranking treats the languages: p of a Kruskal-Wallis test that the candidates of all "
        "languages have the same ranks, among answers and among other candidates, mean over questions. 1 is "
        "fair.",
    ),
    (
        "Hub",
        ("hubs",),
        "A candidate that is among the best of more questions than others by over two standard deviations. "
        "Skewness of the occurrences above 1.4 counts as strong; for an alarm the largest hub must also be "
        "20 times as frequent as expected.",
    ),
)
OWN_ONLY = (
    "Own-language answers only",
    "The policy prefer-own: answers in the question's language should come first. A right answer in "
    "another language is then an error of its own.",
)


def part(runs: Sequence[Results], task: Task, budget: int) -> Part:
    """Return the part of a task whose candidates are a pool of all languages."""
    measure = leaders.measures(runs, task.name)[0]
    rows = leaders.leaderboard(runs, task.name, measure)
    found, strict = seen(runs, rows), seen(runs, rows, PREFER_OWN)
    policies = policies_of(runs)
    blocks: list[Block] = [*_boards(runs, task), Group("pool", list(_languages(runs, task, found, strict)))]
    entries = [entry for run in runs for entry in by_key(run.entries, task=task.name)]
    sizes = {"questions": [e.n_source for e in entries], "candidates": [e.n_target for e in entries]}
    return Part(
        section=Section(task.title, blocks, about(policies)),
        findings=findings(runs, task, of_run),
        sizes=sizes if entries else {},
        terms=_terms(runs, task, found, strict),
    )


def about(policies: Collection[str]) -> str:
    """Return what a question looks for, under the language policies of the results."""
    if policies == {PREFER_OWN}:
        return f"{POOLED}. {OWN}"
    return " ".join([f"{POOLED}.", ANY, *([BOTH] if PREFER_OWN in policies else [])])


def _boards(runs: Sequence[Results], task: Task) -> list[Block]:
    """Return the leaderboards; where languages were looked at, a terminal shows them side by side instead."""
    measures = leaders.measures(runs, task.name)
    boards_of = {measure: leaders.leaderboard(runs, task.name, measure) for measure in measures}
    looked_at = {"one_target", "remove_one", "monolingual_pool", "first"}
    first = [*seen(runs, boards_of[measures[0]]), *seen(runs, boards_of[measures[0]], PREFER_OWN)]
    if measures[0] != task.viewed or not any(one.has(name) for one in first for name in looked_at):
        return boards(runs, task)
    blocks = boards(runs, task, where="page")
    told: dict[str, None] = {}
    for measure, rows in boards_of.items():
        blocks += pool_tables.in_terminal(seen(runs, rows), seen(runs, rows, PREFER_OWN), task)
        if measure != task.viewed:  # the verdict has its notes
            told |= dict.fromkeys([*notes(rows), *approximation.sentences(rows)])
    return [*blocks, *(Prose(note, "note-line", "terminal") for note in told)]


def _languages(
    runs: Sequence[Results], task: Task, found: Sequence[EncoderViews], strict: Sequence[EncoderViews]
) -> Iterator[Block]:
    """Give what the results hold of languages, in the order of the page."""
    traded, lost = trade_off(found), losses(found)
    drawn = [figure for figure in (traded, lost) if figure is not None]
    blocks: list[Block | None] = [
        pool_tables.glance(found, task),
        *([Group("beside", drawn)] if traded else drawn),
        pool_maps.one_target(found),
        pool_maps.by_question(found if any(one.entry for one in found) else strict, task),
        pool_tables.remove_one(found),
        pool_tables.own_first(strict, task),
        pool_maps.shares(found),
        pool_maps.ratios(found),
        *space(runs, found),
        pool_tables.hubs(found),
        *_hub_texts(runs, found),
    ]
    yield from (block for block in blocks if block is not None)
    if (told := pool_maps.identification(found)) is not None:
        yield Fold("Language identification, pair by pair", [told])
    for table in (pool_tables.subsets(found), pool_tables.fairness(found)):
        if table is not None:
            yield Fold(table.title, [table])
    yield from _worst(runs, found)


def _hub_texts(runs: Sequence[Results], found: Sequence[EncoderViews]) -> list[Block]:
    """Return the largest hubs of the leading encoders, the most frequent first."""
    shown = tables_of(runs, found, "hubs")[:MOST_ENCODERS]
    largest = {one.row.label: sorted(rows, key=lambda row: -row["count"])[:MOST_HUBS] for one, rows in shown}
    groups = [(label, [Card(None, list(map(_hub, rows)))]) for label, rows in largest.items()]
    return [Fold("The largest hubs", [Cards(groups, "three", data=True)])] if groups else []


def _hub(row: Mapping[str, Any]) -> Text:
    answers = row.get("relevant_to")
    right = "" if answers is None else f", relevant to {'none' if answers == 0 else numbers.count(answers)}"
    often = f"found by {numbers.count(round(row['count']))} questions ({amount(row['expected'])} expected)"
    return Text(row["language"], _cut(row["text"]), remark=often + right)


def _worst(runs: Sequence[Results], found: Sequence[EncoderViews]) -> Iterator[Block]:
    """Give the worst questions of the leading encoders, with what stood above their answers."""
    for place, (one, rows) in enumerate(tables_of(runs, found, "worst")[:MOST_ENCODERS]):
        questions: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in rows:
            questions.setdefault((row["question_id"], row["question_language"]), []).append(row)
        cards = [("", [_question(own)]) for own in list(questions.values())[:MOST_QUESTIONS]]
        if place == 0:
            yield Heading("The worst questions")
        yield Fold(one.row.label, [Cards(cards)], open=place == 0, data=True)


def _question(rows: Sequence[Mapping[str, Any]]) -> Card:
    """Return a question and what was ranked: wrong candidates above its answers, then answers."""
    first = rows[0]
    best = f", its best answer at rank {_rank(first['rank_of_best'])}" if first.get("rank_of_best") else ""
    remark = f"AP {numbers.number(first['value'])}{best}"
    asked = Text(first["question_language"], _cut(first["question"]), "question", remark=remark)
    ordered = sorted(rows, key=lambda row: row["place"])
    above = [row for row in ordered if row["kind"] == "above"][:MOST_ABOVE]
    answers = [row for row in ordered if row["kind"] == "answer"][:MOST_ANSWERS]
    return Card(asked, list(map(_candidate, (*above, *answers))), style="asked")


def _candidate(row: Mapping[str, Any]) -> Text:
    return Text(
        row["candidate_language"],
        _cut(row["candidate"]),
        place=_rank(row["place"]),
        tone=row["kind"],
        badge=Badge("answer") if row["kind"] == "answer" else None,
    )


def _rank(place: float) -> str:
    """Return a rank, with a decimal only where a tie makes it a mean."""
    return numbers.count(round(place)) if float(place).is_integer() else f"{place:,.1f}"


def _cut(text: str | None) -> str:
    text = text or ""
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"


def _terms(
    runs: Sequence[Results], task: Task, found: Sequence[EncoderViews], strict: Sequence[EncoderViews]
) -> list[tuple[str, str]]:
    """Return the terms of what is shown, with their meanings."""
    measures = leaders.measures(runs, task.name)
    terms = []
    if task.viewed in measures:
        own = " in the question's language" if policies_of(runs) == {PREFER_OWN} else ""
        terms.append(("mAP", f"{PRECISION}{own} stand above all other candidates."))
    if any(name.startswith("Success@") for name in measures):
        terms.append(HIT_RATE)
    terms += [
        (term, text) for term, views, text in TERMS if any(one.has(view) for one in found for view in views)
    ]
    if any(one.entry is not None for one in strict):
        terms.append(OWN_ONLY)
    tied = any(row.n_tied for name in measures for row in leaders.leaderboard(runs, task.name, name))
    shared = ("Interval", "Tied") if tied else ("Interval",)
    return [*terms, CHANCE, *(term for term in words.GLOSSARY if term[0] in shared)]
