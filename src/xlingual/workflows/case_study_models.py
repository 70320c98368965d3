"""The models of a case study: trained several times over, or taken as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from xlingual import encoders
from xlingual.data.manifest import Manifest
from xlingual.embed.encoding import Progress
from xlingual.encoders import EncoderLike, Spec
from xlingual.errors import InputError, listed
from xlingual.models.folder import CHECKPOINT, CONFIG
from xlingual.models.views import WHOLE
from xlingual.results.case_study import TRIPLET, TRIPLET_XL, Training
from xlingual.store import StoreLike
from xlingual.training.options import FitOptions
from xlingual.training.recipes.triplet_options import FIT, OF_XL, TripletOptions
from xlingual.workflows.studies import interrupted, naming
from xlingual.workflows.train_triplet import train_triplet

RECIPES = (TRIPLET, TRIPLET_XL)
_READ = ("title", "body", "split", "scaling")  # what control and models both read
BESIDE = "-title-body"  # after the base's name: the name of its control


@dataclass(frozen=True)
class Trained:
    """How Triplet and TripletXL are made: trained, `times` over, or taken as they are.

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

    @property
    def anything(self) -> bool:
        """Whether anything is to be trained."""
        return not (self.triplet and self.triplet_xl)

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
            models = "model" if count == 1 else "models"
            raise InputError(
                f"{count} trained {models} of a recipe and {self.times} trainings: leave the number of "
                "trainings out"
            )
        return count


def names_of(recipe: str, count: int) -> list[str]:
    """Return the names of the trainings of a recipe."""
    return [recipe] if count == 1 else [f"{recipe}-{number}" for number in range(count)]


def refuse_models_in(folder: Path, trained: Trained, count: int) -> None:
    """Raise InputError, before any work, where a training would meet a model of an earlier study."""
    if trained.resume or trained.replace:
        return
    for recipe in RECIPES:
        for name in names_of(recipe, count) if not trained.given(recipe) else ():
            if any((folder / name / file).exists() for file in (CONFIG, CHECKPOINT)):
                raise InputError(
                    f"{folder / name} already has a model or a training: continue with resume, train anew "
                    "with force, or choose another folder"
                )


def base_spec(name: str, entry: EncoderLike) -> Spec:
    """Return the spec of the base; raise InputError where it is an object, which no folder can name."""
    if not isinstance(entry, str):
        raise InputError(
            f"the base {name!r} is an object: a model is trained on a spec, such as st:MODEL or vectors:PATH"
        )
    return encoders.parse(entry)


@dataclass
class Trainer:
    """The trainings of a study."""

    folder: Path
    base_name: str
    base: Spec
    manifest: Manifest | None
    trained: Trained
    store: StoreLike
    progress: Progress | None
    timings: dict[str, float]

    def models(self, recipe: str, count: int) -> list[Training]:
        """Return the models of a recipe, trained here or before."""
        names, given = names_of(recipe, count), self.trained.given(recipe)
        if not given:
            return [self._train(recipe, name, self.trained.seed + n) for n, name in enumerate(names)]
        specs = (self._model(Path(text)) if Path(text).is_dir() else text for text in given)
        return [
            Training(name, spec, None, None, None, None, None)
            for name, spec in zip(names, specs, strict=True)
        ]

    def control(self, manifest: Manifest) -> tuple[dict[str, str], list[str]]:
        """Return name and spec of the base's title and body side by side, untrained; or why there is none.

        They are scaled as the models scale theirs, so that training alone tells the two apart.
        """
        options = TripletOptions(**{k: v for k, v in self.trained.options.items() if k in _READ})
        columns = [options.title, options.body] if options.split is None else []
        if absent := [name for name in columns if name != WHOLE and name not in manifest.fields]:
            return {}, [
                f"there is no control (title and body of {self.base_name} side by side, untrained): the "
                f"evaluated texts have no column {listed(absent)}; name their columns with --title and --body"
            ]
        given = {name: str(getattr(options, name)) for name in _READ if getattr(options, name) is not None}
        return {
            f"{self.base_name}{BESIDE}": str(Spec(None, "concat", "", tuple(given.items()), self.base))
        }, []

    def _model(self, folder: Path) -> str:
        return str(Spec(None, "model", str(folder), (), self.base))

    def _train(self, recipe: str, name: str, seed: int) -> Training:
        assert self.manifest is not None  # checked before any work
        out = self.folder / name
        options = {k: v for k, v in self.trained.options.items() if recipe == TRIPLET_XL or k not in OF_XL}
        done = train_triplet(
            self.manifest,
            TripletOptions.preset(recipe, **options, seed=seed),
            out,
            text_encoder=str(replace(self.base, name=self.base_name)),
            fit=FitOptions(**{**FIT, **self.trained.fit, "seed": seed}),
            validation=self.trained.validation,
            recipe=recipe,
            resume=self.trained.resume and interrupted(out),
            replace=self.trained.replace,
            store=self.store,
            progress=naming(name, self.progress),
        )
        self.timings[f"train: {name}"] = done.seconds
        return Training(name, self._model(out), seed, done.epochs, done.kept_epoch, done.score, done.seconds)
