"""What a page shows of order confidence: pair by pair, how reliable it is, and whom it cannot order."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import numbers
from xlingual.report.blocks import Block, Fold, Prose
from xlingual.report.figures.order_confidence import diagram
from xlingual.report.findings import order_confidence as findings
from xlingual.report.marking import ENCODER
from xlingual.report.table import Cell, Column, Table
from xlingual.results import Results
from xlingual.results.order_confidence import OrderBasis, OrderConfidence, OrderedPair


def blocks(runs: Sequence[Results]) -> list[Block]:
    """Return the part of a page about the order of its leaderboards; nothing where no run has one."""
    found = [one.order_confidence for one in runs if one.order_confidence is not None]
    if not found:
        return []
    shown: list[Block] = [*(Prose(text) for text in findings.basis(found[0]))]
    shown += [table for one in found for table in _pairs(one)]
    shown += [diagram(found[0].basis.bins), _failures(found[0].basis)]
    return [
        Fold(
            "Is this order also the order of true retrieval?",
            shown,
            "how often such orders were",
            where="page",
        )
    ]


def _pairs(found: OrderConfidence) -> list[Table]:
    heads = [
        Column("ahead", "name", data=True),
        Column("behind", "name", data=True),
        *("BkR gap, SE", "SIM gap, SE", "p", "right of 10", "of 100"),
        Column("limited by", "name"),
    ]
    first = found.pairs[0].ahead
    of_leader = [_row(pair) for pair in found.pairs if pair.ahead == first]
    others = [_row(pair) for pair in found.pairs if pair.ahead != first]
    tables = [Table.of_texts("The leader before each other", heads, of_leader)]
    return [*tables, Table.of_texts("Other neighbours", heads, others)] if others else tables


def _row(pair: OrderedPair) -> list[Cell | str]:
    return [
        pair.ahead,
        pair.behind,
        Cell.of(pair.z, digits=1),
        Cell.of(pair.z_sim, digits=1),
        Cell.of(pair.probability, digits=2),
        Cell(numbers.MISSING) if pair.right is None else Cell.count(pair.right),
        numbers.MISSING if pair.ci is None else f"{round(100 * pair.ci.low)}–{round(100 * pair.ci.high)}",
        pair.note or "",
    ]


def _failures(basis: OrderBasis) -> Table:
    rows = [
        [
            findings.KINDS.get(one.name, one.name),
            Cell.of(one.right, digits=2),
            f"{one.refused} of {one.n}",
            "" if one.right_of_sure is None else Cell.of(one.right_of_sure, digits=2),
        ]
        for one in basis.failures
    ]
    return Table.of_texts(
        f"Kinds of {ENCODER}s that Backretrieval orders badly, beside usual ones",
        [f"the {ENCODER}", "order right", "refused", "right where p ≥ .9"],
        rows,
        notes=[
            f"An {ENCODER} of these kinds is often not recognised and then not refused. An {ENCODER} at "
            f"chance may still find every exact match. These are never judged: {ENCODER}s trained on images, "
            "search systems, fitted transforms, repaired hubs."
        ],
    )
