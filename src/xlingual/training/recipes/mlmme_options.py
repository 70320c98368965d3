"""The options of a training of MLMME; importing them costs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta

from xlingual.errors import InputError, listed
from xlingual.requests.record import Record, option
from xlingual.requests.values import Dropout, Positive, TwoOrMore, comma_list
from xlingual.training.options import Seed, preset

Beta: TypeAlias = Annotated[
    Annotated[float, Meta(ge=0, le=1)],
    option("Weight of images against sentences, 0 to 1.", metavar="X", otherwise="0.5; with one language 1"),
]
Languages: TypeAlias = Annotated[
    tuple[str, ...],
    option("Languages of the model.", metavar="en,de", otherwise="all of MANIFEST", reads=comma_list),
]


class MlmmeSettings(Record, frozen=True, kw_only=True):
    """Settings of the model and of the loss; the defaults are the paper's where it names them."""

    beta: Beta = 0.5
    margin: Annotated[
        Annotated[float, Meta(ge=0, le=2)],
        option(
            "Margin of the loss: how much more similar a match must be than the contrasted items.",
            metavar="X",
        ),
    ] = 0.2
    contrast: Annotated[
        Literal["random", "in-batch", "hardest"],
        option(
            "Items that a match is contrasted with: random items of all training data, the other items of "
            "the batch, or the hardest of the batch.",
        ),
    ] = "random"
    contrastive: Annotated[
        Positive, option("Number of items in a draw, with --contrast random.", metavar="N")
    ] = 50
    redraw: Annotated[
        Literal["batch", "epoch", "instance"],
        option(
            "How long a draw of --contrast random is used: for one batch, for an epoch, or for one instance "
            "(an image with its texts) in each epoch."
        ),
    ] = "batch"
    pairs: Annotated[
        Literal["ordered-sum", "sum", "mean"],
        option(
            "Terms of the loss: summed over languages and their ordered pairs (the paper's equation 2), over "
            "unordered pairs, or averaged; --beta has another weight in each."
        ),
    ] = "sum"
    batch: Annotated[TwoOrMore, option("Number of items of a batch.", metavar="N")] = 128
    threshold: Annotated[
        Positive,
        option("Words that occur less often than N times are unknown.", metavar="N"),
    ] = 1
    most_words: Annotated[
        Positive | None,
        option("Only the N most frequent words of each language are known.", metavar="N", otherwise="all"),
    ] = None
    max_length: Annotated[Positive, option("Number of words of a text that are read.", metavar="N")] = 100
    pretokenized: Annotated[bool, option("Texts are already tokenised: words separated by blanks.")] = False
    word_dim: Annotated[Positive, option("Dimensions of word vectors.", metavar="N")] = 620
    state_dim: Annotated[Positive, option("Dimensions of the GRU's state.", metavar="N")] = 1024
    joint_dim: Annotated[Positive, option("Dimensions of the joint space.", metavar="N")] = 2048
    text_map: Annotated[
        Literal["shared", "per-language"],
        option("Map of the GRU's state into the joint space: one for all languages, or one for each."),
    ] = "shared"
    dropout: Annotated[
        Dropout,
        option(
            "Share of the state and of the image vector that dropout leaves out.",
            metavar="X",
        ),
    ] = 0.5
    project_text: Annotated[bool, option("Map the GRU's state into the joint space.", in_files=True)] = True
    picture_bias: Annotated[bool, option("Give the map of images a bias.", in_files=True)] = False
    unit_pictures: Annotated[bool, option("Bring image vectors to length 1.", in_files=True)] = False
    standardize_pictures: Annotated[
        bool,
        option(
            "Give image vectors mean 0 and sd 1 in each dimension, as over the training images.",
            names=("--standardize-images",),
        ),
    ] = False
    initial: Annotated[
        Literal["paper", "vsepp"], option("Distribution of the first weights.", in_files=True)
    ] = "paper"
    seed: Seed = 0


class MlmmeOptions(MlmmeSettings, frozen=True):
    """The settings of a model and its languages.

    With one language there are no pairs of sentences, and beta is 1.
    """

    languages: Languages

    def __post_init__(self) -> None:
        """Check values that depend on each other."""
        super().__post_init__()
        twice = sorted({tag for tag in self.languages if self.languages.count(tag) > 1})
        if not self.languages or twice:
            what = f"{twice[0]!r} is given twice" if twice else "none is given"
            raise InputError(f"languages: {what}; give each once, such as en,de")
        if len(self.languages) == 1 and self.beta < 1:
            raise InputError(
                f"beta is {self.beta:g} with one language ({self.languages[0]}): there are no pairs of "
                "sentences to weigh; give more languages, or beta 1"
            )
        if not self.project_text and self.state_dim != self.joint_dim:
            raise InputError(
                "without a projection of texts state_dim and joint_dim must be equal: found "
                f"{self.state_dim} and {self.joint_dim}"
            )
        if not self.project_text and self.text_map != "shared":
            raise InputError(
                f"text_map is {self.text_map}, but without a projection of texts (project_text) no language "
                "has a map: leave text_map out, or set project_text = true"
            )

    @classmethod
    def preset(cls, recipe: str, languages: tuple[str, ...], **changes: Any) -> MlmmeOptions:  # noqa: ANN401
        """Return the options of a named recipe (a key of `PRESETS`) with some of them changed."""
        if recipe in ("vse", "vsepp") and len(languages) != 1:
            raise InputError(
                f"{recipe} is a model of one language: found {listed(languages) or 'none'}; train one model "
                "for each, or take mlmme"
            )
        return preset(cls, PRESETS, recipe, {"languages": languages, **changes})

    @property
    def hardest(self) -> bool:
        """Whether only the hardest contrastive item counts."""
        return self.contrast == "hardest"


# what the MLMME paper says and the defaults depart from; the number of contrastive items, which it leaves
# open, is ours
_PAPER: dict[str, Any] = {
    "contrastive": 10,
    "redraw": "instance",
    "pairs": "ordered-sum",
    "text_map": "per-language",
}
_VSE: dict[str, Any] = {
    "beta": 1.0,
    "contrast": "in-batch",
    "word_dim": 300,
    "joint_dim": 1024,
    "dropout": 0.0,
    "project_text": False,
    "picture_bias": True,
    "initial": "vsepp",
}
# what each recipe sets of MlmmeOptions; docs/reference/training.md says where the papers' own programs differ
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "mlmme": {},
    "paper": _PAPER,
    "vse": _VSE,
    "vsepp": _VSE | {"contrast": "hardest", "unit_pictures": True, "threshold": 4},
}
# and of FitOptions
FIT_PRESETS: Mapping[str, Mapping[str, Any]] = {
    "mlmme": {},
    "paper": {},
    "vse": {"rate": 2e-4, "epochs": 15, "clip": 2.0},
    "vsepp": {"rate": 2e-4, "epochs": 30, "clip": 2.0, "schedule": "step:15:0.1"},
}
