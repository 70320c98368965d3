"""The store, embedding, suites and samples: what is done once, and what goes on where it stopped."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.behaviour.planted import evaluate, images, manifest, noisy, numbers, pool, pool_vectors, run_file
from tests.program import answer, command

N = 60
COUNTING = """
import hashlib
from pathlib import Path
import numpy as np

LOG = Path(__file__).with_name("calls.txt")


def encode(texts):
    with LOG.open("a") as log:
        log.write("".join(f"{text}\\n" for text in texts))
    seeds = [int(hashlib.sha256(text[3:].encode()).hexdigest()[:8], 16) for text in texts]
    return np.stack([np.random.default_rng(seed).normal(size=12) for seed in seeds]).astype(np.float32)
"""


@pytest.fixture
def counting(tmp_path):
    """Return a function that evaluates with an encoder, and one for the texts that it was asked for."""
    (tmp_path / "counting.py").write_text(COUNTING)
    data = manifest(tmp_path, N)

    def run(code=0, file=data, **options):
        spec = f"own=python:{tmp_path}/counting.py:encode?revision=1"
        given = {"text_encoder": spec, "store": tmp_path / "store", "measure": "R@1", "threads": 1}
        return answer("evaluate xlr", file, code=code, **given, **options)

    def asked():
        log = tmp_path / "calls.txt"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return lines

    return run, asked


def test_each_text_is_encoded_once(counting, tmp_path):
    run, asked = counting
    first = run()
    assert sorted(asked()) == sorted(f"{tag} text {i}" for tag in ("de", "en") for i in range(N))
    second = run()
    assert asked() == [] and first["results"] == second["results"]
    more = manifest(tmp_path / "more", N + 5)
    run(file=more)
    assert sorted(asked()) == sorted(f"{tag} text {i}" for tag in ("de", "en") for i in range(N, N + 5))
    assert set(numbers(first, "R@1").values()) == {1.0}


def test_the_store_is_listed_verified_and_cleaned(counting, tmp_path):
    run, asked = counting
    first = run()
    asked()
    store = tmp_path / "store"
    outcome = command("store", "verify", "--store", store)
    assert outcome.code == 0, outcome.err
    assert "counting" in command("store", "list", "--store", store).out
    shards = [path for path in store.rglob("*") if path.is_file() and path.stat().st_size > 1000]
    content = bytearray(shards[0].read_bytes())
    content[-20] ^= 0xFF
    shards[0].write_bytes(bytes(content))
    assert command("store", "verify", "--store", store).code == 1
    assert run()["results"] == first["results"]  # what is broken is computed again


def test_embedded_files_give_the_same_numbers(counting, tmp_path):
    run, _ = counting
    first = run()
    code, _, err = command(
        *(
            "embed",
            tmp_path / "data.jsonl",
            "--text-encoder",
            f"own=python:{tmp_path}/counting.py:encode?revision=1",
        ),
        *("--out", tmp_path / "vectors", "--store", tmp_path / "store", "--quiet"),
    )
    assert code == 0, err
    (file,) = [path for path in (tmp_path / "vectors").iterdir() if "de" in path.name]
    spec = f"own=vectors:{str(file).replace('.de.', '.{lang}.')}"
    again = evaluate("xlr", tmp_path / "data.jsonl", [spec], measure="R@1")
    assert numbers(again, "R@1") == numbers(first, "R@1")


# ------------------------------------------------------------------------------------------------ suites
SUITE = """
title = "Planted"
[options]
threads = 1
examples = false
[encoders]
good = "{folder}/good.{{lang}}.npy"
bad = "{folder}/bad.{{lang}}.npy"
old = "{folder}/old.{{lang}}.npy"
[data.shop]
manifest = "data.jsonl"
image-encoder = "images.npy"
pairs = "de-en"
[tasks.bkr]
[tasks.xlr]
measure = ["{measure}"]
[gates.new]
tasks = ["xlr"]
candidate = "{candidate}"
baseline = "old"
margin = 0.01
"""


@pytest.fixture
def suite(tmp_path):
    manifest(tmp_path, N)
    for name, noise in (("good", 0.5), ("bad", 4.0), ("old", 1.5)):
        noisy(tmp_path, name, N, noise, seed=len(name))
    images(tmp_path, np.random.default_rng(0).normal(size=(N, 6)))

    def run(candidate="good", measure="R@1"):
        text = SUITE.format(folder=tmp_path, candidate=candidate, measure=measure)
        (tmp_path / "suite.toml").write_text(text)
        outcome = command("run", tmp_path / "suite.toml", "--out", tmp_path / "out")
        assert outcome.code in (0, 1), outcome.err
        lines = [line for line in outcome.err.splitlines() if ": computed" in line]
        computed = [line.split(": ")[0].split()[-1] for line in lines]
        return outcome.code, computed

    return run


def test_a_suite_computes_only_what_changed(suite, tmp_path):
    code, computed = suite()
    assert code == 0 and computed == ["shop/bkr", "shop/xlr", "shop/xlr/gates/new"]
    assert suite() == (0, [])
    code, computed = suite(candidate="bad")
    assert code == 1 and computed == ["shop/xlr/gates/new"]
    code, computed = suite(measure="R@2")
    assert code == 0 and "shop/bkr" not in computed and "shop/xlr" in computed
    noisy(tmp_path, "bad", N, 3.0, seed=9)
    code, computed = suite(measure="R@2")
    assert {"shop/bkr", "shop/xlr"} <= {*computed}


def test_a_suite_has_the_numbers_of_its_commands(suite, tmp_path):
    suite()
    found = json.loads((tmp_path / "out" / "shop" / "xlr" / "results.json").read_text())
    specs = [f"{name}=vectors:{tmp_path}/{name}.{{lang}}.npy" for name in ("good", "bad", "old")]
    alone = evaluate("xlr", tmp_path / "data.jsonl", specs, pairs="de-en", measure="R@1")
    assert numbers(found, "R@1") == numbers(alone, "R@1")
    assert (tmp_path / "out" / "index.html").is_file()


# ----------------------------------------------------------------------------------------- search engines
def test_what_an_engine_answers_for_a_sample_is_evaluated_as_vectors_are(tmp_path):
    """A run in the order of the vectors gives the numbers of the vectors, of Backretrieval too."""
    data = manifest(tmp_path, N)
    shown = images(tmp_path, np.random.default_rng(1).normal(size=(N, 5)))
    spec = noisy(tmp_path, "dense", N, 1.5)
    given = {"pairs": "de-en", "seed": 3, "measure": "R@5", "image_encoder": shown}
    dense = evaluate("bkr", data, [spec], **given)
    code, _, err = command(
        *("data", "sample", data, "--pairs", "de-en", "--seed", 3, "--out", tmp_path / "sample", "--quiet")
    )
    assert code == 0, err
    drawn = tmp_path / "sample" / "de-en"
    queries, targets = (
        [json.loads(line) for line in (drawn / f"{name}.jsonl").read_text().splitlines()]
        for name in ("queries", "targets")
    )
    assert not {one["id"].split("-")[-1] for one in queries} & {one["id"].split("-")[-1] for one in targets}
    sides = {tag: np.load(tmp_path / f"dense.{tag}.npy").astype(float) for tag in ("de", "en")}
    unit = {tag: v / np.linalg.norm(v, axis=1, keepdims=True) for tag, v in sides.items()}
    item = [int(one["id"].split("-")[-1]) for one in targets]
    lists = {}
    for query in queries:
        scores = unit["en"][item] @ unit["de"][int(query["id"].split("-")[-1])]
        lists[query["id"]] = [targets[j]["id"] for j in np.argsort(-scores)]
    run = run_file(tmp_path / "engine.trec", lists)
    engine = evaluate("bkr", data, [], run=[f"dense={run}"], **given)
    assert numbers(engine, "R@5") == pytest.approx(numbers(dense, "R@5"))


def test_trec_files_give_back_the_numbers(tmp_path):
    data, spec = manifest(tmp_path, N), noisy(tmp_path, "dense", N, 1.5)
    given = {"pairs": "de-en", "measure": ["R@1", "R@5"]}
    dense = evaluate("xlr", data, [spec], trec=tmp_path / "trec", trec_depth="all", **given)
    (run,) = (tmp_path / "trec").rglob("*.run")
    again = evaluate("xlr", data, [], run=[f"dense={run}"], **given)
    for measure in ("R@1", "R@5"):
        assert numbers(again, measure) == pytest.approx(numbers(dense, measure))


def test_the_records_of_queries_are_a_table(tmp_path):
    folder = pool(tmp_path / "pool", 8)
    eye = np.eye(8)
    spec = pool_vectors(folder, "x", dict.fromkeys(("de", "en"), eye), dict.fromkeys(("de", "en"), eye))
    evaluate("lareqa", folder, [spec], out=tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "per_query.parquet").to_pylist()
    assert len(table) == 16 and {row["value"] for row in table} == {1.0}
