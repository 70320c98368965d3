"""The report of a validation: one HTML file that needs nothing else, from the record alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xlingual.report import colours, html, numbers, plots, words
from xlingual.report.conditions import Condition
from xlingual.report.grid import Table
from xlingual.report.validation import figures, sentences, tables, wording
from xlingual.results.validation import COEFFICIENTS, MEASURES, PairValidation, Validation


@dataclass(frozen=True)
class Section:
    """Everything about one language pair."""

    title: str
    sizes: list[str]
    scatters: list[
        tuple[figures.Figure, figures.Figure | None]
    ]  # BkR, then the others; the same, for a telephone
    agreement: Table
    more: list[Table]
    encoders: Table
    curve: tuple[figures.Figure, figures.Figure] | None  # the second for a telephone
    weakened: Table | None


def write_validation_report(validation: Validation, path: str | Path, title: str | None = None) -> None:
    """Write the report of a validation to `path`, atomically.

    The file loads nothing from anywhere and runs no script; an equal validation gives equal bytes. Raises
    InputError where the file cannot be written.
    """
    html.write_page(Path(path), render(validation, title=title))


def render(validation: Validation, *, title: str | None = None) -> str:
    """Return the report as HTML."""
    environment = html.environment(wording.encoder_names(validation))
    return environment.get_template("validation.html").render(
        title=title or _title(validation),
        findings=sentences.findings(validation),
        sections=[_section(validation, pair) for pair in validation.pairs],
        directions=tables.directions(validation) if validation.directions else None,
        series=figures.SERIES,
        marks_of=figures.MARKS,
        paper=(numbers.count(wording.PAPER_N), wording.share_text(wording.PAPER_K, wording.PAPER_N)),
        threshold=f"{validation.threshold:g}",
        facts=_facts(validation),
        glossary=words.VALIDATION_GLOSSARY,
        conditions=_conditions(validation),
        systems=[],
        methods=_methods(validation.pairs),
        warnings=list(dict.fromkeys(validation.warnings)),
        timings=[(name, numbers.duration(value)) for name, value in validation.timings.items()],
        version=html.program_version(),
        heat_css=colours.css(plots.STEPS),
    )


def _section(validation: Validation, pair: PairValidation) -> Section:
    weakened = tables.of_pair(validation.degradations, pair)
    return Section(
        title=wording.pair_name(pair),
        sizes=wording.sizes(pair),
        scatters=_scatters(pair, validation.threshold),
        agreement=tables.agreement(pair),
        more=[
            *tables.agreement_at_1(validation, pair),
            tables.differences(pair),
            tables.accuracy(pair),
            tables.subsets(pair, validation.threshold),
        ],
        encoders=tables.encoders(pair, validation.family, validation.measure_at_1),
        curve=(
            (figures.curve(weakened, pair), figures.curve(weakened, pair, size=figures.NARROW_CURVE))
            if weakened
            else None
        ),
        weakened=tables.degradations(weakened) if weakened else None,
    )


def _scatters(pair: PairValidation, threshold: float) -> list[tuple[figures.Figure, figures.Figure | None]]:
    first, *others = MEASURES
    sizes = (figures.LARGE, figures.NARROW)
    large, narrow = (figures.scatter(pair, first, threshold, size=size) for size in sizes)
    small = [figures.scatter(pair, name, threshold, size=figures.SMALL, named=False) for name in others]
    return [(large, narrow), *((figure, None) for figure in small)]


def _title(validation: Validation) -> str:
    pairs = [wording.pair_name(pair) for pair in validation.pairs]
    what = "Backretrieval held against true retrieval"
    return f"{what}: {numbers.in_words(pairs, 4)}" if pairs else what


def _facts(validation: Validation) -> list[tuple[str, str]]:
    pairs = validation.pairs
    families = {row.family for pair in pairs for row in pair.encoders}
    names = wording.encoder_names(validation)
    facts = [("encoder" if len(names) == 1 else "encoders", numbers.count(len(names)))]
    if validation.family is not None:
        facts.append(("family" if len(families) == 1 else "families", numbers.count(len(families))))
    if pairs:
        facts += [
            ("N", numbers.span([pair.n_source for pair in pairs])),
            ("K/N", " / ".join(dict.fromkeys(wording.share_text(pair.k, pair.n_source) for pair in pairs))),
            ("seeds", numbers.span([pair.n_seeds for pair in pairs])),
        ]
    named = dict.fromkeys(pair.conditions["xlr"] for pair in pairs if "xlr" in pair.conditions)
    return [*facts, ("measure", f"{validation.measure}{''.join(f' (XLR: {name})' for name in named)}")]


def _conditions(validation: Validation) -> list[Condition]:
    found: dict[str, dict[str, None]] = {}
    for pair in validation.pairs:
        for key, value in pair.conditions.items():
            found.setdefault(key, {})[value] = None
    own = [
        Condition("measure", [validation.measure]),
        Condition("image encoder", [validation.image_encoder]),
        Condition("weak below XLR", [f"{validation.threshold:g}"]),
        Condition("family", [validation.family or "each encoder its own"]),
    ]
    return [*own, *(Condition(key, list(values)) for key, values in found.items() if key != "measure")]


def _methods(pairs: Sequence[PairValidation]) -> list[str]:
    found = [
        pair.subsets[name].agreement[measure][kind].ci
        for pair in pairs
        for name in pair.subsets
        for measure in MEASURES
        for kind in COEFFICIENTS
    ]
    return sorted({ci.method for ci in found if ci})
