"""Regimes of training side by side: LAReQA's Tables 2 and 4 for one's own questions, in one call."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from xlingual import encoders
from xlingual.arrays import Vectors
from xlingual.comparison.regime_study import REPLICATES, regime_differences, regime_scores
from xlingual.data.manifest import Manifest
from xlingual.data.pools.mix import mix_pool
from xlingual.data.pools.parallel import ParallelQuestions, of_pool
from xlingual.data.pools.pool import TEST, TRAIN, EqualIds, MultilingualPool, split_pool
from xlingual.demo_data.scenes import scene_rows
from xlingual.embed.encoding import Progress
from xlingual.embed.sides import embed_pool
from xlingual.errors import DataWarning, InputError, warn
from xlingual.evaluation.multilingual_pool.passes import rank_vectors
from xlingual.evaluation.multilingual_pool.ranks import alone_precision, language_precision, own_and_other
from xlingual.files import make_folder
from xlingual.measures import average_precision
from xlingual.ranking import Cpu
from xlingual.requests import sign
from xlingual.results.regime_study import (
    OTHER,
    OWN_POOL,
    POOL,
    SAME,
    QuestionValues,
    RegimeStudy,
    RegimeTraining,
)
from xlingual.signature import CONVENTIONS
from xlingual.store import Store, StoreLike, open_store
from xlingual.training.requests import RegimeStudyRequest
from xlingual.workflows.regime_models import RegimeTrainer, RegimeTrainings
from xlingual.workflows.studies import timed

MODELS, QUESTIONS, DIVIDED = "models", "questions", "pool"  # folders in the study's


def run_regime_study(
    train: ParallelQuestions,
    pool: MultilingualPool,
    out: str | Path,
    *,
    trainings: RegimeTrainings | None = None,
    replicates: int = REPLICATES,
    threads: int = 1,
    store: StoreLike = "default",
    progress: Progress | None = None,
) -> RegimeStudy:
    """Train regimes on questions, evaluate them in a pool of other questions, and test every pair.

    Args:
        train: the questions to train on.
        pool: what is evaluated: other questions.
        out: gets `models/`, `questions/` (a table of values for each model) and `regime_study.json`. What is
            there already is neither trained nor evaluated again.
        trainings: regimes, how often each is trained, and how.
        replicates: of each test.
        threads: threads of the ranking.
        store: where vectors are kept and found again.
        progress: is called with (what, done, total).

    Raises:
        InputError: data or options are invalid, or `out` has models of others.

    """
    plan, report = trainings or RegimeTrainings(), progress or (lambda what, done, total: None)
    folder, kept = make_folder(out), open_store(store)
    steps = plan.steps(train)
    trainer = RegimeTrainer(folder / MODELS, train, plan, steps, store, progress)
    timings: dict[str, float] = {}
    with timed(timings, "train"):
        models = trainer.train()
    values = {}
    with timed(timings, "evaluate"):
        for place, model in enumerate(models):
            report("evaluating models", place, len(models))
            values[model.model] = _values(model, pool, folder / QUESTIONS, kept, threads, progress)
    report("testing differences", 0, 1)
    with timed(timings, "test"):
        scores = regime_scores(values, trainer.models)
        best_first = {one.name: one.models for one in scores}
        differences = regime_differences(values, best_first, seed=plan.settings.seed, replicates=replicates)
    own = next(iter(values.values())).value[OWN_POOL]
    found = RegimeStudy(
        source=Path(pool.source).name,
        base=plan.base,
        languages=list(pool.languages),
        n_trained=len(train),
        n_questions=len(pool.questions),
        n_own=int((own == own).sum()),
        n_candidates=len(pool.candidates),
        n_clusters=len(set(pool.questions.cluster.tolist())),
        n_trainings=plan.times,
        steps=steps * plan.loop(0).epochs,
        batch=plan.settings.batch,
        seed=plan.settings.seed,
        regimes=scores,
        differences=differences,
        trainings=models,
        conditions=_conditions(train, pool),
        warnings=[*pool.warnings, *_shared(train, pool)],
        timings=timings,
    )
    given = {**plan.settings.settings(), **plan.loop(plan.settings.seed).settings(), **vars(plan)}
    given |= {"trainings": plan.times, "pool": pool.source, "threads": threads, "store": store}
    found = sign(found, RegimeStudyRequest, given)
    found.write(folder)
    return found


def _values(
    model: RegimeTraining,
    pool: MultilingualPool,
    folder: Path,
    store: Store | None,
    threads: int,
    progress: Progress | None,
) -> QuestionValues:
    """Return the values of a model's questions, read where they were computed before."""
    made_of = {"model": model.identity, "pool": pool.digest, "conventions": str(CONVENTIONS)}
    path = folder / f"{model.model}.parquet"
    if (kept := QuestionValues.read(path, made_of)) is not None:
        return kept
    ((name, encoder),) = encoders.text_encoders(
        {model.model: model.spec}, languages=list(pool.languages), role_languages=pool.role_languages
    ).items()
    vectors = embed_pool(pool, name, encoder, store=store, progress=progress)
    values = question_values(pool, vectors.questions, vectors.candidates, threads)
    values.write(path, made_of)
    return values


def question_values(
    pool: MultilingualPool, questions: Vectors, candidates: Vectors, threads: int = 1
) -> QuestionValues:
    """Return the average precision of each question, from vectors [n, d] and [m, d] of the pool's rows.

    `pool`: among all candidates (LAReQA, Table 2); `own_pool`: among those of the question's language (Table
    4); `same` and `other`: with a single answer in the pool, in the question's language or in another (mean
    over languages), for the questions that have both (Figure 4). All from one pass.
    """
    ranks = rank_vectors(pool, questions, candidates, ranker=Cpu(threads=threads)).ranks
    sides = np.stack(own_and_other(ranks, alone_precision(ranks)))
    sides[:, np.isnan(sides).any(axis=0)] = np.nan
    tags = [pool.languages[code] for code in pool.questions.language]
    return QuestionValues(
        [f"{tag}/{name}" for tag, name in zip(tags, pool.questions.ids, strict=True)],
        tags,
        ranks.cluster,
        {
            POOL: average_precision(ranks.targets()),
            OWN_POOL: own_and_other(ranks, language_precision(ranks))[0],
            SAME: sides[0],
            OTHER: sides[1],
        },
    )


def _shared(train: ParallelQuestions, pool: MultilingualPool) -> list[str]:
    """Warn of questions that are both trained and evaluated on."""
    asked = set(zip(train.questions.language, train.questions.text, strict=True))
    questions = pool.question_texts()
    count = sum(row in asked for row in zip(questions.language, questions.text, strict=True))
    if not count:
        return []
    sentence = (
        f"{count:,} of {len(questions):,} questions that are evaluated are also trained on (equal texts), "
        "which flatters every regime"
    )
    warn(sentence)
    return [sentence]


def _conditions(train: ParallelQuestions, pool: MultilingualPool) -> dict[str, str]:
    return {
        "task": "multilingual-pool",
        "measure": "AP",
        "languages": ",".join(pool.languages),
        "data": pool.digest[:12],
        "trained on": train.digest()[:12],
        "candidates": "sentence",
        "conventions": str(CONVENTIONS),
    }


def built_in_pool(out: Path, n: int = 400, languages: Sequence[str] = ("en", "de", "es")) -> Path:
    """Write a pool of descriptions of built-in scenes, with splits, to `out`/pool, and return its folder.

    Each scene has two descriptions in each language, made independently: one asks, the other answers.
    """
    rows = [
        {"id": f"{item.id} {name}", "item": item.id, "lang": name[:-2], "text": text, "split": item.split}
        for item in scene_rows(n, languages, texts=2)
        for name, text in item.texts.items()
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # two describers may say the same
        return mix_pool(Manifest.of(rows)).write(out / DIVIDED, overwrite=True)


def trained_and_tested(
    pool: str | Path | None,
    out: str | Path,
    *,
    languages: tuple[str, ...] | None = None,
    equal_ids: EqualIds | None = None,
    train_data: Path | None = None,
    train_split: str = TRAIN,
    split: str | None = None,
    train: float = 0.5,
    train_by: str | None = None,
    split_seed: int = 0,
) -> tuple[ParallelQuestions, MultilingualPool]:
    """Return the questions to train on, and the pool to evaluate in.

    Without a pool a built-in one is made. `train_data`: another pool to train on; the pool, or a
    `split` of it, is evaluated. Else the pool's own splits; a pool without splits is divided by whole
    articles (paragraphs, where it names no articles), and written to `out`/pool.
    """
    if pool is None:
        if train_data is not None:
            raise InputError("POOL is missing: name the pool to evaluate in, beside --train-data")
        pool = built_in_pool(Path(out))
    if train_data is not None:
        questions = of_pool(MultilingualPool.read(train_data, languages))
        return questions, MultilingualPool.read(pool, languages, split, equal_ids)
    whole = MultilingualPool.read(pool, languages, equal_ids=equal_ids)
    if whole.questions.split is None:
        if split is not None:
            raise InputError(f"{pool} has no splits, and --split names {split!r}: leave it out")
        by = train_by or ("paragraph" if whole.questions.article is None else "article")
        divided = split_pool(whole, train, split_seed, by)
        pool, split, train_split = divided.write(Path(out) / DIVIDED, overwrite=True), TEST, TRAIN
        equal_ids = None  # of the folder that was read
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the whole pool gave them
        parts = [
            MultilingualPool.read(pool, languages, name, equal_ids) for name in (train_split, split or TEST)
        ]
    return of_pool(parts[0]), parts[1]
