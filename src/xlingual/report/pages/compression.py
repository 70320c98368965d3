"""The page of a compression: the verdict, loss against bytes, every form, and who pays in which pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xlingual.report import numbers, words
from xlingual.report.blocks import Block, Finding, Fold, Page, Prose, Section
from xlingual.report.figures.compression import frontier, loss_by_bytes
from xlingual.report.findings.compression import findings, pair_of
from xlingual.report.table import Cell, Column, Row, Table, narrower
from xlingual.results.compression import KEPT, LOSES, UNDECIDED, Compression, Form
from xlingual.tasks import task_of

_FORMS = 5  # whose losses are shown by language pair
_PAIRS = 8  # in a terminal
_TONES = {KEPT: "gain", LOSES: "loss", UNDECIDED: "quiet"}
_ABOUT = (
    "A loss is the full vectors' value less the form's, on the same queries. At most: the upper bound of the "
    "loss of the pair for which least is shown, one-sided. That every pair loses less is shown where it is shown for each: no "
    "correction for the number of pairs is needed (Berger 1982). Forms are corrected for by Holm, since the "
    "smallest of many is chosen."
)
_BINARY = (
    "int8: 256 levels of each dimension between the ends of the texts it is fitted on, the nearest one. binary: the sign of each number; "
    "ranked by Hamming distance. rescored: the first candidates ordered again by the cosine of the query's full "
    "numbers with the candidates' signs, so nothing more is stored; candidates that tie over the last place stay."
)


def page(found: Compression, *, title: str | None = None) -> Page:
    """Return the page of a compression."""
    name = task_of(found.task).measure_name(found.measure)
    mean = sum(pair.value for pair in found.full) / len(found.full)
    facts = {
        "encoder": found.encoder,
        "measure": name,
        "full vectors": f"{found.dim} dimensions, {numbers.count(found.bytes)} bytes, {numbers.number(mean)}",
        "delta": f"{found.delta:g}",
        "alpha": f"{found.alpha:g}",
        "fitted on": f"{numbers.count(found.n_fit)} texts" if found.n_fit else "nothing",
    }
    methods = {pair.ci.method for form in found.forms for pair in form.pairs if pair.ci is not None}
    return Page(
        kind="compression",
        title=title or f"Who pays for compression? {found.encoder}",
        verdict=[Finding(findings(found))],
        sections=[
            Section("Loss and size", [loss_by_bytes(found)]),
            Section("Forms", [*_forms(found, name), Prose(_ABOUT), Prose(_BINARY)]),
            Section("Who pays", _by_pair(found)),
        ],
        facts=list(facts.items()),
        warnings=found.warnings,
        conditions=[(key, [value]) for key, value in found.conditions.items()],
        methods=sorted(methods),
        names=[found.encoder],
    )


def _forms(found: Compression, name: str) -> list[Block]:
    """Return the table of all forms, and for a terminal that of those that are worth a look."""
    best = {form.name for form in frontier(found.forms)}
    kept = [form for form in found.forms if form.name in best or form.name == found.smallest]
    left = len(found.forms) - len(kept)
    note = f"{left} more forms are larger than one that loses less; --report and --format csv have them"
    return [
        _table(found, found.forms, name, where="written"),
        _table(found, kept, name, where="screen", notes=(note,) if left else ()),
    ]


def _table(found: Compression, forms: Sequence[Form], name: str, **more: Any) -> Table:  # noqa: ANN401
    columns = (
        Column("Form", "name", "form"),
        Column("Bytes", short="bytes"),
        Column("Times smaller", short="smaller"),
        Column(f"{name}, mean", short=name),
        Column("mAP of all answers", short="mAP of all"),
        Column("Loss, mean", short="mean loss", interval="interval"),
        Column("Worst pair", "words", "worst pair"),
        Column("Its loss", short="its loss", main=True),
        Column("At most", short="at most"),
        Column("Every pair", "words", "every pair"),
    )
    rows = tuple(Row(_cells(found, form)) for form in forms)
    looks = narrower("mAP of all", "smaller", "mean loss")
    records = [_record(found, form, i) for form in found.forms for i in range(len(found.full))]
    made = Table(
        "Forms, those with the most bytes first",
        columns,
        rows,
        looks=looks,
        titled=False,
        records=records,
        **more,
    )
    return made.without_empty()


def _cells(found: Compression, form: Form) -> tuple[Cell, ...]:
    pair, bound = form.pairs[form.worst], form.pairs[form.highest]
    at_most = numbers.MISSING if bound.most is None else _beside(bound.most, found.delta)
    outcome = {KEPT: "kept", LOSES: "loses more", UNDECIDED: "cannot tell"}[form.outcome]
    marked = " ←" if form.name == found.smallest else ""
    return (
        Cell(form.name),
        Cell.count(form.bytes),
        Cell(f"{found.bytes / form.bytes:.3g}×"),
        Cell.of(form.value),
        Cell(numbers.MISSING) if form.whole is None else Cell.of(form.whole),
        Cell.difference(form.loss, form.ci),
        Cell(words.pair(found.full[form.worst].source, found.full[form.worst].target)),
        Cell(_beside(pair.loss, found.delta), value=pair.loss),
        Cell(at_most, value=bound.most),
        Cell(outcome, mark=marked, tone=_TONES[form.outcome]),
    )


def _beside(value: float, delta: float) -> str:
    """Return a number with decimals enough to see on which side of delta it lies."""
    return numbers.number(value, digits=numbers.digits_beside([value], [delta]))


def _record(found: Compression, form: Form, place: int) -> dict[str, Any]:
    """Return a row of the CSV: one form in one language pair, at full precision."""
    full, pair = found.full[place], form.pairs[place]
    return {
        "form": form.name, "reduction": form.reduction, "dim": form.dim, "dtype": form.dtype,
        "rescored": form.rescored, "bytes": form.bytes, "source": full.source, "target": full.target,
        "measure": found.measure, "full": full.value, "value": pair.value, "loss": pair.loss,
        "low": pair.ci and pair.ci.low, "high": pair.ci and pair.ci.high, "most": pair.most,
        "p_kept": pair.p_kept, "p_loses": pair.p_loses, "outcome": form.outcome, "p_adjusted": form.p_adjusted,
    }  # fmt: skip


def _by_pair(found: Compression) -> list[Block]:
    """Return the losses by language pair, of forms that no other is as small and better than."""
    if len(found.full) < 2:
        return []
    chosen = shown_by_pair(found)
    order = sorted(range(len(found.full)), key=lambda i: -max(form.pairs[i].loss for form in chosen))
    level = next((pair.ci.level for form in chosen for pair in form.pairs if pair.ci is not None), None)
    about = "Intervals of one form hold together" + (
        f": each has the level {level:.4g} (Bonferroni)." if level is not None else "."
    )
    few = order[:_PAIRS]
    note = (f"the {_PAIRS} pairs that lose most, of {len(order)}",) if len(order) > _PAIRS else ()
    whole = _pairs(found, chosen, order, where="page")
    return [
        Prose(about),
        whole if len(order) <= _PAIRS else Fold("Every language pair", [whole], where="page", open=True),
        _pairs(found, chosen, few, where="screen", notes=note),
    ]


def shown_by_pair(found: Compression) -> list[Form]:
    """Return the forms whose losses are shown by language pair, those with the most bytes first."""
    best = frontier(found.forms)[::-1]
    if found.smallest is not None:
        places = [i for i, form in enumerate(best) if form.bytes <= found.form(found.smallest).bytes]
        begin = max(places[0] - 1, 0) if places else 0
        best = best[begin:]
    return best[:_FORMS]


def _pairs(found: Compression, forms: Sequence[Form], order: Sequence[int], **more: Any) -> Table:  # noqa: ANN401
    columns = (
        Column("Language pair", "name", "pair"),
        Column("Full", short="full"),
        *(Column(f"{form.name}", short=form.name, badges=()) for form in forms),
    )
    rows = tuple(
        Row(
            (
                Cell(pair_of(found.full[i])),
                Cell.of(found.full[i].value),
                *(Cell.difference(form.pairs[i].loss, form.pairs[i].ci) for form in forms),
            )
        )
        for i in order
    )
    looks = narrower(*(form.name for form in forms[1:][::-1]))
    return Table("Loss by language pair", columns, rows, looks=looks, **more)
