"""Dimensions and options of the three networks, without torch; ValueError where options clash."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

INITIAL = ("paper", "vsepp")
TEXT_MAPS = ("shared", "per-language")
SCALINGS = ("unit", "raw")
SPLITS = ("first-sentence", "halves")
TOWERS = ("words", "vectors", "transformer")
MOST_SCALE = 100.0  # a trained scale stays below it, as CLIP's does


class Config:
    """What the three have in common."""

    def __post_init__(self) -> None:
        for is_wrong, problem in self.problems():
            if is_wrong:
                raise ValueError(f"{problem}: {self}")

    def problems(self) -> Iterator[tuple[bool, str]]:
        """Yield whether something is wrong, and what should be."""
        yield from ()

    def to_dict(self) -> dict[str, Any]:
        """Give the configuration for JSON."""
        fields: dict[str, Any] = asdict(self)  # type: ignore[call-overload]  # each of the three is a dataclass
        return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Read what `to_dict` gave; ValueError or TypeError where it is anything else."""
        tuples = {name: tuple(value) for name, value in content.items() if isinstance(value, list)}
        return cls(**{**content, **tuples})


@dataclass(frozen=True)
class MlmmeConfig(Config):
    """Dimensions and options of an MLMME; the defaults are the paper's."""

    languages: tuple[str, ...]
    vocabulary_sizes: Mapping[str, int]  # language → numbers of words, those of padding and unknown included
    picture_dim: int | None  # of the image encoder's vectors (4096 in the paper); None: no images
    word_dim: int = 620
    state_dim: int = 1024
    joint_dim: int = 2048
    dropout: float = 0.5  # of the last state, and of the image's vector
    project_text: bool = True  # False: the state is the text's vector (VSE, VSE++)
    picture_bias: bool = False
    unit_pictures: bool = False  # the image's vector is scaled to unit length first (VSE++)
    standardize_pictures: bool = False  # before that: mean 0, standard deviation 1 over the training images
    initial: str = "paper"  # how weights begin: "paper" or "vsepp"
    pretokenized: bool = False  # texts are split at blanks and nothing else
    max_length: int | None = None  # words of a text that are read; None: all
    text_map: str = "shared"  # W_S: one for all languages, or "per-language" (the paper)

    def problems(self) -> Iterator[tuple[bool, str]]:
        """Yield what is wrong."""
        tags, sizes = self.languages, (self.word_dim, self.state_dim, self.joint_dim)
        yield not tags or len(set(tags)) != len(tags), "languages must be distinct and at least one"
        yield set(tags) != set(self.vocabulary_sizes), "every language, and no other, needs a vocabulary size"
        yield (
            min(*sizes, *self.vocabulary_sizes.values(), self.picture_dim or 1, self.max_length or 1) < 1
            or 0 in (self.picture_dim, self.max_length),
            "dimensions and sizes must be at least 1",
        )
        yield (
            not self.project_text and (self.state_dim != self.joint_dim or self.text_map == "per-language"),
            "without a projection of texts the state has the dimensions of the joint space, in all languages",
        )
        yield not 0 <= self.dropout < 1, "dropout must be at least 0 and below 1"
        yield self.initial not in INITIAL, f"initial must be one of {', '.join(INITIAL)}"
        yield self.text_map not in TEXT_MAPS, f"text_map must be one of {', '.join(TEXT_MAPS)}"

    def to_dict(self) -> dict[str, Any]:
        """Give the configuration for JSON."""
        return super().to_dict() | {
            "vocabulary_sizes": {tag: self.vocabulary_sizes[tag] for tag in self.languages}
        }


@dataclass(frozen=True)
class TripletConfig(Config):
    """Dimensions and options of a Triplet; the defaults are the paper's."""

    base_dim: int  # of the frozen vectors
    hidden_dim: int = 300  # of the two dense layers
    out_dim: int = 300
    separate_towers: bool = False  # title and body have separate weights, in place of one set for both
    scaling: str = "unit"  # each half of the representation has length 1, or "raw": as the layers give it
    title: str = "title"  # the fields of a text that are its two views; "text" is the text itself
    body: str = "body"
    split: str | None = None  # the two views are made of the text itself: see `models.texts`
    recipe: str = "triplet"  # how it was trained, or `triplet-xl`; changes no vector

    def problems(self) -> Iterator[tuple[bool, str]]:
        """Yield what is wrong."""
        yield min(self.base_dim, self.hidden_dim, self.out_dim) < 1, "dimensions must be at least 1"
        yield self.scaling not in SCALINGS, f"scaling must be one of {', '.join(SCALINGS)}"
        yield self.split not in (None, *SPLITS), f"split must be one of {', '.join(SPLITS)}"
        yield not self.title or not self.body or self.title == self.body, "title and body must be two fields"

    @property
    def towers(self) -> tuple[str, ...]:
        """The names of the sets of weights: one for both views, or one for each."""
        return ("title", "body") if self.separate_towers else ("both",)


@dataclass(frozen=True)
class DualEncoderConfig(Config):
    """The parts of a dual encoder."""

    # `words` (features of texts, learnt from scratch), `vectors` (layers over those of a frozen encoder) or
    # `transformer` (a network of transformers, its first token)
    tower: str
    dim: int  # of the vectors; those of the encoder below, or of the network, where there is one
    features: int = 0  # how many the tower `words` has, `buckets` of them for `ngrams` (from, to)
    ngrams: tuple[int, int] | None = None
    buckets: int = 0
    hidden: int = 0  # of a layer with a shortcut around it, over words or vectors; 0: none
    separate: bool = False  # answers have separate weights
    context: bool = False  # answers are read together with their context
    dropout: float = 0.0  # share of the features, or of the dimensions, that a training leaves out
    scale: float = 20.0  # factor of the products, before it is trained
    max_length: int | None = None  # tokens that the tower `transformer` reads; None: all that it can

    def problems(self) -> Iterator[tuple[bool, str]]:
        """Yield what is wrong."""
        yield self.tower not in TOWERS, f"tower must be one of {', '.join(TOWERS)}"
        fits = self.dim >= 1 and self.hidden >= 0 and (self.features >= 1) == (self.tower == "words")
        yield not fits, "dimensions do not fit the tower"
        together = (self.ngrams is None) == (self.buckets == 0) and len(self.ngrams or (0, 0)) == 2
        yield not together or self.buckets > self.features, "n-grams and buckets go together"
        yield not 0 <= self.dropout < 1, "dropout must be at least 0 and below 1"
        yield not 0 < self.scale <= MOST_SCALE, f"scale must be above 0 and at most {MOST_SCALE:g}"
