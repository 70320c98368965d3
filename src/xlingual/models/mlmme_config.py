"""Dimensions and options of an MLMME, without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

INITIAL = ("paper", "vsepp")
TEXT_MAPS = ("shared", "per-language")


@dataclass(frozen=True)
class MlmmeConfig:
    """Dimensions and options of the network; the defaults are the paper's. ValueError where they clash."""

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

    def __post_init__(self) -> None:
        dims = (self.word_dim, self.state_dim, self.joint_dim, *self.vocabulary_sizes.values())
        if not self.languages or len(set(self.languages)) != len(self.languages):
            raise ValueError(f"languages must be distinct and at least one: {self.languages!r}")
        if set(self.languages) != set(self.vocabulary_sizes):
            raise ValueError("every language needs the size of its vocabulary, and no other has one")
        if min(dims) < 1 or (self.picture_dim is not None and self.picture_dim < 1):
            raise ValueError(f"dimensions and sizes must be at least 1: {self}")
        if not self.project_text and self.state_dim != self.joint_dim:
            raise ValueError(
                "without a projection of texts the state has the dimensions of the joint space: "
                f"{self.state_dim} against {self.joint_dim}"
            )
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1: {self.dropout}")
        if self.max_length is not None and self.max_length < 1:
            raise ValueError(f"max_length must be at least 1: {self.max_length}")
        if self.initial not in INITIAL:
            raise ValueError(f"initial must be one of {', '.join(INITIAL)}: {self.initial!r}")
        if self.text_map not in TEXT_MAPS:
            raise ValueError(f"text_map must be one of {', '.join(TEXT_MAPS)}: {self.text_map!r}")
        if self.text_map == "per-language" and not self.project_text:
            raise ValueError("without a projection of texts no language has a map of its own")

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration for JSON."""
        return asdict(self) | {
            "languages": list(self.languages),
            "vocabulary_sizes": {tag: self.vocabulary_sizes[tag] for tag in self.languages},
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> MlmmeConfig:
        """Return what `to_dict` gave; ValueError or TypeError where it is anything else."""
        return cls(**{**content, "languages": tuple(content["languages"])})
