"""The options of a training of Triplet or TripletXL; importing them costs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta

from xlingual.errors import InputError
from xlingual.requests.record import Record, option
from xlingual.requests.values import AtLeastZero, Positive, TwoOrMore
from xlingual.training.options import Seed


class TripletOptions(Record, frozen=True, kw_only=True):
    """Settings of the model and of the loss; the defaults are the paper's where it names them."""

    margin: Annotated[
        Annotated[float, Meta(ge=0, le=2)],
        option(
            "Margin of the loss: how much nearer a body must be to its own title than to another (cosine "
            "distance).",
            metavar="X",
        ),
    ] = 0.1
    beta: Annotated[
        AtLeastZero,
        option(
            "Weight of the neighbour term, 0.01 in the paper (TripletXL); 0 (Triplet): none.", metavar="X"
        ),
    ] = 0.0
    neighbours: Annotated[
        Positive, option("Number of nearest titles of the batch in each language to compare.", metavar="N")
    ] = 5
    batch: Annotated[TwoOrMore, option("Number of texts of a batch.", metavar="N")] = 128
    hidden_dim: Annotated[Positive, option("Dimensions of the first layer.", metavar="N")] = 300
    out_dim: Annotated[
        Positive,
        option("Dimensions of the second layer, for each of title and body.", metavar="N"),
    ] = 300
    separate_towers: Annotated[bool, option("Give title and body separate weights.")] = False
    scaling: Annotated[
        Literal["unit", "raw"],
        option(
            "Whether title and body have equal weight (unit), or the weight of their vectors' lengths (raw)."
        ),
    ] = "unit"
    title: Annotated[str, option("Column of titles.", metavar="NAME")] = "title"
    body: Annotated[str, option('Column of bodies; "text" is the text itself.', metavar="NAME")] = "body"
    split: Annotated[
        Literal["first-sentence", "halves"] | None,
        option(
            "Split the text itself into title and body: its first sentence and the rest, or its halves.",
            key="split_text",
        ),
    ] = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        """Check values that depend on each other."""
        super().__post_init__()
        if not self.title or not self.body or self.title == self.body:
            raise InputError(f"title and body must be two columns: found {self.title!r} and {self.body!r}")
        if self.split is not None and (self.title, self.body) != ("title", "body"):
            raise InputError(
                f"the text itself is split ({self.split}), so no columns are read: leave title and body out"
            )

    @property
    def recipe(self) -> str:
        """The name of the recipe: TripletXL is Triplet with a neighbour term."""
        return "triplet-xl" if self.beta > 0 else "triplet"


# what it sets of FitOptions
FIT: Mapping[str, Any] = {"rate": 0.01, "epochs": 40, "patience": None}
# what `--recipe` sets: nothing, or what the paper says and the defaults depart from
CONVENTIONS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "paper": {"scaling": "raw", "keep_epoch": "last"},
}
Conventions: TypeAlias = Annotated[
    Literal["default", "paper"],
    option(
        "Set of defaults: those of this program, or those of the paper: --scaling raw (title and body are "
        "concatenated unscaled) and --keep-epoch last.",
        names=("--recipe",),
    ),
]
