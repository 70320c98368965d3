"""Training a dual encoder on parallel questions and answers, validated by mAP in a multilingual pool."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Vectors
from xlingual.data.pools.pool import MultilingualPool
from xlingual.embed.encoding import Progress
from xlingual.encoders import EncoderLike, Spec, parse
from xlingual.encoders.runtime import require
from xlingual.encoders.trained import CANDIDATE, QUERY
from xlingual.errors import InputError
from xlingual.measures import AveragePrecision
from xlingual.models.texts import SHARED
from xlingual.ragged import members
from xlingual.ranking import Cosine, UnitVectors, counts
from xlingual.records import TargetCounts
from xlingual.store import StoreLike, open_store
from xlingual.training.options import FitOptions
from xlingual.training.parallel import ParallelQuestions, of_pool
from xlingual.training.recipe import OnLog, ValidationScores
from xlingual.training.recipes.dual_options import NETWORK_FIT, WORDS, DualOptions
from xlingual.workflows.trained import TrainingOutcome, TrainingRun, running

if TYPE_CHECKING:
    from xlingual.training.loop import Fitted
    from xlingual.workflows.dual_tower import UntrainedTower


@dataclass(frozen=True)
class TrainedDual(TrainingOutcome):
    """A trained dual encoder; its scores are the mAP in the pool and in the question's language."""

    questions: int  # trained on
    held_out: int


def train_dual_encoder(
    data: ParallelQuestions | str | Path,
    out: str | Path,
    options: DualOptions | None = None,
    *,
    base: EncoderLike = WORDS,
    frozen: bool = False,
    fit: FitOptions | None = None,
    validation: float | None = 0.1,
    resume: bool = False,
    replace: bool = False,
    untrained: bool = False,
    on_log: OnLog | None = None,
    store: StoreLike = "default",
    progress: Progress | None = None,
) -> TrainedDual:
    """Train a dual encoder on questions and answers and write it to the folder `out`.

    Args:
        data: parallel questions and answers, or the path of a multilingual pool or of a table of them.
        out: the folder of the model; `model:DIR` is then an encoder (with a frozen base: `model:DIR::SPEC`).
        options: the regime, the loss and the towers.
        base: what the towers stand on: "words", a network of transformers (`hf:NAME_OR_PATH`, which is
            trained further), or any other encoder of texts, which stays as it is.
        frozen: let `hf:` stay as it is, too.
        fit: epochs, rate, patience, device …; the default depends on the tower.
        validation: share of the paragraphs (clusters) that is held out; the epoch with the best mAP on it is
            kept. None: all are trained on, and the last epoch counts.
        resume: continue an interrupted training, bit for bit on a CPU.
        replace: train anew where a model or a training lies in `out`.
        untrained: write the model as it is before its first step: a control.
        on_log: is called with the line of each epoch that `log.jsonl` gets.
        store: where vectors of a frozen base are kept and found again.
        progress: is called with (what, done, total).

    Raises:
        InputError: data or options are invalid, or a loss that is no number.

    """
    require("a training", "torch", "torch")
    from xlingual.training.loop import unfitted
    from xlingual.workflows.dual_tower import TowerBuilder

    options = options or DualOptions()
    if frozen and base == WORDS:
        raise InputError("frozen is for a base that exists already: words are trained from scratch")
    if not isinstance(data, ParallelQuestions):
        data = of_pool(MultilingualPool.read(data))
    if validation is not None and not 0 < validation < 1:
        raise InputError(f"validation {validation}: give a share between 0 and 1, such as 0.1, or none")
    if untrained:
        validation = None
    train, held_out = (data, None) if validation is None else data.divided(validation, options.seed)
    fit = fit or fit_options(base, frozen=frozen, seed=options.seed)
    with running(out, fit, resume=resume, replace=replace, on_log=on_log, progress=progress) as run:
        builder = TowerBuilder(data, train, options, run, open_store(store))
        if isinstance(base, str) and base == WORDS:
            tower = builder.on_words()
        elif (network := network_spec(base, frozen)) is not None:
            tower = builder.on_network(base, network)
        else:
            tower = builder.on_vectors(base)
        if untrained:
            return _written(run, tower, options, train, None, unfitted(tower.model), None)
        return _trained(run, tower, options, train, None if held_out is None else HeldOut(held_out))


def fit_options(base: EncoderLike, *, frozen: bool = False, **changes: Any) -> FitOptions:  # noqa: ANN401
    """Return the options of the fit loop that a base has by default, with some of them changed."""
    return FitOptions(**{**fit_presets(base, changes, frozen=frozen), **changes})


def fit_presets(base: EncoderLike, changes: Mapping[str, Any], *, frozen: bool = False) -> dict[str, Any]:
    """Return what a base sets of the options of the fit loop, where `changes` are made to them."""
    if network_spec(base, frozen) is None:
        return {}
    epochs = changes.get("epochs", NETWORK_FIT["epochs"])
    return {**NETWORK_FIT, "warmup": min(NETWORK_FIT["warmup"], epochs / 2)}  # of a short training


def network_spec(base: EncoderLike, frozen: bool) -> Spec | None:
    """Return the spec of the network of transformers that is trained further; None for any other base."""
    if frozen or not isinstance(base, str | os.PathLike) or base == WORDS:
        return None
    spec = parse(os.fspath(base))
    return spec if spec.scheme == "hf" else None


def _trained(
    run: TrainingRun,
    tower: UntrainedTower,
    options: DualOptions,
    data: ParallelQuestions,
    held_out: HeldOut | None,
) -> TrainedDual:
    """Train, and write the model."""
    from xlingual.training.recipes.dual_encoder import DualRecipe, encoded

    def validated(model: Any, epoch: int = 0) -> ValidationScores:  # noqa: ANN401  (a DualEncoder)
        assert held_out is not None
        sides = ((QUERY, held_out.questions), (CANDIDATE, held_out.candidates))
        return held_out.scores(*(encoded(model, tower.inputs, role, rows) for role, rows in sides))

    fitted = run.train(
        DualRecipe(tower.model, data, tower.inputs, options),
        {
            "name": "dual-encoder",
            **options.settings(),
            "model": tower.model.config.to_dict(),
            "base": tower.identity,
            "data": data.digest(),
            "validation": None if held_out is None else held_out.data.digest(),
        },
        None if held_out is None else validated,
    )
    scores = None if held_out is None else validated(fitted.model)
    return _written(run, tower, options, data, held_out, fitted, scores)


def _written(
    run: TrainingRun,
    tower: UntrainedTower,
    options: DualOptions,
    data: ParallelQuestions,
    held_out: HeldOut | None,
    fitted: Fitted,
    scores: ValidationScores | None,
) -> TrainedDual:
    """Write the model."""
    model = fitted.model
    base = None
    if tower.below is not None:
        base = {
            "name": tower.name,
            "identity": tower.below.identity,
            "dim": tower.model.config.dim,
            "languages": list(data.languages),
        }
    questions = 0 if held_out is None else len(held_out.data)
    folder = run.write(
        "dual-encoder",
        fitted,
        base,
        settings={"recipe": "dual-encoder", "from": tower.name, **options.settings()},
        more={"final_scale": float(model.scale.detach())},
        scores={"scores": None if scores is None else dict(scores.parts)},
        data={
            "source": Path(data.source).name,
            "digest": data.digest(),
            "validation_digest": None if held_out is None else held_out.data.digest(),
            "languages": list(data.languages),
            "questions": len(data),
            "validation_questions": questions,
            "answers": len(np.unique(data.answered)),
        },
        vocabularies=None if tower.vocabulary is None else {SHARED: tower.vocabulary},
        network=tower.save,
    )
    return TrainedDual.of(folder, fitted, scores, questions=len(data), held_out=questions)


class HeldOut:
    """Questions and candidates of held-out clusters, as rows of their texts, and the relevant pairs.

    Candidates are all answers, and all texts beside them, of the held-out clusters.
    """

    def __init__(self, data: ParallelQuestions) -> None:
        beside = np.flatnonzero(np.isin(data.answer_cluster, data.cluster))
        number, answer = data.right
        asked = np.nonzero(data.asked >= 0)  # (question, language) of each text
        self.data = data
        self.questions = data.asked[asked]  # [q]: rows of data.questions
        self.candidates = np.union1d(beside, answer)  # [c]: rows of data.answers
        self.query, own = members(number, asked[0])  # [p], ascending: places in `questions`
        self.target = np.searchsorted(self.candidates, answer[own])  # [p]: places in `candidates`

    def scores(self, questions: Vectors, candidates: Vectors) -> ValidationScores:
        """Return the mAP of vectors, and beside it that of monolingual pools."""
        if not (np.isfinite(questions).all() and np.isfinite(candidates).all()):
            return ValidationScores(math.nan, {})  # ranks of vectors that are no numbers say nothing
        pool, own = self.average_precision(questions, candidates)
        return ValidationScores(pool, {"pool": pool, "own-language": own})

    def average_precision(self, questions: Vectors, candidates: Vectors) -> tuple[float, float]:
        """Return mAP in the pool of all languages, and in pools of the question's language alone.

        `questions` [q, d] and `candidates` [c, d]. The second is a mean over the questions that have an
        answer in their own language, 0 where none has.
        """
        similarity = Cosine(UnitVectors(questions), UnitVectors(candidates))
        sides = ((self.data.questions, self.questions), (self.data.answers, self.candidates))
        asked_in, answered_in = (
            np.array([self.data.languages.index(texts.language[row]) for row in rows.tolist()])
            for texts, rows in sides
        )
        above, tied = counts(similarity, self.query, self.target, groups=answered_in)
        measure = AveragePrecision()
        pool = np.full(len(questions), len(candidates))
        whole = measure.per_query(TargetCounts(self.query, above.sum(axis=1), tied.sum(axis=1), pool))
        language = answered_in[self.target]
        rows = np.flatnonzero(language == asked_in[self.query])
        if not len(rows):
            return float(whole.mean()), 0.0
        _, query = np.unique(self.query[rows], return_inverse=True)
        size = int(query.max()) + 1
        own = TargetCounts(query, above[rows, language[rows]], tied[rows, language[rows]], pool[:size])
        return float(whole.mean()), float(measure.per_query(own).mean())
