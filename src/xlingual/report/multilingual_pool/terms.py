"""What the page says of a multilingual pool in general: its aim, and the terms of the parts it shows."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from xlingual.report.multilingual_pool.reading import AGNOSTIC, PREFER_OWN, VIEWED

if TYPE_CHECKING:
    from xlingual.report.multilingual_pool.section import PoolSection

POOLED = "Each question looks for its answers in one pool of candidates in all languages"
EVERY = "An answer is right in whatever language, and all of them should stand above everything else."
PREFERRED = (
    "An encoder that prefers its own language puts wrong candidates of that language above right ones of "
    "another."
)
OWN = (
    "Only answers in the question's language count as right, and should stand above everything else: a right "
    "answer in another language is an error of its own."
)
BOTH = "With the policy prefer-own, only answers in the question's language count as right."

PRECISION = (
    "Mean average precision: for each question, the precision at the place of every one of its answers, "
    "averaged over them, then over questions."
)
TOP = {
    AGNOSTIC: "1 means that all answers stand above all other candidates.",
    PREFER_OWN: "1 means that all answers in the question's language stand above all other candidates.",
}
HIT_RATE = (
    "Success@k and R@k",
    "Success@k is the share of questions with any right answer among the first k (hit rate); R@k is the "
    "share of a question's answers that is (set recall), averaged over questions.",
)

# Term, the parts of the section that use it, meaning.
TERMS = (
    (
        "One target only",
        ("trade_off", "one_target"),
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
        ("monolingual",),
        "Only candidates in the question's language. It does not tell whether languages share one space: "
        "an encoder may do well here and fail over the pool of all languages.",
    ),
    (
        "Language share",
        ("shares", "ratios"),
        "Of the best candidates of a question, how many are in a given language. The ratio divides that by "
        "the language's share of the pool: 1 is no bias.",
    ),
    (
        "Language identification",
        ("identification",),
        "How often a linear model tells the language of a text from its vector, on paragraphs it was not "
        "fitted on. At chance, vectors do not give the language away.",
    ),
    (
        "Where the loss comes from",
        ("losses",),
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
    (
        "Own-language answers only",
        ("own_first",),
        "The policy prefer-own: answers in the question's language should come first. A right answer in "
        "another language is then an error of its own.",
    ),
)


def about(policies: Collection[str]) -> str:
    """Return what a question looks for, under the language policies of the results."""
    if set(policies) == {PREFER_OWN}:
        return f"{POOLED}. {OWN}"
    return " ".join([f"{POOLED}.", EVERY, PREFERRED, *([BOTH] if PREFER_OWN in policies else [])])


def terms(pool: PoolSection, measures: Collection[str]) -> list[tuple[str, str]]:
    """Return the terms of the parts that are shown, with their meanings."""
    found = []
    if VIEWED in measures:
        policy = PREFER_OWN if set(pool.policies) == {PREFER_OWN} else AGNOSTIC
        found.append(("mAP", f"{PRECISION} {TOP[policy]}"))
    if any(name.startswith("Success@") for name in measures):
        found.append(HIT_RATE)
    return found + [(term, text) for term, parts, text in TERMS if set(parts) & set(pool.parts)]
