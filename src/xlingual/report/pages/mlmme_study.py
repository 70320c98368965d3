"""The page of a case study of MLMME: the paper's Tables 1, 2 and 3 over several trainings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from xlingual.languages import named
from xlingual.report import blocks, numbers, side_by_side
from xlingual.report.blocks import Block, Fold, Heading, Prose, Section
from xlingual.report.findings import mlmme_study as verdict
from xlingual.report.findings.mlmme_study import PERCENT, points
from xlingual.report.numbers import MISSING
from xlingual.report.table import Cell, Column, Row, Table, TableRoom
from xlingual.report.trainings import differences, of_epochs
from xlingual.results.mlmme_study import (
    MEAN_RECALL,
    VSE,
    MlmmeStudy,
    Question,
    Ranking,
    RankingRow,
    Reranking,
    Similarity,
    StudyModel,
)
from xlingual.results.runs import Compared, Gain, OfRuns

TERMS = {
    "VSE": "One language and images in one space (Kiros, Salakhutdinov and Zemel 2014): the model with one "
    "language, trained with the same settings as the others.",
    "MLMME": "Several languages and images in one space (Calixto, Liu and Campbell 2017). β weighs the "
    "similarity of images and sentences, 1 − β that of sentences in two languages.",
    "R@k": "The share of queries, in per cent, with a right answer among the first k: an image for a "
    "sentence, any of its sentences for an image.",
    "MedR": "The median rank of the first right answer, mean over trainings; it has no paired test.",
    "Mean recall": "The mean of R@1, R@5 and R@10 of one direction: what differences are tested by.",
    "Chance": "The score of an encoder without any knowledge. A model is above chance if its mean recall "
    "is, with p corrected for all models, languages and directions (Holm), for other queries of "
    "the same trainings.",
    "Interval": "Where the number would land for other images, sentences or pairs from the same source and "
    "for other trainings (seeds): the variance of the trainings divided by their number is added to that of "
    "the queries, with degrees of freedom after Satterthwaite.",
    "Adjusted p": "p corrected for the number of differences of its table (Holm).",
    "METEOR (exact + stem)": "nltk's METEOR: words match where they are equal or have one stem. It is not "
    "METEOR 1.5, which the paper has: no paraphrase tables, no synonyms but English ones, no weights of "
    "function words. Its values cannot be compared with the paper's.",
}
_HEADS = {"Success@1": "R@1", "Success@5": "R@5", "Success@10": "R@10", "MedR/floor": "MedR"}


def page(study: MlmmeStudy, *, title: str | None = None) -> blocks.Page:
    """Return the page of a study."""
    facts = numbers.facts(
        (len(study.languages), "language", "languages"),
        (study.n_trained_on, "item to train on", "items to train on"),
        (len(study.models), "model", "models"),
        (study.n_trainings, "training of each", "trainings of each"),
    )
    sections = []
    if study.ranking is not None:
        sections.append(_ranking(study, study.ranking))
    if study.sts is not None:
        sections.append(_similarity(study, study.sts))
    if study.reranking is not None:
        sections.append(_reranking(study.reranking))
    sections.append(Section("Models", [_trainings(study)]))
    conditions = {
        "languages": ", ".join(study.languages),
        "recipe": study.recipe,
        "image encoder": study.image_encoder or MISSING,
        **study.conditions,
    }
    terms = {
        name: text
        for name, text in TERMS.items()
        if name not in ("R@k", "MedR", "Mean recall", "Chance") or study.ranking is not None
        if not name.startswith("METEOR") or study.reranking is not None
    }
    return blocks.Page(
        kind="case study",
        title=title or f"MLMME in {', '.join(study.languages)}",
        verdict=[blocks.Finding(verdict.findings(study))],
        sections=sections,
        facts=[*facts, ("recipe", study.recipe)],
        terms=tuple(terms.items()),
        warnings=[*study.notes, *study.warnings],
        conditions=[(key, [value]) for key, value in conditions.items()],
        timings=[(name, numbers.duration(seconds)) for name, seconds in study.timings.items()],
    )


def _ranking(study: MlmmeStudy, ranking: Ranking) -> Section:
    found: list[Block] = []
    for language in study.languages:
        rows = [row for row in ranking.rows if row.language == language]
        sentences = numbers.count(ranking.n_sentences[language])
        sizes = f"{numbers.count(ranking.n_images)} images, {sentences} sentences"
        found += [Heading(named(language)), *_of_language(study, ranking, rows, sizes)]
    found += _questions("Against VSE, by mean recall", ranking.questions)
    found += _questions("Against β = 1, by mean recall", ranking.of_beta)
    about = (
        "Recalls in per cent, mean over trainings; in brackets the difference to VSE of the same language, "
        "on the same queries."
    )
    return Section("Table 1: image–sentence ranking", found, about)


def _of_language(
    study: MlmmeStudy, ranking: Ranking, rows: Sequence[RankingRow], sizes: str
) -> Iterator[Block]:
    language = rows[0].language
    models = [model for model in study.models if any(model.name in row.scores for row in rows)]
    base = next((model for model in models if model.kind == VSE), None)
    heads = [_head(model) for model in models]
    known = any(row.chance is not None for row in rows)
    lines: list[Row] = []
    direction = ""
    for row in rows:
        if row.direction != direction:
            lines.append(Row(heading=row.direction.capitalize()))
            direction = row.direction
        chance = [_chance(row)] if known else []
        lines.append(Row((Cell(_measure(row.measure)), *_cells(row, models, ranking), *chance)))
    yield Table(
        f"{named(language)} · {sizes}",
        (
            Column("", "name"),
            *(Column(head, data=True) for head in heads),
            *([Column("chance")] if known else []),
        ),
        tuple(lines),
        style="figures ranking",
        titled=False,
        looks=tuple(TableRoom(names=names) for names in (24, 14)),
        splits=True,
        where="both",
    )
    note = ""
    if base is not None:
        n = len(ranking.questions)
        note = (
            f" In brackets: difference to VSE; {side_by_side.REAL} in mean recall: p below "
            f"{side_by_side.CHANCE:g}, corrected for {n} {'difference' if n == 1 else 'differences'} (Holm)."
        )
    yield Prose(f"{sizes}. Best in bold.{note}", "note-line")
    yield Prose(f"Best in bold (*).{note}", "note-line", where="terminal")  # its title has the sizes
    full = [
        [model.name, row.direction, _measure(row.measure), *_full(row.scores[model.name], row.measure)]
        for model in models
        for row in rows
        if model.name in row.scores
    ]
    title = f"All numbers for {named(language)}"
    columns = ["model", "direction", "measure", "value", "sd of trainings", "difference to VSE", "p"]
    yield Fold(
        title,
        [Table.of_texts(title, columns, full, names=3, data=True, titled=False)],
        "with their intervals",
    )


def _head(model: StudyModel) -> str:
    return VSE if model.kind == VSE else f"β={model.beta:g}"


def _measure(measure: str) -> str:
    return _HEADS.get(measure, measure)


def _factor(measure: str) -> float:
    return 1 if measure.startswith("MedR") else PERCENT


def _cells(row: RankingRow, models: Sequence[StudyModel], ranking: Ranking) -> Iterator[Cell]:
    write = partial(numbers.number, digits=1)
    values = [_factor(row.measure) * one.value for one in row.scores.values()]
    best = side_by_side.best_of(values, write, lower=row.measure.startswith("MedR"))
    asked = (row.measure, row.language, row.direction)
    real = {
        one.model
        for one in ranking.questions
        if (MEAN_RECALL, one.language, one.direction) == asked and side_by_side.is_real(one.gain)
    }
    for model in models:
        one = row.scores.get(model.name)
        if one is None:
            yield Cell(MISSING)
            continue
        text = write(_factor(row.measure) * one.value)
        gap = None if one.gain is None else _bracketed(one.gain, row.measure, real=model.name in real)
        cell = Cell(text, gap=gap, value=_factor(row.measure) * one.value)
        yield replace(cell, tone="best", mark="*") if text == best else cell


def _chance(row: RankingRow) -> Cell:
    """Return what an encoder that knows nothing scores."""
    if row.chance is None:
        return Cell(MISSING)
    value = _factor(row.measure) * row.chance
    return Cell(numbers.number(value, digits=1), tone="quiet", value=value)


def _bracketed(gain: Gain, measure: str, *, real: bool) -> Cell:
    factor = _factor(measure)
    text = f"({numbers.signed(factor * gain.value, digits=1)}){side_by_side.REAL if real else ''}"
    return Cell(
        text,
        tone=("gain" if gain.value > 0 else "loss") if real else "",
        value=factor * gain.value,
        ends=None if gain.ci is None else (factor * gain.ci.low, factor * gain.ci.high),
    )


def _full(one: OfRuns, measure: str) -> list[Cell | str]:
    factor = _factor(measure)
    write = partial(numbers.fixed, digits=1, scale=factor)
    value, sd = Cell.by(write, one.value, one.ci, scale=factor), Cell.by(write, one.sd, scale=factor)
    if one.gain is None:
        return [value, sd, MISSING, MISSING]
    gap = numbers.signed(one.gain.value, one.gain.ci, digits=1, scale=factor)
    return [value, sd, gap, numbers.p_value(one.gain.p)]


def _questions(title: str, questions: Sequence[Question]) -> list[Block]:
    if not questions:
        return []
    rows = [
        [
            one.model,
            named(one.language),
            one.direction,
            Cell.by(points, one.gain.value, one.gain.ci, scale=PERCENT),
            one.gain.p_adjusted,
            one.outcome,
        ]
        for one in questions
    ]
    heads = ["model", "sentences", "direction", "points"]
    notes = tuple(dict.fromkeys(f"{one.model}: {one.note}" for one in questions if one.note))
    bare = TableRoom(dropped=("outcome",))
    looks = (TableRoom(), bare, replace(bare, heads=8), replace(bare, heads=8, names=14))
    return [differences(title, heads, rows, notes=notes, looks=looks, in_verdict=("outcome",), where="both")]


def _similarity(study: MlmmeStudy, found: Similarity) -> Section:
    """Return Table 2 with a row for each model, VSE first, and the trivial baselines last."""
    files = [row.file for row in found.rows]
    names = [model.name for model in study.models if found.language in model.languages]
    runs = {model.name: [one.encoder for one in model.trainings] for model in study.models}
    systems = [
        Compared(
            name,
            runs.get(name, [name]),
            {row.file: row.scores[name] for row in found.rows},
        )
        for name in (*names, *found.trivial)
        if all(name in row.scores for row in found.rows)
    ]
    about = (
        f"Pearson's correlation of cosine and people's scores on {in_files(files)}, sentences in "
        f"{named(found.language)}. Encoders below the models know no meaning; a model should be above them."
    )
    sizes = ", ".join(f"{row.file} {numbers.count(row.n_pairs)} pairs" for row in found.rows)
    table = side_by_side.table("Textual similarity: Pearson", systems, digits=3, same="pairs of sentences")
    return Section(
        "Table 2: textual similarity", [table, Prose(f"{sizes}.", "note-line", where="both")], about
    )


def in_files(files: Sequence[str]) -> str:
    """Return how many files there are, in words."""
    return numbers.counted(len(files), "file")


def _reranking(found: Reranking) -> Section:
    about = (
        f"{numbers.count(found.n_sentences)} sentences from {named(found.source_language)} into "
        f"{named(found.target_language)}. Weights of {', '.join(found.own_features)} and of the similarities "
        "are tuned with k-best MIRA on other sentences."
    )
    added = [[name, " and ".join(kinds)] for name, kinds in found.features.items()]
    adds = Table.of_texts(
        "Similarities of a translation", ["model", Column("with the source", "words")], added, data=True
    )
    bounds = ", ".join(f"{name} {value:.2f}" for name, value in found.bounds.items())
    meteor = next((name for name in found.signatures if name.startswith("METEOR")), None)
    texts = [f"BLEU of choices without weights: {bounds}."]
    if meteor:
        texts.append(f"{meteor} is nltk's, not METEOR 1.5, which the paper has: without paraphrase tables.")
    signatures = [[name, text] for name, text in found.signatures.items()]
    heads = ["measure", Column("signature", "words")]
    tables: list[Block] = [
        side_by_side.table("Re-ranking", found.systems),
        *(Prose(text, "note-line", where="both") for text in texts),
        Fold("What each model adds", [adds]),
        Fold("Signatures", [Table.of_texts("Signatures", heads, signatures, titled=False)]),
    ]
    return Section("Table 3: re-ranking of translations", tables, about)


def _trainings(study: MlmmeStudy) -> Block:
    note = (
        "sum of R@1, R@5 and R@10 both ways in per cent, at most 600, mean over languages; with β = 0 of "
        "sentences, else of images and sentences"
    )
    own = ((model.name, one) for model in study.models for one in model.trainings)
    return Fold("Trainings", [of_epochs(own, "best epoch", note)])
