"""The case study of MLMME: VSE and MLMME over a sweep of beta, and the paper's three tables in one call.

Calixto, Liu and Campbell (2017), sections 4 and 5; see docs/papers/mlmme-study.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from xlingual import encoders
from xlingual.comparison.mlmme_tables import ranking_table, similarity_table
from xlingual.embed.encoding import Progress
from xlingual.errors import DataWarning, InputError
from xlingual.evaluation.image_sentence import image_sentence
from xlingual.evaluation.sts import TRIVIAL, sts
from xlingual.files import make_folder
from xlingual.ranking import Ranker
from xlingual.results import Results
from xlingual.results.mlmme_study import VSE, MlmmeStudy, Ranking, Similarity, StudyModel
from xlingual.store import StoreLike
from xlingual.training.options import FitOptions
from xlingual.training.study_requests import BETAS, RANKING, RERANKING, STS, TABLES, TRAININGS
from xlingual.workflows.mlmme_study_checks import (
    check_ranking,
    check_reranking,
    check_sts,
    check_validation,
    read_by,
)
from xlingual.workflows.mlmme_study_data import StudyParts
from xlingual.workflows.mlmme_study_models import Trainer, model_spec, planned
from xlingual.workflows.mlmme_study_reranking import Lists, reranking_table, similarities
from xlingual.workflows.studies import timed

MODELS = "models"  # the folder of the trained models, inside the study's


@dataclass
class _Work:
    """What the steps share: warnings and times."""

    progress: Progress | None
    warnings: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)

    def keep(self, results: Results, what: str) -> None:
        """Keep the warnings of an evaluation, those of several trainings in one sentence."""
        seen: dict[str, int] = {}
        for text in results.warnings:
            rest = text.split(": ", 1)[1] if text.startswith("model:") and ": " in text else text
            seen[rest] = seen.get(rest, 0) + 1
        for text, count in seen.items():
            self.warnings.append(f"{what}: {text}" + (f" ({count} trainings)" if count > 1 else ""))


@contextmanager
def _quietly() -> Iterator[None]:
    """Show no data warnings: every training of every model gives the same, and the page has them once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        yield


def run_mlmme_study(
    parts: StudyParts,
    out: str | Path,
    *,
    betas: Sequence[float] = BETAS,
    trainings: int = TRAININGS,
    recipe: str = "paper",
    settings: Mapping[str, Any] | None = None,
    fit: FitOptions | None = None,
    tables: Sequence[str] | None = None,
    sts_files: Sequence[str | Path] = (),
    sts_language: str | None = None,
    lists: Lists | None = None,
    replace: bool = False,
    ranker: Ranker | None = None,
    store: StoreLike = "default",
    progress: Progress | None = None,
) -> MlmmeStudy:
    """Train VSE of each language and MLMME for each beta, several times each, and make the tables.

    Args:
        parts: the data, and the languages.
        out: gets `models/`, the results of the evaluations, and `mlmme_study.json`. Models that are there
            are used, and trainings that were interrupted go on.
        betas: weights of images against sentences, each a model; 1 and lower ones.
        trainings: how often each model is trained, with the seeds `fit.seed`, `fit.seed` + 1 …
        recipe: conventions of all models: "paper" or "mlmme".
        settings: other settings of `MlmmeOptions` than the recipe's.
        fit: the settings of the fit loop.
        tables: "ranking", "sts", "reranking"; None makes those whose data are given.
        sts_files: files of sentence pairs with scores, for Table 2.
        sts_language: their language; None: the first of the languages.
        lists: n-best lists for Table 3.
        replace: train anew where `out` has a model of other settings.
        ranker: what ranks; None: this machine, with one thread.
        store: where vectors are kept and found again.
        progress: is called with (what, done, total).

    Raises:
        InputError: data or settings are invalid.

    """
    seeing = any(beta > 0 for beta in betas)
    given = {RANKING: parts.test is not None and seeing, STS: bool(sts_files), RERANKING: lists is not None}
    wanted = [name for name in TABLES if given[name]] if tables is None else list(tables)
    _check(wanted, given)
    parts.check(betas, wanted)
    language = sts_language or parts.languages[0]
    plans = [plan for plan in planned(parts.languages, betas) if seeing or plan.kind != VSE]
    notes: list[str] = []
    if RANKING in wanted:
        check_ranking(parts)
    if STS in wanted:
        check_sts(sts_files, language, parts.languages)
    if lists is not None and RERANKING in wanted:
        notes = check_reranking(lists, parts, plans)
    plans = read_by(plans, wanted, language, lists)
    check_validation(parts, plans)
    folder, work = make_folder(out), _Work(progress)
    trainer = Trainer(
        folder / MODELS, parts.train, parts.validation, recipe, dict(settings or {}), fit or FitOptions(),
        parts.image_encoder, parts.validation_image_encoder, replace, store, progress,
    )  # fmt: skip
    with timed(work.timings, "train"):
        models = trainer.models(plans, trainings)
    ranking = similarity = reranking = None
    if RANKING in wanted:
        with timed(work.timings, "Table 1: ranking"), _quietly():
            ranking = _ranking(parts, models, folder, work, ranker=ranker, store=store)
    if STS in wanted:
        with timed(work.timings, "Table 2: sts"), _quietly():
            similarity = _similarity(sts_files, language, models, folder, work, store=store)
    if RERANKING in wanted and lists is not None:
        added = similarities(lists, models, folder / MODELS)
        with timed(work.timings, "Table 3: reranking"), _quietly():
            reranking = reranking_table(
                lists, added, folder / RERANKING, seed=trainer.fit.seed, store=store, progress=progress
            )
    found = MlmmeStudy(
        languages=list(parts.languages),
        recipe=recipe,
        image_encoder=_image_encoder(parts),
        n_trained_on=parts.train.n_items,
        n_trainings=trainings,
        models=models,
        chosen=_chosen(models),
        ranking=ranking,
        sts=similarity,
        reranking=reranking,
        notes=notes,
        conditions={
            "trained on": parts.train.digest[:12],
            "validated on": parts.validation.digest[:12],
            **({} if parts.test is None else {"ranked": parts.test.digest[:12]}),
        },
        warnings=work.warnings,
        timings=work.timings,
    )
    found.write(folder)
    return found


def _check(wanted: Sequence[str], given: Mapping[str, bool]) -> None:
    """Raise InputError where a table is wanted whose data are not given, or none can be made."""
    needed = {RANKING: "--test", STS: "--sts FILE", RERANKING: "--tune-nbest and --test-nbest"}
    for name in wanted:
        if not given[name]:
            raise InputError(
                f"the table {name} needs {needed[name]}: give it, or leave {name} out of --tables"
            )
    if not wanted:
        raise InputError("nothing to evaluate: give --test, --sts FILE or n-best lists")


def _chosen(models: Sequence[StudyModel]) -> str:
    """Return the multilingual model with the best validation; those without images have another score."""
    own = [model for model in models if model.kind != VSE]
    own = [model for model in own if model.beta > 0] or own
    best = max(own, key=lambda model: float(np.mean([one.score for one in model.trainings])))
    return best.name


def _image_encoder(parts: StudyParts) -> str | None:
    """Return the name of the image encoder."""
    spec = parts.image_encoder
    return None if spec is None else encoders.image_encoder(spec, languages=parts.languages)[0]


def _named(models: Sequence[StudyModel], folder: Path) -> dict[str, str]:
    """Return the spec of every training by its name."""
    return {one.encoder: model_spec(folder / MODELS / one.encoder) for m in models for one in m.trainings}


def _ranking(
    parts: StudyParts, models: Sequence[StudyModel], folder: Path, work: _Work, **more: Any  # noqa: ANN401
) -> Ranking:  # fmt: skip
    """Rank images and sentences by every training that knows images, and keep the results."""
    seeing = [model for model in models if model.beta > 0]
    named = _named(seeing, folder)
    base = parts.test_image_encoder or parts.image_encoder
    assert parts.test is not None
    results = image_sentence(
        parts.test,
        text_encoders=named,
        image_encoders=[model_spec(folder / MODELS / name, base) for name in named],
        languages=parts.languages,
        progress=work.progress,
        **more,
    )
    results.write(folder / RANKING)
    work.keep(results, RANKING)
    if work.progress is not None:
        work.progress("comparing models", 0, 1)
    return ranking_table(results, seeing)


def _similarity(
    files: Sequence[str | Path], language: str, models: Sequence[StudyModel], folder: Path, work: _Work,
    *, store: StoreLike,
) -> Similarity:  # fmt: skip
    """Evaluate textual similarity of every training that knows the language, and of trivial baselines."""
    own = [model for model in models if language in model.languages]
    results = sts(
        list(files),
        language=language,
        text_encoders=_named(own, folder),
        trivial=True,
        progress=work.progress,
        store=store,
    )
    results.write(folder / STS)
    work.keep(results, STS)
    return similarity_table(results, own, tuple(TRIVIAL), language)
