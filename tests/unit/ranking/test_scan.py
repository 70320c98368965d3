"""What a pass does to the libraries of linear algebra."""

import sys
from importlib import import_module

import numpy as np
from threadpoolctl import ThreadpoolController, threadpool_info

from xlingual.ranking import one_library_thread

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
