"""The in-batch softmax against naive loops in float64, its gradients, masks and sub-batches."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from xlingual.training.recipes.softmax import softmax_loss  # noqa: E402


def unit(generator, *shape):
    vectors = torch.randn(*shape, 3, generator=generator, dtype=torch.float64)
    return vectors / vectors.norm(dim=-1, keepdim=True)


def naive(questions, answers, scale, inside, size):
    terms, correct = [], 0
    for start in range(0, len(questions), size):
        part = range(start, min(start + size, len(questions)))
        for i in part:
            negatives = [scale * float(questions[i] @ answers[j]) for j in part if j != i]
            if not negatives:
                continue
            own = scale * float(questions[i] @ answers[i])
            total = sum(math.exp(s) for s in negatives) + (math.exp(own) if inside else 0.0)
            terms.append(math.log(total) - own)
            correct += own > max(negatives)
    return (sum(terms) / len(terms) if terms else 0.0), len(terms), correct


@given(
    st.integers(0, 10**6),
    st.integers(0, 7),
    st.one_of(st.none(), st.integers(1, 8)),
    st.sampled_from(["inside", "outside"]),
    st.floats(0.5, 30),
)
def test_equals_a_naive_loop(seed, b, size, positive, scale):
    generator = torch.Generator().manual_seed(seed)
    questions, answers = unit(generator, b), unit(generator, b)
    found = softmax_loss(questions, answers, scale, positive=positive, sub_batch=size)
    value, count, correct = naive(questions, answers, scale, positive == "inside", size or max(b, 1))
    assert float(found.value) == pytest.approx(value, abs=1e-10)
    assert (found.count, found.right) == (count, correct)


@pytest.mark.parametrize("positive", ["inside", "outside"])
@pytest.mark.parametrize("size", [None, 2, 3])
def test_gradients_of_vectors_and_of_the_scale(positive, size):
    generator = torch.Generator().manual_seed(0)
    questions, answers = (unit(generator, 5).requires_grad_() for _ in range(2))
    scale = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)

    def loss(q, a, s):
        return softmax_loss(q, a, s, positive=positive, sub_batch=size).value

    assert torch.autograd.gradcheck(loss, (questions, answers, scale))


def test_inside_is_cross_entropy():
    generator = torch.Generator().manual_seed(1)
    questions, answers = unit(generator, 6), unit(generator, 6)
    expected = torch.nn.functional.cross_entropy(7.0 * questions @ answers.T, torch.arange(6))
    assert torch.allclose(softmax_loss(questions, answers, 7.0).value, expected)


def test_a_worked_example():
    """Two pairs: own scores 1 and 0, crossed 0 and 1; with scale 1 log(e + 1) − 1 and log(1 + e) − 0."""
    questions = torch.tensor([[1.0, 0.0], [1.0, 0.0]], dtype=torch.float64)
    answers = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    inside = softmax_loss(questions, answers, 1.0)
    assert float(inside.value) == pytest.approx(math.log(math.e + 1) - 0.5)
    assert (inside.count, inside.right) == (2, 1)
    outside = softmax_loss(questions, answers, 1.0, positive="outside")
    assert float(outside.value) == pytest.approx(((0 - 1) + (1 - 0)) / 2)


def test_without_negatives_there_is_no_loss_and_no_gradient():
    vectors = torch.ones(2, 3, requires_grad=True)
    alone = softmax_loss(vectors, vectors, 1.0, sub_batch=1, positive="outside")
    assert (float(alone.value), alone.count, alone.value.requires_grad) == (0.0, 0, False)


def test_a_last_sub_batch_of_one_pair_counts_for_nothing():
    generator = torch.Generator().manual_seed(2)
    questions, answers = unit(generator, 5), unit(generator, 5)
    for positive in ("inside", "outside"):
        whole = softmax_loss(questions, answers, 5.0, positive=positive, sub_batch=4)
        four = softmax_loss(questions[:4], answers[:4], 5.0, positive=positive)
        assert torch.equal(whole.value, four.value) and whole.count == 4


def test_zero_vectors_and_equal_answers_give_finite_gradients():
    questions = torch.zeros(3, 4, requires_grad=True)
    answers = torch.ones(3, 4, requires_grad=True)
    for positive in ("inside", "outside"):
        found = softmax_loss(questions, answers, 100.0, positive=positive)
        found.value.backward()
        assert found.right == 0  # ties are not ranked first
        assert torch.isfinite(questions.grad).all() and torch.isfinite(answers.grad).all()
