"""The page of a case study: one HTML file that needs nothing else, from the record alone."""

from __future__ import annotations

from pathlib import Path

from xlingual.report import html, numbers, words
from xlingual.report.case_study import board, figure, sentences, tables
from xlingual.report.case_study.terms import TERMS
from xlingual.report.case_study.wording import label, measure
from xlingual.report.conditions import Condition
from xlingual.results.case_study import CaseStudy


def write_case_study(study: CaseStudy, path: str | Path, title: str | None = None) -> None:
    """Write the page to `path`, atomically; equal case studies give equal bytes.

    Raises InputError where the file cannot be written.
    """
    html.write_page(Path(path), render(study, title=title))


def render(study: CaseStudy, *, title: str | None = None) -> str:
    """Return the page as HTML."""
    names = [name for model in study.models for name in (model.name, label(model))]
    return (
        html.environment(names)
        .get_template("casestudy.html")
        .render(
            title=title or f"Case study: training on {study.base} without parallel texts",
            facts=_facts(study),
            verdict=sentences.verdict(study),
            name=measure(study),
            board=board.board(study),
            figures=[figure.figure(study, layout) for layout in (figure.ROOMY, figure.NARROW)],
            asked=tables.questions(study),
            worst=tables.worst(study),
            pairs=tables.pairs(study),
            trainings=tables.trainings(study),
            glossary=(*TERMS, *(term for term in words.GLOSSARY if term[0] == "Chance")),
            warnings=study.warnings,
            conditions=_conditions(study),
            methods=_methods(study),
            systems=[Condition(training.encoder, [training.spec]) for training in study.trainings],
            timings=[(name, numbers.duration(seconds)) for name, seconds in study.timings.items()],
            version=html.program_version(),
            heat_css="",
        )
    )


def _facts(study: CaseStudy) -> list[tuple[str, str]]:
    counts = [
        (len(study.models), "model", "models"),
        (study.n_pairs, "language pair", "language pairs"),
        (study.n_queries, "query", "queries"),
        (study.n_seeds, "sample", "samples"),
        (study.n_trainings, "training of each", "trainings of each"),
    ]
    facts = [(one if count == 1 else many, numbers.count(count)) for count, one, many in counts]
    return [*facts, ("measure", study.measure)]


def _conditions(study: CaseStudy) -> list[Condition]:
    settings = {
        "measure": study.measure,
        "image encoder": study.image_encoder or numbers.MISSING,
        "base": study.base,
        "correction": "Holm, over the differences of the first table below the figure",
        "seed": str(study.seed),
        **{key: value for key, value in study.conditions.items() if key != "measure"},
    }
    return [Condition(key, [value]) for key, value in settings.items()]


def _methods(study: CaseStudy) -> list[str]:
    found = [model.ci for model in study.models] + [asked.ci for asked in study.differences]
    return sorted({ci.method for ci in found if ci})
