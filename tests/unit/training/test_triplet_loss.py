"""The losses against naive loops in float64, and their gradients."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from xlingual.models.unit import unit  # noqa: E402
from xlingual.training.losses import nearest_of_languages, neighbour_term, triplet_loss  # noqa: E402

D = 4


def drawn(seed, *shape, zero=0.2):
    """Return unit vectors of which some are zero."""
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(*shape, D, generator=generator, dtype=torch.float64)
    vectors[torch.rand(*shape, generator=generator) < zero] = 0
    return unit(vectors)


def distance(a, b):
    """The definition, by sums of products; 1 of a zero vector."""
    a, b = a.tolist(), b.tolist()
    lengths = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    return 1 - (sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0)


def naive_term(body, title, items, languages, count, k):
    """Equation 2 for each text of a batch: its neighbours are the k nearest of each language."""
    sums, terms = [], []
    for r in range(len(body)):
        means = {}
        for tag in range(count):
            others = [n for n in range(len(title)) if languages[n] == tag and items[n] != items[r]]
            near = sorted(distance(body[r], title[n]) for n in others)[:k]
            if len(near) == k:
                means[tag] = sum(near) / k
        own = means.pop(int(languages[r]), None)
        sums.append(0.0 if own is None else sum(abs(mean - own) for mean in means.values()))
        terms.append(0 if own is None else len(means))
    return sums, terms


@given(st.integers(0, 10**6), st.integers(1, 6), st.floats(0, 2))
def test_triplet_loss_equals_a_naive_loop(seed, m, margin):
    body, title, negative = (drawn(seed + i, m) for i in range(3))
    naive = [
        max(0.0, distance(b, t) - distance(b, n) + margin)
        for b, t, n in zip(body, title, negative, strict=True)
    ]
    assert triplet_loss(body, title, negative, margin).tolist() == pytest.approx(naive, abs=1e-12)


@given(st.integers(0, 10**6), st.integers(2, 14), st.integers(1, 4), st.integers(1, 3))
def test_neighbour_term_equals_a_naive_loop(seed, m, count, k):
    generator = torch.Generator().manual_seed(seed)
    body, title = drawn(seed, m), drawn(seed + 1, m)
    languages = torch.randint(0, count, (m,), generator=generator)
    items = torch.randint(0, m, (m,), generator=generator)  # some are of one item
    nearest = nearest_of_languages(body @ title.T, languages, items[:, None] != items, count, k)
    found, terms = neighbour_term(body, title, nearest, languages)
    sums, counted = naive_term(body, title, items.tolist(), languages.tolist(), count, k)
    assert found.tolist() == pytest.approx(sums, abs=1e-9)
    assert terms.tolist() == counted


def test_gradients():
    generator = torch.Generator().manual_seed(5)
    raw = [torch.randn(8, D, generator=generator, dtype=torch.float64) for _ in range(2)]
    languages, items = torch.tensor([0, 1] * 4), torch.arange(8)

    def loss(*vectors):
        body, title = (unit(part) for part in vectors)
        nearest = nearest_of_languages(body @ title.T, languages, items[:, None] != items, 2, 2)
        term, _ = neighbour_term(body, title, nearest, languages)
        return triplet_loss(body, title, title.roll(1, 0), 0.5).sum() + 0.3 * term.sum()

    free = [part.requires_grad_() for part in raw]
    assert float(loss(*free).detach()) > 0
    assert torch.autograd.gradcheck(loss, free)


def test_zero_vectors_have_distance_one_and_a_finite_gradient():
    raw = torch.zeros(6, D, requires_grad=True)
    body = title = unit(raw)
    languages, items = torch.tensor([0, 0, 0, 1, 1, 1]), torch.arange(6)
    assert triplet_loss(body, title, title.roll(1, 0), 0.1).tolist() == pytest.approx([0.1] * 6)
    nearest = nearest_of_languages(body @ title.T, languages, items[:, None] != items, 2, 2)
    term, _ = neighbour_term(body, title, nearest, languages)
    (term.sum() + triplet_loss(body, title, title.roll(1, 0), 0.1).sum()).backward()
    assert not term.detach().any() and not raw.grad.any()


def test_a_worked_example():
    """cos(b, t) = .8 and cos(b, n) = .75: .2 − .25 + .1 = .05; further away it costs nothing."""
    body = torch.tensor([[1.0, 0.0]])
    title = torch.tensor([[0.8, 0.6]])
    near, far = torch.tensor([[0.75, 0.4375**0.5]]), torch.tensor([[0.0, 1.0]])
    assert triplet_loss(body, title, near, 0.1).item() == pytest.approx(0.05)
    assert triplet_loss(body, title, far, 0.1).item() == 0
