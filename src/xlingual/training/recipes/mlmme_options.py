"""What a training of MLMME may be told; importing it costs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from xlingual.errors import InputError, did_you_mean, listed

CONTRASTS = ("random", "in-batch", "hardest")
PAIRS = ("sum", "mean")


@dataclass(frozen=True)
class MlmmeOptions:
    """Options of the model and of the loss; the defaults are the paper's where it names them.

    - `languages`: at least one; with one there are no pairs of sentences, and beta is 1
    - `beta`: weight of pictures against sentences; `margin`: by how much a positive is to be ahead
    - `contrast`: `random` (drawn from all training data for every batch, `contrastive` of each view),
      `in-batch` (all others of the batch) or `hardest` (the hardest of the batch)
    - `pairs`: `sum` over languages and over pairs of languages, or `mean`
    - `threshold`, `most_words`: words that occur less often, or beyond so many, are unknown
    - `max_length`: words of a text that are read; `pretokenized`: texts are split at blanks, nothing else
    - `standardize_pictures`: image vectors have mean 0 and standard deviation 1 in each dimension of the
      training pictures
    - the rest: see `xlingual.models.mlmme.MlmmeConfig`
    """

    languages: tuple[str, ...]
    beta: float = 0.5
    margin: float = 0.2
    contrast: str = "random"
    contrastive: int = 50
    pairs: str = "sum"
    batch: int = 128
    threshold: int = 1
    most_words: int | None = None
    max_length: int = 100
    pretokenized: bool = False
    word_dim: int = 620
    state_dim: int = 1024
    joint_dim: int = 2048
    dropout: float = 0.5
    project_text: bool = True
    picture_bias: bool = False
    unit_pictures: bool = False
    standardize_pictures: bool = False
    initial: str = "paper"
    seed: int = 0

    def __post_init__(self) -> None:
        _distinct(self.languages)
        _one_of("contrast", self.contrast, CONTRASTS)
        _one_of("pairs", self.pairs, PAIRS)
        _one_of("initial", self.initial, ("paper", "vsepp"))
        for name, low, high in (("beta", 0.0, 1.0), ("margin", 0.0, 2.0), ("dropout", 0.0, 0.99)):
            if not low <= (value := getattr(self, name)) <= high:
                raise InputError(f"{name} must be between {low:g} and {high:g}: found {value}")
        least = {"batch": 2, "seed": 0}
        counts = ("contrastive", "batch", "threshold", "most_words", "max_length", "word_dim", "state_dim")
        for name in (*counts, "joint_dim", "seed"):
            value = getattr(self, name)
            if value is not None and value < least.get(name, 1):
                raise InputError(f"{name} must be {least.get(name, 1)} or more: found {value}")
        if len(self.languages) == 1 and self.beta < 1:
            raise InputError(
                f"beta is {self.beta:g} with one language ({self.languages[0]}): there are no pairs of "
                "sentences to weigh; tell more languages, or beta 1"
            )
        if not self.project_text and self.state_dim != self.joint_dim:
            raise InputError(
                "without a projection of texts state_dim and joint_dim must be equal: found "
                f"{self.state_dim} and {self.joint_dim}"
            )

    @classmethod
    def preset(cls, recipe: str, languages: tuple[str, ...], **changes: Any) -> MlmmeOptions:  # noqa: ANN401
        """Return the options of a named recipe (`mlmme`, `vse`, `vsepp`) with some of them changed."""
        _one_of("recipe", recipe, tuple(PRESETS))
        known = {field.name for field in fields(cls)}
        for name in changes:
            if name not in known:
                raise InputError(f"unknown option {name!r} of {recipe}.{did_you_mean(name, known)}")
        if recipe != "mlmme" and len(languages) != 1:
            raise InputError(
                f"{recipe} is a model of one language: found {listed(languages) or 'none'}; train one model "
                "for each, or take mlmme"
            )
        return cls(**{"languages": languages, **PRESETS[recipe], **changes})

    @property
    def hardest(self) -> bool:
        """Whether only the hardest contrastive item counts."""
        return self.contrast == "hardest"

    def settings(self) -> dict[str, Any]:
        """Return all options for JSON."""
        return asdict(self) | {"languages": list(self.languages)}

    def changed(self, **changes: Any) -> MlmmeOptions:  # noqa: ANN401
        """Return the options with some of them changed, checked again."""
        return replace(self, **changes)


_VSE: dict[str, Any] = {
    "beta": 1.0,
    "contrast": "in-batch",
    "word_dim": 300,
    "state_dim": 1024,
    "joint_dim": 1024,
    "dropout": 0.0,
    "project_text": False,
    "picture_bias": True,
    "initial": "vsepp",
}
# what each recipe sets of MlmmeOptions; docs/mlmme.md tells where the papers' own programs differ
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "mlmme": {},
    "vse": _VSE,
    "vsepp": _VSE | {"contrast": "hardest", "unit_pictures": True, "threshold": 4},
}
# and of FitOptions
FIT_PRESETS: Mapping[str, Mapping[str, Any]] = {
    "mlmme": {},
    "vse": {"rate": 2e-4, "epochs": 15, "clip": 2.0},
    "vsepp": {"rate": 2e-4, "epochs": 30, "clip": 2.0, "schedule": "step:15:0.1"},
}


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(
            f"{name} {value!r} is unknown.{did_you_mean(value, known)} Choose one of {listed(known)}"
        )


def _distinct(languages: tuple[str, ...]) -> None:
    twice = sorted({tag for tag in languages if languages.count(tag) > 1})
    if not languages or twice:
        what = f"{twice[0]!r} is there twice" if twice else "none is told"
        raise InputError(f"languages: {what}; tell each once, such as en,de")
