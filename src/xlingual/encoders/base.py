"""The interface of all encoders, encoders on top of another one, and `adopt` for users' own objects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from importlib import import_module
from typing import Any, Protocol, cast

from xlingual.arrays import Vectors
from xlingual.encoders import objects
from xlingual.encoders.objects import name_of
from xlingual.encoders.takes import takes_strings
from xlingual.errors import InputError
from xlingual.records import Encoded, HubCorrection, Images


class SupportsEncode(Protocol):
    """Any object that has a method `encode`: `adopt` makes an `Encoder` of it."""

    def encode(self, batch: Any, /) -> Any:  # noqa: ANN401  (Texts or Images → numbers [n, d])
        """Return one vector for each row of the batch."""


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
    # whether it opens image files, so that missing and broken ones matter
    opens_images: bool = True
    # whether it reads languages and numberings of a batch only: texts may then stay out of memory
    by_number: bool = False
    # whether two versions of it have two identities, so that its vectors may outlive the program
    has_own_identity: bool = True
    # whether a text has another vector as a query than as a candidate, so that tasks encode it in both roles
    by_role: bool = False
    # how hubs are corrected where its vectors are ranked and no similarity is asked for; None: not at all
    hub_correction: HubCorrection | None = None
    # name in results, for objects without an identity
    label: str = ""
    # whether a service does the work, so that no machine of a cluster should
    is_service: bool = False
    # how warnings describe an all-zero vector
    zero_vector: str = "an all-zero vector"
    # how many copies share the work, and each takes pieces of a batch
    workers: int = 1

    @property
    @abstractmethod
    def identity(self) -> str:
        """Everything that changes the vectors (name, revision, parameters, hash of files), in one line.

        Equal identities give equal vectors.
        """

    def encode(self, batch: Any, /) -> Vectors:  # noqa: ANN401  (Texts or Images, as the encoder takes)
        """Return float32 [n, d]: one vector for each row of the batch; or the other forms of `forms`."""
        return cast("Vectors", self.encode_noting(batch).vectors)

    def encode_noting(self, batch: Any, /) -> Encoded:  # noqa: ANN401
        """Return the same vectors, and which texts were cut."""
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
    def fitted_on(self) -> frozenset[bytes]:
        """Digests (`Texts.row_digests`) of the rows it is fitted on, which are never evaluated."""
        return frozenset()

    @property
    def languages(self) -> tuple[str, ...] | None:
        """The only languages whose texts it can encode; None: any."""
        return None

    @property
    def piece(self) -> int | None:
        """The most rows of one call, since the work of an interrupted call is lost; None: any number."""
        return None

    def check_languages(self, tags: Iterable[str], /) -> None:  # noqa: B027  (a default)
        """Raise InputError where it cannot encode texts of one of the languages; asked before any work."""

    def fit_model(self) -> None:  # noqa: B027  (a default)
        """Fit it now, where it is one that is fitted; asked before any other work."""

    def over(self, candidates: Any, /) -> Encoder:  # noqa: ANN401  (Texts)
        """Return the encoder of a search among these candidates: itself, where they change no vector."""
        return self

    def has_changed(self) -> bool:
        """Return whether it is known to give other vectors now than those of its identity.

        An object in memory may: one that was trained on after its identity was found.
        """
        return False

    def notes(self) -> list[str]:
        """Return sentences to warn with, on the rows that were encoded since the last call."""
        return []


# what an encoder may state of itself, beside its identity and its vectors
ABILITIES = frozenset(name for name in vars(Encoder) if name[0] != "_") - {
    *("identity", "encode", "workers", "label", "has_changed", "over")
}


def _of_base(name: str) -> Any:  # noqa: ANN401  (a property)
    return property(lambda adapter: getattr(adapter.base, name))


class Adapter(Encoder):
    """Wraps an encoder, its `base`, and says of itself what that one does, unless it defines it."""

    space = _of_base("space")
    compares_by = _of_base("compares_by")
    trained_on_images = _of_base("trained_on_images")
    origin = _of_base("origin")
    fitted_images = _of_base("fitted_images")
    opens_images = _of_base("opens_images")
    has_own_identity = _of_base("has_own_identity")
    by_role = _of_base("by_role")
    hub_correction = _of_base("hub_correction")
    is_service = _of_base("is_service")
    zero_vector = _of_base("zero_vector")
    content = _of_base("content")
    depends_on_batch = _of_base("depends_on_batch")
    fitted_on = _of_base("fitted_on")
    languages = _of_base("languages")
    piece = _of_base("piece")
    check_languages = _of_base("check_languages")
    fit_model = _of_base("fit_model")
    notes = _of_base("notes")

    def __init__(self, base: Encoder) -> None:
        self.base = base

    def has_changed(self) -> bool:
        """Return whether the base has."""
        return self.base.has_changed()

    def over(self, candidates: Any, /) -> Encoder:  # noqa: ANN401
        """Return the encoder on top of its base over these candidates."""
        return self._on(self.base.over(candidates))

    def _on(self, base: Encoder) -> Encoder:
        found = self if base is self.base else copy(self)
        found.base = base
        return found


class Stacked(Adapter):
    """An adapter whose vectors are made of its base's: `apply` to those of each of `inputs(batch)`.

    Who calls `embed` has the base's vectors from the store, so that the expensive part is computed once for
    all encoders on top of it; those of the stacked encoder itself are cheap and not kept.
    """

    space: str | None = None
    compares_by: str | None = None
    hub_correction: HubCorrection | None = None  # that of the base is in its space

    @property
    def content(self) -> tuple[str, ...]:
        """Nothing: it is the base's vectors that are kept."""
        return ()

    def inputs(self, batch: Any, /) -> tuple[Any, ...]:  # noqa: ANN401
        """Return what the base encodes for a batch of n rows: batches of n rows each."""
        return (batch,)

    @abstractmethod
    def apply(self, *vectors: Vectors) -> Vectors:
        """Return float32 [n, e] for the base's vectors float32 [n, d] of each input, row by row."""

    def apply_in(self, languages: Sequence[str], *vectors: Vectors) -> Vectors:
        """Return the same, where it also depends on the language of each row [n]."""
        return self.apply(*vectors)

    def encode(self, batch: Any, /) -> Vectors:  # noqa: ANN401
        """Return float32 [n, e]: one vector for each row of the batch."""
        return self.apply_in(batch.language, *(self.base.encode(part) for part in self.inputs(batch)))

    def notes(self) -> list[str]:
        """Return nothing: the base gives its notes with its vectors."""
        return []


_UNREAD = (TypeError, AttributeError, LookupError, ValueError)  # of an object given what it does not expect


def _listed(batch: Any) -> list[Any]:  # noqa: ANN401  (Texts or Images)
    """Return the texts of a batch, or its opened images, as libraries take them."""
    return list(batch.images if isinstance(batch, Images) else batch.text)


_TEXTS = ("space", "compares_by", "zero_vector", "fitted_images", "origin")  # abilities that are a text


def _of_target(name: str, of_below: bool = False) -> Any:  # noqa: ANN401  (a property)
    """Return an ability as the object states it; else that of the encoder below, or the default."""
    usual = vars(Encoder)[name]

    def read(encoder: Wrapped) -> Any:  # noqa: ANN401
        own = getattr(encoder.target, name, None)
        fits = isinstance(own, str) if name in _TEXTS else callable(own) or not callable(usual)
        if own is not None and fits:
            return own
        return getattr(encoder.below if of_below and encoder.below else super(Wrapped, encoder), name)

    return property(read)


class Wrapped(Encoder):
    """Adapts any object with `encode`; it may state any of the abilities of `Encoder` by their names.

    It is given the batch; a list of strings where its parameter is annotated so. Where nothing tells, it
    gets the batch, and the list where it cannot read that. Without an `identity` its class and what results
    call it stand for it. Where it has a `base`, another encoder, the kind of that one holds for it too.
    """

    space = _of_target("space")
    compares_by = _of_target("compares_by")
    trained_on_images = _of_target("trained_on_images", of_below=True)
    origin = _of_target("origin", of_below=True)
    fitted_images = _of_target("fitted_images", of_below=True)
    opens_images = _of_target("opens_images", of_below=True)
    by_number = _of_target("by_number")
    by_role = _of_target("by_role")
    hub_correction = _of_target("hub_correction")
    is_service = _of_target("is_service")
    zero_vector = _of_target("zero_vector")
    content = _of_target("content")
    depends_on_batch = _of_target("depends_on_batch")
    fitted_on = _of_target("fitted_on")
    piece = _of_target("piece")
    encode_noting = _of_target("encode_noting")
    check_languages = _of_target("check_languages")
    fit_model = _of_target("fit_model")
    notes = _of_target("notes")

    def __init__(self, target: Any) -> None:  # noqa: ANN401  (of any class)
        self.target = target
        said = takes_strings(target.encode) if callable(getattr(target, "encode", None)) else False
        own = any(
            hasattr(target, name) for name in ("identity", *ABILITIES - {"languages", "notes", "space"})
        )
        self._strings = False if said is None and own else said
        base = getattr(target, "base", None)
        is_encoder = callable(getattr(base, "encode", None)) and not isinstance(base, type)
        self.below = adopt(base) if is_encoder else None

    @property
    def identity(self) -> str:
        """Its own, or `python:` with its module and class, which is the same for two versions of it."""
        given = getattr(self.target, "identity", None)
        return objects.unnamed(self.target, self.label) if given is None else str(given)

    def encode(self, batch: Any, /) -> Vectors:  # noqa: ANN401
        """Return what the object returns; raise InputError where it can read neither a batch nor a list."""
        if self._strings is not None:
            return cast("Vectors", self.target.encode(_listed(batch) if self._strings else batch))
        try:
            found = self.target.encode(batch)
        except _UNREAD as error:
            found = self._from_list(batch, error)
        return cast("Vectors", found)

    def _from_list(self, batch: Any, error: Exception) -> Any:  # noqa: ANN401
        """Return what the object makes of a list, after it could not read the batch."""
        try:
            found = self.target.encode(_listed(batch))
        except _UNREAD as second:
            name, kind = type(self.target).__name__, type(batch).__name__
            raise InputError(
                f"{name}.encode failed when given the batch ({objects.in_words(error)}) and when given a "
                f"list ({objects.in_words(second)}): annotate its parameter, as in encode(self, batch: "
                f"xlingual.{kind}) or encode(self, sentences: list[str]), and it is given that alone"
            ) from error
        self._strings = True
        return found

    def has_changed(self) -> bool:
        """Return whether the encoder below is known to have; nothing is known of the object."""
        return self.below is not None and self.below.has_changed()

    @property
    def has_own_identity(self) -> bool:  # type: ignore[override]
        """Whether the object has an identity."""
        return getattr(self.target, "identity", None) is not None

    @property
    def languages(self) -> tuple[str, ...] | None:
        """Its languages where it has a list of them; a mapping says something else."""
        given = getattr(self.target, "languages", None)
        return (
            tuple(given) or None if isinstance(given, list | tuple | set | frozenset) else super().languages
        )


class WrappedStacked(Wrapped, Stacked):
    """A user's own object that has `base`, `inputs` and `apply` besides `encode`."""

    def __init__(self, target: Any) -> None:  # noqa: ANN401
        super().__init__(target)
        self.base = adopt(target.base)

    def inputs(self, batch: Any, /) -> tuple[Any, ...]:  # noqa: ANN401
        """Return what the object returns."""
        return tuple(self.target.inputs(batch))

    def apply(self, *vectors: Vectors) -> Vectors:
        """Return what the object returns."""
        return cast("Vectors", self.target.apply(*vectors))


def adopt(entry: object, kind: str = "texts") -> Encoder:
    """Return the encoder of texts or images that an object stands for; users' own objects are wrapped.

    Raises InputError where it is no object of `objects.KINDS` and has no method `encode`, is a class, or has
    an identity that is none.
    """
    if isinstance(entry, Encoder):
        own = type(entry)
        if own.encode is Encoder.encode and own.encode_noting is Encoder.encode_noting:
            raise InputError(f"{own.__name__} has neither a method encode nor encode_noting: give it one")
        return entry
    if isinstance(entry, type):
        raise InputError(f"{entry.__name__} is a class: make an object of it, for example {entry.__name__}()")
    if (why := objects.refusal(entry)) is not None:
        raise InputError(why if isinstance(entry, Mapping) else f"{type(entry).__name__}: {why}")
    if (known := objects.kind_of(entry)) is not None:
        return cast("Encoder", import_module(known.module).adapter_of(entry, kind))
    if not callable(getattr(entry, "encode", None)):
        raise InputError(
            "expected an encoder: a spec, a path, a function of a list of texts, or an object with a method "
            f"encode(texts); found a value of the type {type(entry).__name__}. Objects that work directly: "
            f"{', '.join(one.name for one in objects.KINDS)}"
        )
    identity = getattr(entry, "identity", None)
    if identity is not None and (not isinstance(identity, str) or not identity):
        raise InputError(f"the identity of {name_of(entry)} must be a non-empty str, found {identity!r}")
    stacked = all(hasattr(entry, name) for name in ("base", "inputs", "apply"))
    return WrappedStacked(entry) if stacked else Wrapped(entry)


def given(encoder: object) -> Any:  # noqa: ANN401  (of any class)
    """Return the object that a user gave, that the encoder was made of."""
    return encoder.target if isinstance(encoder, Wrapped) else encoder


def kind_of(encoder: Encoder) -> dict[str, Any]:
    """Return what is known of an encoder's kind: its origin, and whether it was trained on images.

    Measures that use images in place of translations compare encoders of one kind only.
    """
    kind = {"kind": encoder.origin, "trained_on_images": encoder.trained_on_images}
    return {name: value for name, value in kind.items() if value}
