"""Keys and vectors that all differ, and a collection in an empty folder."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from xlingual.records import Encoded, digest
from xlingual.store import Store

DIM = 6


def keys_of(numbers):
    return [digest(str(number)) for number in numbers]


def vectors_of(numbers, dim=DIM):
    """Return vectors float32 [n, dim] that depend on nothing but the numbers."""
    numbers = np.asarray(list(numbers), dtype=np.float64)[:, None]
    return np.sin(numbers * np.arange(1, dim + 1) + 1).astype(np.float32)


def encoded_of(numbers, cut=None):
    return Encoded(vectors_of(numbers), cut)


def read_all(collection, numbers):
    return collection.read(collection.find(keys_of(numbers))).vectors


@pytest.fixture(scope="session")
def made():
    return SimpleNamespace(keys=keys_of, vectors=vectors_of, encoded=encoded_of, read=read_all, dim=DIM)


@pytest.fixture
def root(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def filled(root, made):
    """Give a store folder with 40 vectors of the encoder "a" in two shards."""
    collection = Store(root).collection("a")
    for start in (0, 20):
        collection.add(made.keys(range(start, start + 20)), made.encoded(range(start, start + 20)))
    return root
