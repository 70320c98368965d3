"""Table 3 of the MLMME paper: similarities of trained models as features of n-best lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from xlingual.arrays import Ints
from xlingual.embed.encoding import Progress
from xlingual.files import make_folder
from xlingual.nbest.bleu import list_counts
from xlingual.nbest.features import add_features
from xlingual.nbest.lists import NBestLists, read_nbest, read_texts, write_texts
from xlingual.nbest.mira import Mira, first_best
from xlingual.nbest.score import has_meteor, metrics_of
from xlingual.nbest.side_by_side import side_by_side
from xlingual.nbest.tune import bounds, tune
from xlingual.results.mlmme_study import Reranking, StudyModel
from xlingual.store import StoreLike
from xlingual.workflows.mlmme_study_models import model_spec

TUNE, TEST = "tune", "test"
SCORE = "total"  # the feature that holds the system's own score
BASE, TUNED = "first translation", "own features alone"
_MEASURES = ("BLEU", "METEOR", "TER")


@dataclass(frozen=True)
class Part:
    """The lists of some sentences, and what belongs to them."""

    nbest: Path
    references: tuple[Path, ...]
    source: Path | None
    images: str | None
    image_encoder: str | None


@dataclass(frozen=True)
class Lists:
    """The lists to tune weights on and those to measure, their languages, and how weights are tuned."""

    tune: Part
    test: Part
    source_language: str
    target_language: str
    own_features: str = "score"  # or "all"
    tunings: int = 1

    @property
    def parts(self) -> tuple[tuple[str, Part], tuple[str, Part]]:
        """Both parts, with the word that their options begin with."""
        return (TUNE, self.tune), (TEST, self.test)


@dataclass(frozen=True)
class Similarities:
    """What one model adds to the lists: features for each training, with the source, images or both."""

    model: StudyModel
    paths: Mapping[str, Path]  # training → folder
    source: bool
    images: bool

    @property
    def kinds(self) -> list[str]:
        """What it adds, in words."""
        return [*(["sentence"] if self.source else []), *(["image"] if self.images else [])]

    def labels(self, training: str) -> list[str]:
        """Return the features of a training."""
        return [*([training] if self.source else []), *([f"{training}-image"] if self.images else [])]


class _Model(Protocol):
    """A model of the study, trained or planned."""

    @property
    def kind(self) -> str: ...
    @property
    def languages(self) -> Sequence[str]: ...
    @property
    def beta(self) -> float: ...


def adds(lists: Lists, model: _Model) -> tuple[bool, bool]:
    """Return whether a model compares translations with their source, and whether with their image."""
    both = {lists.source_language, lists.target_language} <= set(model.languages)
    seeing = model.beta > 0 and lists.target_language in model.languages
    return lists.tune.source is not None and both, lists.tune.images is not None and seeing


def similarities(lists: Lists, models: Sequence[StudyModel], folder: Path) -> list[Similarities]:
    """Return what each model adds to the lists; those that add nothing are left out."""
    return [
        Similarities(
            model, {one.encoder: folder / one.encoder for one in model.trainings}, *adds(lists, model)
        )
        for model in models
        if any(adds(lists, model))
    ]


def reranking_table(
    lists: Lists,
    added: Sequence[Similarities],
    folder: Path,
    *,
    seed: int = 0,
    store: StoreLike = "default",
    progress: Progress | None = None,
) -> Reranking:
    """Add similarities, tune weights on one part with k-best MIRA, choose on the other, and measure."""
    make_folder(folder)
    both = {
        name: _with_similarities(lists, part, added, folder / f"{name}.nbest", store, progress)
        for name, part in lists.parts
    }
    own = [SCORE] if lists.own_features == "score" else list(read_nbest(lists.tune.nbest).names)
    references = {name: [read_texts(path) for path in part.references] for name, part in lists.parts}
    test = both[TEST]
    systems: dict[str, dict[str, Sequence[str]]] = {
        BASE: {BASE: _chosen(test, first_best(test.scores, test.offsets))}
    }
    jobs: list[tuple[str, str, list[str], int]] = []
    if lists.own_features == "all":
        jobs.append((TUNED, TUNED, own, seed))
    for one in added:
        for training in one.model.trainings:
            jobs.append(
                (one.model.name, training.encoder, [*own, *one.labels(training.encoder)], training.seed)
            )
    for place, (name, tuned, features, tuning_seed) in enumerate(jobs):
        if progress is not None:
            progress("tuning weights", place, len(jobs))
        weights = tune(
            both[TUNE].keep_features(features),
            references[TUNE],
            Mira(),
            seed=tuning_seed,
            tunings=lists.tunings,
            standardize=True,
        )
        for number in range(len(weights.tunings)):
            run = tuned if len(weights.tunings) == 1 else f"{tuned}.{number}"
            texts = _chosen(test, weights.choose(test.keep_features(features), number))
            write_texts(texts, folder / _file(run))
            systems.setdefault(name, {})[run] = texts
    write_texts(systems[BASE][BASE], folder / _file(BASE))
    language = lists.target_language if has_meteor(lists.target_language) else None
    every = metrics_of("none", False, language, references[TEST])
    metrics = {name: metric for name, metric in every.items() if name.startswith(_MEASURES)}
    order = [name for start in _MEASURES for name in metrics if name.startswith(start)]
    metrics = {name: metrics[name] for name in order}
    compared = side_by_side(systems, metrics, seed=seed, progress=progress)
    found = bounds(test, list_counts(test, references[TEST]), seed=seed)
    return Reranking(
        source_language=lists.source_language,
        target_language=lists.target_language,
        n_sentences=len(test),
        features={one.model.name: one.kinds for one in added},
        own_features=["the system's score"] if lists.own_features == "score" else own,
        systems=compared,
        bounds={"oracle": found.oracle, "random choice": found.random.mean},
        signatures={name: str(metric.get_signature()) for name, metric in metrics.items()},
    )


def _file(run: str) -> str:
    """Return the name of the file of a run's translations."""
    return f"{run.replace(' ', '-')}.txt"


def _chosen(lists: NBestLists, rows: Ints) -> list[str]:
    return [lists.hypotheses[row] for row in rows.tolist()]


def _with_similarities(
    lists: Lists,
    part: Part,
    added: Sequence[Similarities],
    out: Path,
    store: StoreLike,
    progress: Progress | None,
) -> NBestLists:
    """Return the lists of a part with the similarities of all models, and the system's score, as features."""
    nbest = part.nbest
    for source, images in ((True, True), (True, False), (False, True)):
        own = [one for one in added if (one.source, one.images) == (source, images)]
        paths = {name: path for one in own for name, path in one.paths.items()}
        if not paths:
            continue
        given: dict[str, Any] = {"store": store, "progress": progress}
        given |= {"source_language": lists.source_language, "target_language": lists.target_language}
        if source:
            given["source"] = part.source
        if images:
            given["images"] = part.images
            given["image_encoders"] = [
                model_spec(path, part.image_encoder, name=name if source else f"{name}-image")
                for name, path in paths.items()
            ]
        add_features(nbest, out, {name: model_spec(path) for name, path in paths.items()}, **given)
        nbest = out
    read = read_nbest(nbest)
    return read.with_features({SCORE: np.asarray(read.scores, dtype=np.float64)})
