"""What an encoder on a cluster makes of its copies' answers, with Ray replaced by actors in this process."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual.embed.actor import ActorSpec
from xlingual.embed.encoder_pool import _Remote
from xlingual.errors import InputError
from xlingual.records import Texts


class RayError(Exception):
    pass


class RayTaskError(RayError):
    def __init__(self, cause):
        super().__init__(str(cause))
        self.cause = cause


class Ray:
    """Runs what an actor is asked at once; `lose(number)` says which calls are lost with their copy."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def __init__(self, lose=lambda number: False):
        self.lose, self.found, self.alive = lose, [], 0

    def remote(self, **options):
        def actor(kind):
            def start(*arguments):
                self.alive += 1
                return _Actor(self, kind(*arguments))

            return SimpleNamespace(remote=start)

        return actor

    def wait(self, references, num_returns=1, timeout=None):
        return references[:num_returns], references[num_returns:]

    def get(self, reference, timeout=None):
        if isinstance(self.found[reference], Exception):
            raise self.found[reference]
        return self.found[reference]

    def kill(self, actor):
        self.alive -= 1


class _Actor:
    def __init__(self, ray, thing):
        self.ray, self.thing = ray, thing

    def __getattr__(self, name):
        def call(*arguments):
            number = len(self.ray.found)
            try:
                lost = name == "encode" and self.ray.lose(number)
                self.ray.found.append(RayError("lost") if lost else getattr(self.thing, name)(*arguments))
            except Exception as error:
                self.ray.found.append(RayTaskError(error))
            return number

        return SimpleNamespace(remote=call)


@dataclass
class Mine:
    """Gives each text its length, or whatever `made` makes of these."""

    made: object = None
    identity: str = "mine:1"
    content: tuple = ("text",)
    compares_by: str | None = None

    def encode(self, texts):
        lengths = np.array([[len(text), 1] for text in texts.text], dtype=np.float32)
        return lengths if self.made is None else self.made(lengths)


def texts(count=100):
    names = [str(i) for i in range(count)]
    return Texts(["x" * i for i in range(count)], ["en"] * count, names)


def remote_encoder(encoder, ray, workers=2, **more):
    return _Remote(ray, encoder, ActorSpec("mine", "texts", encoder, 0, ("en",), ".", **more), workers, 0, 1)


@pytest.mark.parametrize("lose", [lambda number: False, lambda number: number in (3, 6)])
def test_pieces_are_put_together_in_order_whoever_made_them(lose):
    ray = Ray(lose)
    remote = remote_encoder(Mine(), ray)
    assert remote.encode(texts()).tolist() == [[i, 1] for i in range(100)]
    remote.stop()
    assert ray.alive == 0


@pytest.mark.parametrize(
    "made",
    [
        lambda found: found[1:],
        lambda found: found[:, 0],
        lambda found: np.float32(1),
        lambda found: np.repeat(found, 2, axis=0),
    ],
)
def test_a_piece_without_a_vector_for_each_row_is_refused(made):
    with pytest.raises(InputError, match=r"encoder 'mine' returned an array of shape .*expected \(13, d\)"):
        remote_encoder(Mine(made), Ray()).encode(texts())


def test_a_machine_with_another_version_is_refused():
    with pytest.raises(InputError, match=r"machine of the cluster has xlingual .*, here is 0\.0: install"):
        remote_encoder(Mine(), Ray(), version="0.0").encode(texts())
