"""Everything the page shows about a multilingual pool, ready for the templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xlingual.report.grid import Table
from xlingual.report.leaders import Row
from xlingual.report.multilingual_pool import loss, maps, space, tables, texts, tradeoff
from xlingual.report.multilingual_pool.loss import KINDS, Losses
from xlingual.report.multilingual_pool.maps import Maps
from xlingual.report.multilingual_pool.reading import PREFER_OWN, policies_of, seen
from xlingual.report.multilingual_pool.space import Space
from xlingual.report.multilingual_pool.texts import Question, Said
from xlingual.report.validation.figures import Figure
from xlingual.results import Results

MOST_SIDE_BY_SIDE = 6  # maps; further encoders are folded


@dataclass(frozen=True)
class PoolSection:
    """The parts of the section; None or empty where the results do not hold them."""

    glance: Table | None
    trade_off: tuple[Figure, Figure] | None  # the second for a telephone
    one_target: Maps | None
    by_question: Maps | None
    losses: Losses | None
    kinds: dict[str, str]  # of losses
    remove_one: Table | None
    shares: Maps | None
    ratios: Maps | None
    space: Space | None
    identification: Maps | None
    hubs: Table | None
    hub_texts: list[tuple[str, list[Said]]]
    own_first: Table | None
    folded: list[Table]
    worst: list[tuple[str, list[Question]]]
    most_maps: int
    policies: list[str]  # of the languages

    @property
    def parts(self) -> set[str]:
        """The names of the parts that are shown: of fields, and of views within tables."""
        held = {name for name, value in vars(self).items() if value}
        head = set() if self.glance is None else set(self.glance.head)
        seen_in = {"one_target": {"own", "other", "gap"}, "remove_one": {"Δ"}, "monolingual": {"monolingual"}}
        held |= {name for name, columns in seen_in.items() if columns & head}
        held |= {"identification"} if "language told" in head else set()
        if self.by_question is not None and len(self.by_question.maps) > 1:
            held.add("monolingual")
        titles = {table.title for table in self.folded}
        return held | ({"fairness"} if tables.FAIRNESS in titles else set())


def pool_section(runs: Sequence[Results], rows: Sequence[Row]) -> PoolSection:
    """Return the section of the encoders of a leaderboard, in its order."""
    found, strict = seen(runs, rows), seen(runs, rows, PREFER_OWN)
    wide, narrow = (tradeoff.trade_off(found, size) for size in (tradeoff.ROOMY, tradeoff.NARROW))
    return PoolSection(
        glance=tables.glance(found),
        trade_off=(wide, narrow) if wide and narrow else None,
        one_target=maps.one_target(found),
        by_question=maps.by_question(found if any(one.entry for one in found) else strict),
        losses=loss.losses(found),
        kinds=KINDS,
        remove_one=tables.remove_one(found),
        shares=maps.shares(found),
        ratios=maps.ratios(found),
        space=space.space(runs, found),
        identification=maps.identification(found),
        hubs=tables.hubs(found),
        hub_texts=texts.hubs(runs, found),
        own_first=tables.own_first(strict),
        folded=[table for table in (tables.subsets(found), tables.fairness(found)) if table is not None],
        worst=texts.worst(runs, found),
        most_maps=MOST_SIDE_BY_SIDE,
        policies=policies_of(runs),
    )
