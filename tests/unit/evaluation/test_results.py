"""Results on disk: what is written is read back, atomically, and nothing else is taken for it."""

import json
from dataclasses import replace
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from msgspec import structs

from xlingual.data.manifest import Manifest
from xlingual.errors import InputError
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.files import atomic_file
from xlingual.results import Results

shared = SimpleNamespace(**run_path(str(Path(__file__).with_name("cases.py"))))
KEYS = {
    *("task", "source", "target", "encoder", "image_encoder", "measure", "value", "ci", "chance", "oracle"),
    *("ceiling", "normalized", "n_source", "n_target", "n_tied", "seed", "signature"),
}


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(2)
    manifest = Manifest.of([{"id": f"{i}", "text_en": f"e{i}", "text_de": f"d{i}"} for i in range(24)])
    texts = {name: rng.standard_normal((48, 4)).astype(np.float32) for name in ("a", "b")}
    case = shared.Case(manifest, texts, rng.standard_normal((24, 4)).astype(np.float32)[manifest.item])
    encoders = case.encoders()
    encoders["b"].trained_on_images = True
    return backretrieval(
        manifest,
        text_encoders=encoders,
        image_encoder=case.image_encoder,
        measures=["R@3", "MedR"],
        seeds=2,
    )


def test_what_is_written_is_read_back(results, tmp_path):
    results.write(tmp_path / "new" / "folder")
    read = Results.read(tmp_path / "new" / "folder")
    assert read.entries == results.entries
    assert read.summary == results.summary
    assert read.warnings == results.warnings
    assert read.encoders == results.encoders == {"b": {"trained_on_images": True}}
    assert read.timings == results.timings
    assert read.per_query.to_pylist() == results.per_query.to_pylist()
    assert read.examples.to_pylist() == results.examples.to_pylist()
    read.write(tmp_path / "again")
    first = (tmp_path / "new" / "folder" / "results.json").read_bytes()
    assert (tmp_path / "again" / "results.json").read_bytes() == first


def test_the_keys_of_an_entry(results, tmp_path):
    results.write(tmp_path)
    content = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert content["schema"] == "xlingual/results/1"
    assert len(content["results"]) == 2 * 2 * 3 * 2  # encoders, pairs, measures, seeds
    for entry in content["results"]:
        assert KEYS <= set(entry) <= KEYS | {"note", "views"}
        assert set(entry["ci"]) == {"low", "high", "level", "method"}
        assert entry["ci"]["low"] <= entry["value"] <= entry["ci"]["high"]
    further = {"warnings", "diagnostics", "truncated", "dropped", "encoders", "costs", "timings", "files"}
    further |= {"request", "provenance", "run"}
    assert set(content) == {"schema", "results", "summary", *further}
    assert all(isinstance(seconds, float) for seconds in content["timings"].values())


def test_keys_of_a_later_version_are_passed_over(results, tmp_path):
    results.write(tmp_path)
    path = tmp_path / "results.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    for row in content["results"] + content["summary"]:
        row["later"] = 1
    path.write_text(json.dumps(content), encoding="utf-8")
    assert Results.read(tmp_path).entries == results.entries


def test_results_without_examples_leave_no_old_ones(results, tmp_path):
    results.write(tmp_path)
    replace(results, examples=None).write(tmp_path)
    assert not (tmp_path / "examples.parquet").exists()
    assert Results.read(tmp_path).examples is None


def test_nan_is_refused_and_the_old_file_stays(results, tmp_path):
    results.write(tmp_path)
    before = (tmp_path / "results.json").read_bytes()
    broken = replace(results, entries=[structs.replace(results.entries[0], value=float("nan"))])
    with pytest.raises(ValueError, match="not JSON compliant"):
        broken.write(tmp_path)
    assert (tmp_path / "results.json").read_bytes() == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_crash_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "file"
    path.write_text("old", encoding="utf-8")

    def write_half():
        with atomic_file(path) as temporary:
            temporary.write_text("half", encoding="utf-8")
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        write_half()
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]
    with atomic_file(path) as temporary:
        temporary.write_text("new", encoding="utf-8")
    assert path.read_text(encoding="utf-8") == "new"
    assert list(tmp_path.iterdir()) == [path]


def change(folder, **changes):
    path = folder / "results.json"
    content = json.loads(path.read_text(encoding="utf-8")) | changes
    if content["files"] is None:
        del content["files"]
    path.write_text(json.dumps(content), encoding="utf-8")


def test_the_leading_encoder_is_ahead_on_the_same_queries(results):
    table = results.per_query.to_pylist()
    for measure in ("R@3", "SIM"):
        rows = [s for s in results.summary if s.source is None and s.measure == measure]
        leader = max(rows, key=lambda row: row.value)
        (other,) = (row for row in rows if row is not leader)
        assert leader.behind is None
        assert other.behind.leader == leader.encoder
        assert other.behind.value == pytest.approx(leader.value - other.value)
        assert other.behind.ci.low <= other.behind.value <= other.behind.ci.high
        mean = [
            np.mean([r["value"] for r in table if r["encoder"] == row.encoder and r["measure"] == measure])
            for row in (leader, other)
        ]
        assert mean == pytest.approx([leader.value, other.value])
    assert all(row.behind is None for row in results.summary if row.measure == "MedR")


def test_a_frame_has_a_row_for_each_number(results):
    frame = results.to_pandas()
    assert len(frame) == len(results.entries)
    assert (frame["ci_low"] <= frame["value"]).all()


@pytest.mark.parametrize("name", ["per_query.parquet", "examples.parquet"])
def test_a_damaged_table_is_named(results, tmp_path, name):
    results.write(tmp_path)
    (tmp_path / name).write_bytes(b"PAR1 and nothing else")
    with pytest.raises(InputError, match=name):
        Results.read(tmp_path)


def test_keys_of_a_later_version_inside_an_interval_are_passed_over(results, tmp_path):
    results.write(tmp_path)
    path = tmp_path / "results.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    for row in content["results"]:
        row["ci"]["later"] = 1
    path.write_text(json.dumps(content), encoding="utf-8")
    assert Results.read(tmp_path).entries == results.entries
