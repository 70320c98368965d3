"""LAReQA's study: regimes of training a dual encoder, in a pool of all languages and within a language.

Tables 2 and 4 of Roy et al. (2020), and Figure 4's diagonal against the rest of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from xlingual.errors import DataWarning, InputError
from xlingual.requests.record import Request, argument, option
from xlingual.requests.shared import Keeping, Output, PoolLanguages
from xlingual.requests.values import Natural, Positive, Share, comma_list
from xlingual.training.options import FitOptions, defaults_in_help
from xlingual.training.recipes.dual_options import (
    NETWORK_FIT,
    REGIMES,
    WORDS,
    DualOptions,
    DualSettings,
    Regime,
)
from xlingual.training.requests import Base, Frozen, TrainAnew

if TYPE_CHECKING:
    from xlingual.data.pools.pool import MultilingualPool
    from xlingual.papers.findings import StudyFindings
    from xlingual.papers.study import Context, Measured, Model, Recipe
    from xlingual.training.parallel import ParallelQuestions

UNTRAINED = "untrained"
POOL, OWN_POOL, BY_LANGUAGE = "Table 2", "Table 4", "Table 2 by language"
MAP, SAME, OTHER = "mAP", "own language", "other languages"
TERMS = {
    "Regime": "Which languages meet in a batch. en-en: one language only; x-x: question and answer in the "
    "same language, all languages mixed; x-x-mono: the same, each batch of one language; x-y: languages "
    "drawn independently; hybrid: batches of x-x-mono and x-y in turn.",
    "Own language, other languages": "mAP with a single answer in the pool, in the question's language "
    "(Figure 4's diagonal) or in another (the rest, mean over languages). Questions that have both count. "
    "The second is alignment: the right answer in another language comes before wrong ones of all languages.",
    "Untrained": "The model before its first step: what its features find without any training.",
}


class LareqaRequest(Request, frozen=True, kw_only=True):
    """Train a dual encoder in several regimes, and report what each aligns and what it costs."""

    command = "papers lareqa"
    own_folder = True
    otherwise: ClassVar[Mapping[str, str]] = {
        **defaults_in_help(FitOptions, {"hf:": NETWORK_FIT}),
        "steps": "one pass of x-y, for every regime; without POOL 30",
        "dim": "256; without POOL 64",
        "seed": "0",
        "epochs": "30; hf: 10; without POOL 5",
    }
    in_files = ("patience", "keep_epoch")

    pool: Annotated[
        Path | None, argument("[POOL]", "A multilingual pool; with no splits it is divided into two parts.")
    ] = None
    languages: PoolLanguages = None
    regimes: Annotated[
        tuple[Regime, ...],
        option("Regimes to compare.", metavar="x-y,x-x,…", otherwise="all", reads=comma_list),
    ] = REGIMES
    trainings: Annotated[
        Positive, option("How often each regime is trained, with other seeds.", metavar="N")
    ] = 3
    train_data: Annotated[
        Path | None, option("Train on this pool, and evaluate all of POOL.", metavar="PATH")
    ] = None
    train: Annotated[
        Share, option("Share of a POOL without splits to train on; the rest is evaluated.", metavar="SHARE")
    ] = 0.5
    split_seed: Annotated[Natural, option("Seed of what --train draws.", metavar="N")] = 0
    base: Base = WORDS
    frozen: Frozen = False
    model: DualSettings
    fit: FitOptions
    keeping: Keeping
    output: Output
    force: TrainAnew = False


REQUEST = LareqaRequest


def presets(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the base sets of the fit loop; of built-in data 150 batches, so that all takes minutes."""
    from xlingual.workflows.train_dual_encoder import fit_presets

    small = {} if options.get("pool") is not None else {"epochs": 5, "steps": 30, "dim": 64}
    base = fit_presets(options.get("base", WORDS), small | dict(options), frozen=options.get("frozen", False))
    return base | small


def run_study(request: LareqaRequest, context: Context) -> StudyFindings:
    """Train a dual encoder in each regime, and say which aligns languages and what that costs within one.

    POOL is a multilingual pool. A part of its questions is trained on, the rest evaluated: by its own splits
    `train` and `test`, else by --train. Without POOL it runs on built-in data, for 150 batches by
    default. Models that DIR has already are not trained again: if interrupted, the same command goes on.
    """
    from xlingual.papers.findings import FOLD, StudyTable
    from xlingual.papers.study import Study, every_pair, run

    out, settings = request.output.out, request.model
    assert out is not None
    train, pool = parts(request, out)
    trained = recipes(request, train, context)
    models = list(trained)
    tables = (
        StudyTable(
            *(POOL, "mAP in the pool of all languages", UNTRAINED, MAP),
            "Questions of all languages, answers among the candidates of all languages.",
        ),
        StudyTable(BY_LANGUAGE, "mAP in that pool by language of the question", UNTRAINED, form=FOLD),
        StudyTable(
            *(OWN_POOL, "mAP within a language", UNTRAINED, MAP),
            "The same models and questions, with the candidates of the question's language alone: what a "
            "search engine for each language would see.",
        ),
    )
    study = Study(
        paper="lareqa",
        title=f"Regimes of training on {Path(pool.source).name}: alignment, and what it costs",
        train=trained,
        steps={"evaluate": partial(evaluate, pool, request.fit.threads or 1)},
        tables=tables,
        questions=[
            *every_pair(models, POOL, MAP, "In the pool of all languages"),
            *every_pair(models, POOL, OTHER, "Alignment, a single answer in another language", UNTRAINED),
            *every_pair(models, POOL, SAME, "A single answer in the question's language"),
            *every_pair(models, OWN_POOL, MAP, "In the pool of the question's language"),
        ],
        conditions={
            "languages": ",".join(pool.languages),
            "data": pool.digest[:12],
            "trained on": train.digest()[:12],
            "base": request.base,
            "batch": str(settings.batch),
            "seed": str(settings.seed),
        },
        facts={
            "languages": len(pool.languages),
            "questions to train on": len(train),
            "batches": trained[models[0]].settings["steps"] * request.fit.epochs,
            "questions evaluated": len(pool.questions),
            "candidates": len(pool.candidates),
        },
        terms=TERMS,
        notes=shared(train, pool),
    )
    seeds = {"trainings": request.trainings, "seed": settings.seed}
    return run(study, out, **seeds, force=request.force, context=context)


def recipes(request: LareqaRequest, train: ParallelQuestions, context: Context) -> dict[str, Recipe]:
    """Return the recipe of each regime, with equally many batches for all, and of a model without training.

    Data that lack what a regime needs are found here, before any training.
    """
    from xlingual.papers.study import Recipe, identity_of, settings_of
    from xlingual.training.recipes.regimes import make_regime
    from xlingual.workflows.train_dual_encoder import network_spec, train_dual_encoder

    settings, base = request.model, request.base
    if len(set(request.regimes)) < max(len(request.regimes), 1):
        raise InputError("--regimes: name one regime at least, and each once")
    for name in request.regimes:
        make_regime(name, train, settings.batch, settings.seed, settings.language)
    steps = settings.steps or make_regime("x-y", train, settings.batch, settings.seed).batches_of_a_pass
    fit = request.fit.changed(patience=None)  # nothing is validated, so that none stops early
    frozen = base != WORDS and network_spec(base, request.frozen) is None
    below = {"base": identity_of(base, train.languages) if frozen else base, "frozen": request.frozen}

    def recipe(regime: Regime, untrained: bool = False) -> Recipe:
        def trained(folder: Path, seed: int, **more: Any) -> None:  # noqa: ANN401
            train_dual_encoder(
                *(train, folder, options.changed(seed=seed)), base=base, frozen=request.frozen,
                fit=fit.changed(seed=seed), validation=None, untrained=untrained, store=context.store, **more,
            )  # fmt: skip

        options = DualOptions(**{**settings.settings(), "regime": regime, "steps": steps})
        stated = settings_of(options, fit, **below, data=train.digest())
        return Recipe(
            trained, stated | {"regime": UNTRAINED if untrained else regime}, base if frozen else None
        )

    return {name: recipe(name) for name in request.regimes} | {UNTRAINED: recipe(request.regimes[0], True)}


def evaluate(
    pool: MultilingualPool, threads: int, models: Sequence[Model], folder: Path, context: Context
) -> Iterator[Measured]:
    """Measure the average precision of every question by every training, all from one pass for each.

    Among all candidates (Table 2), among those of the question's language (Table 4), and with a single answer
    in the pool, in the question's language or in another (Figure 4).
    """
    import numpy as np

    from xlingual import encoders
    from xlingual.comparison.queries import Labels, Queries
    from xlingual.embed.sides import embed_pool
    from xlingual.evaluation.multilingual_pool import ranks as of_pool
    from xlingual.measures import average_precision
    from xlingual.papers.study import Measured
    from xlingual.ranking import Cpu
    from xlingual.store import open_store

    store, values, cluster = open_store(context.store), {}, np.empty(0, dtype=np.int64)
    specs = {label: spec for model in models for label, spec in model.specs.items()}
    for label, spec in specs.items():
        ((_, encoder),) = encoders.text_encoders(
            {label: spec}, languages=list(pool.languages), role_languages=pool.role_languages
        ).items()
        sides = embed_pool(pool, label, encoder, store=store, progress=context.progress)
        ranks = of_pool.rank_vectors(
            pool, sides.questions, sides.candidates, ranker=Cpu(threads=threads)
        ).ranks
        single = np.stack(of_pool.own_and_other(ranks, of_pool.alone_precision(ranks)))
        single[:, np.isnan(single).any(axis=0)] = np.nan
        cluster = ranks.cluster
        values[label] = {
            (POOL, MAP): average_precision(ranks.targets()),
            (POOL, SAME): single[0],
            (POOL, OTHER): single[1],
            (OWN_POOL, MAP): of_pool.own_and_other(ranks, of_pool.language_precision(ranks))[0],
        }
    for table, measure in next(iter(values.values())):
        every = np.stack([of_model[table, measure] for of_model in values.values()])
        rows = np.flatnonzero(np.isfinite(every[0]))
        if not len(rows):
            continue
        language = Labels(pool.questions.language[rows], tuple(pool.languages))
        queries = Queries.of_one_sample(
            "multilingual-pool", "AP", tuple(values), every[:, rows], cluster[rows], language=language
        )
        yield Measured(table, measure, queries)
        if measure == MAP:
            for tag, part in queries.slices("language").items():
                yield Measured(BY_LANGUAGE if table == POOL else OWN_POOL, tag, part)


def shared(train: ParallelQuestions, pool: MultilingualPool) -> list[str]:
    """Return a sentence about questions that are both trained and evaluated on, if there are any."""
    asked, questions = train.questions, pool.question_texts()
    trained = set(zip(asked.language, asked.text, strict=True))
    count = sum(row in trained for row in zip(questions.language, questions.text, strict=True))
    text = f"{count:,} of {len(questions):,} questions that are evaluated are also trained on (equal texts)"
    return [f"{text}, which flatters every regime."] if count else []


def built_in_pool(folder: Path, n: int = 400, languages: Sequence[str] = ("en", "de", "es")) -> Path:
    """Write a pool of descriptions of built-in scenes, with splits: one description asks, another answers."""
    from xlingual.data.manifest import Manifest
    from xlingual.data.pools.mix import mix_pool
    from xlingual.demo_data.scenes import scene_rows

    rows = [
        {"id": f"{item.id} {name}", "item": item.id, "lang": name[:-2], "text": text, "split": item.split}
        for item in scene_rows(n, languages, texts=2)
        for name, text in item.texts.items()
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # two describers may say the same
        return mix_pool(Manifest.of(rows)).write(folder, overwrite=True)


def parts(request: LareqaRequest, out: Path) -> tuple[ParallelQuestions, MultilingualPool]:
    """Return the questions to train on, and the pool to evaluate in.

    `train_data` is trained on and the pool evaluated; else the pool's own splits. A pool without splits is
    divided by whole articles (paragraphs, where it names no articles), and written to the study's folder.
    """
    from xlingual.data.pools.pool import TEST, TRAIN, MultilingualPool, split_pool
    from xlingual.training.parallel import of_pool

    pool, read = request.pool, partial(MultilingualPool.read, languages=request.languages)
    if request.train_data is not None:
        if pool is None:
            raise InputError("POOL is missing: name the pool to evaluate in, beside --train-data")
        return of_pool(read(request.train_data)), read(pool)
    pool = built_in_pool(out / "pool") if pool is None else pool
    whole = read(pool)
    if whole.questions.split is None:
        by = "paragraph" if whole.questions.article is None else "article"
        divided = split_pool(whole, request.train, request.split_seed, by)
        pool = divided.write(out / "pool", overwrite=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the whole pool gave them
        return of_pool(read(pool, split=TRAIN)), read(pool, split=TEST)
