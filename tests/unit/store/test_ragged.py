"""Sparse rows and token vectors in the store: found again as they were, checked, and never as a pickle."""

import numpy as np
import pytest
from tests import scored

from xlingual.errors import DataWarning
from xlingual.forms import form_of
from xlingual.records import Encoded
from xlingual.store import DamagedError, Store, maintenance

FORMS = {"dot": scored.sparse, "cosine": scored.sparse, "maxsim": scored.tokens, "meanmaxsim": scored.tokens}


@pytest.fixture(params=FORMS)
def vectors(request):
    return FORMS[request.param]("duplicated", np.random.default_rng(4), 30, 7, request.param)


def same(found, wanted):
    assert form_of(found) == form_of(wanted) and found.shape == wanted.shape
    return [found.row_bytes(i) for i in range(len(found))] == [
        wanted.row_bytes(i) for i in range(len(wanted))
    ]


def kept(root, made, vectors):
    collection = Store(root).collection("a")
    for part in (slice(0, 13), slice(13, 30)):
        numbers = range(30)[part]
        collection.add(made.keys(numbers), Encoded(vectors[part], np.array([n % 3 == 0 for n in numbers])))
    return collection


def test_what_is_added_is_found_in_any_order(root, made, vectors):
    kept(root, made, vectors)
    numbers = np.random.default_rng(0).integers(0, 30, 50)
    again = Store(root).collection("a")  # as another process
    found = again.read(again.find(made.keys(numbers.tolist())))
    assert same(found.vectors, vectors[numbers])
    assert found.truncated.tolist() == [n % 3 == 0 for n in numbers]
    assert again.dim == 7 and again.form == form_of(vectors)


@pytest.mark.parametrize("half", [False, True])
def test_half_precision_rounds_the_vectors_of_tokens_alone(tmp_path, made, vectors, half):
    collection = Store(tmp_path / "half", half=half).collection("a")
    collection.add(made.keys(range(30)), Encoded(vectors, None))
    again = Store(tmp_path / "half").collection("a")
    found = again.read(again.find(made.keys(range(30)))).vectors
    numbers, wanted = (
        (one.vectors if hasattr(one, "vectors") else one.matrix.data) for one in (found, vectors)
    )
    assert numbers.dtype == np.float32
    assert same(found, vectors) or half
    assert np.array_equal(
        numbers, wanted.astype(np.float16) if half and hasattr(found, "vectors") else wanted
    )


def test_damage_is_found_and_left_out(root, made, vectors):
    kept(root, made, vectors)
    number = np.float32(largest(vectors)).tobytes()
    path = next(path for path in root.glob("*/*.safetensors") if number in path.read_bytes())
    content = bytearray(path.read_bytes())
    start = content.index(number)
    content[start] ^= 1
    path.write_bytes(content)
    assert [bool(one.damaged) for one in maintenance.verify(Store(root))] == [True]
    collection = Store(root).collection("a")
    numbers = collection.find(made.keys(range(30)))
    with pytest.warns(DataWarning, match="vectors are not as they were written"), pytest.raises(DamagedError):
        collection.read(numbers)
    assert (collection.find(made.keys(range(30))) < 0).any()


def largest(vectors):
    numbers = vectors.vectors if hasattr(vectors, "vectors") else vectors.matrix.data
    return numbers.reshape(-1)[np.abs(numbers).argmax()]


def test_a_file_cut_short_is_damage(root, made, vectors):
    kept(root, made, vectors)
    for path in root.glob("*/*.safetensors"):
        path.write_bytes(path.read_bytes()[:-9])
    with pytest.warns(DataWarning, match="damaged"):
        assert (Store(root).collection("a").find(made.keys(range(30))) < 0).all()


def test_where_nothing_can_be_written_rows_stay_in_memory(root, made, vectors, monkeypatch):
    collection = Store(root).collection("a")
    monkeypatch.setattr(type(collection), "_written", _refuse)
    with pytest.warns(DataWarning, match="vectors are not kept"):
        collection.add(made.keys(range(30)), Encoded(vectors, None))
    assert same(collection.read(collection.find(made.keys(range(30)))).vectors, vectors)


def _refuse(*_):
    raise PermissionError(13, "Permission denied")


def test_export_and_list(root, made, vectors, tmp_path):
    kept(root, made, vectors)
    (holding,) = maintenance.holdings(Store(root))
    assert (holding.dim, holding.vectors, holding.damaged) == (7, 30, 0)
    ((_, path, count),) = maintenance.export(Store(root), tmp_path / "out")
    with np.load(path, allow_pickle=False) as file:
        assert count == 30 and len(file["bounds"]) == 31 and file["keys"].shape == (30, 16)
        assert str(file["form"]) == form_of(vectors)
        numbers = vectors.vectors if hasattr(vectors, "vectors") else vectors.matrix.data
        assert np.array_equal(file["vectors"], numbers)
