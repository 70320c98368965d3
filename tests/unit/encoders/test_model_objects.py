"""Loaded sparse and multi-vector models, by stand-ins of the library's shapes: no network, no torch."""

from types import SimpleNamespace

import numpy as np
import pytest

from xlingual.encoders.base import adopt
from xlingual.encoders.sentence_transformer_kinds import adapter_of
from xlingual.errors import InputError
from xlingual.forms import SparseVectors, TokenVectors
from xlingual.records import Texts

NUMBERS = {"query": 2.0, "document": 3.0, "none": 5.0}


class Part:
    """A module of a model, with limits by task."""

    query_length, document_length = 3, None


class Model:
    """What both classes have; a text's vectors are its letters, times a number of its task."""

    max_seq_length, default_prompt_name, training = 8, None, True
    limit = 99  # rows of a batch that fit into memory

    def __init__(self, name=None):
        self.prompts, self.similarity_fn_name, self.calls = {"query": "q "}, name or self.usual, []

    def __getitem__(self, _):
        return Part()

    def train(self, mode):
        self.training = mode

    @staticmethod
    def tokenizer(texts, **_):
        return {"input_ids": [text.split() for text in texts]}

    def encode(self, texts, task="none", prompt=None, batch_size=0, show_progress_bar=True, **options):
        self.training = False
        self.calls.append((task, prompt, batch_size))
        if batch_size > self.limit:
            raise RuntimeError("out of memory")
        return self.answer([[NUMBERS[task] * ord(letter) for letter in text] for text in texts], **options)

    def encode_query(self, texts, **options):
        return self.encode(texts, "query", **options)

    def encode_document(self, texts, **options):
        return self.encode(texts, "document", **options)


def sparse_answer(self, rows, convert_to_tensor, convert_to_sparse_tensor, save_to_cpu):
    places = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = np.array([rows[i][j] for i, j in places], dtype=np.float32)
    found = SimpleNamespace(
        shape=(len(rows), 50),
        indices=lambda: SimpleNamespace(numpy=lambda: np.array(places, dtype=np.int64).reshape(-1, 2).T),
        values=lambda: SimpleNamespace(float=lambda: SimpleNamespace(numpy=lambda: values)),
    )
    found.coalesce = lambda: found
    return found


def token_answer(self, rows, convert_to_numpy):
    return [np.array([[number, 1.0] for number in row]).reshape(-1, 2) for row in rows]


def stand_in(kind, answer, usual):
    return type(
        kind, (Model,), {"__module__": "sentence_transformers.x.model", "answer": answer, "usual": usual}
    )


Sparse = stand_in("SparseEncoder", sparse_answer, "dot")
Tokens = stand_in("MultiVectorEncoder", token_answer, "maxsim")
TEXT = ["ab", "c", "ab", "four words in all"]


def batch(role=None):
    return Texts(TEXT, ["en"] * 4, list("wxyz"), role=role)


@pytest.mark.parametrize("role", ["query", "candidate", None])
@pytest.mark.parametrize("kind", [Sparse, Tokens])
def test_texts_are_encoded_by_role_and_equal_ones_once(kind, role):
    model = kind()
    found = adopt(model).encode_noting(batch(role))
    task = {"query": "query", "candidate": "document", None: "none"}[role]
    assert model.calls == [(task, None, 32)] and model.training  # as it was
    assert found.truncated.tolist() == [False, False, False, role == "query"]
    assert isinstance(found.vectors, SparseVectors if kind is Sparse else TokenVectors)
    assert found.vectors.sizes.tolist() == [2, 1, 2, 17]
    numbers = found.vectors.matrix.data if kind is Sparse else found.vectors.vectors[:, 0]
    assert numbers[:5].tolist() == [NUMBERS[task] * ord(letter) for letter in "abcab"]


@pytest.mark.parametrize(("kind", "name"), [(Sparse, "cosine"), (Tokens, "meanmaxsim")])
def test_scores_are_those_that_the_model_names(kind, name):
    assert adapter_of(kind(name)).encode_noting(batch()).vectors.compared_by == name
    with pytest.raises(InputError, match=r"compares by manhattan, which is a distance and not ranked here"):
        adapter_of(kind("manhattan")).encode_noting(batch())
