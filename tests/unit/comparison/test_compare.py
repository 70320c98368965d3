"""Outcomes, corrections and ranks of a comparison of encoders of known quality."""

import json

import pytest

from xlingual.comparison.compare import compare
from xlingual.errors import InputError
from xlingual.results.comparison import Comparison
from xlingual.stats.corrections import holm


def outcomes(board):
    return {row.encoder: row.outcome for row in board.rows}


@pytest.fixture
def three(folders):
    given = folders.given
    return folders.xlr("r", [given("good", 0.15), given("fair", 0.35, 1), given("twin", 0.35, 2)])


def test_against_a_baseline(three):
    found = compare([three], baseline=f"{three}#fair", measures=["R@1"])
    (board,) = found.boards
    assert outcomes(board) == {"good": "better", "fair": "baseline", "twin": "no difference found"}
    row = board.rows[0]
    assert row.difference == pytest.approx(row.value - board.rows[1].value)
    assert row.ci.low < row.difference < row.ci.high and row.ci.low > 0
    assert [r.value for r in board.rows] == sorted((r.value for r in board.rows), reverse=True)


def test_without_a_baseline_the_leader_is_it(three):
    board = compare([three], measures=["R@1"]).boards[0]
    assert board.baseline == "good"
    assert {"worse"} == {outcome for name, outcome in outcomes(board).items() if name != "good"}
    ranks = {row.encoder: (row.rank_low, row.rank_high) for row in board.rows}
    assert ranks == {"good": (1, 1), "fair": (2, 3), "twin": (2, 3)}
    assert [row.encoder for row in board.rows if row.top] == ["good"]
    assert (board.n_tests, board.n_rank_tests) == (3, 3)


def test_a_margin_tells_equivalent_from_no_difference_found(three):
    wide = compare([three], baseline="fair", measures=["R@1"], margin=0.3).boards[0]
    narrow = compare([three], baseline="fair", measures=["R@1"], margin=0.001).boards[0]
    assert outcomes(wide)["twin"] == "equivalent"
    assert outcomes(narrow)["twin"] == "no difference found"


def test_equal_answers_are_no_difference_and_equivalent_with_a_margin(folders):
    good = [folders.given("good", 0.3)]
    paths = [folders.xlr("a", good), folders.xlr("b", good)]
    for margin, outcome in ((None, "no difference found"), (0.2, "equivalent")):
        board = compare(paths, baseline="a#good", measures=["R@1"], margin=margin).boards[0]
        row = next(row for row in board.rows if row.encoder == "b#good")
        assert (row.outcome, row.difference) == (outcome, 0.0)
        assert row.note == "the two agree on every query"
        assert row.ci.low < 0 < row.ci.high


def test_an_equal_difference_on_every_query_is_found(folders):
    class Wrong(folders.given):
        def encode(self, batch):
            return super().encode(batch) * [[1 if tag == "en" else -1] for tag in batch.language]

    path = folders.xlr("r", [folders.given("right", 0.01), Wrong("wrong", 0.01)], measures=["R@1"])
    row = compare([path]).boards[0].rows[1]
    assert row.outcome == "worse" and row.ci.high < -0.8


def test_the_correction_counts_all_tests_of_a_table(three):
    found = compare([three], baseline="fair", measures=["R@1"], per_pair=True)
    parts = [board for board in found.boards if board.source is not None]
    assert [(b.source, b.target) for b in parts] == [("en", "de"), ("de", "en")]
    rows = [row for board in parts for row in board.rows if row.p is not None]
    assert [row.p_adjusted for row in rows] == pytest.approx(holm([row.p for row in rows]).tolist())
    assert {board.n_tests for board in parts} == {4}
    plain = compare([three], baseline="fair", measures=["R@1"], correction="none")
    assert all(row.p == row.p_adjusted for row in plain.boards[0].rows)


def test_many_tests_get_enough_replicates(three):
    found = compare([three], measures=["R@1"], by=["seed", "size"], alpha=0.004)
    assert [board.replicates for board in found.boards] == [1999, 1999, 2812, 2812, 2812]
    compare([three], measures=["R@1"], replicates=49)
    with pytest.raises(InputError, match=r"30 replicates cannot show anything at alpha 0\.05: at least 40"):
        compare([three], measures=["R@1"], replicates=30)


def test_slices_have_boards_of_their_own(three):
    found = compare([three], baseline="good", measures=["R@1"], by=["category"])
    parts = {board.label: board for board in found.boards if board.column == "category"}
    assert set(parts) == {"chair", "table"}
    assert all(row.rank_low is None for board in parts.values() for row in board.rows)
    assert {outcomes(board)["fair"] for board in parts.values()} == {"worse"}


def test_parts_have_the_leader_of_all_queries_as_baseline(three):
    found = compare([three], measures=["R@1"], by=["seed", "category"], per_pair=True)
    assert {board.baseline for board in found.boards} == {"good"}
    noisy = compare([f"{three}#fair", f"{three}#twin"], measures=["R@1"], by=["size"])
    assert len({board.baseline for board in noisy.boards}) == 1
    assert any(board.rows[0].encoder != board.baseline for board in noisy.boards)


def test_one_more_encoder_changes_nobodys_numbers(three, folders):
    more = folders.xlr("more", [folders.given("new", 0.25, 5)])
    before = compare([three], baseline="fair").boards
    after = compare([three, more], baseline="fair").boards
    for one, other in zip(before, after, strict=True):
        kept = {row.encoder: (row.p, row.ci) for row in other.rows}
        assert {row.encoder: (row.p, row.ci) for row in one.rows}.items() <= kept.items()


def test_the_record_reads_back(three, tmp_path):
    found = compare([three], by=["category"], per_pair=True, margin=0.05)
    found.write(tmp_path / "out")
    assert Comparison.read(tmp_path / "out").to_dict() == found.to_dict()
    content = json.loads((tmp_path / "out" / "comparison.json").read_text(encoding="utf-8"))
    assert content["schema"] == "xlingual/comparison/1"
    content["schema"] = "xlingual/comparison/2"
    (tmp_path / "out" / "comparison.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError, match="made by another version"):
        Comparison.read(tmp_path / "out")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baseline": "god"}, "no encoder 'god'|is missing"),
        ({"correction": "bonferoni"}, "unknown correction"),
        ({"alpha": 0.0}, "alpha must lie between"),
        ({"margin": -1.0}, "margin must be above 0"),
        ({"by": ["colour"]}, "no column 'colour'"),
        ({"measures": ["R@3"]}, "no encoder has R@3"),
    ],
)
def test_bad_options(three, options, message):
    with pytest.raises(InputError, match=message):
        compare([three], **options)


def test_one_encoder_is_not_enough(three):
    with pytest.raises(InputError, match="only one encoder to compare"):
        compare([f"{three}#good"])
