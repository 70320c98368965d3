"""The models of a case study of MLMME: each is trained once for each seed, and kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xlingual import encoders
from xlingual.data.manifest import Manifest
from xlingual.embed.encoding import Progress
from xlingual.encoders import Spec
from xlingual.errors import InputError
from xlingual.models.folder import CONFIG, ModelFolder
from xlingual.models.recorded import differences
from xlingual.results.mlmme_study import MLMME, VSE, StudyModel, Trained
from xlingual.store import StoreLike
from xlingual.training.options import FitOptions
from xlingual.training.recipes.mlmme_options import MlmmeOptions
from xlingual.workflows.studies import interrupted, naming
from xlingual.workflows.train_mlmme import train_mlmme

_MOST = 3  # differences named


@dataclass(frozen=True)
class Planned:
    """A model that is to be trained: its name in the tables and of its folders, languages and beta."""

    name: str
    folder: str
    languages: tuple[str, ...]
    beta: float

    @property
    def kind(self) -> str:
        """VSE or MLMME."""
        return VSE if len(self.languages) == 1 else MLMME


def planned(languages: Sequence[str], betas: Sequence[float]) -> Iterator[Planned]:
    """Yield VSE for each language, then MLMME by falling beta."""
    for tag in languages:
        yield Planned(f"{VSE} {tag}", f"vse-{tag}", (tag,), 1.0)
    for beta in sorted(betas, reverse=True):
        yield Planned(f"{MLMME} β={beta:g}", f"mlmme-{beta:g}", tuple(languages), beta)


@dataclass(frozen=True)
class Trainer:
    """Trains the models of a study into a folder, or finds them there."""

    folder: Path
    train: Manifest
    validation: Manifest
    recipe: str
    settings: Mapping[str, Any]  # of MlmmeOptions, but for languages, beta and seed
    fit: FitOptions
    image_encoder: str | None
    validation_image_encoder: str | None
    replace: bool
    store: StoreLike
    progress: Progress | None

    def models(self, plans: Sequence[Planned], trainings: int) -> list[StudyModel]:
        """Return all models; those that can be neither used nor continued are found before any training."""
        jobs = [(plan, number) for number in range(trainings) for plan in plans]
        for plan, number in jobs:
            self._check(plan, number)
        done: dict[str, list[Trained]] = {plan.name: [] for plan in plans}
        for place, (plan, number) in enumerate(jobs, 1):
            done[plan.name].append(self._trained(plan, number, f"{plan.name}, {place} of {len(jobs)}"))
        return [
            StudyModel(plan.name, plan.kind, list(plan.languages), plan.beta, done[plan.name])
            for plan in plans
        ]

    def path(self, plan: Planned, number: int) -> Path:
        """Return the folder of a training."""
        return self.folder / f"{plan.folder}-{number}"

    def _options(self, plan: Planned, number: int) -> MlmmeOptions:
        given = {**self.settings, "beta": plan.beta, "seed": self.fit.seed + number}
        return MlmmeOptions.preset(self.recipe, plan.languages, **given)

    def _fit(self, number: int) -> FitOptions:
        return self.fit.changed(seed=self.fit.seed + number)

    def _select(self, plan: Planned) -> str:
        return "sentence-sentence" if plan.beta == 0 else "image-sentence"

    def _check(self, plan: Planned, number: int) -> None:
        """Raise InputError where a folder has a model of other settings that may not be replaced."""
        path = self.path(plan, number)
        if self.replace or not (path / CONFIG).is_file():
            return
        if different := self._differences(plan, number):
            raise InputError(
                f"{path} has a model that was trained otherwise ({'; '.join(different[:_MOST])}): give the "
                "same settings, train it anew with --force, or choose another --out"
            )

    def _differences(self, plan: Planned, number: int) -> list[str]:
        """Return in what a trained model differs from what is asked for, in words."""
        config = ModelFolder.read(self.path(plan, number)).config
        data = config["data"]
        found = {
            **config["training"],
            "texts": data["digest"],
            "validation": data["validation_digest"],
        }
        asked = {
            "recipe": self.recipe,
            **self._options(plan, number).settings(),
            **self._fit(number).recorded(),
            "select": self._select(plan),
            "texts": self.train.digest,
            "validation": self.validation.digest,
        }
        if plan.beta > 0 and self.image_encoder is not None:
            known = encoders.image_encoder(self.image_encoder, languages=plan.languages)[1].identity
            found["image encoder"], asked["image encoder"] = config["base"]["identity"], known
        return differences(found, asked)

    def _trained(self, plan: Planned, number: int, title: str) -> Trained:
        path = self.path(plan, number)
        there = (path / CONFIG).is_file()
        if not there or (self.replace and self._differences(plan, number)):
            self._train(plan, number, title, resume=not there and not self.replace and interrupted(path))
        own = ModelFolder.read(path).config["training"]
        numbers = (own["epochs_run"], own["best_epoch"], own["score"], own["seconds"])
        return Trained(path.name, self.fit.seed + number, *numbers)

    def _train(self, plan: Planned, number: int, title: str, *, resume: bool) -> None:
        done = train_mlmme(
            self.train,
            self._options(plan, number),
            self.path(plan, number),
            fit=self._fit(number),
            image_encoder=self.image_encoder if plan.beta > 0 else None,
            validation=self.validation,
            validation_image_encoder=self.validation_image_encoder if plan.beta > 0 else None,
            recipe=self.recipe,
            resume=resume,
            replace=self.replace,
            store=self.store,
            progress=naming(title, self.progress, epochs=False),
        )
        if self.progress is not None:
            kept = f"epoch {done.best_epoch} of {done.epochs}, score {done.score:.1f}"
            self.progress(f"{title}: {kept}, {done.seconds:.0f} s", 0, -1)


def model_spec(path: Path, base: str | None = None, *, name: str | None = None) -> str:
    """Return the spec of a model, for images over an encoder whose vectors may be in other files."""
    below = None if base is None else encoders.parse(base)
    return str(Spec(name, "model", str(path), () if base is None else (("base", "trusted"),), below))
