"""What a pass does to the libraries of linear algebra."""

import sys
from importlib import import_module

import numpy as np
from threadpoolctl import ThreadpoolController, threadpool_info

from xlingual.ranking import Cosine, Counts, UnitVectors, one_library_thread, reference, scan

scan_module = import_module("xlingual.ranking.scan")


def threads():
    assert np.ones(2) @ np.ones(2) == 2  # a library is loaded
    return {one["filepath"]: one["num_threads"] for one in threadpool_info()}


def test_libraries_have_one_thread_within_and_as_many_as_before_after():
    before = threads()
    with one_library_thread():
        assert before and set(threads().values()) == {1}
        with one_library_thread():
            assert set(threads().values()) == {1}
        assert set(threads().values()) == {1}
    assert threads() == before


def test_libraries_are_looked_for_again_only_when_a_module_was_loaded(monkeypatch):
    made = []
    monkeypatch.setattr(scan_module, "ThreadpoolController", lambda: made.append(1) or ThreadpoolController())
    scan_module._libraries.cache_clear()
    for _ in range(3):
        with one_library_thread():
            pass
    assert len(made) == 1
    monkeypatch.setitem(sys.modules, "a_module_more", scan_module)
    with one_library_thread():
        pass
    assert len(made) == 2


class FourMembers:
    """A similarity of one's own, with no way to decide a block at once."""

    def __init__(self, inner):
        self._inner, self.shape, self.band = inner, inner.shape, inner.band

    def tile(self, rows, columns, out):
        return self._inner.tile(rows, columns, out)

    def exact(self, queries, candidates):
        return self._inner.exact(queries, candidates)


def test_a_similarity_of_four_members_ranks_many_ties():
    rng = np.random.default_rng(4)
    left, right = (1 + 1e-4 * rng.standard_normal((60, 8)) for _ in range(2))
    similarity = Cosine(UnitVectors(left), UnitVectors(right))
    own = np.arange(60)
    wanted, found = (Counts.of(each, own, own) for each in (similarity, FourMembers(similarity)))
    scan(similarity, [wanted])
    scan(FourMembers(similarity), [found])
    np.testing.assert_array_equal(found.above, wanted.above)
    np.testing.assert_array_equal(found.tied, wanted.tied)
    above, tied = reference.counts(reference.keys(left, right), own, own)
    np.testing.assert_array_equal(found.above, above)
    np.testing.assert_array_equal(found.tied, tied)
