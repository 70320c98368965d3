"""Few queries among all candidates: each has the value that it has when all are asked."""

from dataclasses import replace
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec import structs

from xlingual.data.samples import Sampler
from xlingual.errors import InputError
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.ranking import Cpu

HERE = Path(__file__).parent
shared = SimpleNamespace(**run_path(str(HERE.parent / "unit" / "evaluation" / "cases.py")))
cases, oracle, MEASURES = shared.cases, shared.oracle, shared.MEASURES

pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")  # zero vectors are meant
slowly = settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
LABELS = ("encoder", "source", "target", "measure", "seed", "query")


def ran(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except InputError as error:
        assume("distinct source images" not in str(error) and "non-matching sample" not in str(error))
        assume("more than" not in str(error))
        raise


def both(case, function, queries, **options):
    """Return the results with all queries, and with few."""
    given = {"text_encoders": case.encoders(), "measures": MEASURES, "pairs": "en:de,de:en", **options}
    if function is backretrieval:
        given |= {"image_encoder": case.image_encoder, "examples": False}
    return [ran(function, case.manifest, queries=number, **given) for number in (None, queries)]


def lines(results):
    return {tuple(row[label] for label in LABELS): row for row in results.per_query.to_pylist()}


def assert_part(whole, part):
    """Assert that every line of the part is one of the whole; values may be summed in another order."""
    whole, part = lines(whole), lines(part)
    for key, line in part.items():
        assert line == whole[key] | {"value": pytest.approx(whole[key]["value"], rel=0, abs=1e-12)}
    return len(part), len(whole)


@slowly
@given(cases(), st.integers(1, 6), st.sampled_from([{}, {"sample": 5, "seeds": 2, "seed": 3}]))
@pytest.mark.parametrize("function", [backretrieval, crosslingual_retrieval])
@pytest.mark.cases(1)
def test_each_query_has_the_value_it_has_among_all(function, case, queries, options):
    whole, part = both(case, function, queries, **options)
    count, of = assert_part(whole, part)
    assert 0 < count <= of
    for entry in part.entries:
        assert entry.n_source == min(queries, case_size(whole, entry))


def case_size(results, entry):
    names = ("encoder", "source", "target", "measure", "seed")
    return next(e.n_source for e in results.entries if all(getattr(e, n) == getattr(entry, n) for n in names))


@slowly
@given(cases(kinds=("plain",)), st.integers(1, 5))
def test_an_encoder_that_sees_the_images_is_the_oracle(case, queries):
    case.texts["plain"] = case.images
    _, part = both(case, backretrieval, queries)
    for entry in part.entries:
        assert entry.value == pytest.approx(entry.oracle, rel=0, abs=1e-9)


@slowly
@given(cases(kinds=("integers", "few")), st.integers(1, 5))
def test_threads_and_tiles_change_nothing(case, queries):
    _, part = both(case, backretrieval, queries)
    _, other = both(case, backretrieval, queries, ranker=Cpu(2))
    assert [structs.replace(e, signature="") for e in part.entries] == [
        structs.replace(e, signature="") for e in other.entries
    ]
    assert part.per_query.equals(other.per_query)


@slowly
@given(cases(kinds=("integers", "plain")), st.integers(1, 5))
def test_values_equal_the_definition(case, queries):
    """The definition written out for all queries, of which those that are asked are taken."""
    _, part = both(case, backretrieval, queries)
    found = lines(part)
    for entry in part.entries:
        (sample,) = Sampler(case.manifest, queries=queries).non_matching(entry.source, entry.target)
        whole = replace(sample, source=sample.pool)
        values, best, _, chance = case.backretrieval(entry.measure, entry.encoder, whole)
        asked = np.flatnonzero(np.isin(sample.pool, sample.source))
        labels = (entry.encoder, entry.source, entry.target, entry.measure, entry.seed)
        for place in asked:
            line = found[(*labels, case.manifest.ids[sample.pool[place]])]
            assert line["value"] == pytest.approx(values[place], rel=0, abs=1e-9)
        mean = oracle.aggregate(entry.measure, [best[place] for place in asked])
        assert entry.oracle == pytest.approx(mean, rel=0, abs=1e-9)
        if sample.is_part and entry.measure.startswith("R@"):
            images = len(set(case.image_keys(sample.pool)))
            assert entry.chance == pytest.approx(int(entry.measure[2:]) / images)
            assert entry.ceiling is None
        elif not sample.is_part:
            assert entry.chance == pytest.approx(chance, abs=3e-9)
