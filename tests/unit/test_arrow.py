"""Arrow arrays made here are those that pyarrow makes, and numbers come back the same."""

import numpy as np
import pyarrow as pa
import pytest

from xlingual.arrow import from_numpy, from_strings, from_values, scalar, table_of, to_numpy

NUMBERS = [
    np.arange(5),
    np.arange(0),
    np.arange(10)[::2],
    np.array([0.5, np.nan, -np.inf]),
    np.array([1, 2, 255], dtype=np.uint8),
    np.array([1.5, 2.5], dtype=np.float32),
    np.array([True, False, True, True, False, True, True, False, True]),
]


@pytest.mark.parametrize("values", NUMBERS, ids=str)
def test_numbers_become_the_array_of_pyarrow_and_come_back(values):
    made = from_numpy(values)
    made.validate(full=True)
    assert made.type == pa.array(values).type
    assert made.to_pylist() == pytest.approx(values.tolist(), nan_ok=True)
    back = to_numpy(made)
    assert back.dtype == values.dtype
    np.testing.assert_array_equal(back, values)
    np.testing.assert_array_equal(to_numpy(made.slice(1)), values[1:])


def test_masked_numbers_are_null():
    values, mask = np.arange(9), np.arange(9) % 3 == 1
    made = from_numpy(values, pa.int64(), mask)
    assert made.equals(pa.array(values, pa.int64(), mask=mask))
    assert from_numpy(values, pa.int64(), np.zeros(9, dtype=bool)).null_count == 0


def test_a_type_that_cannot_hold_a_value_is_refused():
    assert from_numpy(np.array([1, 2]), pa.int8()).type == pa.int8()
    with pytest.raises(pa.ArrowInvalid):
        from_numpy(np.array([1, 300]), pa.int8())


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, None, 3]),
        pa.array([1.5, None]),
        pa.array([1.5, None], pa.float32()),
        pa.array([], pa.int32()),
        pa.array([None, None], pa.int64()),
        pa.array([7, 1, None, 3]).slice(1),
        pa.chunked_array([[1, 2], [], [3]]),
        pa.chunked_array([], pa.float64()),
        pa.chunked_array([[True, False], [True]]),
    ],
    ids=str,
)
def test_values_are_those_of_pyarrow(column):
    more = {} if isinstance(column, pa.ChunkedArray) else {"zero_copy_only": False}
    expected = column.to_numpy(**more)
    found = to_numpy(column)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("column", [pa.array(["a"]), pa.array([True, None])], ids=str)
def test_what_has_no_numbers_is_refused(column):
    with pytest.raises(TypeError, match="expected numbers, or truths"):
        to_numpy(column)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
@pytest.mark.parametrize("values", [[], ["a", "", "größer", "漢字 😀"], ["a", None, ""], [None]], ids=str)
def test_strings_become_the_array_of_pyarrow(values, kind):
    made = from_strings(values, kind)
    made.validate(full=True)
    assert made.equals(pa.array(values, kind))


INNER = pa.struct([("name", pa.string()), ("rank", pa.int64())])


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, None, 3], pa.int64()),
        ([], pa.int64()),
        ([None], pa.float64()),
        ([0.5, 1, None], pa.float64()),
        ([True, None, False], pa.bool_()),
        ([b"\x00a", None, b""], pa.binary()),
        ([["a"], [], ["b", None]], pa.list_(pa.string())),
        ([{"name": "a", "rank": 1}, None, {"name": None}], INNER),
        ([[{"name": "a", "rank": 1}], []], pa.list_(INNER)),
        ([["a"], None], pa.list_(pa.string())),
    ],
    ids=str,
)
def test_values_become_the_array_of_pyarrow(values, kind):
    made = from_values(values, kind)
    made.validate(full=True)
    assert made.equals(pa.array(values, kind))


def test_a_scalar_is_that_of_pyarrow():
    assert scalar("a", pa.large_string()).equals(pa.scalar("a", pa.large_string()))
    assert scalar(None, pa.int64()).equals(pa.scalar(None, pa.int64()))


def test_a_table_is_that_of_pyarrow():
    schema = pa.schema([("id", pa.string()), ("count", pa.float64()), ("best", pa.list_(INNER))])
    rows = [
        {"id": "a", "count": 1.0, "best": [{"name": "b", "rank": 1}], "more": 1},
        {"id": None, "best": []},
    ]
    assert table_of(rows, schema).equals(pa.Table.from_pylist(rows, schema=schema))
    assert table_of([], schema).equals(schema.empty_table())
