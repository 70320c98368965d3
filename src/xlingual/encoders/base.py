"""The interface of all encoders, and of those that stand on another one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from copy import copy
from operator import attrgetter
from typing import Any, Protocol, cast

from xlingual.arrays import Vectors
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.records import Encoded, HubCorrection


class SupportsEncode(Protocol):
    """Any object that has a method `encode`: `objects.adopt` makes an `Encoder` of it."""

    def encode(self, batch: Any, /) -> Any:  # noqa: ANN401  (Texts or Images → numbers [n, d])
        """Give one vector for each row of the batch."""


class Encoder(ABC):
    """Turns texts or images into vectors: the one interface that every model has.

    An encoder states its `identity` and has `encode` or `encode_noting`; each has a default that uses the
    other. Everything else may be left as it stands here, which is right for most.
    """

    # texts and images have comparable vectors where `space` (the digest of a model) is the same
    space: str | None = None
    # how its own model compares vectors, such as "dot"; None: not known, or the cosine
    compares_by: str | None = None
    # whether it was trained on images too; None: not known
    trained_on_images: bool | None = None
    # its kind (`results.kinds`): "general", "fitted" or "surface"; None: not known
    origin: str | None = None
    # the identity of the image encoder whose near images it was fitted on; None: of none
    fitted_images: str | None = None
    # whether it reads languages and numberings of a batch only: texts may then stay out of memory
    by_number: bool = False
    # whether two versions of it have two identities, so that its vectors may outlive the program
    has_own_identity: bool = True
    # whether a text has another vector as a query than as a candidate, so that tasks encode it in both roles
    by_role: bool = False
    # how hubs are corrected where its vectors are ranked and no similarity is asked for; None: not at all
    hub_correction: HubCorrection | None = None
    # its name in results: objects of two names without an identity are different
    label: str = ""

    @property
    @abstractmethod
    def identity(self) -> str:
        """Everything that changes the vectors (name, revision, parameters, hash of files), in one line.

        Equal identities give equal vectors.
        """

    def encode(self, batch: Any, /) -> Vectors:  # noqa: ANN401  (Texts or Images, as the encoder takes)
        """Give float32 [n, d]: one vector for each row of the batch; or the other forms of `forms`."""
        return cast("Vectors", self.encode_noting(batch).vectors)

    def encode_noting(self, batch: Any, /) -> Encoded:  # noqa: ANN401
        """Give the vectors, and which texts were cut."""
        return Encoded(self.encode(batch))

    @property
    def content(self) -> tuple[str, ...] | None:
        """All of a row that its vector depends on; vectors of an encoder that says so are kept in the store.

        Names among "text", "language", "role", "context" and "fields", or "bytes" of images; never ids,
        items or numberings. None where it is not known, () where the vectors are not worth keeping.
        """
        return None

    @property
    def depends_on_batch(self) -> bool:
        """Whether the vector of a text depends on the other texts of the batch."""
        return False

    @property
    def opens_images(self) -> bool:
        """Whether it opens image files, so that missing and broken ones matter."""
        return not self.by_number

    @property
    def fitted_on(self) -> frozenset[bytes]:
        """Digests (`Texts.row_digests`) of the rows it is fitted on, which are never evaluated."""
        return frozenset()

    @property
    def languages(self) -> tuple[str, ...] | None:
        """The only languages whose texts it can encode; None: any."""
        return None

    def check_languages(self, tags: Iterable[str], /) -> None:
        """Raise InputError where it cannot encode texts of one of the languages; asked before any work."""
        able = self.languages
        if able is not None and (unknown := [tag for tag in dict.fromkeys(tags) if tag not in able]):
            who = getattr(self, "who", self.identity)
            raise InputError(
                f"{who} cannot encode texts in {listed(unknown)}, only in {listed(able, 20)}."
                f"{did_you_mean(unknown[0], able)} Choose among its languages, or fit it on more"
            )

    def fit_model(self) -> None:  # noqa: B027  (a default)
        """Fit it now, where it is one that is fitted; asked before any other work."""

    def over(self, candidates: Any, /) -> Encoder:  # noqa: ANN401  (Texts)
        """Make the encoder of a search among these candidates: itself, where they change no vector."""
        return self

    def notes(self) -> list[str]:
        """Give sentences to warn with, on the rows that were encoded since the last call."""
        return []


class Adapter(Encoder):
    """Wraps an encoder, its `base`, and says of itself what that one does, unless it defines it."""

    def __init__(self, base: Encoder) -> None:
        self.base = base

    def over(self, candidates: Any, /) -> Encoder:  # noqa: ANN401
        """Make the encoder on top of its base over these candidates."""
        return self.on(self.base.over(candidates))

    def on(self, base: Encoder) -> Encoder:
        """Make the same adapter of another base."""
        if base is self.base:
            return self
        other = copy(self)
        other.base = base
        return other


for _name in (
    *("space", "compares_by", "trained_on_images", "origin", "fitted_images", "opens_images", "by_role"),
    *("has_own_identity", "hub_correction", "content", "depends_on_batch", "fitted_on", "languages"),
    *("check_languages", "fit_model", "notes"),
):
    setattr(Adapter, _name, property(attrgetter(f"base.{_name}")))


class Stacked(Adapter):
    """An adapter whose vectors are made of its base's: `apply` to those of each of `inputs(batch)`.

    Who calls `embed` has the base's vectors from the store, so that the expensive part is computed once for
    all encoders on top of it; those of the stacked encoder itself are cheap and not kept.
    """

    space: str | None = None
    compares_by: str | None = None
    hub_correction: HubCorrection | None = None  # that of the base is in its space
    content: tuple[str, ...] | None = ()  # it is the base's vectors that are kept

    def inputs(self, batch: Any, /) -> tuple[Any, ...]:  # noqa: ANN401
        """Give what the base encodes for a batch of n rows: batches of n rows each."""
        return (batch,)

    @abstractmethod
    def apply(self, *vectors: Vectors) -> Vectors:
        """Make float32 [n, e] of the base's vectors float32 [n, d] of each input, row by row."""

    def apply_in(self, languages: Sequence[str], *vectors: Vectors) -> Vectors:
        """Apply it where the language of each row [n] counts too."""
        return self.apply(*vectors)

    def encode(self, batch: Any, /) -> Vectors:  # noqa: ANN401
        """Give float32 [n, e]: one vector for each row of the batch."""
        return self.apply_in(batch.language, *(self.base.encode(part) for part in self.inputs(batch)))

    def notes(self) -> list[str]:
        """Give nothing: the base gives its notes with its vectors."""
        return []


def kind_of(encoder: Encoder) -> dict[str, Any]:
    """Tell an encoder's kind as far as it is known: its origin, and whether it was trained on images.

    Measures that use images in place of translations compare encoders of one kind only.
    """
    kind = {"kind": encoder.origin, "trained_on_images": encoder.trained_on_images}
    return {name: value for name, value in kind.items() if value}
