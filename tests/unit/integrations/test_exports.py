"""Results for other programs: MTEB's files, model cards, trackers."""

import csv
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual import Manifest, backretrieval, image_sentence, multilingual_pool, write_scenes
from xlingual.cli.main import run
from xlingual.data.language_codes import language_code
from xlingual.data.pools.mix import mix_pool
from xlingual.errors import DataWarning, InputError, MissingExtraError
from xlingual.integrations.found import metric_name, parts_of
from xlingual.integrations.model_index import model_index, with_model_index, write_model_index
from xlingual.integrations.mteb_results import mteb_results, write_mteb_results
from xlingual.integrations.tracking import log_results, numbers_of
from xlingual.training import trackers

CARD = """---
# who may use it
license: apache-2.0
tags: [sentence-transformers,   de]   # kept as it is
model-index:
- name: mine
  results:
  - task: {type: retrieval}
    dataset: {type: other, name: Other}
    metrics:
    - {type: ndcg, value: 0.5}
# languages
language:
  - en
---

# A model
---
text: stays
"""


@pytest.fixture(scope="module")
def manifest(tmp_path_factory):
    path = write_scenes(tmp_path_factory.mktemp("scenes") / "data", n=40, languages=["en", "de"], seed=3)
    return Manifest.read(path)


@pytest.fixture(scope="module")
def results(manifest):
    return backretrieval(
        manifest,
        text_encoders={"one": "chargram", "two": "random:?dim=8"},
        image_encoder="pixels",
        measures=["RR", "R@10"],
        store=None,
    )


@pytest.fixture(scope="module")
def folder(results, tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    results.write(folder)
    return folder


def value(results, encoder, measure, source=None, target=None):
    (found,) = (
        line
        for line in results.summary
        if (line.encoder, line.measure, line.source, line.target) == (encoder, measure, source, target)
    )
    return found


def test_names_of_measures_and_languages_are_those_of_mteb():
    assert [metric_name(name) for name in ("RR@10", "P@5", "Success@1%", "MedR/floor", "WeakAlignment")] == [
        *("mrr_at_10", "precision_at_5", "hit_rate_at_1_percent", "median_rank_floor", "weak_alignment")
    ]
    tags = {"en": "eng-Latn", "zh": "zho-Hans", "sr-latn": "srp-Latn", "arz": "arz-Arab", "tlh": "tlh-Zyyy"}
    assert {tag: language_code(tag) for tag in tags} == tags


def test_mteb_has_a_subset_for_each_pair(results):
    found = mteb_results(results, "two", name="shop")
    assert list(found) == ["Backretrieval-shop"]
    scores = found["Backretrieval-shop"]["scores"]["test"]
    assert [one["hf_subset"] for one in scores] == ["en-de", "de-en"]
    line = value(results, "two", "RR", "de", "en")
    assert scores[1]["main_score"] == scores[1]["mrr"] == line.value
    assert (scores[1]["mrr_low"], scores[1]["mrr_high"]) == (line.ci.low, line.ci.high)
    assert scores[1]["languages"] == ["deu-Latn", "eng-Latn"]
    assert found["Backretrieval-shop"]["dataset_revision"] in results.entries[0].signature


def test_a_pool_and_images_with_texts_have_other_subsets(manifest):
    pool = multilingual_pool(mix_pool(manifest), text_encoders="chargram", store=None, views="none", name="a")
    (found,) = mteb_results(pool).values()
    (scores,) = found["scores"]["test"]
    assert scores["hf_subset"] == "default" and scores["languages"] == ["eng-Latn", "deu-Latn"]
    assert [part.pair for part in parts_of(pool, "chargram")] == ["", "en", "de"]
    assert numbers_of(pool, "chargram")["lareqa/AP/de"] == value(pool, "chargram", "AP", "de", "pool").value
    own = SimpleNamespace(
        encode=lambda batch: np.random.default_rng(len(batch)).normal(size=(len(batch), 8)), space="own"
    )
    both = image_sentence(manifest, text_encoders={"r": own}, image_encoders=own, store=None)
    pairs = [one["hf_subset"] for one in next(iter(mteb_results(both).values()))["scores"]["test"]]
    assert len(pairs) == len(set(pairs)) and {"en-image", "image-en"} <= set(pairs)


def test_one_encoder_is_named(results, tmp_path):
    with pytest.raises(InputError, match=r"2 encoders \(one, two\): name one with --encoder"):
        mteb_results(results)
    with pytest.raises(InputError, match="no encoder 'tow'"):
        model_index(results, "tow")
    (path,) = write_mteb_results(results, tmp_path, "one", model="org/one")
    assert path.parent == tmp_path / "org__one" / "no_revision_available"
    assert json.loads(path.read_text())["task_name"] == path.stem


def test_a_model_card_keeps_all_its_other_lines(results, tmp_path):
    yaml = pytest.importorskip("yaml")
    path = tmp_path / "README.md"
    path.write_text(CARD, encoding="utf-8")
    write_model_index(results, path, "one", name="shop")
    text = path.read_text(encoding="utf-8")
    before, after = CARD.split("model-index:")[0], CARD.split("{type: ndcg, value: 0.5}")[1]
    assert text.startswith(before) and text.endswith(after)
    (card,) = yaml.safe_load(text.split("---\n")[1])["model-index"]
    other, *own = card["results"]
    assert card["name"] == "mine" and other["metrics"] == [{"type": "ndcg", "value": 0.5}]
    assert [one["dataset"].get("config") for one in own] == [None, "en-de", "de-en"]
    assert not any("split" in one["dataset"] for one in own)  # none was chosen
    chosen = model_index(replace(results, request={**results.request, "split": "dev"}), "one")
    assert {one["dataset"]["split"] for one in chosen[0]["results"]} == {"dev"}
    whole = {metric["type"]: metric for metric in own[0]["metrics"]}
    line = value(results, "one", "R@10")
    assert whole["recall_at_10"]["value"] == line.value
    assert whole["recall_at_10"]["name"] == (
        f"BkR R@10 (95% interval {line.ci.low:.3f} to {line.ci.high:.3f})"
    )
    write_model_index(results, path, "one", name="shop")
    assert path.read_text(encoding="utf-8") == text  # the same values in the same places
    write_model_index(results, path, "two", name="shop", model="org/two")
    (card,) = yaml.safe_load(path.read_text(encoding="utf-8").split("---\n")[1])["model-index"]
    assert card["name"] == "org/two" and len(card["results"]) == 4
    assert card["results"][1]["metrics"][1]["value"] == value(results, "two", "R@10").value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Only text\n",
        "---\nlicense: mit\n---\ntext",
        "---\r\nlicense: mit\r\n---\r\ntext\r\n",
        "---\n---\nx",
    ],
)
def test_cards_of_all_kinds_become_valid(results, text):
    cards = pytest.importorskip("huggingface_hub")
    index = model_index(results, "one")
    found = with_model_index(text, index)
    data = cards.ModelCard(found).data
    assert data.model_name == "one" and len(data.eval_results) == 9
    assert ("license: mit" in text) == (data.license == "mit")
    body = text.split("---", 2)[2].lstrip() if text.startswith("---") else text
    assert found.endswith(body)
    assert found.count("\r\n") == (found.count("\n") if "\r\n" in text else 0)
    assert with_model_index(found, index) == found


@pytest.mark.parametrize(
    ("front", "message"),
    [
        ("a: [1", "the front matter is no YAML"),
        ("- a\n- b", "no mapping of names"),
        ("model-index: 3", "its model-index is not of the form"),
        ("model-index:\n- name: x\n  results:\n  - task: {}", "missing: 'dataset'"),
    ],
)
def test_a_card_that_cannot_be_changed_is_left_as_it_is(results, tmp_path, front, message):
    pytest.importorskip("yaml")
    path = tmp_path / "README.md"
    path.write_text(f"---\n{front}\n---\nx", encoding="utf-8")
    with pytest.raises(InputError, match=message):
        write_model_index(results, path, "one")
    assert path.read_text(encoding="utf-8") == f"---\n{front}\n---\nx"


def test_yaml_that_is_missing_names_its_extra(results, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    with pytest.raises(MissingExtraError, match=r"xlingual\[hf\]"):
        with_model_index("", model_index(results, "one"))


def test_each_encoder_is_a_run(results, monkeypatch, tmp_path):
    made = []

    class Kept(trackers.Tracker):
        def __init__(self, where, run):
            self.run = run

        def load(self):
            made.append("load")

        def config(self, settings, after):
            made.append((self.run, settings, after))

        def log(self, values, step):
            if self.run.endswith("two"):
                raise ConnectionError("gone")
            made.append((values, step))

        def close(self):
            made.append("close")

    monkeypatch.setitem(trackers.SINKS, "kept", Kept)
    with pytest.warns(DataWarning, match=r"failed \(ConnectionError: gone\) and is dropped: the results are"):
        said = log_results(
            results, ["kept:https://me:pw@host", f"csv:{tmp_path / 'a' / 'all.csv'}"], name="shop"
        )
    assert said == [
        "wrote kept:https://…@host (run shop-one)",
        f"wrote {tmp_path / 'a' / 'all.csv'} (runs shop-one, shop-two)",
    ]
    (run_name, settings, after), (values, step), *_ = made
    assert (run_name, after, step) == ("shop-one", 0, 0)
    assert settings["encoder"] == "one" and settings["measures"] == ["RR", "R@10"]
    assert values == numbers_of(results, "one") and made.count("close") == 2
    line = value(results, "one", "R@10", "de", "en")
    assert values["bkr/R@10/de-en"] == line.value and values["bkr/R@10/de-en/high"] == line.ci.high
    lines = list(csv.DictReader((tmp_path / "a" / "all.csv").open(newline="")))
    assert [line["run"] for line in lines] == ["shop-one", "shop-two"]
    assert float(lines[0]["bkr/SIM"]) == value(results, "one", "SIM").value


def test_the_commands(results, folder, tmp_path, capsys):
    pytest.importorskip("yaml")
    card, log = tmp_path / "README.md", tmp_path / "all.csv"
    targets = [f"--to=mteb:{tmp_path / 'mteb'}", f"--to=model-index:{card}", f"--to=csv:{log}"]
    assert run(["export", str(folder), *targets, "--encoder", "one", "--data-name", "shop"]) == 0
    said = capsys.readouterr().err
    assert "Backretrieval-shop.json" in said and f"wrote {log} (run one)" in said
    assert f"{card} is a new file, with these numbers alone." in said
    assert card.read_text(encoding="utf-8").startswith("---\nmodel-index:\n- name: one\n")
    assert [line["run"] for line in csv.DictReader(log.open(newline=""))] == ["one"]
    assert run(["export", str(folder), targets[1], "--encoder", "one"]) == 0
    assert "new file" not in capsys.readouterr().err
    for wrong, message in (
        ("--to=mtbe:x", "Did you mean 'mteb'"),
        ("--to=mteb", "names no place: write mteb:DIR"),
        ("--to=csv", "needs a file"),
    ):
        assert run(["export", str(folder), wrong, "--encoder", "one"]) == 2
        assert message in capsys.readouterr().err


def test_trackers_get_the_encoder_that_is_named_and_no_equal_line_twice(folder, tmp_path, capsys):
    log = tmp_path / "all.csv"
    asked = ["export", str(folder), f"--to=csv:{log}"]
    assert run([*asked, "--encoder", "tow"]) == 2
    assert "no encoder 'tow'. Did you mean 'two'?" in capsys.readouterr().err and not log.exists()
    assert run([*asked, "--encoder", "two"]) == 0
    assert capsys.readouterr().err == f"wrote {log} (run two)\n"
    first = log.read_bytes()
    assert run([*asked, "--encoder", "two"]) == 0
    assert capsys.readouterr().err == f"{log} has run two already, unchanged\n" and log.read_bytes() == first
    assert run(asked) == 0
    assert capsys.readouterr().err == f"wrote {log} (run one)\n{log} has run two already, unchanged\n"
    assert [line["run"] for line in csv.DictReader(log.open(newline=""))] == ["two", "one"]
    assert run([*asked, f"--to=mteb:{tmp_path / 'mteb'}"]) == 2  # two encoders, and none is named
    assert "name one with --encoder" in capsys.readouterr().err and not (tmp_path / "mteb").exists()
    assert run([*asked, "--quiet"]) == 0 and capsys.readouterr().err == ""


def test_an_evaluation_logs_where_it_is_told_to(manifest, tmp_path, capsys):
    path = write_scenes(tmp_path / "data", n=40, languages=["en", "de"], seed=3)
    asked = ["evaluate", "xlr", str(path), "--text-encoder=chargram", "--no-store", "--quiet"]
    assert run([*asked, "--log-to", f"csv:{tmp_path / 'all.csv'}"]) == 0
    assert capsys.readouterr().err == ""
    (line,) = csv.DictReader((tmp_path / "all.csv").open(newline=""))
    assert run([*asked[:-1], "--log-to", f"csv:{tmp_path / 'b.csv'}"]) == 0
    assert f"wrote {tmp_path / 'b.csv'} (run chargram)" in capsys.readouterr().err
    assert line["run"] == "chargram" and float(line["xlr/R@10"]) > 0
    assert run([*asked, "--log-to", "cvs:x"]) == 2
    assert "Did you mean 'csv'" in capsys.readouterr().err
