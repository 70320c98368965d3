"""The page of what Backretrieval can tell on some data: yes or no, why, and the figures of each pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlingual.report import numbers, words
from xlingual.report.blocks import Block, Finding, Page, Prose, Section
from xlingual.report.table import Cell, Table, narrower
from xlingual.results.backretrieval_check import (
    FEW_IMAGES,
    FEW_QUERIES,
    FEWEST_NEIGHBOURS,
    NO_NEIGHBOURS,
    NO_ROOM,
    REASONS,
    SAME,
    UNRELATED,
    BackretrievalCheck,
    LanguageTexts,
    PairImages,
)

_SHOWN = 6  # language pairs, and languages, in a table
_ABOUT = (
    "Room: the oracle (images alone) minus chance, with its standard error. Neighbours: share of images "
    "with a neighbour nearer than chance. To see: number of queries that show an encoder to be above chance "
    "if it closes 10 % of the way to the oracle. Apart: number of queries that show a difference of that "
    "size between two encoders."
)
_REMEDIES = {
    FEW_IMAGES: "give more items, or a smaller --k",
    SAME: "give each item its own image, or another image encoder",
    NO_NEIGHBOURS: "try another image encoder",
    NO_ROOM: "try another image encoder",
    FEW_QUERIES: "give more items",
    UNRELATED: "check that each image is in the row of its text",
}


def page(found: BackretrievalCheck, *, title: str | None = None) -> Page:
    """Return the page of a check."""
    return Page(
        kind="check",
        title=title or "Can Backretrieval separate text encoders on these data?",
        verdict=[Finding(sentences(found))],
        sections=[Section("", blocks(found))],
        facts=[("image encoder", found.image_encoder), *numbers.facts((found.n_images, "image", "images"))],
        warnings=found.warnings,
    )


def sentences(found: BackretrievalCheck) -> list[str]:
    """Return yes or no, then why."""
    bad = [pair for pair in found.pairs if not pair.can_tell]
    said = [*_lead(found, bad)]
    measured = [pair for pair in found.pairs if pair.oracle is not None]
    if measured:
        said += _of_pair(measured[0], found)
    if found.n_near_duplicates:
        looked = numbers.counted(found.n_looked, "image")
        have = "has" if found.n_near_duplicates == 1 else "have"
        said.append(
            f"Of {looked}, {numbers.count(found.n_near_duplicates)} {have} near-duplicates among the others."
        )
    unrelated = [one.language for one in found.languages if not one.related]
    if unrelated and UNRELATED not in found.reasons:
        said.append(
            f"In {numbers.in_words(unrelated)}, texts with similar spelling are not shown to have similar "
            "images: look at some rows."
        )
    if found.one_language:
        said.append(
            "There is one language only: its items were divided as if each had a text in a second one."
        )
    if found.left_out:
        pairs = numbers.in_words(list(found.left_out))
        said.append(f"Left out, since a side would have no item: {pairs}.")
    return said


def _lead(found: BackretrievalCheck, bad: Sequence[PairImages]) -> Iterator[str]:
    """Yield the answer, and what to do where it is no."""
    reasons = [reason for reason in REASONS if reason in found.reasons]
    if not reasons and not bad:
        yield "Yes: Backretrieval can separate text encoders on these data, as far as images can show."
        return
    if not reasons:
        reasons = [one for one in REASONS if any(one in pair.reasons for pair in bad)]
    elif len(bad) == len(found.pairs):
        reasons += [one for one in REASONS if all(one in pair.reasons for pair in bad) and one not in reasons]
    if found.can_tell:
        named = numbers.in_words([_name(pair) for pair in bad], 3)
        yield f"Not for {len(bad)} of {len(found.pairs)} language pairs: {named}. Yes for the others."
    else:
        yield "No: Backretrieval cannot separate text encoders on these data."
    worst = bad[0] if bad else found.pairs[0]
    yield from (words.stop(_why(reason, found, bad) or _why(reason, found, [worst])) for reason in reasons)
    does = list(dict.fromkeys(_REMEDIES[reason] for reason in reasons))
    yield words.stop(f"What to do: {'; '.join(does)}")


def _why(reason: str, found: BackretrievalCheck, bad: Sequence[PairImages]) -> str:
    """Return a reason in words, with the figures of the worst pair that has it."""
    pair = next((one for one in bad if reason in one.reasons), None)
    match reason:
        case "few images" if pair is not None:
            return f"R@{found.k} needs more than {found.k} distinct source images; {_name(pair)} has " + str(
                pair.n_images
            )
        case "near-identical images" if found.distance is None:
            return "There is one image only"
        case "near-identical images":
            return (
                "To the image encoder all images look nearly the same: the median cosine distance of two is "
                f"{found.distance:.2g}"
            )
        case "no neighbours" if (
            pair is not None and pair.look_alikes_ci and (pair.neighbours or 0) >= FEWEST_NEIGHBOURS
        ):
            again = numbers.with_interval(pair.look_alikes, pair.look_alikes_ci)
            return (
                f"It is not shown that images have neighbours nearer than chance ({_name(pair)}: by way of "
                f"another image, the nearest, R@{found.k} is {again}, chance is "
                f"{numbers.mark(pair.chance or 0.0)}); the oracle ({numbers.number(pair.oracle)}) does not "
                "show it either, it is high for noise too"
            )
        case "no neighbours" if pair is not None:
            return (
                "Images have hardly any neighbours nearer than chance "
                f"({numbers.percent(pair.neighbours)} for {_name(pair)}), so that a near match is no better "
                f"than a wrong one; the oracle ({numbers.number(pair.oracle)}) does not show that, it is "
                "high for noise too"
            )
        case "no room" if pair is not None:
            return (
                f"The oracle (images alone, {numbers.number(pair.oracle)}) is within 3 standard errors of "
                f"chance ({numbers.mark(pair.chance or 0.0)}) for {_name(pair)}"
            )
        case "few queries" if pair is not None:
            if pair.queries_needed is None:
                return "No number of queries would show an encoder to be above chance"
            return (
                f"{_name(pair)} has {numbers.counted(pair.n_queries, 'query', 'queries')}; "
                f"{numbers.count(pair.queries_needed)} are needed to show that an encoder is above chance if "
                "it closes 10 % of the way"
            )
        case "texts unrelated to images":
            return (
                "In every language, texts with similar spelling have images that are no more similar than "
                "two random images"
            )
    return ""


def _of_pair(pair: PairImages, found: BackretrievalCheck) -> Iterator[str]:
    """Yield what the images of the pair that tells least say."""
    seen = {(one.oracle, one.neighbours, one.n_queries) for one in found.pairs}
    where = f" ({_name(pair)}, the weakest pair)" if len(seen) > 1 else ""
    yield (
        f"The oracle (images alone) reaches R@{found.k} "
        f"{numbers.with_interval(pair.oracle, pair.oracle_ci)}, chance is "
        f"{numbers.mark(pair.chance or 0.0)}{where}; {numbers.percent(pair.neighbours)} of the images have a "
        "neighbour nearer than chance."
    )
    if pair.queries_needed is not None:
        apart = ""
        if pair.queries_apart is not None:
            apart = (
                ", and a difference of that size between two encoders with "
                f"{numbers.count(pair.queries_apart)}"
            )
        yield (
            "An encoder that closes 10 % of the way from chance to the oracle is shown to be above chance "
            f"with {numbers.counted(pair.queries_needed, 'query', 'queries')}{apart}; there are "
            f"{numbers.count(pair.n_queries)}."
        )


def _name(pair: PairImages) -> str:
    return (
        f"{pair.source} divided in two"
        if pair.source == pair.target
        else words.pair(pair.source, pair.target)
    )


def blocks(found: BackretrievalCheck) -> list[Block]:
    """Return the tables."""
    made: list[Block] = [_pairs(found), Prose(_ABOUT, "note-line", "both")]
    return [*made, _languages(found)] if found.languages else made


def _pairs(found: BackretrievalCheck) -> Table:
    of = len(found.pairs)
    least = f", the {_SHOWN} weakest of {of}" if of > _SHOWN else ""
    heads = ("", "images", "queries", "chance", "oracle", "room", "neighbours", "to see", "apart", "tells")
    rows = [
        (
            _name(pair),
            Cell.count(pair.n_images),
            Cell.count(pair.n_queries),
            _number(pair.chance),
            _number(pair.oracle),
            _room(pair),
            Cell(numbers.percent(pair.neighbours), value=pair.neighbours),
            Cell.by(numbers.count, pair.queries_needed),
            Cell.by(numbers.count, pair.queries_apart),
            "yes" if pair.can_tell and not found.reasons else "no",
        )
        for pair in found.pairs[:_SHOWN]
    ]
    return Table.of_texts(
        f"Backretrieval by images alone{least}",
        heads,
        rows,
        where="both",
        looks=narrower("apart", "room", "chance"),
    )


def _room(pair: PairImages) -> Cell:
    if pair.room is None or pair.room_error is None:
        return Cell(numbers.MISSING)
    return Cell(f"{numbers.number(pair.room)} ± {numbers.number(pair.room_error)}", value=pair.room)


def _number(value: float | None) -> Cell:
    return Cell(numbers.MISSING if value is None else numbers.mark(value), value=value)


def _languages(found: BackretrievalCheck) -> Table:
    def margin(one: LanguageTexts) -> float:
        return one.ci.low - one.chance

    least = sorted(found.languages, key=margin)
    of = f", the {_SHOWN} that show it least of {len(least)}" if len(least) > _SHOWN else ""
    rows = [
        (
            one.language,
            Cell.count(one.n_queries),
            Cell.of(one.value, one.ci, f"R@{found.k}"),
            _number(one.chance),
            "yes" if one.related else "not shown",
        )
        for one in least[:_SHOWN]
    ]
    heads = ("language", "queries", f"R@{found.k} by spelling", "chance", "above chance")
    return Table.of_texts(
        f"do texts with similar spelling have similar images?{of}", heads, rows, where="both"
    )
