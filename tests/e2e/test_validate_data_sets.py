"""`xlingual validate backretrieval` with several data sets: one table; what is finished is not done again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from xlingual.demo_data.scenes import write_scenes
from xlingual.evaluation.metric_validation import encoder_scores
from xlingual.evaluation.metric_validation import validate as validation
from xlingual.requests import read
from xlingual.requests.validating import ValidateDataSetsRequest

SHARED = ("--pair", "en-de", "--image-encoder", "img.npy", "--seeds", "2", "--threads", "1")
SETS = """
command = "validate backretrieval"
image-encoder = "img.npy"
pairs = "en-de"
seeds = 2
threads = 1
out = "out"

[sets.first]
manifest = "s"
text-encoder = ["v/*.{lang}.npy"]
both-directions = true

[sets."second one"]
manifest = "s"
rows = "0:90"
pairs = "en-es"
sample-size = 30
text-encoder = ["random", "chargram", "good=v/good.{lang}.npy", "bad=v/bad.{lang}.npy"]
"""


@pytest.fixture(autouse=True)
def _few_replicates(monkeypatch):
    monkeypatch.setattr(encoder_scores, "REPLICATES", 40)


@pytest.fixture
def encoders(work):
    """Write a third encoder; return the options that name all of them."""
    rng = np.random.default_rng(1)
    for language in ("en", "de", "es"):
        vectors = np.load(f"v/good.{language}.npy")
        np.save(f"v/mid.{language}.npy", vectors + 1.5 * rng.standard_normal(vectors.shape))
    return ("--text-encoder", "v/*.{lang}.npy")


@pytest.fixture
def counted(monkeypatch):
    """Return a list that grows with each validation that is computed."""
    done = []
    compute = validation.ValidationPass.run

    def run(self):
        done.append(self)
        return compute(self)

    monkeypatch.setattr(validation.ValidationPass, "run", run)
    return done


def table(folder="out"):
    return json.loads(Path(folder, "validation_table.json").read_text())


def names(content):
    return [(row["data_set"], f"{row['source']}-{row['target']}") for row in content["rows"]]


def test_manifests_share_options_and_finished_folders_are_joined(xlingual, encoders, counted):
    single = xlingual("validate", "bkr", "s", *SHARED, *encoders, "--out", "whole", "--quiet")
    assert (single.code, single.err.count("error")) == (0, 0)
    one = json.loads(Path("whole/validation.json").read_text())
    assert one["request"]["manifest"] == "s" and "sets" not in one["request"]
    assert not Path("whole/validation_table.json").exists()
    write_scenes("other", n=120, languages=("en", "de", "es"), seed=5)
    done = xlingual(
        *("validate", "bkr", "again=s", "other/manifest.parquet", "whole", *SHARED, *encoders),
        *("--out", "out", "--report", "--sample-size", "40"),
    )
    assert done.code == 0, done.err
    assert len(counted) == 3
    content = table()
    assert names(content) == [("again", "en-de"), ("other", "en-de"), ("whole", "en-de")]
    assert Path("out/again/validation.json").exists() and Path("out/report.html").exists()
    assert "whole is finished: read whole" in done.err
    assert content["request"]["sets"]["whole"] == one["request"]
    assert content["rows"][2]["agreement"] == one["pairs"][0]["agreement"]
    joined = xlingual("validate", "bkr", "out/again", "whole", "--json")
    assert joined.code == 0 and len(counted) == 3
    assert names(json.loads(joined.out)) == [("again", "en-de"), ("whole", "en-de")]
    assert xlingual("report", "out", "--out", "page.html").code == 0
    assert "Is BkR" in Path("page.html").read_text()


def test_a_file_lists_data_sets_and_what_is_finished_is_read(xlingual, encoders, counted, work):
    Path("sets.toml").write_text(SETS)
    done = xlingual("run", "sets.toml")
    assert done.code == 0, done.err
    assert len(counted) == 2
    first = table()
    assert names(first) == [("first", "en-de"), ("first", "de-en"), ("second one", "en-es")]
    assert [row["n_encoders"] for row in first["rows"]] == [3, 3, 4]
    assert [row["n_source"] for row in first["rows"]] == [60, 60, 30]
    assert "Pearson BkR" in done.out and "second one" in done.out

    kept = Path("out/first/validation.json")
    content = json.loads(kept.read_text())
    del content["request"]["texts_per_item"]  # as of a version that had no such option
    kept.write_text(json.dumps(content))
    again = xlingual("run", "sets.toml")
    assert again.code == 0 and len(counted) == 2
    assert "first is finished: read out/first" in again.err
    second = table()
    assert second["rows"] == first["rows"] and second["mean"] == first["mean"]

    Path("sets.toml").write_text(SETS.replace("sample-size = 30", "sample-size = 35"))
    changed = xlingual("run", "sets.toml")
    assert len(counted) == 3 and "second one: sample-size has changed, computed again" in changed.err
    os.utime("v/good.en.npy", (2e9, 2e9))
    newer = xlingual("run", "sets.toml")
    assert len(counted) == 5 and "good.en.npy is newer, computed again" in newer.err


def test_an_interrupted_run_keeps_what_is_finished(xlingual, encoders, counted, work):
    broken = SETS.replace("good=v/good.{lang}.npy", "good=v/gone.{lang}.npy")
    Path("sets.toml").write_text(broken)
    assert xlingual("run", "sets.toml").code == 2
    assert len(counted) == 1 and Path("out/first/validation.json").exists()
    assert not Path("out/validation_table.json").exists()
    Path("sets.toml").write_text(SETS)
    assert xlingual("run", "sets.toml").code == 0 and len(counted) == 2


def test_what_the_table_keeps_can_be_run_again(xlingual, encoders, counted, work):
    Path("sets.toml").write_text(SETS)
    xlingual("run", "sets.toml", "--")
    first = table()
    lines = [f'command = "{first["request"]["command"]}"', 'out = "again"']
    for name, own in first["request"]["sets"].items():
        lines += [f'[sets."{name}"]', *(f"{key} = {json.dumps(value)}" for key, value in own.items())]
    Path("again.toml").write_text("\n".join(lines))
    done = xlingual("run", "again.toml")
    assert done.code == 0, done.err
    assert table("again")["rows"] == first["rows"]


FORMS = {
    "markdown": ("| data set | direction | Pearson BkR |", "**", "| mean |"),
    "latex": (r"\begin{tabular}{llrrrrrr}", r"\textbf{", r"en $\to$ de"),
    "csv": ("data set,source,target,N,", "pearson BkR se", "\nmean,"),
    "json": ('"schema": "xlingual/validation_table/1"',),
}


def test_the_table_in_every_form(xlingual, encoders, work):
    for name, size in (("a", 20), ("b", 25)):
        xlingual("validate", "bkr", "s", *SHARED, *encoders, "--sample-size", size, "--out", name, "--quiet")
    for form, words in FORMS.items():
        shown = xlingual("validate", "bkr", "a", "b", "--format", form)
        assert shown.code == 0, shown.err
        assert all(word in shown.out for word in words), form


def test_options_that_a_finished_validation_has_no_use_for_are_refused(xlingual, encoders, work):
    three = ("--text-encoder", "random", *encoders)
    xlingual("validate", "bkr", "s", *SHARED, *three, "--sample-size", 20, "--out", "a", "--quiet")
    for options in (("--seeds", "3"), ("--preset", "paper")):
        done = xlingual("validate", "bkr", "a", *options)
        assert done.code == 2 and done.err.startswith(f"error: {options[0]} changes nothing here"), done.err
        assert done.err.count("\n") == 1
    Path("sets.toml").write_text('command = "validate backretrieval"\n[sets.x]\nmanifest = "a"\nseeds = 3\n')
    done = xlingual("run", "sets.toml")
    assert done.code == 2 and "[sets.x]: seeds changes nothing" in done.err
    done = xlingual("validate", "bkr", "a", "--out", "a", "--report")
    assert done.code == 2 and "--out a holds a validation" in done.err
    done = xlingual("validate", "bkr", "a", "--out", "table", "--report", "--format", "csv")
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            ("sample-size = 30", "sampel-size = 30"),
            "[sets.second one]: unknown option 'sampel-size'. Did you",
        ),
        (('[sets.first]\nmanifest = "s"', "[sets.first]"), "[sets.first]: manifest is missing"),
        (('[sets.first]\nmanifest = "s"', '[sets.first]\nmanifest = "t"'), "first: t does not exist"),
        (("[sets.first]", '[sets.first]\nformat = "csv"'), "form is of the whole table: write it above"),
        (("[sets.first]", '[sets."../first"]'), "name a data set once, with letters"),
        (('image-encoder = "img.npy"\n', ""), "[sets.first]: image_encoder is missing"),
        (('pairs = "en-de"\nseeds = 2', "measure = 'MedR'"), "takes R@k"),
    ],
)
def test_mistakes_in_a_file_name_the_data_set(xlingual, encoders, counted, work, change, text):
    Path("sets.toml").write_text(SETS.replace(*change))
    done = xlingual("run", "sets.toml")
    assert (done.code, done.out, counted) == (2, "", [])
    assert text in done.err and "Traceback" not in done.err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), "MANIFEST is missing: name a manifest, or folders of finished validations"),
        (("s", *SHARED), "--text-encoder is missing"),
        (("s", "--text-encoder", "random"), "--image-encoder is missing"),
        (("s", "s", *SHARED), "two data sets are called 's': name them, as in other=s"),
        (("s", "v/bad.en.npy", *SHARED, "--text-encoder", "random"), "put quotes around the pattern"),
        (("s", "gone", *SHARED, "--text-encoder", "random"), "gone: gone does not exist"),
    ],
)
def test_mistakes_on_the_command_line_are_one_line(xlingual, work, arguments, text):
    done = xlingual("validate", "backretrieval", *arguments)
    assert done.code == 2 and text in done.err and done.err.count("\n") == 1


def test_fixed_samples_of_a_data_set_replace_the_shared_ones(xlingual, encoders, counted, work):
    halves = np.arange(120, dtype=np.int32).reshape(1, 2, 60)
    np.savez("splits.npz", S=halves[:, 0], T=halves[:, 1])
    own = 'splits = "splits.npz"\nboth-directions = true'
    Path("sets.toml").write_text(SETS.replace("both-directions = true", own))
    done = xlingual("run", "sets.toml")
    assert done.code == 0, done.err
    assert "rows differ in seeds: 1 for first en-de, first de-en; 2 for second one en-es" in " ".join(
        table()["warnings"]
    )


def test_a_preset_holds_for_all_data_sets_or_for_one():
    common = {"text-encoder": ["random"], "image-encoder": "pixels"}
    sets = {"a": {"manifest": "a"}, "b": {"manifest": "b", "sample-size": 9, "preset": "paper"}}
    for more in ({}, {"preset": "paper"}):
        request = read(ValidateDataSetsRequest, common | more | {"sets": sets}, "file")
        a, b = (request.of_one(options).sampling for options in request.data_sets().values())
        assert (a.sample_size, a.texts_per_item) == ((10_000, 1) if more else (None, "all"))
        assert (b.sample_size, b.texts_per_item, b.seeds) == (9, 1, 25)


def test_what_is_given_beside_a_preset_wins_even_where_it_is_the_default():
    common = {"text-encoder": ["random"], "image-encoder": "pixels", "preset": "paper"}
    given = common | {"manifest": "a", "texts-per-item": "all"}
    for more in ({}, {"further": ["b"]}):
        request = read(ValidateDataSetsRequest, given | more, "file")
        for options in request.data_sets().values():
            sampling = request.of_one(options).sampling
            assert (sampling.texts_per_item, sampling.sample_size, sampling.seeds) == ("all", 10_000, 25)


def test_splits_beside_a_preset_leave_samples_to_the_file():
    common = {"text-encoder": ["random"], "image-encoder": "pixels", "preset": "paper"}
    request = read(ValidateDataSetsRequest, common | {"manifest": "a", "splits": "s.npz"}, "file")
    (sampling,) = (request.of_one(options).sampling for options in request.data_sets().values())
    assert (sampling.sample_size, sampling.or_fewer, sampling.texts_per_item) == (None, False, 1)


def test_the_schema_names_data_sets_and_requires_nothing(xlingual):
    schema = json.loads(xlingual("run", "--schema", "validate bkr").out)
    assert schema["properties"]["sets"]["type"] == "object"
    assert schema["required"] == ["command"]
