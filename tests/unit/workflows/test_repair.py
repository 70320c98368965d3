"""`repair`: parts that share nothing, a gain where there is one and none where not, a model that is used."""

import json

import numpy as np
import pytest

from xlingual import Manifest, multilingual_pool, sts
from xlingual.data.pools.mix import mix_pool
from xlingual.data.sentence_pairs import SentencePairs
from xlingual.encoders import Encoder, text_encoders
from xlingual.encoders.transform import FittedTransform
from xlingual.errors import DataWarning, InputError
from xlingual.models.folder import ModelFolder
from xlingual.results.repair import Repair
from xlingual.workflows.repairing import repair_encoder
from xlingual.workflows.repairing.parts import three_parts

TAGS, DIM = ("de", "en", "zh"), 16


class Apart(Encoder):
    """Vectors of items, moved by language, with noise; `signal` 0: nothing of the item."""

    content, identity = ("text",), ""

    def __init__(self, signal=1.0, apart=1.5, seed=0):
        rng = np.random.default_rng(seed)
        self.signal, self.items = signal, rng.normal(size=(400, DIM))
        self.moved = {tag: apart * rng.normal(size=DIM) for tag in TAGS}
        self.identity = f"apart:{signal}:{apart}:{seed}"

    def encode(self, batch, /):
        rows = []
        for text, tag in zip(batch.text, batch.language, strict=True):
            number = int(text.split()[1])
            noise = np.random.default_rng([number, TAGS.index(tag)]).normal(size=DIM)
            rows.append(self.signal * self.items[number] + self.moved[tag] + 0.8 * noise)
        return np.array(rows, dtype=np.float32)


def manifest(items=150, first=0):
    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {i}", "item": str(i)}
        for i in range(first, first + items)
        for tag in TAGS
    ]
    return Manifest.of(rows)


@pytest.fixture(scope="module")
def repaired():
    return repair_encoder(manifest(), Apart(), hubs=False, store=None)


def test_parts_share_no_cluster_and_no_answer():
    pool = mix_pool(manifest(), seed=0)
    parts = three_parts(pool, (0.4, 0.2, 0.4), 0, "paragraph")
    keys = [set(part.questions.key) for part in parts]
    answers = [{key for own in part.candidates.keys for key in own} for part in parts]
    ids = [set(part.candidates.ids) | set(part.questions.ids) for part in parts]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert not keys[one] & (keys[other] | answers[other])
        assert not ids[one] & ids[other]
    assert sum(len(part.questions) for part in parts) == len(pool.questions)
    assert len(parts[0].questions) > 1.5 * len(parts[1].questions)
    other = three_parts(pool, (0.4, 0.2, 0.4), 1, "paragraph")
    assert set(other[0].questions.key) != keys[0]


def test_languages_that_lie_apart_are_brought_together(repaired):
    found = repaired.found
    assert found.outcome == "better"
    assert found.whole.difference > 0.1
    assert found.whole.ci is not None and found.whole.ci.low > 0
    assert found.bias is None  # nobody's answer is in the own language
    assert len(found.languages) == 3 and len(found.pairs) == 6 and not found.monolingual
    assert found.problem() is None
    assert found.chosen == found.tried[0].spec
    assert found.tried == sorted(found.tried, key=lambda one: -one.value)


def test_the_own_language_loses_its_lead():
    rows = [
        {"id": f"{tag}{i}.{n}", "lang": tag, "text": f"{tag} {i} {n}", "item": str(i)}
        for i in range(60)
        for tag in TAGS
        for n in range(2)
    ]
    found = repair_encoder(Manifest.of(rows), Apart(), store=None).found
    assert found.bias is not None and found.bias.ci is not None
    assert found.bias.after < found.bias.before / 2 and found.bias.ci.high < 0


def test_intervals_hold_together_and_are_wider_than_alone(repaired):
    widths = [one.ci.high - one.ci.low for one in repaired.found.pairs if one.ci is not None]
    assert widths
    for one in repaired.found.pairs:
        assert one.ci is not None and "max-t" in one.ci.method
        assert one.ci.low <= one.difference <= one.ci.high
        assert one.least is not None and one.ci.low <= one.least <= one.difference


def test_the_model_gives_the_tested_numbers(repaired, tmp_path):
    repaired.write(tmp_path)
    again = Repair.read(tmp_path)
    assert again.whole == repaired.found.whole
    folder = ModelFolder.read(tmp_path / "model")
    assert folder.config["model"]["transforms"] == again.chosen
    test = three_parts(mix_pool(manifest(), seed=0), (0.4, 0.2, 0.4), 0, "paragraph")[2]
    both = {"plain": Apart(), "repaired": FittedTransform(folder, Apart())}
    results = multilingual_pool(test, both, views=False, store=None)
    values = {entry.encoder: entry.value for entry in results.entries}
    assert values["plain"] == pytest.approx(repaired.found.whole.before, abs=1e-12)
    assert values["repaired"] == pytest.approx(repaired.found.whole.after, abs=1e-12)


@pytest.fixture(scope="module")
def corrected(tmp_path_factory):
    """A repair with a correction of hubs, the folder it is written to, and its part for testing."""
    repairing = "xlingual.workflows.repairing.repaired"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{repairing}.CORRECTIONS", ("csls?k=5", "inverted-softmax?beta=20"))
        made = repair_encoder(manifest(90), Apart(seed=1), store=None)
    assert {one.similarity for one in made.found.tried} == {"cosine", "csls?k=5", "inverted-softmax?beta=20"}
    assert len(made.found.tried) > 40
    folder = tmp_path_factory.mktemp("corrected")
    made.write(folder)
    return made, ModelFolder.read(folder / "model"), made.test.pool


def test_corrections_of_hubs_have_the_questions_of_the_first_part(corrected):
    made, folder, test = corrected
    assert made.found.similarity != "cosine"
    assert len(folder.arrays()["bank"]) == made.found.fit.questions
    both = {"plain": Apart(seed=1), "own": FittedTransform(folder, Apart(seed=1))}
    results = multilingual_pool(test, both, store=None)
    values = {entry.encoder: entry.value for entry in results.entries if entry.target == "pool"}
    assert values["plain"] == made.found.whole.before
    assert values["own"] == made.found.whole.after
    said = {entry.encoder: "similarity:" in entry.signature for entry in results.entries}
    assert said == {"plain": False, "own": True}
    aside = {e.encoder: e.value for e in made.side_by_side().entries if e.target == "pool"}
    assert set(aside.values()) == {values["plain"], values["own"]}


def test_the_model_is_for_the_encoder_that_was_repaired(repaired, tmp_path):
    repaired.write(tmp_path)
    with pytest.raises(InputError, match="is below it"):
        text_encoders(f"model:{tmp_path}/model::random:?dim={DIM}", languages=TAGS)
    spec = f"model:{tmp_path}/model?base=trusted::random:?dim={DIM}"
    (encoder,) = text_encoders(spec, languages=TAGS).values()
    with pytest.raises(InputError, match="was fitted on texts in de, en, zh, and not in fr"):
        encoder.check_languages(["fr"])
    folder = tmp_path / "model" / "config.json"
    config = json.loads(folder.read_text())
    config["model"]["languages"] = ["de"]
    folder.write_text(json.dumps(config))
    (encoder,) = text_encoders(spec, languages=TAGS).values()
    with pytest.raises(InputError, match="does not describe such a model"):
        _ = encoder.map


def test_an_encoder_without_any_signal_is_not_made_better():
    found = repair_encoder(manifest(100), Apart(signal=0.0, apart=0.0), store=None).found
    assert found.outcome in ("cannot tell", "unchanged")


def test_items_that_are_shuffled_give_no_gain_in_other_languages():
    """Labels that say nothing: answers are of other items, so that no map can bring them closer."""
    rng = np.random.default_rng(0)
    order = {tag: rng.permutation(120) for tag in TAGS}
    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {order[tag][i]}", "item": str(i)}
        for i in range(120)
        for tag in TAGS
    ]
    found = repair_encoder(Manifest.of(rows), Apart(apart=0.0), store=None).found
    assert found.outcome in ("cannot tell", "unchanged")


def test_the_same_again_and_another_seed():
    one, same = (repair_encoder(manifest(90), Apart(), store=None).found for _ in range(2))
    other = repair_encoder(manifest(90), Apart(), seed=1, store=None).found
    assert (one.whole, one.pairs, one.tried) == (same.whole, same.pairs, same.tried)
    assert one.whole != other.whole
    assert one.signature != other.signature


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shares": (0.5, 0.5)}, "three numbers above 0"),
        ({"shares": (1, 0, 1)}, "three numbers above 0"),
        ({"delta": 2}, "more than 0 and less than 1"),
        ({"alpha": 0.7}, r"less than 0\.5"),
    ],
)
def test_options_that_make_no_sense(options, message):
    with pytest.raises(InputError, match=message):
        repair_encoder(manifest(20), Apart(), store=None, **options)


def test_numbers_without_translations_stand_beside_it(tmp_path):
    rows = manifest(90)
    images = np.random.default_rng(0).normal(size=(90, 6)).astype(np.float32)
    np.save(tmp_path / "images.npy", images)
    found = repair_encoder(
        rows, Apart(), hubs=False, image_encoder=str(tmp_path / "images.npy"), store=None
    ).found
    assert [one.measure for one in found.beside] == ["R@10", "SIM"]
    for one in found.beside:
        assert one.ci is not None and one.ci.low <= one.difference <= one.ci.high
        assert one.after - one.before == pytest.approx(one.difference)
    with pytest.raises(InputError, match="a pool has no images"):
        repair_encoder(mix_pool(rows), Apart(), image_encoder="pixels", hubs=False, store=None)


def test_before_and_after_stand_side_by_side(repaired):
    results = repaired.side_by_side()
    values = {entry.encoder: entry.value for entry in results.entries if entry.measure == "AP"}
    assert values["Apart"] == pytest.approx(repaired.found.whole.before, abs=1e-12)
    assert values["Apart-repaired"] == pytest.approx(repaired.found.whole.after, abs=1e-12)
    assert "points" in results.tables


def test_a_task_that_searches_no_texts_says_that_it_leaves_the_correction_out(corrected):
    own = FittedTransform(corrected[1], Apart(seed=1))
    first, second = [f"de {i}" for i in range(1, 9)], [f"de {i}" for i in range(11, 19)]
    pairs = SentencePairs("pairs", "pairs", list("abcdefgh"), np.arange(8.0), first, second)
    with pytest.warns(DataWarning, match="csls"):
        found = sts(pairs, text_encoders=own, language="de", store=None)
    assert all("similarity" not in entry.signature for entry in found.entries)
