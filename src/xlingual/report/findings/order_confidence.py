"""In words: how often an order by Backretrieval like this one is the order of true retrieval."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import leaders, numbers
from xlingual.report.leaders import BoardRow
from xlingual.report.marking import ENCODER
from xlingual.results import Interval, Results
from xlingual.results.order_confidence import OrderConfidence, OrderedPair

TASK = "backretrieval"
_NAMED = 3
KINDS = {  # made-up encoders of the benchmark, in words
    "look, noise 0.5": "knows how images look, but no meaning",
    "look, noise 0.75": "the same, with more noise",
    "hash": "finds exact matches, but no near ones",
    "best and hash": "a good one joined with exact matches",
    "topics of images": "knows one of sixty topics of images",
    "topics of texts": "knows one of sixty topics of texts",
    "best, offset 1": "its languages are moved apart by their length",
    "best, offset 2": "its languages are moved apart by twice their length",
    "best, CSLS": "its hubs are repaired",
}


def of_board(runs: Sequence[Results], rows: Sequence[BoardRow]) -> list[str]:
    """Return the sentences below a leaderboard, of each run that has some about its measure."""
    places = list(dict.fromkeys(row.run for row in rows))
    found = []
    for place in places:
        sure = runs[place - 1].order_confidence
        if sure is not None and (rows[0].task, rows[0].measure) == (TASK, sure.measure):
            name = f"{leaders.run_names(runs)[place - 1]}: " if len(places) > 1 else ""
            found += [f"{name}{sentence}" for sentence in sentences(runs[place - 1])]
    return found


def sentences(run: Results) -> list[str]:
    """Return a line on the order of a leaderboard by true retrieval; nothing where the results have none.

    First the leader before the second, then the leader before the others.
    """
    found = run.order_confidence
    if found is None:
        return []
    if found.note is not None:
        return [f"The probability that this order is that of true retrieval is not known: {found.note}."]
    leader = found.pairs[0].ahead
    own = [pair for pair in found.pairs if pair.ahead == leader]
    return [" ".join([_first(own[0]), *_others(own[1:])])]


def _first(pair: OrderedPair) -> str:
    order = f"Predicted order by true retrieval: {pair.ahead} before {pair.behind}"
    if pair.right is not None:
        return f"{order}: right in about {pair.right} of 10 such cases."
    if pair.ci is None:
        return f"{order}: not known, {pair.note}."
    return f"{order}: not known, such orders were right in {reach(pair.ci)} cases; {pair.note}."


def reach(ci: Interval) -> str:
    """Return "45 to 88 of 100"."""
    return f"{round(100 * ci.low)} to {round(100 * ci.high)} of 100"


def _others(pairs: Sequence[OrderedPair]) -> list[str]:
    """Return how sure the leader's place before all others is, the surest first."""
    found = []
    for right in sorted({pair.right for pair in pairs if pair.right is not None}, reverse=True):
        names = [pair.behind for pair in pairs if pair.right == right]
        found.append(f"Before {numbers.in_words(names, _NAMED)}: right in about {right} of 10.")
    rest = [pair.behind for pair in pairs if pair.right is None]
    if rest:
        found.append(f"Before {numbers.in_words(rest, _NAMED)}: not known.")
    return found


def basis(found: OrderConfidence) -> list[str]:
    """Return where the figures come from, and what limits them."""
    from_what = numbers.in_words(found.basis.data_sets)
    return [
        f"“Such cases” are pairs of {ENCODER}s on {len(found.basis.data_sets)} data sets with translations "
        f"({from_what}), with equally certain gaps in BkR and SIM, equally far above chance. The model that "
        f"predicted a data set was fitted without that data set and without {ENCODER}s of these kinds. Cases "
        "with an unknown true order are left out. A figure is given only if the data sets agree.",
        f"This is not a test of your {ENCODER}s. It may not hold for other data or other kinds of "
        f"{ENCODER}s. “Not known” means that such orders were right about half of the time, or too unevenly "
        "over these data sets.",
    ]
