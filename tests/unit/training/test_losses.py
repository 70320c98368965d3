"""Losses against naive loops in float64, their gradients, and what must not change them."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from xlingual.training.losses import BatchView, mlmme_loss, ranking_loss  # noqa: E402

D = 3


def unit(generator, *shape):
    vectors = torch.randn(*shape, D, generator=generator, dtype=torch.float64)
    return vectors / vectors.norm(dim=-1, keepdim=True)


def a_view(generator, b, c, share=0.7):
    present = torch.rand(b, generator=generator) < share
    groups = torch.randint(0, b + 2, (c,), generator=generator)
    return BatchView(unit(generator, b), present, unit(generator, c), groups)


def in_batch(view, groups):
    return BatchView(view.anchor, view.present, view.anchor[view.present], groups[view.present])


def naive_one_way(anchors, positives, view, groups, margin, hardest):
    total = 0.0
    for i in range(len(groups)):
        if anchors[i] is None or positives[i] is None:
            continue
        terms = [
            max(0.0, margin - float(anchors[i] @ positives[i]) + float(anchors[i] @ view.contrast[j]))
            for j in range(len(view.contrast))
            if view.groups[j] != groups[i]
        ]
        total += max(terms, default=0.0) if hardest else sum(terms)
    return total


def naive(images, texts, groups, beta, margin, hardest, pairs):
    def rows(view):
        return [view.anchor[i] if view.present[i] else None for i in range(len(groups))]

    def both(one, other):
        return naive_one_way(rows(one), rows(other), other, groups, margin, hardest) + naive_one_way(
            rows(other), rows(one), one, groups, margin, hardest
        )

    image = sum(both(images, view) for view in texts.values()) if images is not None else 0.0
    together = list(combinations(texts.values(), 2))
    sentence = sum(both(one, other) for one, other in together)
    if pairs == "mean":
        image, sentence = image / len(texts), sentence / max(1, len(together))
    return beta * image + (1 - beta) * sentence


def a_batch(seed, b, c, languages, mode):
    generator = torch.Generator().manual_seed(seed)
    groups = torch.randint(0, b, (b,), generator=generator)  # some instances are of one item
    views = {name: a_view(generator, b, c) for name in ["images", *languages]}
    if mode != "random":
        views = {name: in_batch(view, groups) for name, view in views.items()}
    images = views.pop("images")
    return images, views, groups


@given(
    st.integers(0, 10**6),
    st.integers(1, 6),
    st.integers(0, 5),
    st.integers(1, 4),
    st.sampled_from(["random", "in-batch", "hardest"]),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    st.sampled_from(["sum", "mean"]),
    st.booleans(),
)
def test_equals_a_naive_loop(seed, b, c, languages, mode, beta, pairs, with_images):
    images, texts, groups = a_batch(seed, b, c, [f"l{i}" for i in range(languages)], mode)
    images = images if with_images else None
    options = {"beta": beta, "margin": 0.2, "hardest": mode == "hardest", "pairs": pairs}
    found = mlmme_loss(images, texts, groups, **options)
    assert float(found.value) == pytest.approx(naive(images, texts, groups, **options), abs=1e-12)


@pytest.mark.parametrize("mode", ["random", "in-batch", "hardest"])
@pytest.mark.cases(1)
def test_gradients(mode):
    images, texts, groups = a_batch(3, 5, 4, ["en", "de", "fr"], "random")
    free = [view.anchor.clone().requires_grad_() for view in (images, *texts.values())]
    drawn = [view.contrast.clone().requires_grad_() for view in (images, *texts.values())]

    def loss(*vectors):
        made = []
        for view, anchor, contrast in zip((images, *texts.values()), vectors[:4], vectors[4:], strict=True):
            new = BatchView(anchor, view.present, contrast, view.groups)
            made.append(new if mode == "random" else in_batch(new, groups))
        views = dict(zip(texts, made[1:], strict=True))
        return mlmme_loss(made[0], views, groups, beta=0.3, margin=0.2, hardest=mode == "hardest").value

    assert float(loss(*free, *drawn).detach()) > 0
    assert torch.autograd.gradcheck(loss, (*free, *drawn))


@pytest.mark.parametrize("mode", ["in-batch", "hardest"])
def test_one_language_without_sentences_against_sentences_is_vse(mode):
    """The matrix form of VSE and VSE++: scores of a batch, its diagonal, costs by row and by column."""
    generator = torch.Generator().manual_seed(1)
    b = 6
    shown, sentences, everywhere = unit(generator, b), unit(generator, b), torch.ones(b, dtype=torch.bool)
    groups = torch.arange(b)
    images, english = (BatchView(v, everywhere, v, groups) for v in (shown, sentences))
    found = mlmme_loss(images, {"en": english}, groups, beta=1.0, margin=0.2, hardest=mode == "hardest")
    scores = shown @ sentences.T
    off = 1 - torch.eye(b)
    rows = torch.clamp(0.2 + scores - scores.diag()[:, None], min=0) * off
    columns = torch.clamp(0.2 + scores - scores.diag()[None, :], min=0) * off
    expected = rows.sum() + columns.sum()
    if mode == "hardest":
        expected = rows.max(1).values.sum() + columns.max(0).values.sum()
    assert torch.allclose(found.value, expected.double(), atol=1e-12)
    assert found.image_positives == 2 * b and found.sentence_positives == 0
    assert float(found.sentence) == 0


@given(
    st.integers(0, 10**6),
    st.sampled_from(["random", "in-batch", "hardest"]),
    st.sampled_from(["sum", "mean"]),
)
def test_the_order_of_items_and_of_languages_does_not_matter(seed, mode, pairs):
    images, texts, groups = a_batch(seed, 6, 4, ["en", "de", "fr"], mode)
    options = {"beta": 0.4, "margin": 0.2, "hardest": mode == "hardest", "pairs": pairs}
    value = mlmme_loss(images, texts, groups, **options).value
    order = torch.randperm(6, generator=torch.Generator().manual_seed(seed))

    def moved(view):
        return BatchView(view.anchor[order], view.present[order], view.contrast.flip(0), view.groups.flip(0))

    turned = {name: moved(view) for name, view in reversed(texts.items())}
    again = mlmme_loss(moved(images), turned, groups[order], **options).value
    assert torch.allclose(value, again, atol=1e-12)


def test_sum_and_mean_of_five_languages():
    images, texts, groups = a_batch(0, 6, 4, ["a", "b", "c", "d", "e"], "random")
    whole = mlmme_loss(images, texts, groups, beta=0.5, margin=0.2)
    mean = mlmme_loss(images, texts, groups, beta=0.5, margin=0.2, pairs="mean")
    assert float(mean.image) == pytest.approx(float(whole.image) / 5)
    assert float(mean.sentence) == pytest.approx(float(whole.sentence) / 10)


def test_nothing_to_contrast_is_zero_with_gradient_zero():
    vectors = torch.ones(2, D, requires_grad=True)
    none = torch.zeros(2, 0, dtype=torch.bool)
    loss = ranking_loss(vectors, vectors, vectors[:0], none, 0.2, hardest=True)
    loss.backward()
    assert float(loss.detach()) == 0 and not vectors.grad.any()
    loss = ranking_loss(vectors, vectors, vectors, torch.zeros(2, 2, dtype=torch.bool), 0.2, hardest=True)
    assert float(loss.detach()) == 0


def test_a_worked_example():
    """One anchor, s(a, p) = .5; contrasts at .5, .2 and -1 cost .2, 0 (.2 - .5 + .2 < 0) and 0."""
    anchor = torch.tensor([[1.0, 0.0]])
    positive = torch.tensor([[0.5, 0.75**0.5]])
    contrast = torch.tensor([[0.5, 0.75**0.5], [0.2, 0.96**0.5], [-1.0, 0.0]])
    allowed = torch.ones(1, 3, dtype=torch.bool)
    assert float(ranking_loss(anchor, positive, contrast, allowed, 0.2)) == pytest.approx(0.2)
    assert float(ranking_loss(anchor, positive, contrast, allowed, 0.4)) == pytest.approx(0.5)
    assert float(ranking_loss(anchor, positive, contrast, allowed, 0.4, hardest=True)) == pytest.approx(0.4)
