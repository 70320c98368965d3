"""Image–sentence ranking, sentence pairs and the validation of Backretrieval: numbers that theory tells."""

import json

import numpy as np
import pytest
from tests.behaviour.planted import TAGS, evaluate, images, manifest, numbers, same, vectors, write_lines
from tests.program import answer

N = 20
EYE = np.eye(N)
MEASURES = ["R@1", "R@5", "MedR/floor"]


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    """An image of each of N items, which is in its own direction."""
    folder = tmp_path_factory.mktemp("gallery")
    return folder, manifest(folder, N), images(folder, EYE)


def ranked(gallery, specs, **options):
    _, data, shown = gallery
    found = evaluate("image-sentence", data, specs, image_encoder=shown, measure=MEASURES, **options)
    rows = {}
    for row in found["results"]:
        key = (row["encoder"], row["source"], row["target"])
        rows.setdefault(key, []).append(row["value"])
    return rows


def test_image_sentence_ranking_at_the_ends_of_the_scale(gallery):
    folder = gallery[0]
    specs = [
        same(folder, "perfect", EYE),
        same(folder, "constant", np.ones((N, N))),
        same(folder, "next", np.roll(EYE, 1, axis=0) + 0.1 * EYE),
        same(folder, "opposite", -EYE),
    ]
    found = ranked(gallery, specs)
    ways = [way for tag in TAGS for way in ((tag, "image"), ("image", tag))]
    assert {key[1:] for key in found} == {*ways}
    for way in ways:
        assert found["perfect", *way] == [1, 1, 1]
        assert found["constant", *way][:2] == pytest.approx([1 / N, 5 / N])
        assert found["next", *way] == [0, 1, 2]
        assert found["opposite", *way] == [0, 0, N]


def test_folds_are_means_over_slices(gallery):
    """In slices of half of the images a constant encoder is twice as good by chance."""
    folder = gallery[0]
    found = ranked(gallery, [same(folder, "constant", np.ones((N, N)))], fold=10, languages="de")
    assert found["constant", "de", "image"][:2] == pytest.approx([1 / 10, 5 / 10])


def test_the_best_of_several_captions_counts(tmp_path):
    """One of two captions of each image is right, the other is opposite to it."""
    data = manifest(tmp_path, N)
    rows = data.read_text().splitlines()
    data.write_text("\n".join(rows + [row.replace("-", "-x-", 1) for row in rows]))
    spec = same(tmp_path, "half", np.concatenate([EYE, -EYE]))
    np.save(tmp_path / "all.npy", np.tile(np.repeat(EYE, 2, axis=0), (2, 1)).astype(np.float32))
    found = ranked((tmp_path, data, f"vectors:{tmp_path}/all.npy"), [spec], languages="de")
    assert found["half", "image", "de"] == [1, 1, 1]
    assert found["half", "de", "image"][:2] == [0.5, 0.5]


# --------------------------------------------------------------------------------------- sentence pairs
def pairs_and_vectors(folder, scores):
    """Write pairs whose cosine is what `scores` say, encoded by a function in a file."""
    rows = [
        {"score": float(score), "sentence1": f"a{i}", "sentence2": f"b{i}"} for i, score in enumerate(scores)
    ]
    (folder / "table.json").write_text(json.dumps([float(score) for score in scores]))
    (folder / "by_table.py").write_text(
        "import json, math\nfrom pathlib import Path\nimport numpy as np\n"
        "COSINES = json.loads(Path(__file__).with_name('table.json').read_text())\n"
        "def right(texts):\n    return turned(texts, 1)\n"
        "def reverse(texts):\n    return turned(texts, -1)\n"
        "def turned(texts, sign):\n"
        "    angles = [math.acos(sign * COSINES[int(t[1:])]) if t[0] == 'b' else 0.0 for t in texts]\n"
        "    return np.array([[math.cos(a), math.sin(a)] for a in angles], np.float32)\n"
        "def constant(texts):\n    return np.ones((len(texts), 2), np.float32)\n"
    )
    return write_lines(folder / "pairs.jsonl", rows)


def test_sentence_pairs_whose_cosines_are_their_scores(tmp_path):
    scores = np.random.default_rng(0).uniform(-0.95, 0.95, 60)
    data = pairs_and_vectors(tmp_path, scores)
    specs = [f"{name}=python:{tmp_path}/by_table.py:{name}" for name in ("right", "reverse")]
    found = evaluate("sts", data, specs, lang="en")
    values = {(row["encoder"], row["measure"]): row["value"] for row in found["results"]}
    for measure in ("Pearson", "Spearman"):
        assert values["right", measure] == pytest.approx(1, abs=1e-5)
        assert values["reverse", measure] == pytest.approx(-1, abs=1e-5)


def test_scores_on_another_scale_correlate_as_well(tmp_path):
    rng = np.random.default_rng(1)
    cosines = rng.uniform(-0.9, 0.9, 80)
    data = pairs_and_vectors(tmp_path, cosines)
    rows = [json.loads(line) for line in data.read_text().splitlines()]
    noisy = [row | {"score": 2.5 + 2 * row["score"] + 0.5 * rng.normal()} for row in rows]
    spec = [f"right=python:{tmp_path}/by_table.py:right"]
    (one, other) = (
        {row["measure"]: row["value"] for row in evaluate("sts", file, spec, lang="en")["results"]}
        for file in (
            write_lines(tmp_path / "one.jsonl", noisy),
            write_lines(tmp_path / "other.jsonl", [row | {"score": 7 * row["score"] - 1} for row in noisy]),
        )
    )
    assert one == pytest.approx(other, abs=1e-9) and 0.8 < one["Pearson"] < 1
    by_numpy = np.corrcoef(cosines, [row["score"] for row in noisy])[0, 1]
    assert one["Pearson"] == pytest.approx(by_numpy, abs=1e-5)


# ------------------------------------------------------------------------------------------- validation
def test_backretrieval_agrees_with_true_retrieval_where_images_show_what_texts_say(tmp_path):
    rng = np.random.default_rng(0)
    items, dim = 120, 12
    shown = rng.normal(size=(items, dim))
    noises = (0.2, 0.6, 1.0, 1.6, 2.5)
    specs = [
        vectors(tmp_path, f"n{i}", {tag: shown + noise * rng.normal(size=(items, dim)) for tag in TAGS})
        for i, noise in enumerate(noises)
    ]
    data = manifest(tmp_path, items)
    true, false = shown + 0.1 * rng.normal(size=(items, dim)), rng.normal(size=(items, dim))
    for name, eyes in (("true", true), ("false", false)):
        found = answer(
            *("papers backretrieval validate", data),
            text_encoder=specs, image_encoder=images(tmp_path, eyes, name=f"{name}.npy"),
            seeds=3, measure="R@5", threads=1, no_store=True,
        )  # fmt: skip
        for pair in found["pairs"]:
            values = {key: [one["scores"][key]["mean"] for one in pair["encoders"]] for key in ("BkR", "XLR")}
            assert pair["chance"] == pytest.approx(5 / (items / 2)) and pair["n_seeds"] == 3
            if name == "true":
                assert np.corrcoef(values["BkR"], values["XLR"])[0, 1] > 0.8
            else:
                assert values["BkR"] == pytest.approx([pair["chance"]] * len(noises), abs=0.1)
    order = numbers(evaluate("xlr", data, specs, measure="R@1"), "R@1")
    values = [order[f"n{i}", "de", "en"] for i in range(len(noises))]
    assert values == sorted(values, reverse=True) and values[0] > 0.9 > 0.3 > values[-1]
