"""Encoders as actors of a Ray cluster: copies on its machines that take pieces of a batch in turn.

`encode` sees the copies as one encoder with the identity of the one they copy: keys, store and resuming are
the same, and the program that began the work writes the vectors that the copies return.
"""

from __future__ import annotations

import copy
import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from xlingual.cluster import HEADLESS, connect, gone, held_back, is_alive, machines, one_line
from xlingual.embed.actor import Actor, ActorReply, ActorSpec
from xlingual.embed.encoding import is_kept, joined_parts
from xlingual.encoders import Encoder, EncoderLike, Stacked
from xlingual.encoders.decoding import BrokenImagesError
from xlingual.errors import InputError, XlingualError, warn
from xlingual.images import read_bytes
from xlingual.records import Encoded, Images, Texts

_PIECES = 4  # that each copy gets of a batch, so that none waits long for the last one
_LEAST = 8  # rows of a piece
_REPLACED = 3  # times that each copy may be lost
_PATIENCE = 600.0  # seconds without a copy that works, after which it is an error
_LOOK = 5.0
_WAIT = 0.5  # seconds without an answer, after which interruptions are checked


@dataclass(frozen=True)
class EncoderPool:
    """Where copies of encoders run, and how many.

    `address` of the head, as in `cluster.connect`; `workers` copies (None: one for each GPU, else one for
    each machine), each with `gpus` of a GPU (None: one where the cluster has any); `cores` where Ray is
    started on this machine.
    """

    address: str | None = None
    workers: int | None = None
    gpus: float | None = None
    cores: int = 1

    @contextmanager
    def of(
        self, name: str, encoder: Encoder, entry: EncoderLike, kind: str, languages: Sequence[str]
    ) -> Iterator[Encoder]:
        """Give an encoder that has the work done by copies; the copies are stopped in the end.

        `entry` is the spec, or the object, that `encoder` was made of; `kind` "texts" or "images". Encoders
        whose vectors are not kept (they are made in no time), and those of services, are given as they are.
        """
        below, depth = encoder, 0
        while isinstance(below, Stacked):
            below, depth = below.base, depth + 1
        if not is_kept(below) or below.is_service:
            yield encoder
            return
        ray = connect(self.address, self.cores)
        given = str(entry) if isinstance(entry, str | os.PathLike) else entry
        spec = ActorSpec(name, kind, given, depth, tuple(languages), os.getcwd())
        remote = _Remote(ray, below, spec, *self._resources(ray))
        try:
            yield _standing_on(encoder, remote)
        finally:
            remote.stop()

    def _resources(self, ray: Any) -> tuple[int, float, int]:  # noqa: ANN401  (the module ray)
        """Return how many copies there are, and the GPUs and cores of each."""
        resources, nodes = ray.cluster_resources(), machines(ray)
        gpus = (1.0 if resources.get("GPU", 0) else 0.0) if self.gpus is None else self.gpus
        if gpus > resources.get("GPU", 0):
            raise InputError("the Ray cluster has no GPU: leave out gpus, or start machines that have one")
        workers = self.workers or (int(resources["GPU"] / gpus) if gpus else len(nodes))
        cores = [int(resources["CPU"]) // workers, *(int(node["Resources"]["CPU"]) for node in nodes)]
        return workers, gpus, max(1, min(cores))


def _standing_on(encoder: Encoder, base: Encoder) -> Encoder:
    """Return an encoder that stands on others, on another base below all of them."""
    if not isinstance(encoder, Stacked):
        return base
    other = copy.copy(encoder)
    object.__setattr__(other, "base", _standing_on(encoder.base, base))
    return other


class _Remote(Encoder):
    """An encoder whose work is done by copies; lost ones are replaced, and their pieces done again."""

    identity = ""
    content = None

    def __init__(
        self,
        ray: Any,  # noqa: ANN401  (the module)
        encoder: Encoder,
        spec: ActorSpec,
        workers: int,
        gpus: float,
        cores: int,
    ) -> None:
        self.identity, self.content, self.compares_by = encoder.identity, encoder.content, encoder.compares_by
        self.workers = workers  # `encode` hands over more rows at a time
        self._ray, self._spec = ray, spec
        self._actor_class = ray.remote(num_cpus=cores, num_gpus=gpus, max_restarts=0)(Actor)
        self._starting: dict[Any, Any] = {}  # the reference that becomes ready with a copy → the copy
        self._idle: list[Any] = []
        self._all: list[Any] = []
        self._lost = 0
        for _ in range(workers):
            self._start()

    def encode_noting(self, batch: Texts | Images, /) -> Encoded:
        """Return the vectors of a batch, and which texts were cut."""
        size = max(_LEAST, -(-len(batch) // (_PIECES * self.workers)))
        rows = [np.arange(low, min(low + size, len(batch))) for low in range(0, len(batch), size)]
        waiting, found = deque(range(len(rows))), dict[int, ActorReply]()
        working: dict[Any, tuple[Any, int]] = {}
        since = headed = time.monotonic()
        try:
            while len(found) < len(rows):
                with held_back():
                    while waiting and self._idle:
                        actor, number = self._idle.pop(), waiting.popleft()
                        working[actor.encode.remote(_packed(batch.take(rows[number])))] = actor, number
                    ended, _ = self._ray.wait([*working, *self._starting], num_returns=1, timeout=_WAIT)
                    if ended or is_alive(self._ray):
                        headed = time.monotonic()
                    elif time.monotonic() - headed > HEADLESS:
                        raise gone(ConnectionError("nothing listens where its head was"))
                    if ended or working:
                        since = time.monotonic()
                    elif time.monotonic() - since > _PATIENCE:
                        raise XlingualError(
                            "no machine of the Ray cluster has room for a copy of the encoder: look with ray "
                            "status, or give fewer --workers"
                        )
                    for reference in ended:
                        if reference in self._starting:
                            self._started(reference)
                            continue
                        actor, number = working.pop(reference)
                        answer = self._answer(reference)
                        if answer is None:  # the copy was lost
                            waiting.appendleft(number)
                            self._replace()
                            continue
                        self._idle.append(actor)
                        found[number] = self._complete(answer, len(rows[number]))
        finally:
            self._idle += [actor for actor, _ in working.values()]  # where the batch failed
        return _joined([found[number] for number in range(len(rows))])

    def _complete(self, answer: ActorReply, count: int) -> ActorReply:
        """Return the answer to a piece; raise InputError where it has not one vector for each row."""
        shape = answer.vectors.shape
        if len(shape) != 2 or shape[0] != count:
            raise InputError(
                f"encoder {self._spec.name!r} returned an array of shape {shape}; expected ({count}, d)"
            )
        return answer

    def notes(self) -> list[str]:
        """Return the notes of the copies on the rows that they encoded, each sentence once."""
        notes: list[str] = []
        for actor in self._idle:
            with suppress(self._ray.exceptions.RayError):
                notes += self._ray.get(actor.notes.remote(), timeout=_LOOK)
        return list(dict.fromkeys(notes))

    def stop(self) -> None:
        """End the copies."""
        for actor in self._all:
            self._ray.kill(actor)
        self._all, self._idle, self._starting = [], [], {}

    def _start(self) -> None:
        try:
            actor = self._actor_class.remote(self._spec)
        except TypeError as error:  # it holds a lock, an open file …
            raise InputError(
                f"encoder {self._spec.name!r} cannot be sent to other machines ({one_line(error)}): give a "
                "spec, or an object that can be pickled"
            ) from error
        self._all.append(actor)
        self._starting[actor.identity.remote()] = actor

    def _started(self, reference: Any) -> None:  # noqa: ANN401
        """Use a copy that has started, where it is one of the same encoder."""
        actor, answer = self._starting.pop(reference), self._answer(reference)
        if answer is None:
            self._replace()
        elif answer != self.identity:
            raise InputError(
                f"encoder {self._spec.name!r} is {answer} on a machine of the cluster and {self.identity} "
                "here: all must have the same model, packages and kind of device; for half precision write "
                "the device into the spec"
            )
        else:
            self._idle.append(actor)

    def _answer(self, reference: Any) -> Any:  # noqa: ANN401
        """Return the answer of a copy; None where it was lost. Raises the error of a copy that refused."""
        errors = self._ray.exceptions
        try:
            found = self._ray.get(reference)
        except errors.RayTaskError as error:
            cause = error if error.cause is None else error.cause
            raise XlingualError(
                f"encoder {self._spec.name!r} failed on a machine of the cluster "
                f"({type(cause).__name__}: {one_line(cause)}); what was encoded is kept in the store"
            ) from error
        except errors.RayError:
            return None
        if isinstance(found, ActorReply):
            for sentence in found.warnings:
                warn(sentence)
            if found.refused:
                raise (BrokenImagesError if found.broken else InputError)(found.refused)
        return found

    def _replace(self) -> None:
        self._lost += 1
        if self._lost > _REPLACED * self.workers:
            raise XlingualError(
                f"copies of encoder {self._spec.name!r} were lost {self._lost} times: machines may be short "
                "of memory (give fewer --workers, or a smaller batch in the spec); what was encoded is kept "
                "in the store, so run the same again"
            )
        self._start()


def _packed(batch: Texts | Images) -> Texts | Images:
    """Return a batch as it travels: images as bytes, since their files may be on this machine alone."""
    if isinstance(batch, Texts):
        return replace(batch, numberings=())
    sources = list(batch.source)
    for place, source in enumerate(batch.source):
        with suppress(InputError):  # the encoder says which one is missing
            sources[place] = source if source is None else read_bytes(source)
    return replace(batch, source=sources, numberings=())


def _joined(answers: Sequence[ActorReply]) -> Encoded:
    """Return the vectors of pieces that follow each other."""
    dims = {answer.vectors.shape[1:] for answer in answers}
    if len(dims) > 1:
        raise InputError(f"an encoder gives vectors of several shapes: {sorted(dims)}")
    return joined_parts([Encoded(answer.vectors, answer.truncated) for answer in answers])
