"""The page of a compression: the verdict, loss against bytes, every form, and who pays in which pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xlingual.report import numbers, words
from xlingual.report.blocks import Block, Finding, Fold, Page, Prose, Section
from xlingual.report.figures.compression import frontier, loss_by_bytes, losses_by_languages
from xlingual.report.findings.compression import findings, pair_of
from xlingual.report.table import Cell, Column, Row, Table, Tone, narrower
from xlingual.results.compression import KEPT, LOSES, UNDECIDED, Compression, Form
from xlingual.tasks import task_of

_FORMS = 5  # whose losses are shown by language pair
_ON_SCREEN = 3  # of them, in a terminal
_PAIRS = 8  # in a terminal
_FEW_LANGUAGES = 3  # from which on a map shows more than a table
_OUTCOMES = {KEPT: "kept", LOSES: "loses more", UNDECIDED: "cannot tell"}
_TONES: Mapping[str, Tone] = {KEPT: "gain", LOSES: "loss", UNDECIDED: "quiet"}
_LOSS = (
    "A loss is the full vectors' value less the form's, on the same queries. “At most” is the one-sided "
    "upper bound of the pair for which the least is shown. That every pair loses less than delta is shown "
    "where it is shown for each, without a correction for their number (Berger 1982). Forms are tested in a "
    "fixed order, so that the smallest may be looked for among them: all dimensions in f16, then int8; after "
    "these three lines that share alpha, the first dimensions, PCA and binary. A line ends at the "
    "first form that is not shown (Maurer, Hothorn and Lehmacher 1995; Bretz and others 2009)."
)
_FORM = (
    "f16: half precision. int8: the nearest of 256 levels, evenly spaced between the ends of each dimension "
    "in the texts that it is fitted on. binary: the sign of each number, ranked by Hamming distance. "
    "rescored: the first candidates are ordered again by the cosine of the query's full numbers with their "
    "signs, so that nothing more is stored; of candidates that tie over the last place none is. Without pca "
    "the first dimensions are kept."
)
_SINGLE = (
    "mAP of a language pair is that of a single answer, in the second language, among all candidates, for "
    "questions in the first."
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
    about = _LOSS if found.whole is None else f"{_SINGLE} {_LOSS}"
    sections = [
        Section("Loss and size", [loss_by_bytes(found)]),
        Section("Forms", [*_forms(found, name), Prose(about), Prose(_FORM)]),
    ]
    if by_pair := _by_pair(found):
        sections.append(Section("Language pairs that lose", by_pair))
    return Page(
        kind="compression",
        title=title or f"Loss by language pair: {found.encoder}",
        verdict=[Finding(findings(found))],
        sections=sections,
        facts=list(facts.items()),
        warnings=found.warnings,
        conditions=[(key, [value]) for key, value in found.conditions.items()],
        systems=[(found.encoder, [found.signature.partition("|system:")[2].strip("|")])],
        methods=sorted(methods),
        names=[found.encoder],
    )


def _forms(found: Compression, name: str) -> list[Block]:
    """Return the table of all forms, and for a terminal that of those that are worth a look."""
    best = {form.name for form in frontier(found.forms)}
    kept = [form for form in found.forms if form.name in best or form.name == found.smallest]
    left = len(found.forms) - len(kept)
    note = f"of {left} more forms another one is as small and loses less; --report and --format csv have them"
    return [
        _table(found, found.forms, name, where="written"),
        _table(found, kept, name, where="screen", notes=(note,) if left else ()),
    ]


def _table(found: Compression, forms: Sequence[Form], name: str, **more: Any) -> Table:  # noqa: ANN401
    columns = (
        Column("Form", "name", "form"),
        Column("Bytes", short="bytes"),
        Column("Every pair", short="every pair"),
        Column(f"{name}, mean", short=name),
        Column("Loss, mean", short="mean loss", interval="interval"),
        Column("Worst pair", short="worst pair"),
        Column("Its loss", short="its loss", main=True),
        Column("At most", short="at most"),
    )
    records = [_record(found, form, i) for form in found.forms for i in range(len(found.full))]
    return Table(
        "Forms, those with the most bytes first",
        columns,
        tuple(Row(_cells(found, form)) for form in forms),
        looks=narrower("mean loss", "worst pair"),
        in_verdict=("mean loss", "worst pair"),
        titled=False,
        records=records,
        **more,
    )


def _cells(found: Compression, form: Form) -> tuple[Cell, ...]:
    pair, bound, full = form.pairs[form.worst], form.pairs[form.highest].most, found.full[form.worst]
    mark = " ←" if form.name == found.smallest else ""
    return (
        Cell(form.name),
        Cell.count(form.bytes),
        Cell(_OUTCOMES[form.outcome], mark=mark, tone=_TONES[form.outcome]),
        Cell.of(form.value),
        Cell.difference(form.loss, form.ci),
        Cell(words.pair(full.source, full.target)),
        Cell(_beside(pair.loss, found.delta), value=pair.loss),
        Cell(numbers.MISSING if bound is None else _beside(bound, found.delta), value=bound),
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
        "p_kept": pair.p_kept, "p_loses": pair.p_loses, "outcome": form.outcome,
        "p_adjusted": form.p_adjusted,
    }  # fmt: skip


def _by_pair(found: Compression) -> list[Block]:
    """Return the losses by language pair, of forms that no other is as small and better than."""
    if len(found.full) < 2:
        return []
    chosen = shown_by_pair(found)
    order = sorted(range(len(found.full)), key=lambda i: -max(form.pairs[i].loss for form in chosen))
    level = next((pair.ci.level for form in chosen for pair in form.pairs if pair.ci is not None), None)
    each = "" if level is None else f": each has the level {level:.4g} (Bonferroni)"
    note = (f"the {_PAIRS} pairs that lose most, of {len(order)}",) if len(order) > _PAIRS else ()
    whole = _pairs(found, chosen, order, where="written")
    languages = {tag for pair in found.full for tag in (pair.source, pair.target)}
    maps = [losses_by_languages(found, chosen)] if len(languages) >= _FEW_LANGUAGES else []
    return [
        Prose(f"Losses; the intervals of one form hold together{each}."),
        *maps,
        Fold("Every language pair", [whole], where="written") if maps else whole,
        _pairs(found, chosen[:_ON_SCREEN], order[:_PAIRS], where="screen", notes=note),
    ]


def shown_by_pair(found: Compression) -> list[Form]:
    """Return the forms whose losses are shown by language pair, those with the most bytes first.

    They begin with the smallest one that is kept, where there is one.
    """
    best = frontier(found.forms)[::-1]
    if found.smallest is not None:
        kept = found.form(found.smallest)
        best = [kept, *(form for form in best if form.bytes <= kept.bytes and form is not kept)]
    return best[:_FORMS]


def _pairs(found: Compression, forms: Sequence[Form], order: Sequence[int], **more: Any) -> Table:  # noqa: ANN401
    columns = (Column("Language pair", "name", "pair"), Column("Full", short="full"))
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
    heads = tuple(Column(form.name, short=form.name) for form in forms)
    return Table("Loss by language pair", (*columns, *heads), rows, looks=looks, **more)
