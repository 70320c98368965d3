"""Killed at any moment, a run loses at most the shard in progress, and what follows goes on from there."""

import multiprocessing
import os
import signal
import time
from functools import lru_cache
from itertools import count

import numpy as np
import pytest

from xlingual import Manifest
from xlingual.embed import embed_texts
from xlingual.embed import encoding as module
from xlingual.encoders import adopt
from xlingual.store import Store, holdings

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
TEXTS = [f"text {i} {'and more ' * (i % 7)}" for i in range(3000)]
N = len(TEXTS)
SHARD = 8


class Slow:
    """Takes its time, and leaves a line for each text it was asked for."""

    identity = "slow:1"
    content = ("text",)

    def __init__(self, log, pause):
        self.log, self.pause = log, pause

    def encode(self, batch):
        with open(self.log, "a") as lines:
            lines.write("".join(f"{text}\n" for text in batch.text))
        time.sleep(self.pause * len(batch))
        numbers = np.array([[len(text), hash_of(text)] for text in batch.text], dtype=np.float64)
        return np.sin(numbers @ np.arange(10.0).reshape(2, 5)).astype(np.float32)


def hash_of(text):
    return sum(31**i * ord(letter) % 9973 for i, letter in enumerate(text))


@lru_cache
def manifest_of(n):
    rows = [{"id": str(i), "lang": "en", "text": text} for i, text in enumerate(TEXTS[:n])]
    return Manifest.of(rows)


def embed(root, log, n=N, pause=0.0):
    encoder = Slow(log, pause)
    return embed_texts(manifest_of(n), "slow", adopt(encoder), np.arange(n), store=Store(root)).vectors


def in_child(function, *arguments):
    """Start a function in a process of its own and return it once it has begun."""
    context = multiprocessing.get_context("fork")
    begun = context.Event()

    def run():
        begun.set()
        function(*arguments)

    process = context.Process(target=run)
    process.start()
    assert begun.wait(120)
    return process


def kept(root):
    return sum(one.vectors for one in holdings(Store(root), verified=True))


def encoded(log):
    return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(module, "SHARD_ROWS", SHARD)
    monkeypatch.setattr(module, "_FIRST", SHARD)


def test_kills_at_random_moments(tmp_path, full):
    wanted, n = (50, N) if full else (8, 400)
    whole = embed(tmp_path / "uninterrupted", tmp_path / "log", n)
    rng = np.random.default_rng(0)
    kills = resumed = 0
    for number in count():
        root, log = tmp_path / f"store{number}", tmp_path / f"log{number}"
        before = own = 0
        while kills < wanted:
            moment = encoded(log) + int(rng.integers(0, 3 * SHARD))  # by the work done: machines differ
            process = in_child(embed, root, log, n, 0.0005)
            while process.is_alive() and encoded(log) < moment:
                time.sleep(0.0005)
            time.sleep(float(rng.uniform(0, 0.002)))
            process.kill()
            process.join()
            if process.exitcode == 0:
                break  # it was through before: another store for the rest
            kills, own = kills + 1, own + 1
            now = kept(root)
            assert all(not one.damaged for one in holdings(Store(root), verified=True))
            assert before <= now <= encoded(log) <= now + own * SHARD
            resumed += before > 0
            before = now
        np.testing.assert_array_equal(embed(root, log, n), whole)
        assert encoded(log) <= n + own * SHARD
        if kills == wanted:
            break
    assert resumed > 0.4 * wanted
    np.testing.assert_array_equal(embed(root, tmp_path / "none", n), whole)
    assert not (tmp_path / "none").exists()


def dies_at(step, half):
    """Make the process die before the given call of the system; with `half`, a write is cut short first."""
    calls = count()
    originals = {name: getattr(os, name) for name in ("open", "write", "fsync", "replace", "close")}

    def dying(name):
        def call(*arguments, **more):
            if next(calls) == step:
                if half and name == "write":
                    originals["write"](arguments[0], arguments[1][: len(arguments[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return originals[name](*arguments, **more)

        return call

    for name in originals:
        setattr(os, name, dying(name))


def embed_and_die(root, log, step, half):
    dies_at(step, half)
    embed(root, log, 3 * SHARD)


@pytest.mark.parametrize("half", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_killed_before_every_step_of_writing(tmp_path, half, full):
    whole = embed(tmp_path / "uninterrupted", tmp_path / "other log", 3 * SHARD)
    for step in count(0, 1 if full else 3):
        root, log = tmp_path / f"store{step}", tmp_path / f"log{step}"
        process = in_child(embed_and_die, root, log, step, half)
        process.join(120)
        if process.exitcode == 0:
            break
        assert process.exitcode == -signal.SIGKILL
        now = kept(root)
        assert encoded(log) - SHARD <= now <= encoded(log)
        np.testing.assert_array_equal(embed(root, log, 3 * SHARD), whole)
        assert encoded(log) <= 4 * SHARD
        assert all(not one.damaged for one in holdings(Store(root), verified=True))
    assert step >= 3 * 3  # three shards
