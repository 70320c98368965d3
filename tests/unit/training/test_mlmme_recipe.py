"""The recipe: its batches and loss are what a plain loop over sentences gives, and a small model learns."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from xlingual.data.manifest import Manifest  # noqa: E402
from xlingual.encoders import adopt  # noqa: E402
from xlingual.errors import DataWarning  # noqa: E402
from xlingual.training.corpus import Source  # noqa: E402
from xlingual.training.loop import FitOptions, ValidationScores, fit  # noqa: E402
from xlingual.training.recipes.mlmme import MlmmeRecipe, build_model, corpus_vectors  # noqa: E402
from xlingual.training.recipes.mlmme_options import MlmmeOptions  # noqa: E402
from xlingual.training.samplers import IMAGES  # noqa: E402

SMALL = {"word_dim": 8, "state_dim": 12, "joint_dim": 16, "dropout": 0.0, "initial": "vsepp"}


def options_of(*languages, **changes):
    return MlmmeOptions(languages=languages or ("en", "de"), **(SMALL | {"batch": 8} | changes))


def recipe_of(made, folder, manifest, options, dim=5):
    """Return a recipe over a manifest whose image i has a random vector."""
    source = None
    if options.beta > 0:
        table = np.random.default_rng(1).standard_normal((100, dim))
        source = Source("given", adopt(made.given(table)))
    corpus, vocabularies = made.packed(folder, manifest, options.languages, source)
    return MlmmeRecipe(build_model(options, vocabularies, corpus), corpus, options)


def plain_loss(recipe, drawing):
    """Return the loss of a drawing in the plainest way: one sentence or image, one triple at a time."""
    options, corpus, model = recipe.options, recipe.corpus, recipe.model
    everything = {"images": corpus.images, **corpus.texts}

    @cache
    def vector(view, member):
        if view == "images":
            return model.images(torch.from_numpy(corpus.images.of(np.array([member]))))[0]
        words, lengths = corpus.texts[view].padded(np.array([member]))
        return model.texts(view, torch.from_numpy(words), torch.from_numpy(lengths))[0]

    def group(view, member):
        return corpus.groups[everything[view].owners(np.array([member]))[0]]

    def one_way(anchors, positives):
        total = torch.zeros(())
        rows = zip(drawing.items, drawing.anchor[anchors], drawing.anchor[positives], strict=True)
        for row, (item, a, p) in enumerate(rows):
            if a < 0 or p < 0:
                continue
            contrast = drawing.contrast.get(positives, [m for m in drawing.anchor[positives] if m >= 0])
            if drawing.owned:
                contrast = contrast.reshape(len(drawing.items), -1)[row]
            costs = [
                torch.relu(
                    options.margin
                    - vector(anchors, a) @ vector(positives, p)
                    + vector(anchors, a) @ vector(positives, c)
                )
                for c in contrast
                if group(positives, c) != corpus.groups[item]
            ]
            if costs:
                total = total + (max(costs) if options.hardest else sum(costs))
        return total

    value, tags = torch.zeros(()), options.languages
    for i, tag in enumerate(tags):
        if options.beta > 0:
            value = value + options.beta * (one_way("images", tag) + one_way(tag, "images"))
        for other in tags[i + 1 :]:
            if options.beta < 1:
                times = 2 if options.pairs == "ordered-sum" else 1
                value = value + times * (1 - options.beta) * (one_way(tag, other) + one_way(other, tag))
    return value


def test_each_member_of_a_batch_is_encoded_once(made, tmp_path, monkeypatch):
    recipe = recipe_of(made, tmp_path, made.paired(30, texts=2), options_of(contrastive=20))
    seen, texts = {}, recipe.model.texts
    monkeypatch.setattr(
        recipe.model, "texts", lambda tag, *rows: texts(tag, *rows, **seen.update({tag: len(rows[0])}) or {})
    )
    for batch in recipe.batches(2):
        recipe.loss(batch)
        for tag, count in seen.items():
            assert count == len({*batch.anchor[tag].tolist(), *batch.contrast[tag].tolist()})


def test_items_that_lack_a_language_or_a_image(made, tmp_path):
    rows = [
        {"id": f"{item}{tag}", "lang": tag, "text": f"{tag}{item} x", "item": str(item)}
        | ({"image": str(item).encode()} if item not in (3, 4) else {})
        for item in range(6)
        for tag in ("en", "de")
        if (item, tag) not in {(0, "de"), (1, "en"), (3, "de")}
    ]
    manifest = Manifest.of(rows)
    with pytest.warns(DataWarning, match="1 of 6 items are not trained on"):  # 3 has English only
        recipe = recipe_of(made, tmp_path, manifest, options_of(contrastive=3, batch=3), dim=6)
    seen = set()
    for batch in recipe.batches(0):
        seen.update(recipe.rows(batch))
        expected = plain_loss(recipe, batch)
        assert float(recipe.loss(batch).value.detach()) == pytest.approx(float(expected.detach()), rel=1e-5)
    assert seen == {"0", "1", "2", "4", "5"}


def test_no_image_side_where_images_do_not_count(made, tmp_path):
    corpus, vocabularies = made.packed(
        tmp_path, made.paired(4), images=Source("given", adopt(made.given(np.eye(4))))
    )
    assert build_model(options_of(beta=0.0), vocabularies, corpus).picture is None
    assert build_model(options_of(beta=0.5), vocabularies, corpus).picture is not None


def test_standardized_images(made, tmp_path):
    """Any shift and scale of the dimensions of the image vectors then changes nothing."""
    rng = np.random.default_rng(2)
    table = rng.standard_normal((6, 5))
    table[:, 4] = 3  # does not vary
    turned = table * [2, 0.1, 30, 1, 1] + [5, 0, -100, 1, 2]
    found = []
    for name, vectors in (("one", table), ("other", turned)):
        source = Source("given", adopt(made.given(vectors)))
        options = options_of(standardize_pictures=True)
        corpus, vocabularies = made.packed(tmp_path / name, made.paired(6), images=source)
        model = build_model(options, vocabularies, corpus)
        assert np.allclose(model.picture_mean, vectors.mean(0), rtol=1e-5)
        assert np.allclose(model.picture_sd[:4], vectors.std(0)[:4], rtol=1e-4) and model.picture_sd[4] == 1
        assert {"picture_mean", "picture_sd"} <= set(model.state_dict())
        found.append(corpus_vectors(model, corpus)[IMAGES].vectors)
    assert np.allclose(*found, atol=1e-4)
    plain = build_model(options_of(), vocabularies, corpus)
    assert "picture_mean" not in plain.state_dict()


def test_two_epochs_and_two_more_are_four(made, tmp_path):
    """Dropout, the order of batches and contrastive draws go on as if nothing had happened."""
    options = options_of(dropout=0.5, contrastive=5)
    settings = options.settings()

    def trained(folder, epochs, resume=False):
        recipe = recipe_of(made, tmp_path / "corpus", made.paired(20, texts=2), options)
        fit_options = FitOptions(epochs=epochs, threads=1)
        return fit(
            recipe, fit_options, tmp_path / folder, settings=settings, resume=resume
        ).model.state_dict()

    whole = trained("whole", 4)
    half = trained("parts", 2)
    parts = trained("parts", 4, resume=True)
    assert all(torch.equal(whole[name], parts[name]) for name in whole)
    assert not torch.equal(whole["text.weight"], half["text.weight"])


def recall_at_1(one, other):
    """Return the share of vectors whose nearest neighbour is of their group."""
    return float((other.group[(one.vectors @ other.vectors.T).argmax(1)] == one.group).mean())


@pytest.mark.parametrize("contrast", ["random", "hardest"])
@pytest.mark.cases(1)
def test_a_small_model_learns_64_items_by_heart(made, tmp_path, contrast, full):
    options = options_of(contrast=contrast, contrastive=32, batch=16, state_dim=24, joint_dim=24, word_dim=16)
    recipe = recipe_of(made, tmp_path / "corpus", made.paired(64 if full else 24), options, dim=16)

    def validate(model, epoch):
        places = list(corpus_vectors(model, recipe.corpus).values())
        return ValidationScores(sum(recall_at_1(a, b) for a in places for b in places if a is not b))

    begun = validate(recipe.model, 0).value
    fitted = fit(
        recipe,
        FitOptions(epochs=60, rate=1e-2, patience=None, threads=1),
        tmp_path / "model",
        settings=options.settings(),
        validate=validate,
    )
    assert begun < 1  # of 6
    assert fitted.best_score == 6  # both ways: images and English, images and German, English and German


def test_vectors_of_a_corpus(made, tmp_path):
    recipe = recipe_of(made, tmp_path, made.paired(9, texts=2), options_of(dropout=0.5))
    recipe.model.train()
    found = corpus_vectors(recipe.model, recipe.corpus, batch=4)
    assert recipe.model.training
    recipe.model.eval()
    texts = recipe.corpus.texts["de"]
    for member in range(18):
        words, lengths = (torch.from_numpy(part) for part in texts.padded(np.array([member])))
        with torch.inference_mode():
            alone = recipe.model.texts("de", words, lengths)[0].numpy()
        assert np.allclose(found["de"].vectors[member], alone, atol=1e-6)
    assert np.array_equal(found["de"].group, np.repeat(recipe.corpus.groups, 2))
    assert sorted(found[IMAGES].group) == sorted(recipe.corpus.groups)
    without = replace(recipe.corpus, images=None)
    assert IMAGES not in corpus_vectors(recipe.model, without)
