"""Killed at any moment, a run loses at most the shard in progress, and what follows goes on from there."""

import multiprocessing
import os
import signal
import time
from itertools import count

import numpy as np
import pytest

from xlingual.embed import encoding as module
from xlingual.embed.encoding import VectorSource, encode
from xlingual.encoders import adopt
from xlingual.records import Texts
from xlingual.store import Store, holdings

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
SHARD = 8


class Slow:
    """Takes its time, and leaves a line for each text it was asked for."""

    identity, content = "slow:1", ("text",)

    def __init__(self, log, pause):
        self.log, self.pause = log, pause

    def encode(self, batch):
        with open(self.log, "a") as lines:
            lines.write("".join(f"{text}\n" for text in batch.text))
        time.sleep(self.pause * len(batch))
        return np.sin([[len(text) * i + hash(text) % 97 for i in range(5)] for text in batch.text])


def embed(root, log, n, pause=0.0):
    texts = Texts([f"text {i} {'and more ' * (i % 7)}" for i in range(n)], ["en"] * n, [*map(str, range(n))])
    return encode(adopt(Slow(log, pause)), texts, VectorSource("slow", "slow", Store(root))).vectors


def in_child(function, *arguments):
    process = multiprocessing.get_context("fork").Process(target=function, args=arguments)
    process.start()
    return process


def encoded(log):
    return len(log.read_text().splitlines()) if log.exists() else 0


def stored(root):
    """Count the vectors of a store, none of which is damaged."""
    listed = list(holdings(Store(root), verified=True))
    assert not any(holding.damaged for holding in listed)
    return sum(holding.vectors for holding in listed)


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(module, "SHARD_ROWS", SHARD)
    monkeypatch.setattr(module, "_FIRST", SHARD)


def test_kills_at_random_moments(tmp_path, full):
    kills, n = (20, 1500) if full else (8, 400)
    whole = embed(tmp_path / "uninterrupted", tmp_path / "log", n)
    rng = np.random.default_rng(0)
    root, log, before = tmp_path / "store", tmp_path / "lines", 0
    for killed in range(1, kills + 1):
        moment = encoded(log) + int(rng.integers(0, 3 * SHARD))  # by the work done: machines differ
        process = in_child(embed, root, log, n, 0.0005)
        while process.is_alive() and encoded(log) < moment:
            time.sleep(0.0005)
        time.sleep(float(rng.uniform(0, 0.002)))
        process.kill()
        process.join()
        assert before <= stored(root) <= encoded(log) <= stored(root) + killed * SHARD
        before = stored(root)
    assert before
    np.testing.assert_array_equal(embed(root, log, n), whole)
    assert encoded(log) <= n + kills * SHARD


def embed_and_die(root, log, step):
    """Embed, and die before the given call of the system."""
    calls = count()

    def dying(call):
        def instead(*arguments, **more):
            if next(calls) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **more)

        return instead

    for name in ("open", "fsync", "replace", "close", "chmod", "mkdir"):
        setattr(os, name, dying(getattr(os, name)))
    embed(root, log, 3 * SHARD)


def test_killed_before_every_step_of_writing(tmp_path):
    whole = embed(tmp_path / "uninterrupted", tmp_path / "other log", 3 * SHARD)
    for step in count():
        root, log = tmp_path / f"store{step}", tmp_path / f"log{step}"
        process = in_child(embed_and_die, root, log, step)
        process.join(120)
        if process.exitcode == 0:
            break
        assert encoded(log) - SHARD <= stored(root) <= encoded(log)
        np.testing.assert_array_equal(embed(root, log, 3 * SHARD), whole)
        assert encoded(log) <= 4 * SHARD
    assert step >= 3 * 4  # three shards, each opened, closed, synced and renamed
