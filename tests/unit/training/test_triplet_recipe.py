"""The recipe: its loss is what a plain loop gives; it learns, resumes, and refuses too few data."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from xlingual.data.manifest import Manifest  # noqa: E402
from xlingual.encoders import adopt  # noqa: E402
from xlingual.errors import DataWarning, InputError  # noqa: E402
from xlingual.models.folder import ModelFolder  # noqa: E402
from xlingual.records import Texts  # noqa: E402
from xlingual.training.corpus import Source  # noqa: E402
from xlingual.training.loop import FitOptions  # noqa: E402
from xlingual.training.recipes.triplet import (  # noqa: E402
    TextPairs,
    TripletRecipe,
    build_model,
    pack_pairs,
)
from xlingual.training.recipes.triplet_options import TripletOptions  # noqa: E402
from xlingual.workflows.train_triplet import train_triplet  # noqa: E402

DISHES = 12


class Words:
    """A text is the sum of random vectors of its words."""

    identity = "words"
    content = ("text",)
    asked = 0

    def encode(self, batch):
        Words.asked += len(batch)
        made = [
            sum(np.random.default_rng(sum(map(ord, word)) * 7).standard_normal(16) for word in text.split())
            for text in batch.text
        ]
        return np.array(made, dtype=np.float32)


def recipes(n=60, languages=("en", "de"), **more):
    """Return rows: a title names a dish and a number, a body what the dish is made of, each by language."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(n):
        tag, dish = languages[i % len(languages)], int(rng.integers(DISHES))
        title, body = f"{tag}dish{dish} {tag}x{rng.integers(9)}", f"{tag}of{dish} {tag}and{dish * 3}"
        row = {"id": f"r{i}", "lang": tag, "text": f"{title}. {body}", "title": title, "body": body}
        rows.append(row | {name: value(i) for name, value in more.items()})
    return Manifest.of(rows)


def pairs(n=24, languages=3, items=None, dim=5):
    rng = np.random.default_rng(1)
    title, body = rng.standard_normal((2, n, dim)).astype(np.float32)
    item = np.arange(n) if items is None else np.arange(n) % items
    tags = tuple(f"l{i}" for i in range(languages))
    return TextPairs(title, body, tags, np.arange(n) % languages, item, np.array([f"r{i}" for i in range(n)]))


def options_of(**changes):
    return TripletOptions(**{"batch": 12, "hidden_dim": 6, "out_dim": 7, "neighbours": 2, **changes})


def distance(a, b):
    lengths = a.norm() * b.norm()
    return 1 - float(a @ b / lengths) if lengths else 1.0


def plain(recipe, batch):
    """Return the loss of a batch, one text at a time."""
    data, options, model, (rows, negative) = recipe.pairs, recipe.options, recipe.model.double(), batch
    title = model.title(torch.tensor(data.title, dtype=torch.float64)).detach()
    body = model.body(torch.tensor(data.body, dtype=torch.float64)).detach()
    total = 0.0
    for place, r in enumerate(rows):
        n = rows[int(negative[place])]
        loss = max(0.0, distance(body[r], title[r]) - distance(body[r], title[n]) + options.margin)
        means = {}
        for code in range(len(data.languages)):
            others = [o for o in rows if data.language[o] == code and data.item[o] != data.item[r]]
            others.sort(key=lambda o: distance(body[r], title[o]))
            if len(others) >= options.neighbours:
                means[code] = np.mean([distance(body[r], title[o]) for o in others[: options.neighbours]])
        own = means.pop(int(data.language[r]), None)
        term = 0.0 if own is None else sum(abs(mean - own) for mean in means.values())
        total += loss + options.beta * term
    recipe.model.float()
    return total / len(rows)


@pytest.mark.parametrize("beta", [0.0, 0.3])
@pytest.mark.parametrize("separate", [False, True])
def test_the_loss_equals_a_plain_loop(beta, separate):
    options = options_of(beta=beta, separate_towers=separate, margin=0.4)
    recipe = TripletRecipe(build_model(options, 5), pairs(items=20), options)
    for batch in recipe.batches(1):
        found = recipe.loss(batch)
        assert float(found.value.detach()) == pytest.approx(plain(recipe, batch), abs=1e-5)
        assert ("neighbours" in found.parts) == (beta > 0)


def test_every_text_is_trained_on_once_an_epoch():
    options = options_of()
    recipe = TripletRecipe(build_model(options, 5), pairs(), options)
    batches = list(recipe.batches(1))
    assert len(batches) == recipe.steps(1) == 2
    assert sorted(np.concatenate([rows for rows, _ in batches])) == list(range(24))
    assert recipe.rows(batches[0])[0] == f"r{batches[0][0][0]}"


@pytest.mark.parametrize("recipe", [pytest.param("triplet", marks=pytest.mark.slow), "triplet-xl"])
def test_a_small_model_learns_which_title_is_whose(tmp_path, recipe):
    beta = 0.01 if recipe == "triplet-xl" else 0.0
    options = TripletOptions(batch=32, neighbours=3, margin=0.3, beta=beta)
    fit_options = FitOptions(epochs=25, rate=0.01, patience=None, threads=1)
    trained = train_triplet(
        recipes(160),
        options,
        tmp_path / "m",
        text_encoder=Words(),
        fit=fit_options,
        validation=0.2,
        store=None,
    )
    untrained = train_triplet(
        recipes(160),
        options,
        tmp_path / "u",
        text_encoder=Words(),
        fit=FitOptions(epochs=1, rate=1e-9, threads=1),
        validation=0.2,
        store=None,
    )
    assert trained.score > untrained.score + 60
    assert (
        set(trained.scores) == {"en", "de"} and sum(trained.texts.values()) == 127
    )  # of 160, 33 in whole families
    assert not (tmp_path / "m" / "work").exists()
    config = ModelFolder.read(tmp_path / "m").config
    assert config["base"] == {"name": "Words", "identity": "words", "dim": 16, "languages": ["en", "de"]}
    assert (config["training"]["recipe"], config["model"]["recipe"]) == (recipe, recipe)


def test_an_interrupted_training_goes_on_bit_for_bit(tmp_path):
    options = TripletOptions(beta=0.01, batch=16, neighbours=2, out_dim=9)

    def train(name, epochs, **more):
        fit_options = FitOptions(epochs=epochs, rate=0.01, patience=None, threads=1)
        return train_triplet(
            recipes(80),
            options,
            tmp_path / name,
            text_encoder=Words(),
            fit=fit_options,
            validation=0.4,
            store=None,
            **more,
        )

    whole = train("whole", 5)

    def stop(line):
        if line["epoch"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train("parted", 5, on_log=stop)
    parted = train("parted", 5, resume=True)
    weights = [made.folder.weights() for made in (whole, parted)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    train("longer", 2)  # a training that was over goes on too
    longer = train("longer", 5, resume=True).folder.weights()
    assert all(torch.equal(weights[0][name], longer[name]) for name in weights[0])
    with pytest.raises(InputError, match="margin was"):
        train_triplet(
            recipes(80),
            options.changed(margin=0.2),
            tmp_path / "parted",
            text_encoder=Words(),
            fit=FitOptions(epochs=6, rate=0.01, patience=None),
            validation=0.4,
            store=None,
            resume=True,
        )


def test_vectors_that_are_no_numbers_are_no_best_epoch(tmp_path):
    """After a step that large all weights are numbers still, but no longer what they give."""
    with pytest.raises(InputError, match="the validation of epoch 1 gave nan"):
        train_triplet(
            recipes(80),
            TripletOptions(),
            tmp_path / "m",
            text_encoder=Words(),
            fit=FitOptions(epochs=1, rate=1e25, patience=None, threads=1),
            validation=0.4,
            store=None,
        )
    assert not (tmp_path / "m" / "config.json").exists()


def test_texts_without_a_title_are_left_out(tmp_path):
    rows = recipes(10, title=lambda i: "" if i == 2 else f"t{i}")
    with pytest.warns(DataWarning, match=r"1 of 10 texts are left out.*en 1; the first is 'r2'"):
        packed = pack_pairs(tmp_path, rows, TripletOptions(), Source("words", adopt(Words())))
    assert len(packed) == 9 and packed.ids.tolist()[:3] == ["r0", "r1", "r3"]
    body = Texts([rows.fields["body"][3]], ["de"], ["r3"])
    np.testing.assert_array_equal(packed.body[2], Words().encode(body)[0])
    empty = recipes(10, title=lambda i: f"t{i}" if i % 2 == 0 else "")
    with pytest.raises(InputError, match=r"no text in 'de' has a title and a body \(the first is 'r1'\)"):
        pack_pairs(tmp_path, empty, TripletOptions(), Source("words", adopt(Words())))
    with pytest.raises(InputError, match="no column 'head'"):
        pack_pairs(tmp_path, rows, TripletOptions(title="head"), Source("words", adopt(Words())))


def test_a_text_split_in_two(tmp_path):
    rows = recipes(12)
    packed = pack_pairs(
        tmp_path, rows, TripletOptions(split="first-sentence"), Source("words", adopt(Words()))
    )
    two = [text.split(". ") for text in rows.text]
    expected = [Words().encode(Texts([t + "."], ["en"], ["0"])) for t, _ in two]
    np.testing.assert_array_equal(packed.title, np.concatenate(expected))
