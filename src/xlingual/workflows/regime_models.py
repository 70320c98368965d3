"""The models of a study of regimes: each regime trained several times over, and untrained ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xlingual import encoders
from xlingual.data.pools.parallel import ParallelQuestions
from xlingual.embed.encoding import Progress
from xlingual.embed.sides import load_fit_texts
from xlingual.encoders import Spec
from xlingual.errors import InputError, listed
from xlingual.models.card import identity
from xlingual.models.folder import CONFIG, ModelFolder
from xlingual.models.recorded import differences
from xlingual.results.regime_study import UNTRAINED, RegimeTraining
from xlingual.store import StoreLike
from xlingual.training.options import FitOptions
from xlingual.training.recipes.dual_options import REGIMES, WORDS, DualOptions, DualSettings
from xlingual.training.recipes.regimes import make_regime
from xlingual.workflows.studies import naming
from xlingual.workflows.train_dual_encoder import fit_options, network_spec, train_dual_encoder

FIT = {"patience": None}  # nothing is validated, so that all regimes get equally many steps


@dataclass(frozen=True)
class RegimeTrainings:
    """How the models of a study are trained: each regime `times` over, with seeds `settings.seed` and on."""

    regimes: Sequence[str] = REGIMES
    times: int = 3
    settings: DualSettings = field(default_factory=DualSettings)
    base: str = WORDS
    frozen: bool = False
    fit: FitOptions | None = None
    replace: bool = False

    def options(self, regime: str, seed: int, steps: int) -> DualOptions:
        """Return the options of one training; the untrained model has those of the first regime."""
        name = self.regimes[0] if regime == UNTRAINED else regime
        return DualOptions(**{**self.settings.settings(), "regime": name, "seed": seed, "steps": steps})

    def loop(self, seed: int) -> FitOptions:
        """Return the settings of the fit loop with a seed."""
        made = self.fit or fit_options(self.base, frozen=self.frozen)
        return made.changed(seed=seed, **FIT)

    def steps(self, data: ParallelQuestions) -> int:
        """Return how many batches an epoch has: one pass of x-y, for all regimes alike.

        Raises InputError where the data do not have what one of the regimes needs.
        """
        if self.times < 1:
            raise InputError(f"{self.times} trainings: at least one is needed")
        if repeated := [name for name in self.regimes if list(self.regimes).count(name) > 1]:
            raise InputError(f"regime {repeated[0]!r} is given twice: name each once")
        if not self.regimes:
            raise InputError(f"no regime is given: choose some of {listed(REGIMES)}")
        settings = self.settings
        for name in self.regimes:
            make_regime(name, data, settings.batch, settings.seed, settings.language)
        passed = make_regime("x-y", data, settings.batch, settings.seed).batches_of_a_pass
        return settings.steps or passed


@dataclass
class RegimeTrainer:
    """Trains the models of a study in a folder, or takes those that it trained there before."""

    folder: Path
    data: ParallelQuestions
    trainings: RegimeTrainings
    steps: int
    store: StoreLike
    progress: Progress | None

    @property
    def models(self) -> dict[str, list[str]]:
        """The names of the models of each regime, by seed; the untrained ones last."""
        seeds = range(self.trainings.settings.seed, self.trainings.settings.seed + self.trainings.times)
        return {name: [f"{name}-{seed}" for seed in seeds] for name in (*self.trainings.regimes, UNTRAINED)}

    def train(self) -> list[RegimeTraining]:
        """Return all models, seed by seed; those that are there already are not trained again."""
        order = [
            (regime, own[place])
            for place in range(self.trainings.times)
            for regime, own in self.models.items()
        ]
        self._refuse_other()
        return [
            self._model(regime, name, f"{n} of {len(order)}") for n, (regime, name) in enumerate(order, 1)
        ]

    def _model(self, regime: str, name: str, place: str) -> RegimeTraining:
        from xlingual.training.checkpoints import Checkpoints

        seed, out, plan = int(name.rpartition("-")[2]), self.folder / name, self.trainings
        fit = plan.loop(seed)
        if plan.replace or not (out / CONFIG).is_file():
            train_dual_encoder(
                self.data,
                out,
                plan.options(regime, seed, self.steps),
                base=plan.base,
                frozen=plan.frozen,
                fit=fit,
                validation=None,
                untrained=regime == UNTRAINED,
                resume=Checkpoints(out).exists() and not plan.replace,
                replace=plan.replace,
                store=self.store,
                progress=naming(f"{name} ({place})", self.progress),
            )
            Checkpoints(out).remove()  # larger than the model, and not needed any more
        found = ModelFolder.read(out)
        training = found.config["training"]
        return RegimeTraining(
            model=name,
            regime=regime,
            seed=seed,
            spec=self.spec(found),
            identity=identity(found),
            steps=0 if regime == UNTRAINED else self.steps * training["epochs_run"],
            scale=training.get("final_scale"),
            seconds=training["seconds"],
        )

    def spec(self, model: ModelFolder) -> str:
        """Return a model as an encoder, on top of its base where that stays as it is."""
        base = None if model.config["base"] is None else encoders.parse(self.trainings.base)
        return str(Spec(None, "model", str(model.path), (), base))

    def _base(self, seed: int) -> tuple[str, str | None]:
        """Return what a model says that it stands on, and the identity of an encoder that stays as it is."""
        plan = self.trainings
        if plan.base == WORDS:
            return WORDS, None
        if (network := network_spec(plan.base, plan.frozen)) is not None:
            return f"hf:{network.argument}", None
        tags = list(self.data.languages)
        found = encoders.text_encoders(plan.base, languages=tags, fit_texts=load_fit_texts, seed=seed)
        if len(found) > 1:
            raise InputError(f"--base matches {len(found)} encoders: name one")
        ((name, encoder),) = found.items()
        return name, encoder.identity

    def _refuse_other(self) -> None:
        """Raise InputError, before any work, where a model of other options or data is there."""
        if self.trainings.replace:
            return
        for regime, names in self.models.items():
            for name in names:
                if (self.folder / name / CONFIG).is_file():
                    self._check(regime, name)

    def _check(self, regime: str, name: str) -> None:
        seed, plan = int(name.rpartition("-")[2]), self.trainings
        config = ModelFolder.read(self.folder / name).config
        name_of_base, identity_of_base = self._base(seed)
        asked = {
            **plan.options(regime, seed, self.steps).settings(),
            **plan.loop(seed).recorded(),
            "from": name_of_base,
        }
        free = ("patience", "regime") if regime == UNTRAINED else ("patience",)
        differ = differences(config["training"], {key: asked[key] for key in asked if key not in free})
        below = (config.get("base") or {}).get("identity")
        if identity_of_base is not None and below != identity_of_base:
            differ.insert(0, f"its base was {below} and is {identity_of_base}")
        if (config.get("data") or {}).get("digest") != self.data.digest():
            differ.insert(0, "the questions trained on are others")
        if differ:
            raise InputError(
                f"{self.folder / name} was trained with other settings ({listed(differ, 3)}): give the same "
                "settings, train it anew with --force, or choose another --out"
            )
