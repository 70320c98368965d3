"""One runner of studies: models are trained several times, evaluated in every step, and compared.

A study is data: recipes and encoders by name, steps that measure all of them, and questions. A model whose
folder is there and was made by the same recipe is used, an interrupted training goes on.
"""

from __future__ import annotations

import json
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from dataclasses import replace as replace_field
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from xlingual.arrays import Floats, Ints
from xlingual.comparison.outcome import Rules, enough_replicates
from xlingual.comparison.queries import Queries
from xlingual.comparison.trainings import (
    ALPHA,
    Tested,
    against_chance,
    decided,
    difference,
    mean_over_trainings,
)
from xlingual.embed.encoding import Progress
from xlingual.embed.sides import load_fit_texts
from xlingual.encoders import EncoderLike, Spec, parse, text_encoders
from xlingual.errors import DataWarning, InputError, listed, warn
from xlingual.evaluation.run import collected_warnings
from xlingual.files import atomic_file, make_folder
from xlingual.models.card import ANYWHERE, differences, identity
from xlingual.models.folder import CONFIG, ModelFolder
from xlingual.papers.findings import (
    CHANCE,
    StudyDifference,
    StudyFindings,
    StudyRow,
    StudyTable,
    StudyTraining,
)
from xlingual.requests import Record
from xlingual.results import Interval
from xlingual.results.runs import Gain, OfRuns
from xlingual.signature import CONVENTIONS
from xlingual.stats.trainings import of_runs
from xlingual.store import StoreLike
from xlingual.streams import stream

MODELS = "models"  # the folder of trained models, inside the study's


@dataclass(frozen=True)
class Context:
    """What every step uses: the store of vectors, and progress."""

    store: StoreLike = "default"
    progress: Progress = lambda what, done, total: None


@dataclass(frozen=True)
class Recipe:
    """How a model is trained.

    `train(folder, seed, resume=…, progress=…)` writes it. `settings` are all that decides its weights, but
    for the seed: `settings_of` the options, the digest of the data, the identity of a base. `base` is the
    spec of the encoder that stays as it is below the model.
    """

    train: Callable[..., object]
    settings: Mapping[str, Any]
    base: str | None = None


@dataclass(frozen=True)
class Model:
    """A model as steps see it: its specs by label, one for each training, and the folders of trained ones."""

    name: str
    specs: Mapping[str, EncoderLike]
    folders: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """A row of a table, as a step measured it.

    `queries` hold the values of each query by label; the runner makes means, intervals and tests of them
    (`intervals`, by label, are those that a step knows of models with one encoder). `scores` are finished
    values by model, of measures that have no value for each query.
    """

    table: str
    measure: str
    queries: Queries | None = None
    intervals: Mapping[str, Interval | None] = field(default_factory=dict)
    scores: Mapping[str, OfRuns] = field(default_factory=dict)
    chance: float | None = None
    n: int = 0


@dataclass(frozen=True)
class Scaled(Queries):
    """Values whose range is not that of a share, such as per cent; means and intervals have their scale."""

    width: float = 1.0

    @classmethod
    def of_values(
        cls, task: str, encoders: Sequence[str], values: Floats, clusters: Ints, width: float
    ) -> Scaled:
        """Return the values [E, n] of queries of equal weight, in their clusters [n]."""
        return replace_field(cls.of_one_sample(task, "Success@1", encoders, values, clusters), width=width)

    @property
    def span(self) -> float:
        """The width of the range."""
        return self.width


@dataclass(frozen=True)
class Question:
    """Whether a model is better than another (or than chance); p is corrected over its family.

    A question about a measure or a model that a table does not have is left out. The verdict names those
    with `headline`.
    """

    model: str
    other: str
    table: str
    measure: str
    family: str
    headline: bool = False


Step: TypeAlias = Callable[[Sequence[Model], Path, Context], Iterable[Measured]]


@dataclass(frozen=True)
class Study:
    """A study as data.

    `encoders` are models that are not trained, by name. `steps` measure all models, each with a
    folder of its own; `order` is that of the models in the tables (default: these, then the trained ones).
    """

    paper: str
    title: str
    train: Mapping[str, Recipe]
    steps: Mapping[str, Step]
    tables: Sequence[StudyTable]
    questions: Sequence[Question]
    encoders: Mapping[str, EncoderLike] = field(default_factory=dict)
    order: Sequence[str] = ()
    conditions: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, int] = field(default_factory=dict)
    terms: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()


def every_pair(
    models: Sequence[str], table: str, measure: str, family: str, headline: str | None = None
) -> list[Question]:
    """Return the questions about every pair of models, as one family; `headline`: those with this model."""
    return [
        Question(one, other, table, measure, family, headline=headline in (one, other))
        for one, other in combinations(models, 2)
    ]


def settings_of(*options: Record, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the settings of a recipe: options without seeds and without where they ran, and `more`."""
    settings = {name: value for record in options for name, value in record.settings().items()}
    return {name: value for name, value in settings.items() if name not in {"seed", *ANYWHERE}} | more


def run(
    study: Study,
    out: str | Path,
    *,
    trainings: int = 3,
    seed: int = 0,
    force: bool = False,
    context: Context | None = None,
) -> StudyFindings:
    """Train what is missing, evaluate every model in every step, test the differences, write the findings.

    Each recipe is trained `trainings` times, with the seeds `seed`, `seed` + 1 …; `force` trains anew where
    `out` has models. `out` gets `models/`, a folder for each step, and `paper_study.json`. Raises InputError
    where a model of another recipe lies in `out`, or a step refuses the data.
    """
    context, folder = context or Context(), make_folder(out)
    timings: dict[str, float] = {}
    with _timed(timings, "train"):
        models, records = _trained(study, folder / MODELS, range(seed, seed + trainings), force, context)
    measured: list[Measured] = []
    messages: list[str] = []
    for name, step in study.steps.items():
        with _timed(timings, name), warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # each training of a model gives the same ones
            with collected_warnings() as raised:
                measured += step(models, folder / name, context)
        messages += raised
    messages = list(dict.fromkeys(re.sub(r"^model:\S+: ", "", text) for text in messages))
    for text in messages:
        warn(text)
    encoders = {model.name: tuple(model.specs) for model in models}
    labels = {label for of_model in encoders.values() for label in of_model}
    for one in measured:  # systems that a step brings, such as translations without a model
        brought = () if one.queries is None else one.queries.encoders
        encoders |= {label: (label,) for label in brought if label not in labels}
    with _timed(timings, "test"):
        answers = _answers(study, measured, encoders, seed, context)
    references = {table.name: table.reference for table in study.tables}
    findings = StudyFindings(
        paper=study.paper,
        title=study.title,
        models=list(encoders),
        n_trainings=trainings,
        tables=[table for table in study.tables if any(one.table == table.name for one in measured)],
        rows=[_row(one, encoders, references[one.table], answers) for one in measured],
        differences=answers,
        trainings=records,
        conditions={**study.conditions, "conventions": str(CONVENTIONS)},
        facts=dict(study.facts),
        terms=dict(study.terms),
        notes=list(study.notes),
        warnings=messages,
        timings=timings,
    )
    findings.write(folder)
    return findings


def _trained(
    study: Study, folder: Path, seeds: range, anew: bool, context: Context
) -> tuple[list[Model], list[StudyTraining]]:
    """Return all models in the order of the tables, and their trainings; first of all others are refused."""
    from xlingual.training.checkpoints import Checkpoints

    jobs = [
        (name, recipe, seed, folder / f"{re.sub('[^a-z0-9.-]+', '-', name.lower())}-{seed}")
        for seed in seeds
        for name, recipe in study.train.items()
    ]
    labels = [*study.encoders, *study.train, *(path.name for *_, path in jobs)]
    if repeated := sorted({label for label in labels if labels.count(label) > 1}):
        raise InputError(
            f"two models are named {listed(repeated, 3)}: give the encoder another name, NAME=SPEC"
        )
    if not anew:
        for _, recipe, seed, path in jobs:
            _refuse_another(path, {**recipe.settings, "seed": seed})
    records, models = [], {name: Model(name, {name: spec}) for name, spec in study.encoders.items()}
    for place, (name, recipe, seed, path) in enumerate(jobs, 1):
        title = f"{path.name} ({place} of {len(jobs)})"
        if anew or not (path / CONFIG).is_file():
            make_folder(folder)
            with atomic_file(_recipe_file(path)) as temporary:
                text = json.dumps({**recipe.settings, "seed": seed}, indent=1, ensure_ascii=False)
                temporary.write_text(text, encoding="utf-8")
            resume = Checkpoints(path).exists() and not anew
            progress = partial(_titled, title, context.progress)
            recipe.train(path, seed, resume=resume, replace=anew, progress=progress)
            Checkpoints(path).remove()  # larger than the model, and not needed any more
        model_folder = ModelFolder.read(path)
        spec = Spec(None, "model", str(path), (), None if recipe.base is None else parse(recipe.base))
        model = models.setdefault(name, Model(name, {}, {}))
        models[name] = Model(name, {**model.specs, path.name: str(spec)}, {**model.folders, path.name: path})
        done = model_folder.config["training"]
        records.append(
            StudyTraining(
                *(name, path.name, seed, identity(model_folder), done["epochs_run"]),
                *(done.get("best_epoch"), done.get("score"), done["seconds"]),
            )
        )
    order = [*study.order, *(name for name in models if name not in study.order)]
    return [models[name] for name in order], records


def _recipe_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _refuse_another(path: Path, settings: Mapping[str, Any]) -> None:
    """Raise InputError where a model or a training is there that another recipe made."""
    if not path.is_dir():
        return
    try:
        before = json.loads(_recipe_file(path).read_text(encoding="utf-8"))
        different = differences(before, settings)
    except (OSError, ValueError):
        different = [f"{_recipe_file(path).name}, which says how it was trained, cannot be read"]
    if different:
        raise InputError(
            f"{path} has a model that was trained otherwise ({listed(different, 3)}): give the same "
            "settings, train it anew with --force, or choose another --out"
        )


def _titled(title: str, progress: Progress, what: str, done: int, total: int) -> None:
    progress(f"{title}: {what}", done, total)


@contextmanager
def _timed(timings: dict[str, float], step: str) -> Iterator[None]:
    begun = time.perf_counter()
    yield
    timings[step] = time.perf_counter() - begun


def _answers(
    study: Study,
    measured: Sequence[Measured],
    encoders: Mapping[str, tuple[str, ...]],
    seed: int,
    context: Context,
) -> list[StudyDifference]:
    """Return the tested differences, family by family."""
    rows = {(one.table, one.measure): one for one in measured if one.queries is not None}
    asked: dict[str, list[tuple[Question, Measured]]] = {}
    for question in study.questions:
        row = rows.get((question.table, question.measure))
        if row is not None and all(
            name == CHANCE or _has(row, encoders.get(name, ())) for name in (question.model, question.other)
        ):
            asked.setdefault(question.family, []).append((question, row))
    total, answers = sum(map(len, asked.values())), list[StudyDifference]()
    for family in asked.values():
        count = enough_replicates(len(family), Rules("holm", ALPHA, None))
        tested = list[Tested]()
        for question, row in family:
            context.progress("testing differences", len(answers) + len(tested), total)
            assert row.queries is not None
            labels = encoders[question.model]
            if question.other == CHANCE:
                tested.append(against_chance(row.queries, labels, row.chance or 0.0))
            else:
                rng = stream(seed, f"{study.paper}|{question}")
                others = encoders[question.other]
                tested.append(difference(row.queries, labels, others, rng=rng, replicates=count))
        answers += [
            StudyDifference(
                *(question.model, question.other, question.table, question.measure, question.family),
                headline=question.headline,
                **fields,
            )
            for (question, _), fields in zip(family, decided(tested), strict=True)
        ]
    return answers


def _has(row: Measured, labels: Sequence[str]) -> bool:
    """Whether a row has the values of every training of a model."""
    return row.queries is not None and bool(labels) and set(labels) <= set(row.queries.encoders)


def _row(
    row: Measured, encoders: Mapping[str, tuple[str, ...]], reference: str, answers: Sequence[StudyDifference]
) -> StudyRow:
    """Return the record of a row: means over trainings, and the tested differences to the reference."""
    scores = dict(row.scores)
    for name, labels in encoders.items():
        if row.queries is not None and _has(row, labels):
            _, ci, each = mean_over_trainings(row.queries, labels)
            scores[name] = of_runs(each, row.intervals.get(labels[0], ci) if len(labels) == 1 else ci)
    for one in answers:
        if (one.table, one.measure) != (row.table, row.measure) or reference not in (one.model, one.other):
            continue
        name, sign = (one.model, 1) if one.other == reference else (one.other, -1)
        if name != CHANCE and scores[name].gain is None:
            turned = one.ci
            if turned is not None and sign < 0:
                turned = replace(turned, low=-turned.high, high=-turned.low)
            scores[name] = replace(scores[name], gain=Gain(sign * one.value, turned, one.p, one.p_adjusted))
    return StudyRow(
        row.table, row.measure, row.n or (0 if row.queries is None else len(row.queries)), scores, row.chance
    )


def identity_of(spec: EncoderLike, languages: Sequence[str]) -> str:
    """Return the identity of the one encoder that a spec stands for."""
    encoders = text_encoders(spec, languages=list(languages), fit_texts=load_fit_texts)
    if len(encoders) > 1:
        raise InputError(f"{spec} matches {len(encoders)} encoders: name one")
    return next(iter(encoders.values())).identity
