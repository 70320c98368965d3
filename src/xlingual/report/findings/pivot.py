"""What an image pivot says in sentences: which map images chose, what it gains, and what it costs."""

from __future__ import annotations

from xlingual.languages import named
from xlingual.report import numbers
from xlingual.report.transforms import map_in_words
from xlingual.results.pivot import UNTESTED, Pivot, PivotChange
from xlingual.results.repair import BETTER, UNCHANGED, UNDECIDED

POOL = "multilingual-pool"
TASKS = {
    "crosslingual-retrieval": "XLR",
    "backretrieval": "BkR",
    POOL: "one pool of all languages",
}
_MORE = 0.01  # what the last doubling of the items gave, for more of them to be worth it
_FEW_LANGUAGES = 3  # that are all named
_LOST = 0.9  # share of neighbours below which it is said what languages lose


def findings(found: Pivot) -> list[str]:
    """Return the verdict, what changes for which pairs, what it costs within languages, and its pairs."""
    if found.outcome == UNCHANGED:
        return [_unchanged(found), _pairs(found)]
    sentences = [
        _verdict(found),
        _by_pair(found),
        _pool(found),
        _within(found),
        _curve(found),
        _pairs(found),
        _families(found),
    ]
    return [sentence for sentence in sentences if sentence]


def _families(found: Pivot) -> str:
    if not found.near_duplicates:
        return ""
    alike = f"{found.near_duplicates:,} items have near-equal texts or images in others"
    return f"{alike}: each such family stands in one part."


def label(change: PivotChange) -> str:
    """Return the languages of a change in English names."""
    if change.source is None or change.target is None:
        return "all pairs"
    return f"{named(change.source)} → {named(change.target)}"


def _unchanged(found: Pivot) -> str:
    if found.given:
        return f"No map was requested: {found.encoder} is unchanged."
    return (
        f"No change: of {numbers.counted(len(found.tried) - 1, 'map')} none is shown to rank image pairs of "
        f"other items better than the unchanged {found.encoder}. The encoder stays unchanged."
    )


def _verdict(found: Pivot) -> str:
    words = map_in_words(found.chosen)
    begun = f"{words[0].upper()}{words[1:]}, {'as asked' if found.given else 'chosen by images alone'},"
    change = found.main
    if change is None or found.outcome == UNTESTED:
        return f"{begun} is written. Whether it improves search is not known: there was no test."
    said = {BETTER: "makes search better", UNDECIDED: "is not shown to help"}.get(
        found.outcome, "makes search worse"
    )
    ending = {
        BETTER: "The interval excludes zero.",
        UNDECIDED: "The interval contains zero: leave the encoder as it is, or test on more items.",
    }.get(found.outcome, "Leave the encoder as it is.")
    if found.outcome == UNDECIDED and _gains(_of_pool(found)):
        ending = "The interval contains zero; but one pool of all languages gains."
    return (
        f"{begun} {said} with {found.encoder}: {TASKS[change.task]} {change.measure} {_values(change)} over "
        f"{numbers.counted(change.n_queries, 'query', 'queries')} of "
        f"{numbers.counted(found.tested_items, 'item')} held out. {ending}"
    )


def _values(change: PivotChange) -> str:
    return (
        f"{numbers.number(change.before)} → {numbers.number(change.after)}, "
        f"{numbers.signed(change.difference, change.ci)}"
    )


def _by_pair(found: Pivot) -> str:
    main = found.main
    pairs = [
        one
        for one in found.changes
        if main is not None
        and one.source is not None
        and (one.task, one.measure) == (main.task, main.measure)
    ]
    if len(pairs) < 2:
        return ""
    most = max(pairs, key=lambda one: one.difference)
    least = min(pairs, key=lambda one: one.difference)
    shown = [one for one in pairs if one.ci is not None and one.ci.low > 0]
    harmed = [one for one in pairs if one.ci is not None and one.ci.high < 0]
    return (
        f"{len(shown)} of {len(pairs)} language pairs gain, {len(harmed)} lose, each by its own interval: "
        f"{label(most)} changes most ({numbers.signed(most.difference)}), {label(least)} "
        f"{'gains least' if least.difference > 0 else 'is the worst'} ({numbers.signed(least.difference)})."
    )


def _pool(found: Pivot) -> str:
    change = _of_pool(found)
    return "" if change is None else f"In one pool of all languages: {change.measure} {_values(change)}."


def _of_pool(found: Pivot) -> PivotChange | None:
    return next((one for one in found.changes if one.task == POOL), None)


def _gains(change: PivotChange | None) -> bool:
    return change is not None and change.ci is not None and change.ci.low > 0


def _within(found: Pivot) -> str:
    if not found.kept:
        return ""
    least, most = (pick(found.kept, key=lambda one: one.share) for pick in (min, max))
    cost = "little" if least.share >= _LOST else "much" if least.share < 2 / 3 else "something"
    stay = (
        ", ".join(f"{numbers.number(one.share)} stay in {named(one.language)}" for one in found.kept)
        if len(found.kept) <= _FEW_LANGUAGES
        else f"{numbers.number(least.share)} ({named(least.language)}) to {numbers.number(most.share)} "
        f"({named(most.language)}) stay"
    )
    return (
        f"Within languages it changes {cost}: among the 10 nearest texts of a text in its own language, "
        f"{stay}."
    )


def _curve(found: Pivot) -> str:
    """Return whether more images would help, from what fewer of them gave."""
    known = [(one.items, one.value) for one in found.curve if one.value is not None]
    if len(known) < 2:
        return ""
    values = ", ".join(f"{numbers.number(value)} with {numbers.count(items)}" for items, value in known)
    gained = known[-1][1] - known[-2][1]
    more = "would help" if gained > _MORE else "would help little"
    return f"By the number of items that it is fitted on: {values}. More data of this kind: {more}."


def _pairs(found: Pivot) -> str:
    near, same = sum(one.near for one in found.pairs), sum(one.same for one in found.pairs)
    if found.outcome == UNCHANGED:
        known = f"{numbers.counted(same, 'pair')} of one item or image" if same else ""
        return f"The data have {known}." if known else ""
    kinds = ((near, "of different items with near images"), (same, "of one item or image"))
    said = [f"{numbers.counted(count, 'pair')} {what}" for count, what in kinds if count]
    return f"It was fitted on {' and '.join(said)}." if said else ""
