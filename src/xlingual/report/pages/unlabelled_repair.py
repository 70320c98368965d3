"""The page of a repair chosen without translations: criteria before and after, and what was tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xlingual.online import page as address
from xlingual.report import numbers
from xlingual.report.blocks import Block, Finding, Page, Prose, Section
from xlingual.report.table import Cell, Column, Row, Table, narrower
from xlingual.report.transforms import in_words
from xlingual.results.unlabelled_repair import Criteria, TriedUnlabelled, UnlabelledRepair

_SHOWN = 8  # of what was tried, in a terminal
_NOT_TESTED = (
    "No item has texts in two languages, so retrieval cannot be tested. With some translations, retrieval "
    "chooses the map and is tested."
)
_PRESUMES = (
    "The criterion assumes that the texts of all languages have the same topics. On such data none of its "
    "choices did harm; on data with different topics in each language, some did: "
    f"{address('results/label-free')}"
)
_ABOUT = (
    "Transforms were fitted on one part of the data, one was chosen on another, and this is the third. "
    "Neighbours are the 10 nearest texts by cosine. Own-language share: how many times as often as by "
    "chance they are in the text's own language. Neighbourhoods kept: their overlap, within one language, "
    "with those of the encoder as it is. The criterion of the choice is the second value divided by the "
    "first (or by 1, if the first is less). The values below them are not used for the choice: on other "
    "data they were misleading."
)
_ROWS: tuple[tuple[str, Callable[[Criteria], float | None], str], ...] = (
    ("neighbourhoods kept / own-language share", lambda one: one.value, "higher"),
    ("own-language share, times chance", lambda one: one.own_share, "lower, at best 1"),
    ("neighbourhoods kept", lambda one: one.neighbourhoods_kept, "higher"),
    ("language found from the vector", lambda one: one.language_id, "lower"),
    ("— by chance", lambda one: one.language_id_chance, ""),
    ("skewness of hubs", lambda one: one.hub_skewness, "lower"),
    ("mutual neighbours of two languages", lambda one: one.mutual_neighbours, "higher"),
)


def page(found: UnlabelledRepair, *, title: str | None = None) -> Page:
    """Return the page of a repair without translations."""
    parts = {"fitted on": found.fit, "chosen on": found.choose, "compared on": found.test}
    facts = {
        "encoder": found.encoder,
        "transform": found.chosen,
        "criterion": f"{found.criterion}, on the part for choosing",
        "tested for retrieval": "no: no translations are known",
        **{
            name: f"{numbers.counted(part.texts, 'text')}, {numbers.counted(part.clusters, 'cluster')}"
            for name, part in parts.items()
        },
        "texts": ", ".join(f"{tag} {numbers.count(n)}" for tag, n in found.languages.items()),
        "dimensions": numbers.count(found.dim),
    }
    if found.model is not None:
        facts["the model"] = f"model:DIR/{found.model}::{found.spec or 'SPEC'}"
    if found.parts is not None:
        facts["rows of the parts"] = f"DIR/{found.parts}, with --split fit, choose or test"
    return Page(
        kind="repair",
        title=title or f"Can {found.encoder} be repaired without translations?",
        verdict=[Finding(findings(found))],
        sections=[
            Section("Before and after", [_before_and_after(found), Prose(_ABOUT)]),
            Section("What was tried", _tried(found)),
        ],
        facts=list(facts.items()),
        warnings=found.warnings,
        conditions=[(key, [value]) for key, value in found.conditions.items()],
        names=[found.encoder],
    )


def findings(found: UnlabelledRepair) -> list[str]:
    """Return what was chosen, what it does to the criteria, and that retrieval was not tested."""
    if found.model is None:
        tried = len(found.tried) - 1
        return [
            f"Of {tried} repairs none is better than {found.encoder} as it is, by a criterion that needs no "
            "translations. Do not repair it.",
            _NOT_TESTED,
        ]
    words = in_words(found.chosen)
    before, after, kept = found.before, found.after, found.after.neighbourhoods_kept
    return [
        f"{words[0].upper()}{words[1:]} is chosen for {found.encoder} by a criterion that needs no "
        "translations. Whether it improves search is not known.",
        "On texts that took no part in the choice neighbours are in the text's own language "
        f"{numbers.number(after.own_share)} times as often as by chance, before it was "
        f"{numbers.number(before.own_share)} times; within one language {numbers.number(kept)} of them stay.",
        _PRESUMES,
        _NOT_TESTED,
    ]


def _before_and_after(found: UnlabelledRepair) -> Table:
    columns = (
        Column("Criterion", "name", "criterion"),
        Column("Before", short="before"),
        Column("After", short="after", main=True),
        Column("Better is", "words", "better is"),
    )
    values = [(name, of(found.before), of(found.after), better) for name, of, better in _ROWS]
    return Table(
        "Criteria on texts that took no part in the choice",
        columns,
        tuple(
            Row((Cell(name), Cell.of(one), Cell.of(other), Cell(better)))
            for name, one, other, better in values
        ),
        records=[
            {"criterion": name, "before": one, "after": other, "better": better}
            for name, one, other, better in values
        ],
        where="both",
    )


def _tried(found: UnlabelledRepair) -> list[Block]:
    best = found.tried[:_SHOWN]
    plain = [one for one in found.tried if one.spec == "none" and one not in best]
    note = f"the best {len(best)} of {len(found.tried)}" + (", and none" if plain else "")
    left = [Prose(f"Not possible on these data: {in_words(one.spec)} ({one.why}).") for one in found.left_out]
    return [
        _table(found, found.tried, where="written"),
        _table(found, [*best, *plain], where="screen", notes=(note,), words=False),
        *left,
    ]


def _table(
    found: UnlabelledRepair, tried: Sequence[TriedUnlabelled], *, words: bool = True, **more: Any  # noqa: ANN401
) -> Table:  # fmt: skip
    """Return what was tried, in `words` too: a terminal has no room for them."""
    columns = (
        Column("Transform", "name", "transform"),
        *([Column("In words", "words", "in words")] if words else []),
        Column("Criterion", short="criterion", main=True),
        Column("Own-language share", short="own"),
        Column("Neighbourhoods kept", short="kept"),
    )
    return Table(
        "Transforms, the best first",
        columns,
        tuple(
            Row(
                (
                    Cell(one.spec, mark=" ←" if one.spec == found.chosen else ""),
                    *([Cell(in_words(one.spec))] if words else []),
                    Cell.of(one.value),
                    Cell.of(one.own_share),
                    Cell.of(one.neighbourhoods_kept),
                )
            )
            for one in tried
        ),
        titled=False,
        looks=narrower("in words"),
        records=[
            {
                "transform": one.spec, "value": one.value, "own_share": one.own_share,
                "neighbourhoods_kept": one.neighbourhoods_kept,
            }
            for one in tried
        ],
        **more,
    )  # fmt: skip
