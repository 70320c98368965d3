"""The case study: encoders over all language pairs, Triplet and TripletXL on the best, and what they change.

Section 3.2 of Fain, Twomey and Bollegala (SIGIR 2021) in one call; see docs/case-study.md.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual import encoders
from xlingual.comparison.case_study import REPLICATES, WORST, Cast, case_study
from xlingual.data.manifest import Manifest
from xlingual.embed.encoding import Report
from xlingual.encoders import EncoderLike, ImageModelLike, Spec
from xlingual.encoders.plugins import Known
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.models.folder import CHECKPOINT, CONFIG
from xlingual.results import Results, make_folder
from xlingual.results.case_study import TRIPLET, TRIPLET_XL, CaseStudy, Training
from xlingual.store import StoreLike

if TYPE_CHECKING:
    from xlingual.training.options import FitOptions

EVALUATION = "backretrieval"  # the folder of the evaluation's results, inside the study's
MODELS = "models"  # that of the trained models
RECIPES = (TRIPLET, TRIPLET_XL)
# options that Triplet, which has no neighbour term, does not take
OF_XL = ("beta", "neighbours", "neighbours_from", "neighbours_by", "refresh")


@dataclass(frozen=True)
class Evaluated:
    """How everything is evaluated; the options of `backretrieval`."""

    image_encoder: ImageModelLike
    pairs: str | Sequence[str] | None = None
    sample_size: int | None = None
    splits: str | Path | None = None
    seeds: int = 1
    seed: int = 0
    measure: str = "R@10"
    threads: int = 1
    examples: bool = True
    skip_broken: bool = False

    def results(
        self,
        manifest: Manifest,
        text_encoders: Mapping[str, EncoderLike],
        *,
        store: StoreLike,
        progress: Report | None,
        examples: bool = True,
    ) -> Results:
        """Return the results of Backretrieval, in one pass over all encoders."""
        options = {name: value for name, value in vars(self).items() if name not in ("measure", "examples")}
        return backretrieval(
            manifest,
            text_encoders=text_encoders,
            measures=[self.measure],
            examples=examples and self.examples,
            store=store,
            progress=progress,
            **options,
        )


@dataclass(frozen=True)
class Trained:
    """How Triplet and TripletXL come to be: trained, `times` over, or taken as they are.

    `options` are those of `TripletOptions` (title, body, margin, beta, …), `fit` those of `FitOptions`.
    `triplet` and `triplet_xl` name models that are trained already: folders, or specs.
    """

    times: int = 1
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    fit: Mapping[str, Any] = field(default_factory=dict)
    validation: float = 0.1
    triplet: tuple[str, ...] = ()
    triplet_xl: tuple[str, ...] = ()
    resume: bool = False
    replace: bool = False

    def given(self, recipe: str) -> tuple[str, ...]:
        """Return the models of a recipe that are trained already."""
        return self.triplet if recipe == TRIPLET else self.triplet_xl

    def number(self) -> int:
        """Return how many trainings there are of each recipe; raise InputError where that is not one."""
        given = {recipe: len(self.given(recipe)) for recipe in RECIPES if self.given(recipe)}
        if self.times < 1:
            raise InputError(f"{self.times} trainings: at least one is needed")
        if len(set(given.values())) > 1:
            raise InputError(
                f"{given[TRIPLET]} models of triplet and {given[TRIPLET_XL]} of triplet-xl: give as many of "
                "one as of the other, since they are compared one by one"
            )
        count = next(iter(given.values()), self.times)
        if given and self.times not in (1, count):
            raise InputError(
                f"{count} trained models and {self.times} trainings: leave the number of trainings out"
            )
        return count


def run_case_study(
    manifest: Manifest,
    out: str | Path,
    *,
    text_encoders: Sequence[EncoderLike] | Mapping[str, EncoderLike] | EncoderLike,
    evaluated: Evaluated,
    train: Manifest | None = None,
    base: str | None = None,
    trained: Trained | None = None,
    worst: int = WORST,
    replicates: int = REPLICATES,
    store: StoreLike = "default",
    progress: Report | None = None,
) -> CaseStudy:
    """Evaluate encoders, train Triplet and TripletXL on one of them, evaluate all, and compare.

    Args:
        manifest: texts with pictures to evaluate on, of two languages or more.
        out: gets `backretrieval/` (results), `models/` and `case_study.json`.
        text_encoders: as `backretrieval` takes them; the base must be a spec.
        evaluated: how all are evaluated.
        train: texts with the fields that are trained on; may be absent where both models are trained already.
        base: the name of the encoder to train on; None takes the one that leads.
        trained: how the models come to be.
        worst: how many language pairs are called Triplet's worst.
        replicates: of each test.
        store: where vectors are kept and found again.
        progress: is told (what, done, of all).

    Raises:
        InputError: data, specs or options are not what they must be.

    """
    trained = trained or Trained()
    count = trained.number()
    named = encoders.text_specs(text_encoders, languages=manifest.languages)
    _check(named, base, trained, manifest, train)
    folder = make_folder(out)
    _refuse_models_in(folder / MODELS, trained, count)
    timings: dict[str, float] = {}
    chosen = base or _leader(manifest, named, evaluated, store, progress, timings)
    spec = _spec(chosen, named[chosen])
    job = _Job(folder / MODELS, chosen, spec, train, trained, store, progress, timings)
    models = {recipe: job.models(recipe, count) for recipe in RECIPES}
    everything = dict(named) | {m.encoder: m.spec for recipe in RECIPES for m in models[recipe]}
    results = evaluated.results(manifest, everything, store=store, progress=progress)
    results.write(folder / EVALUATION)
    found = case_study(
        folder / EVALUATION,
        Cast(
            base=chosen,
            others=tuple(name for name in named if name != chosen),
            triplet=tuple(model.encoder for model in models[TRIPLET]),
            triplet_xl=tuple(model.encoder for model in models[TRIPLET_XL]),
            base_given=base is not None or len(named) == 1,
        ),
        measure=evaluated.measure,
        worst=worst,
        seed=evaluated.seed,
        replicates=replicates,
        trainings=[model for recipe in RECIPES for model in models[recipe]],
    )
    found = replace(found, timings={**timings, **found.timings})
    found.write(folder)
    return found


def _check(
    named: Mapping[str, EncoderLike],
    base: str | None,
    trained: Trained,
    manifest: Manifest,
    train: Manifest | None,
) -> None:
    """Raise InputError, before any work, where the study cannot be done."""
    if base is not None and base not in named:
        raise InputError(
            f"no text encoder is named {base!r}.{did_you_mean(base, named)} The base is one of "
            f"{listed(named, 20)}"
        )
    if base is not None:
        _spec(base, named[base])
    taken = [name for name in named if name in RECIPES or name.rpartition("-")[0] in RECIPES]
    if taken:
        raise InputError(
            f"a text encoder is named {taken[0]!r}, as a trained model will be: give it another name, "
            f"NAME=SPEC, or the model itself with --{taken[0]}"
        )
    if all(trained.given(recipe) for recipe in RECIPES):
        return
    if train is None:
        raise InputError(
            "nothing to train on: name the split to train on, or give models of triplet and of triplet-xl"
        )
    both = [part.texts(np.arange(len(part))).row_digests() for part in (manifest, train)]
    if shared := both[0] & both[1]:
        raise InputError(
            f"{len(shared)} texts are both trained and evaluated on: the split to train on must be another"
        )


def _names(recipe: str, count: int) -> list[str]:
    """Return what the trainings of a recipe are called."""
    return [recipe] if count == 1 else [f"{recipe}-{number}" for number in range(count)]


def _refuse_models_in(folder: Path, trained: Trained, count: int) -> None:
    """Raise InputError, before any work, where a training would meet a model of an earlier study."""
    if trained.resume or trained.replace:
        return
    for recipe in RECIPES:
        for name in _names(recipe, count) if not trained.given(recipe) else ():
            if any((folder / name / file).exists() for file in (CONFIG, CHECKPOINT)):
                raise InputError(
                    f"{folder / name} already has a model or a training: continue with resume, train anew "
                    "with force, or choose another folder"
                )


def _spec(name: str, entry: EncoderLike) -> Spec:
    if not isinstance(entry, str):
        raise InputError(
            f"the base {name!r} is an object: a model is trained on a spec, such as st:MODEL or vectors:PATH"
        )
    return encoders.parse(entry, Known())


def _leader(
    manifest: Manifest,
    named: Mapping[str, EncoderLike],
    evaluated: Evaluated,
    store: StoreLike,
    progress: Report | None,
    timings: dict[str, float],
) -> str:
    """Return the encoder that leads on the evaluated data, as the paper chose its base."""
    if len(named) == 1:
        return next(iter(named))
    begun = time.perf_counter()
    results = evaluated.results(manifest, named, store=store, progress=progress, examples=False)
    timings["choosing the base"] = time.perf_counter() - begun
    first = results.entries[0].measure
    overall = [row for row in results.summary if row.source is None and row.measure == first]
    return max(overall, key=lambda row: row.value or 0.0).encoder


@dataclass
class _Job:
    """The trainings of a study."""

    folder: Path
    base_name: str
    base: Spec
    manifest: Manifest | None
    trained: Trained
    store: StoreLike
    progress: Report | None
    timings: dict[str, float]

    def models(self, recipe: str, count: int) -> list[Training]:
        """Return the models of a recipe, trained here or before."""
        names = _names(recipe, count)
        if given := self.trained.given(recipe):
            return [
                Training(name, self._of_given(text), None, None, None, None, None)
                for name, text in zip(names, given, strict=True)
            ]
        return [self._train(recipe, name, self.trained.seed + number) for number, name in enumerate(names)]

    def _of_given(self, text: str) -> str:
        return self._model(Path(text)) if Path(text).is_dir() else text

    def _model(self, folder: Path) -> str:
        return str(Spec(None, "model", str(folder), (), self.base))

    def _train(self, recipe: str, name: str, seed: int) -> Training:
        from xlingual.training.checkpoints import Checkpoints
        from xlingual.training.recipes.triplet_options import FIT, TripletOptions
        from xlingual.workflows.train_triplet import train_triplet

        assert self.manifest is not None  # checked before any work
        out = self.folder / name
        options = {k: v for k, v in self.trained.options.items() if recipe == TRIPLET_XL or k not in OF_XL}
        done = train_triplet(
            self.manifest,
            TripletOptions.preset(recipe, **options, seed=seed),
            out,
            text_encoder=str(replace(self.base, name=self.base_name)),
            fit=self._fit({**FIT, **self.trained.fit}, seed),
            validation=self.trained.validation,
            recipe=recipe,
            resume=self.trained.resume and Checkpoints(out).exists(),
            replace=self.trained.replace,
            store=self.store,
            progress=self.progress,
        )
        self.timings[f"train: {name}"] = done.seconds
        return Training(name, self._model(out), seed, done.epochs, done.best_epoch, done.score, done.seconds)

    def _fit(self, options: Mapping[str, Any], seed: int) -> FitOptions:
        from xlingual.training.options import FitOptions

        return FitOptions(**{**options, "seed": seed})
