"""The result digest: equal for equal numbers, another one where any number is another."""

import hashlib
import json
import random
from copy import deepcopy

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.results.digest import BESIDE, TIMES, digest_of, table_digest

NAMES = st.text(min_size=1, max_size=6).filter(lambda name: name not in BESIDE | TIMES)
NUMBERS = st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.dictionaries(
    NAMES,
    st.recursive(
        st.none() | st.booleans() | NUMBERS | st.text(max_size=6),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
        max_leaves=12,
    ),
    max_size=4,
)


def numbers_in(value, path=()):
    """Yield the place of each number."""
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers_in(part, (*path, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path


def shuffled(value, rng):
    """Return the same with the keys of every object in another order."""
    if isinstance(value, dict):
        keys = list(value)
        rng.shuffle(keys)
        return {key: shuffled(value[key], rng) for key in keys}
    return [shuffled(part, rng) for part in value] if isinstance(value, list) else value


@given(JSON, st.randoms(use_true_random=False))
def test_neither_the_order_of_keys_nor_writing_and_reading_change_it(content, rng):
    assert digest_of(shuffled(content, rng)) == digest_of(content)
    assert digest_of(json.loads(json.dumps(content))) == digest_of(content)


@given(JSON, st.data())
def test_any_other_number_changes_it(content, data):
    places = list(numbers_in(content))
    if not places:
        return
    *way, last = data.draw(st.sampled_from(places))
    changed = deepcopy(content)
    holder = changed
    for key in way:
        holder = holder[key]
    value = holder[last]
    towards = -np.inf if value > 0 else np.inf  # never beyond the largest number
    holder[last] = np.nextafter(value, towards).item() if isinstance(value, float) else value + 1
    assert digest_of(changed) != digest_of(content)


@given(JSON, st.sampled_from(sorted(BESIDE)), JSON)
def test_how_it_was_found_does_not_change_it(content, name, other):
    assert digest_of({**content, name: other}) == digest_of(content)
    assert digest_of({**content, "one": {"value": 1, "seconds": 2.5}}) == digest_of(
        {**content, "one": {"value": 1, "seconds": 3}}
    )


def test_a_whole_number_is_one_number_however_it_is_written():
    assert digest_of({"a": 1, "b": -0.0}) == digest_of({"a": 1.0, "b": 0})
    assert digest_of({"a": True}) != digest_of({"a": 1}) != digest_of({"a": "1"})
    assert digest_of({"a": None}) != digest_of({}) != digest_of({"a": 0})


def columns():
    rng = random.Random(0)
    return {
        "query": [rng.choice("abc") for _ in range(50)],
        "item": [rng.choice(["x", "", None]) for _ in range(50)],
        "above": [rng.choice([0, 1, None]) for _ in range(50)],
        "value": [rng.random() for _ in range(50)],
    }


def test_how_a_table_is_stored_does_not_change_it():
    plain = pa.table(columns())
    coded = plain.set_column(0, "query", plain["query"].dictionary_encode())
    pieces = pa.concat_tables([plain.slice(0, 7), plain.slice(7)])
    turned = plain.select(list(reversed(plain.column_names)))
    small = plain.set_column(2, "above", plain["above"].cast(pa.int32()))
    for other in (coded, pieces, turned, small, plain.slice(0)):
        assert table_digest(other) == table_digest(plain)
    assert table_digest(plain.slice(3, 20)) == table_digest(pa.table(plain.slice(3, 20).to_pydict()))


@pytest.mark.parametrize("name", ["query", "item", "above", "value"])
def test_any_other_cell_changes_the_digest_of_a_table(name):
    first = table_digest(pa.table(columns()))
    for row in range(50):
        changed = columns()
        value = changed[name][row]
        changed[name][row] = "y" if isinstance(value, str) or name == "item" else (value or 0) + 1e-12
        changed[name][row] = 7 if name == "above" else changed[name][row]
        assert table_digest(pa.table(changed)) != first
    assert table_digest(pa.table({**columns(), "more": [1] * 50})) != first
    moved = columns() | {"query": ["ab", "c", *columns()["query"][2:]]}
    other = columns() | {"query": ["a", "bc", *columns()["query"][2:]]}
    assert table_digest(pa.table(moved)) != table_digest(pa.table(other))


def whole_columns(table):
    """Return the hash of a table, a column at a time."""
    hasher = hashlib.sha256()
    for name in sorted(table.column_names):
        values = table[name].to_pylist()
        hasher.update(json.dumps([name, len(values)]).encode())
        hasher.update(np.packbits([value is not None for value in values]).tobytes() if values else b"")
        known = [value for value in values if value is not None]
        if pa.types.is_integer(table[name].type) or pa.types.is_floating(table[name].type):
            kind = "<i8" if pa.types.is_integer(table[name].type) else "<f8"
            hasher.update(np.array(known, dtype=kind).tobytes())
            continue
        texts = [value.encode() for value in known]
        hasher.update(np.array([len(text) for text in texts], dtype="<i8").tobytes() + b"".join(texts))
    return hasher.digest()


@given(
    st.lists(st.tuples(st.none() | st.text(max_size=4), st.none() | st.integers(-9, 9)), max_size=70),
    st.integers(1, 40),
    st.sampled_from([8, 16, 64]),
)
def test_a_table_has_the_digest_of_its_whole_columns(rows, chunk, piece):
    words, numbers = ([row[i] for row in rows] for i in range(2))
    columns = {
        "word": pa.array(words, pa.string()),
        "coded": pa.array(words, pa.string()).dictionary_encode(),
        "whole": pa.array(numbers, pa.int64()),
        "number": pa.array(numbers, pa.float64()),
    }
    whole = pa.table(columns)
    parts = [whole.slice(start, chunk) for start in range(0, len(rows), chunk)] or [whole]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xlingual.results.digest._PIECE", piece)
        assert table_digest(pa.concat_tables(parts)) == table_digest(whole) == whole_columns(whole)
