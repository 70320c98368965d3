"""`repair` without translations: a label-free criterion chooses, and nothing is said of retrieval."""

import json

import numpy as np
import pytest

from xlingual import Manifest, multilingual_pool
from xlingual.cli.main import run
from xlingual.data.pools.mix import mix_pool
from xlingual.encoders import Encoder, text_encoders
from xlingual.encoders.trained_transform import FittedTransform
from xlingual.errors import DataWarning, InputError
from xlingual.models.card import card
from xlingual.models.folder import ModelFolder
from xlingual.report import page_of
from xlingual.results.unlabelled_repair import UnlabelledRepair
from xlingual.workflows.repairing import has_no_translations, repair_unlabelled
from xlingual.workflows.repairing.unlabelled import three_parts

TAGS, DIM = ("de", "en", "zh"), 16


class Apart(Encoder):
    """Vectors of things, moved by language, with noise; `signal` 0: nothing of the thing."""

    content, identity = ("text",), ""

    def __init__(self, signal=1.0, apart=1.0, by_role=False):
        rng = np.random.default_rng(0)
        self.signal, self.things = signal, rng.normal(size=(1000, DIM))
        self.moved = {tag: apart * rng.normal(size=DIM) for tag in TAGS}
        self.identity = f"apart:{signal}:{apart}:{by_role}"
        self.by_role = by_role

    def encode(self, batch, /):
        rows = []
        for text, tag in zip(batch.text, batch.language, strict=True):
            number = int(text.split()[1])
            noise = np.random.default_rng([number, TAGS.index(tag)]).normal(size=DIM)
            asked = 0.2 if self.by_role and batch.role == "query" else 0.0
            rows.append(self.signal * self.things[number] + self.moved[tag] + 0.5 * noise + asked)
        return np.array(rows, dtype=np.float32)


def rows_of(texts=360, blank=()):
    return [
        {"id": str(i), "lang": TAGS[i % 3], "text": "" if i in blank else f"{TAGS[i % 3]} {i}"}
        for i in range(texts)
    ]


def manifest(texts=360, blank=()):
    return Manifest.from_rows(rows_of(texts, blank))


def translated(first=400, items=80):
    return Manifest.from_rows(
        [
            {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {i}", "item": str(i)}
            for i in range(first, first + items)
            for tag in TAGS
        ]
    )


@pytest.fixture(scope="module")
def repaired():
    return repair_unlabelled(manifest(), Apart(), store=None)


def test_only_data_without_translations_are_taken():
    assert has_no_translations(manifest())
    assert not has_no_translations(translated())
    assert not has_no_translations(mix_pool(translated()))
    alone = [row for row in rows_of() if row["lang"] == "de"]
    assert not has_no_translations(Manifest.from_rows(alone))
    twice = [{**row, "item": str(number // 6 * 3 + number % 3)} for number, row in enumerate(rows_of())]
    assert has_no_translations(Manifest.from_rows(twice))  # two texts of an item, in one language


def test_parts_share_no_cluster_and_no_blank_text():
    rows = [{**row, "cluster": str(number // 2)} for number, row in enumerate(rows_of(blank={7}))]
    with pytest.warns(DataWarning, match="empty"):
        data = Manifest.from_rows(rows)
    parts = three_parts(data, (0.4, 0.2, 0.4), 0)
    clusters = [set(data.cluster[part].tolist()) for part in parts]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert not clusters[one] & clusters[other]
    assert sorted(np.concatenate(parts).tolist()) == [row for row in range(360) if row != 7]
    assert len(parts[0]) > 1.5 * len(parts[1])
    assert not np.array_equal(parts[0], three_parts(data, (0.4, 0.2, 0.4), 1)[0])


def test_languages_that_lie_apart_are_brought_together(repaired):
    found = repaired.found
    assert found.chosen == found.tried[0].spec != "none"
    values = [one.value for one in found.tried]
    assert values == sorted(values, reverse=True) and len(values) >= 30
    for one in [*found.tried, found.before, found.after]:
        assert one.value == pytest.approx(one.neighbourhoods_kept / max(one.own_share, 1.0))
    assert found.before.neighbourhoods_kept == 1.0
    assert found.after.own_share < 1.3 < 1.8 < found.before.own_share
    assert found.after.value > found.before.value
    assert not any(spec.startswith(("procrustes", "ridge", "cca")) for spec in (t.spec for t in found.tried))


def test_the_result_says_that_retrieval_was_not_tested(repaired):
    text = " ".join(sentence for block in page_of(repaired.found).verdict for sentence in block.sentences)
    assert "needs no translations" in text
    assert "retrieval cannot be tested" in text and "/results/label-free/" in text
    assert not hasattr(repaired.found, "outcome") and "mAP" not in str(repaired.found.to_dict())


def test_the_model_is_used_and_search_really_gets_better(repaired, tmp_path):
    repaired.write(tmp_path)
    again = UnlabelledRepair.read(tmp_path)
    assert again == repaired.found
    folder = ModelFolder.read(tmp_path / "model")
    assert folder.config["model"]["transforms"] == again.chosen
    assert "nothing was tested for retrieval" in (tmp_path / "model" / "README.md").read_text()
    assert "nothing was tested for retrieval" in card(folder).markdown()  # of the file beside it
    both = {"plain": Apart(), "repaired": FittedTransform(folder, Apart())}
    results = multilingual_pool(mix_pool(translated()), both, views="none", store=None)
    values = {entry.encoder: entry.value for entry in results.entries}
    assert values["repaired"] > values["plain"] + 0.1


def test_a_space_without_languages_is_left_as_it_is():
    made = repair_unlabelled(manifest(), Apart(apart=0.0), store=None)
    assert made.found.chosen == "none" and made.map is None and made.found.model is None
    assert made.found.before == made.found.after
    verdict = page_of(made.found).verdict[0].sentences[0]
    assert "Do not repair it" in verdict


def test_the_same_seed_gives_the_same_and_labels_of_items_do_not_matter(repaired):
    again = repair_unlabelled(manifest(), Apart(), store=None)
    assert again.found.tried == repaired.found.tried
    assert again.found.signature == repaired.found.signature
    assert repair_unlabelled(manifest(), Apart(), seed=1, store=None).found.signature != again.found.signature


def test_queries_with_vectors_of_their_own_are_fitted_on_too():
    made = repair_unlabelled(manifest(), Apart(by_role=True), store=None)
    assert made.found.chosen != "none" and made.found.after.own_share < made.found.before.own_share


def test_too_few_texts_are_refused():
    with pytest.raises(InputError, match="the part for choosing has 8 texts in de, at least 11 are needed"):
        repair_unlabelled(manifest(120), Apart(), store=None)


def test_the_command_chooses_without_translations(tmp_path, capsys):
    rng = np.random.default_rng(0)
    data = tmp_path / "texts.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows_of()))
    for number, tag in enumerate(TAGS):
        np.save(tmp_path / f"v.{tag}.npy", rng.normal(size=(120, 8)).astype(np.float32) + number)
    given = ["repair", str(data), "--text-encoder", f"{tmp_path}/v.{{lang}}.npy", "--no-store"]
    out = tmp_path / "out"
    assert run([*given, "--out", str(out), "--report"]) == 0
    assert "retrieval cannot be tested" in " ".join(capsys.readouterr().out.split())
    found = UnlabelledRepair.read(out)
    assert found.model == "model" and (out / "report.html").exists()
    spec = f"model:{out}/model::{tmp_path}/v.{{lang}}.npy"
    assert list(text_encoders(spec, languages=TAGS))
    assert run([*given, "--image-encoder", "pixels:"]) != 0
    assert "leave it out" in capsys.readouterr().err
