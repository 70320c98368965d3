"""Losses against naive loops in float64, their gradients, and what must not change them."""

from itertools import combinations

import numpy as np
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
    if pairs == "ordered-sum":
        sentence = sum(
            both(one, other) for one in texts.values() for other in texts.values() if one is not other
        )
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
    st.sampled_from(["ordered-sum", "sum", "mean"]),
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


@given(
    st.integers(0, 10**6),
    st.sampled_from(["random", "in-batch", "hardest"]),
    st.sampled_from(["ordered-sum", "sum", "mean"]),
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


def equations_of_the_paper(d, v, d_r, v_r, beta, margin):
    """Equations 1 to 3 of Calixto, Liu and Campbell 2017 as printed, in plain loops, with their gradients.

    `d` [n, D]: images; `v[k]` [n, D]: their sentences in language k; `d_r` [n, r, D] and `v_r[k]` [n, r, D]:
    contrastive images and sentences of each. Returns (loss, gradients in the order of the arguments).
    """
    zeros = np.zeros_like
    g_d, g_v, g_dr = zeros(d), {k: zeros(v[k]) for k in v}, zeros(d_r)
    g_vr, loss = {k: zeros(v_r[k]) for k in v}, 0.0

    def summed(weight, a, p, r, g_a, g_p, g_r):
        """Add weight · Σ_a Σ_r max{0, α − s(a, p) + s(a, p_r)} and its gradients."""
        nonlocal loss
        for i in range(len(a)):
            for j in range(r.shape[1]):
                term = margin - sum(a[i] * p[i]) + sum(a[i] * r[i, j])
                if term > 0:
                    loss += weight * term
                    g_a[i] += weight * (r[i, j] - p[i])
                    g_p[i] -= weight * a[i]
                    g_r[i, j] += weight * a[i]

    for k in v:  # equation 1, for all k
        summed(beta, d, v[k], v_r[k], g_d, g_v[k], g_vr[k])
        summed(beta, v[k], d, d_r, g_v[k], g_d, g_dr)
    for k in v:  # equation 2, for all k and all l other than k
        for l in v:  # noqa: E741  (as in the paper)
            if l != k:
                summed(1 - beta, v[k], v[l], v_r[l], g_v[k], g_v[l], g_vr[l])
                summed(1 - beta, v[l], v[k], v_r[k], g_v[l], g_v[k], g_vr[k])
    return loss, [g_d, g_dr, *(part[k] for k in v for part in (g_v, g_vr))]


@pytest.mark.parametrize("languages", [1, 2, 3, 4])
@pytest.mark.parametrize("beta", [0.0, 0.25, 0.5, 1.0])
def test_the_equations_of_the_paper_with_their_gradients(languages, beta):
    generator, n, r = torch.Generator().manual_seed(languages), 5, 3
    free = [
        unit(generator, *shape).requires_grad_() for _ in range(languages + 1) for shape in ((n,), (n, r))
    ]
    groups, owner = torch.arange(n), torch.arange(n).repeat_interleave(r)
    others = torch.full((n * r,), n)  # contrastive items are of none of the items of the batch

    def view(anchor, drawn):
        return BatchView(anchor, torch.ones(n, dtype=torch.bool), drawn.flatten(0, 1), others, owner)

    images, *texts = (view(*free[i : i + 2]) for i in range(0, len(free), 2))
    found = mlmme_loss(images, dict(enumerate(texts)), groups, beta=beta, margin=0.2, pairs="ordered-sum")
    d, d_r, *rest = (part.detach().numpy() for part in free)
    v, v_r = (dict(enumerate(rest[start::2])) for start in (0, 1))
    expected, gradients = equations_of_the_paper(d, v, d_r, v_r, beta, 0.2)
    assert expected > 0 or (languages == 1 and beta == 0)
    assert float(found.value.detach()) == pytest.approx(expected, abs=1e-12)
    given = (
        torch.autograd.grad(found.value, free, allow_unused=True, materialize_grads=True) if expected else []
    )
    for one, other in zip(given, gradients, strict=bool(expected)):
        np.testing.assert_allclose(one.numpy(), other, atol=1e-12)


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
