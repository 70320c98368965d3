"""Encoders as actors of a Ray cluster: copies on its machines that take pieces of a batch in turn.

`encode` sees the copies as one encoder with the identity of the one they copy: keys, store and resuming are
the same, and the program that began the work writes the vectors that the copies return.
"""

from __future__ import annotations

import copy
import os
import time
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any

import numpy as np

from xlingual import encoders
from xlingual.cluster import HEADLESS, connect, gone, held_back, is_alive, machines, one_line, why_not_here
from xlingual.embed.encoding import checked, is_kept, joined_parts
from xlingual.encoders import Encoder, EncoderLike, Stacked
from xlingual.errors import DataWarning, InputError, XlingualError, warn
from xlingual.images import read_bytes
from xlingual.records import Encoded, Images, Texts

_PIECES = 4  # that each copy gets of a batch, so that none waits long for the last one
_LEAST = 8  # rows of a piece
_RESTARTS = 3  # times that each copy may be lost
_PATIENCE = 600.0  # seconds without a copy that works, after which it is an error
_WAIT = 0.5  # seconds without an answer, after which interruptions are checked


@dataclass
class Actor:
    """One copy, as it runs on a machine; it makes the encoder at its first use: errors are reported then."""

    name: str
    kind: str  # "texts" or "images"
    entry: Any  # a spec, or an object with `encode`
    depth: int  # of encoders that stand on the one that is copied
    languages: tuple[str, ...]
    identity: str
    folder: str = field(default_factory=os.getcwd)  # paths in specs may begin there
    version: str = field(default_factory=lambda: version("xlingual"))  # where the command runs
    encoder: Encoder | None = None

    def make(self) -> Encoder:
        """Make the encoder; raise InputError where it is not the same as where the command runs."""
        if self.encoder is None:
            if other := why_not_here(self.version):
                raise InputError(other)
            if os.path.isdir(self.folder):
                os.chdir(self.folder)
            if self.kind == "texts":
                encoder = encoders.text_encoders({self.name: self.entry}, languages=self.languages)[self.name]
            else:
                _, encoder = encoders.image_encoder(self.entry, languages=self.languages)
            for _ in range(self.depth):
                assert isinstance(encoder, Stacked)
                encoder = encoder.base
            if encoder.identity != self.identity:
                raise InputError(
                    f"encoder {self.name!r} is {encoder.identity} on a machine of the cluster and "
                    f"{self.identity} here: all must have the same model, packages and kind of device; for "
                    "half precision write the device into the spec"
                )
            self.encoder = encoder
        return self.encoder

    def encode(self, batch: Texts | Images) -> tuple[Encoded, list[str]]:
        """Encode a piece; the texts are its warnings."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DataWarning)
            encoded = self.make().encode_noting(batch)
        vectors = checked(encoded.vectors, len(batch), f"encoder {self.name!r}", batch.ids)
        messages = [str(warning.message) for warning in caught if issubclass(warning.category, DataWarning)]
        return Encoded(vectors, encoded.truncated), messages

    def notes(self) -> list[str]:
        """List the copy's notes on the rows that it encoded."""
        return list(self.make().notes())


@dataclass(frozen=True)
class EncoderPool:
    """Where copies of encoders run, and how many.

    `address` of the head, as in `cluster.connect`; `workers` copies (None: one for each GPU, else one for
    each machine), each with a GPU where the cluster has any; `cores` where Ray is started on this machine.
    """

    address: str | None = None
    workers: int | None = None
    cores: int = 1

    @contextmanager
    def of(
        self, name: str, encoder: Encoder, entry: EncoderLike, kind: str, languages: Sequence[str]
    ) -> Iterator[Encoder]:
        """Give an encoder that has the work done by copies; the copies are stopped in the end.

        `entry` is the spec, or the object, that `encoder` was made of; `kind` "texts" or "images". Encoders
        whose vectors are not kept (they are made in no time), and those of services, are given as they are.
        """
        stack = [encoder]
        while isinstance(stack[-1], Stacked):
            stack.append(stack[-1].base)
        if not is_kept(stack[-1]) or stack[-1].piece is not None:
            yield encoder
            return
        ray = connect(self.address, self.cores)
        resources, nodes = ray.cluster_resources(), machines(ray)
        gpus = int(resources.get("GPU", 0))
        workers = self.workers or gpus or len(nodes)
        cores = [int(resources["CPU"]) // workers, *(int(node["Resources"]["CPU"]) for node in nodes)]
        entry = str(entry) if isinstance(entry, os.PathLike) else entry
        options = {"num_cpus": max(1, min(cores)), "num_gpus": min(gpus, 1)}
        remote = ray.remote(**options, max_restarts=_RESTARTS, max_task_retries=-1)(Actor)
        given = name, kind, entry, len(stack) - 1, tuple(languages), stack[-1].identity
        actors: list[Any] = []
        try:
            actors += [remote.remote(*given) for _ in range(workers)]
            top: Encoder = Copies(ray, stack[-1], name, actors)
            for above in reversed(stack[:-1]):
                base, top = top, copy.copy(above)
                object.__setattr__(top, "base", base)
            yield top
        except TypeError as error:  # it holds a lock, an open file …
            if len(actors) == workers:
                raise
            raise InputError(
                f"encoder {name!r} cannot be sent to other machines ({one_line(error)}): give a spec, or an "
                "object that can be pickled"
            ) from error
        finally:
            for actor in actors:
                ray.kill(actor)


class Copies(Encoder):
    """An encoder whose work is done by copies; Ray replaces lost ones, and does their pieces again."""

    identity = ""
    content = None

    def __init__(self, ray: Any, encoder: Encoder, name: str, actors: Sequence[Any]) -> None:  # noqa: ANN401
        self.identity, self.content, self.compares_by = encoder.identity, encoder.content, encoder.compares_by
        self.workers = len(actors)  # `encode` hands over more rows at a time
        self._ray, self._name = ray, name
        self._starting = {actor.notes.remote(): actor for actor in actors}
        self._idle: list[Any] = []
        for reference, _ in self._answers(list(self._starting), _PATIENCE):
            self._idle.append(self._starting.pop(reference))

    def encode_noting(self, batch: Texts | Images, /) -> Encoded:
        """Return the vectors of a batch, and which texts were cut."""
        size = max(_LEAST, -(-len(batch) // (_PIECES * self.workers)))
        waiting = deque(np.split(np.arange(len(batch)), range(size, len(batch), size)))
        parts: list[Any] = [None] * len(waiting)
        working: dict[Any, tuple[Any, int]] = {}
        while waiting or working:
            while waiting and self._idle:
                actor, number = self._idle.pop(), len(parts) - len(waiting)
                working[actor.encode.remote(_packed(batch.take(waiting.popleft())))] = actor, number
            for reference, answer in self._answers([*working, *self._starting]):
                if reference in self._starting:
                    self._idle.append(self._starting.pop(reference))
                    continue
                actor, number = working.pop(reference)
                self._idle.append(actor)
                parts[number], messages = answer
                for message in messages:
                    warn(message)
        return joined_parts(parts, f"encoder {self._name!r}")

    def notes(self) -> list[str]:
        """List the notes of the copies on the rows that they encoded, each sentence once."""
        notes = [note for actor in self._idle for note in self._ray.get(actor.notes.remote())]
        return list(dict.fromkeys(notes))

    def _answers(self, references: list[Any], patience: float = np.inf) -> list[tuple[Any, Any]]:
        """Wait for an answer, and return (reference, answer) of those that are there."""
        errors = self._ray.exceptions
        since = headed = time.monotonic()
        ended: list[Any] = []
        while not ended:
            with held_back():
                ended, _ = self._ray.wait(references, num_returns=1, timeout=_WAIT)
                headed = time.monotonic() if ended or is_alive(self._ray) else headed
            if time.monotonic() - headed > HEADLESS:
                raise gone(ConnectionError("nothing listens where its head was"))
            if not ended and time.monotonic() - since > patience:
                raise XlingualError(
                    "no machine of the Ray cluster has room for a copy of the encoder: look with ray status, "
                    "or give fewer --workers"
                )
        try:
            return [(reference, self._ray.get(reference)) for reference in ended]
        except errors.RayTaskError as error:
            if isinstance(error.cause, XlingualError):
                raise error.cause from error
            where, reason = "failed on a machine of the cluster", error.cause or error
        except errors.RayError as error:
            where, reason = "was lost: machines may be short of memory (give fewer --workers)", error
        raise XlingualError(
            f"encoder {self._name!r} {where} ({type(reason).__name__}: {one_line(reason)}); what was encoded "
            "is kept in the store: run the same again"
        ) from reason


def _packed(batch: Texts | Images) -> Texts | Images:
    """Turn images into bytes, since their files may be on this machine alone; numberings stay here."""
    if isinstance(batch, Texts):
        return replace(batch, numberings=())
    sources = list(batch.source)
    for place, source in enumerate(batch.source):
        with suppress(InputError):  # the encoder says which one is missing
            sources[place] = source if source is None else read_bytes(source)
    return replace(batch, source=sources, numberings=())
