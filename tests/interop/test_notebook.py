"""What a real notebook shows: IPython's own formatter takes HTML of every object."""

import numpy as np
import pytest

formatters = pytest.importorskip("IPython.core.formatters")

from xlingual import (  # noqa: E402
    Manifest,
    MultilingualPool,
    backretrieval,
    compare,
    gate,
    multilingual_pool,
    plan,
    validate_backretrieval,
    write_scenes,
)
from xlingual.data.pools.pool import Candidates, Questions  # noqa: E402

ENCODERS = ["chargram", "random:?dim=64", "r8=random:?dim=8"]
OPTIONS = {"text_encoders": ENCODERS, "image_encoder": "pixels", "store": None}


def shown(thing):
    """Return what a notebook is sent, by media type; formatters that fail are errors."""
    display = formatters.DisplayFormatter()
    for formatter in display.formatters.values():
        formatter.enabled = True
    data, _ = display.format(thing)
    return data


@pytest.fixture(scope="module")
def manifest(tmp_path_factory):
    path = write_scenes(tmp_path_factory.mktemp("scenes"), n=90, languages=["en", "de", "fr"], seed=0)
    return Manifest.read(path)


@pytest.fixture(scope="module")
def results(manifest):
    return backretrieval(manifest, **OPTIONS)


@pytest.fixture(scope="module")
def pool():
    n = 30
    part = {"ids": [f"i{i}" for i in range(n)], "language": np.arange(n) % 2}
    questions = Questions(**part, text=[f"q {i}" for i in range(n)], key=part["ids"], cluster=np.arange(n))
    keys = [(one,) for one in part["ids"]]
    answers = Candidates(
        **part, text=[f"a {i}" for i in range(n)], context=[""] * n, keys=keys, cluster=np.arange(n)
    )
    return MultilingualPool("a test", ("en", "de"), questions, answers, (), ())


def of_each_kind(manifest, results, pool):
    yield "Manifest", manifest, "90 items"
    yield "MultilingualPool", pool, "30 questions and 30 candidates in 2 languages"
    yield "Results", results, "R@10"
    yield "Results of a pool", multilingual_pool(pool, text_encoders=ENCODERS, store=None), "AP"
    yield "Comparison", compare(results), "chargram"
    yield "Gate", gate(results.only("random"), results.only("r8"), margin=0.2), "r8"
    yield "Plan", plan(results, effect=0.05), "queries"
    yield "Validation", validate_backretrieval(manifest, seeds=2, **OPTIONS), "XLR"


@pytest.mark.filterwarnings("ignore")
def test_a_notebook_is_sent_the_blocks_of_the_report(manifest, results, pool):
    for kind, thing, words in of_each_kind(manifest, results, pool):
        data = shown(thing)
        html = data.get("text/html", "")
        assert words in html and '<div class="xlingual">' in html, kind
        assert "prefers-color-scheme: dark" in html and "&amp; {" not in html, kind  # colours of both modes
        assert "<script" not in html and "http://" not in html, kind
        assert data["text/plain"], kind
