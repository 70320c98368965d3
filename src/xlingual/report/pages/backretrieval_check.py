"""The page of what Backretrieval can tell on some data: yes or no, why, and the figures of each pair."""

from __future__ import annotations

from xlingual.report import numbers, words
from xlingual.report.blocks import Block, Finding, Page, Prose, Section
from xlingual.report.table import Cell, Table, narrower
from xlingual.results.backretrieval_check import (
    FEW_IMAGES,
    FEW_QUERIES,
    NO_NEIGHBOURS,
    NO_ROOM,
    REASONS,
    SAME,
    UNRELATED,
    BackretrievalCheck,
)

_SHOWN = 6  # language pairs, and languages, in a table
_ABOUT = (
    "Room: the oracle (images alone) minus chance, with its standard error. Neighbours: share of images "
    "with a neighbour nearer than chance. To see: number of queries that show an encoder to be above chance "
    "if it closes 10 % of the way to the oracle."
)
_WHY = {  # in words, and what to do
    FEW_IMAGES: (
        "there are no more distinct source images than K of R@K",
        "give more items, or a smaller --k",
    ),
    SAME: (
        "to the image encoder all images look nearly the same",
        "give each item its own image, or take another image encoder",
    ),
    NO_NEIGHBOURS: (
        "hardly any image is shown to have a neighbour nearer than chance, so that a near match is no better "
        "than a wrong one; the oracle does not show that, it is high for noise too",
        "try another image encoder",
    ),
    NO_ROOM: (
        "the oracle (images alone) is within 3 standard errors of chance",
        "try another image encoder",
    ),
    FEW_QUERIES: (
        "there are too few queries to show that an encoder which closes 10 % of the way is above chance",
        "give more items",
    ),
    UNRELATED: (
        "in every language, texts with similar spelling have images that are no more similar than two random "
        "images",
        "check that each image is in the row of its text",
    ),
}


def page(found: BackretrievalCheck, *, title: str | None = None) -> Page:
    """Make the page of a check."""
    return Page(
        kind="check",
        title=title or "Can Backretrieval separate text encoders on these data?",
        verdict=[Finding(sentences(found))],
        sections=[Section("", blocks(found))],
        facts=[("image encoder", found.image_encoder), *numbers.facts((found.n_images, "image", "images"))],
        warnings=found.warnings,
    )


def sentences(found: BackretrievalCheck) -> list[str]:
    """Say yes or no, then why and what to do."""
    bad = [pair for pair in found.pairs if not pair.can_tell]
    reasons = [one for one in REASONS if one in found.reasons or any(one in pair.reasons for pair in bad)]
    if not reasons:
        said = ["Yes: Backretrieval can separate text encoders on these data, as far as images can show."]
    elif found.can_tell:
        named = numbers.in_words([words.pair(pair.source, pair.target) for pair in bad], 3)
        said = [f"Not for {len(bad)} of {len(found.pairs)} language pairs: {named}. Yes for the others."]
    else:
        said = ["No: Backretrieval cannot separate text encoders on these data."]
    if reasons:
        said.append(words.stop(f"Why: {'; '.join(_WHY[reason][0] for reason in reasons)}"))
        said.append(
            words.stop(f"What to do: {'; '.join(dict.fromkeys(_WHY[reason][1] for reason in reasons))}")
        )
    weakest = next((pair for pair in found.pairs if pair.oracle is not None), None)
    if weakest is not None:
        differ = len({(pair.oracle, pair.neighbours, pair.n_queries) for pair in found.pairs}) > 1
        where = f" ({words.pair(weakest.source, weakest.target)}, the weakest pair)" if differ else ""
        said.append(
            f"The oracle (images alone) reaches R@{found.k} "
            f"{numbers.with_interval(weakest.oracle, weakest.oracle_ci)}, chance is "
            f"{numbers.mark(weakest.chance or 0.0)}{where}; {numbers.percent(weakest.neighbours)} of the "
            "images have a neighbour nearer than chance."
        )
        if weakest.queries_needed is not None:
            said.append(
                "An encoder that closes 10 % of the way from chance to the oracle is shown to be above "
                f"chance with {numbers.counted(weakest.queries_needed, 'query', 'queries')}; there are "
                f"{numbers.count(weakest.n_queries)}."
            )
    unrelated = [one.language for one in found.languages if not one.related]
    if unrelated and UNRELATED not in found.reasons:
        said.append(
            f"In {numbers.in_words(unrelated)}, texts with similar spelling are not shown to have similar "
            "images: look at some rows."
        )
    if found.left_out:
        pairs = numbers.in_words(list(found.left_out))
        said.append(f"Left out, since a side would have no item: {pairs}.")
    return said


def blocks(found: BackretrievalCheck) -> list[Block]:
    """Make the tables of language pairs and of languages."""
    heads = ("", "images", "queries", "chance", "oracle", "room", "neighbours", "to see", "tells")
    rows = [
        (
            words.pair(pair.source, pair.target),
            Cell.count(pair.n_images),
            Cell.count(pair.n_queries),
            Cell.by(numbers.mark, pair.chance),
            Cell.by(numbers.mark, pair.oracle),
            Cell.by(
                lambda room, error=pair.room_error: f"{numbers.number(room)} ± {numbers.number(error)}",
                pair.room,
            ),
            Cell.by(numbers.percent, pair.neighbours),
            Cell.by(numbers.count, pair.queries_needed),
            "yes" if pair.can_tell and not found.reasons else "no",
        )
        for pair in found.pairs[:_SHOWN]
    ]
    of = len(found.pairs)
    least = f", the {_SHOWN} weakest of {of}" if of > _SHOWN else ""
    title = f"Backretrieval by images alone{least}"
    table = Table.of_texts(title, heads, rows, where="both", looks=narrower("room", "chance"))
    made: list[Block] = [table, Prose(_ABOUT, "note-line", "both")]
    if found.languages:
        weakest = sorted(found.languages, key=lambda one: one.ci.low - one.chance)
        of_languages = [
            (
                one.language,
                Cell.count(one.n_queries),
                Cell.of(one.value, one.ci, f"R@{found.k}"),
                Cell.by(numbers.mark, one.chance),
                "yes" if one.related else "not shown",
            )
            for one in weakest[:_SHOWN]
        ]
        of_spelling = ("language", "queries", f"R@{found.k} by spelling", "chance", "above chance")
        title = "do texts with similar spelling have similar images?"
        made.append(Table.of_texts(title, of_spelling, of_languages, where="both"))
    return made
