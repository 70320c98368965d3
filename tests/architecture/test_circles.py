"""No modules, and no folders beside each other, import each other in a circle, wherever the imports stand."""

from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from itertools import takewhile

import grimp
import pytest


def circles(imports):
    """Return circles in {importer: imported ones}: as many as must be broken so that none is left."""
    imports = {importer: set(imported) for importer, imported in imports.items()}
    found = []
    while True:
        try:
            TopologicalSorter(imports).prepare()
        except CycleError as error:
            first, second, *_ = circle = error.args[1]
            found.append(" ← ".join(circle))
            imports[second].remove(first)
        else:
            return found


def beside(imports):
    """Return the imports of the folders and files of each package from each other, by package."""
    found = defaultdict(lambda: defaultdict(set))
    for importer, imported in ((one, other) for one, others in imports.items() for other in others):
        one, other = importer.split("."), imported.split(".")
        depth = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
        if depth < min(len(one), len(other)):  # else one is the other's package
            found[".".join(one[:depth])][".".join(one[: depth + 1])].add(".".join(other[: depth + 1]))
    return found


@pytest.fixture(scope="module")
def imports():
    graph = grimp.build_graph("xlingual", cache_dir=None)  # also inside functions, and for type checking
    known = {(one, other) for one in graph.modules for other in graph.find_modules_directly_imported_by(one)}
    found = defaultdict(set)
    for one, other in known:
        found[one].add(other)
    return found


def test_circles_are_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert len(circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "x": {"y"}, "y": {"x"}})) == 2
    through = {"p.one.a": {"p.two.b"}, "p.two.c": {"p.one.d"}, "p.one": {"p.one.a"}, "p.one.a.z": {"p.one"}}
    assert circles(through) == []
    assert beside(through) == {"p": {"p.one": {"p.two"}, "p.two": {"p.one"}}}
    assert len(circles(beside(through)["p"])) == 1


def test_no_circle_between_modules(imports):
    assert circles(imports) == []


def test_no_circle_between_folders_and_files_beside_each_other(imports):
    assert {package: found for package, each in beside(imports).items() if (found := circles(each))} == {}
