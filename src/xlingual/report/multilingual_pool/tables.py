"""The tables of a multilingual pool as text, for the page."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import numbers
from xlingual.report.grid import Table
from xlingual.report.multilingual_pool import wording
from xlingual.report.multilingual_pool.reading import PREFER_OWN, Seen, languages_of
from xlingual.report.multilingual_pool.sentences import has_strong_hubs, monolingual_ranks
from xlingual.report.numbers import MISSING, number, with_interval

RANKS = "rank, monolingual → here"
MACRO = "macro"
FAIRNESS = "Language fairness"
EVERYWHERE = "all languages"


def glance(found: Sequence[Seen]) -> Table | None:
    """Return the languages' side of every encoder in one row; columns without any value are left out."""
    ranks = monolingual_ranks(found)
    rows = [[one.row.label, *_glance_cells(one), _moved(ranks.get(i))] for i, one in enumerate(found)]
    head = ["encoder", "mAP", MACRO, "own", "other", "gap", "Δ", "monolingual", RANKS, "language told"]
    for row in rows:  # the rank stands beside what it is the rank of
        row.insert(8, row.pop())
    empty = [name for i, name in enumerate(head) if i > 1 and all(row[i] == MISSING for row in rows)]
    if set(head) - set(empty) <= {"encoder", "mAP", MACRO}:
        return None
    place = head.index(MACRO)
    if MACRO not in empty and all(row[place] == row[1] for row in rows):
        empty.append(MACRO)
    notes = [f"{name}: {meaning}." for name, meaning in _meanings(found).items() if name not in empty]
    biased = {"own", "other"} <= set(head) - set(empty) or "Δ" not in empty
    title = "Own and other languages" if biased else "At a glance"
    return Table(title, head, rows, [" ".join(notes)], names_are_data=True).without(*empty)


def _meanings(found: Sequence[Seen]) -> dict[str, str]:
    """Return what the columns hold, by name."""
    chances = {number(c) for one in found if (c := one.number("language_id_chance", "all")) is not None}
    chance = f" (chance {' / '.join(sorted(chances))})" if chances else ""
    return {
        MACRO: "mean over question languages",
        "own": "mAP with a single answer in the pool, in the question's language",
        "other": "the same in another language",
        "gap": "own minus other",
        "Δ": "what removing the own-language answer costs more than removing another",
        "monolingual": "candidates of the question's language only, mean over languages",
        "language told": f"how often a linear model tells a text's language from its vector{chance}",
    }


def _glance_cells(one: Seen) -> list[str]:
    summary = "one_target_summary"
    gap = one.number(summary, "gap")
    delta = ("remove_one", "relative_delta")
    return [
        number(one.row.value),
        number(one.number("macro")),
        number(one.number(summary, "own")),
        number(one.number(summary, "other")),
        wording.signed_gap(gap, one.interval(summary, "gap")),
        wording.share_interval(one.number(*delta), one.interval(*delta)),
        number(one.number("monolingual_pool_average")),
        number(one.number("language_id_accuracy", "all")),
    ]


def _moved(ranks: tuple[int, int] | None) -> str:
    """Return "1 → 3", or the rank alone where it is the same."""
    if ranks is None:
        return MISSING
    alone, here = ranks
    return f"{alone}" if alone == here else f"{alone} → {here}"


def remove_one(found: Sequence[Seen]) -> Table | None:
    """Return Table 3."""
    own = [one for one in found if one.mapping("remove_one")]
    if not own:
        return None
    rows = []
    for one in own:
        cells = [
            with_interval(one.number("remove_one", name), one.interval("remove_one", name))
            for name in ("same", "rand")
        ]
        keys = ("remove_one", "relative_delta")
        asked = one.number("remove_one", "n_questions")
        count = MISSING if asked is None else numbers.count(int(asked))
        rows.append(
            [one.row.label, *cells, wording.share_interval(one.number(*keys), one.interval(*keys)), count]
        )
    return Table(
        "One answer removed",
        ["encoder", "mAP −same", "mAP −rand", "Δ", "questions"],
        rows,
        [
            "−same: without the answer in the question's language. −rand: without one in another language, "
            "averaged "
            "over all of them. Δ = (rand − same)/rand; above 0 the question's language is preferred."
        ],
        names_are_data=True,
    )


def subsets(found: Sequence[Seen]) -> Table | None:
    """Return Table 5: mAP where pool and questions hold some of the languages only."""
    own = [one for one in found if one.mapping("subsets")]
    if not own:
        return None
    languages = languages_of(found)
    keys = list(dict.fromkeys(key for one in own for key in one.mapping("subsets")))
    rows = [[EVERYWHERE, *(with_interval(one.row.value, one.row.ci) for one in own)]]
    for key in sorted(keys, key=lambda key: (len(languages) - len(key.split(",")), keys.index(key))):
        cells = (with_interval(one.number("subsets", key), one.interval("subsets", key)) for one in own)
        rows.append([_subset_name(key, languages), *cells])
    return Table("Subsets of the languages", ["languages", *(one.row.label for one in own)], rows, ["mAP."])


def _subset_name(key: str, languages: list[str]) -> str:
    """Return "all but hi" for all languages but one, else the languages.

    >>> _subset_name("ar,de", ["ar", "de", "hi"]), _subset_name("ar,de", ["ar", "de", "hi", "zh"])
    ('all but hi', 'ar, de')
    """
    names = key.split(",")
    gone = [name for name in languages if name not in names]
    return f"all but {gone[0]}" if len(gone) == 1 and len(names) > 1 else ", ".join(names)


def fairness(found: Sequence[Seen]) -> Table | None:
    """Return PEER: how equally the ranking treats the languages."""
    rows = [
        [one.row.label, name, *(number(value.get(part)) for part in ("value", "relevant", "other"))]
        for one in found
        for name, value in one.mapping("fairness").items()
    ]
    if not rows:
        return None
    return Table(
        FAIRNESS,
        ["encoder", "measure", "fairness", "among answers", "among other candidates"],
        rows,
        ["1: the ranks of all languages' candidates look alike. 0: they do not."],
        n_names=2,
        names_are_data=True,
    )


def hubs(found: Sequence[Seen]) -> Table | None:
    """Return how strongly few candidates crowd the top of many questions."""
    own = [one for one in found if one.mapping("hubs")]
    if not own:
        return None
    languages = [
        lang for lang in languages_of(own) if any(one.number("hubs", "by_language", lang) for one in own)
    ]
    rows = [
        [
            one.row.label,
            number(one.number("hubs", "skewness"), digits=1),
            wording.amount(one.number("hubs", "largest")),
            wording.amount(one.number("hubs", "expected")),
            wording.share(one.number("hubs", "never"), 0),
            *(wording.share(one.number("hubs", "by_language", lang)) for lang in languages),
            "strong" if has_strong_hubs(one) else "",
        ]
        for one in own
    ]
    k = numbers.span([int(value) for one in own if (value := one.number("hubs", "k")) is not None])
    table = Table(
        "Hubs",
        ["encoder", "skewness", "largest hub", "expected", "never found", *languages, "alarm"],
        rows,
        [
            f"How often a candidate is among the {k} best of a question: the largest hub, the mean, and "
            "the share of "
            "candidates that never are." + (
                " By language: the share of all these places that its hubs hold."
                if languages else ""
            )
        ],
        names_are_data=True,
    )  # fmt: skip
    return table if any(row[-1] for row in rows) else table.without("alarm")


def own_first(found: Sequence[Seen]) -> Table | None:
    """Return what was measured under the policy that wants answers in the question's language first."""
    own = [one for one in found if one.entry is not None]
    if not own:
        return None
    errors = {
        "right_meaning_wrong_language": "right, but wrong language",
        "own_wrong": "wrong, own language",
        "other_wrong": "wrong, another language",
    }
    firsts = {"right": "right"} | errors | {"wrong_untold": "wrong, language not told"}
    rows = [
        [
            one.row.label,
            with_interval(one.entry.value, one.entry.ci) if one.entry else MISSING,
            *(wording.share(one.number("first", kind)) for kind in firsts),
            *(wording.amount(one.number("errors", kind)) for kind in errors),
        ]
        for one in own
    ]
    table = Table(
        "When the question's language must come first",
        [
            "encoder",
            "mAP",
            *(f"first: {name}" for name in firsts.values()),
            *(f"above: {name}" for name in errors.values()),
        ],
        rows,
        [
            f"Policy {PREFER_OWN}: only answers in the question's language count as right. first: what "
            "stands first, share of the questions. above: mean number of candidates above the best "
            "own-language answer."
        ],
        names_are_data=True,
    )
    empty = [name for i, name in enumerate(table.head) if i > 1 and all(row[i] == MISSING for row in rows)]
    return table.without(*empty)
