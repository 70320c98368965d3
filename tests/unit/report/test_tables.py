import pytest

from xlingual.report import leaderboard, leaders
from xlingual.report.blocks import STEPS
from xlingual.report.figures import pairs as plots
from xlingual.report.figures.bars import bar_axis
from xlingual.report.pages.boards import board as table_of
from xlingual.tasks import task_of

TASK = "backretrieval"


def board(made, *summaries, measure="R@10", entries=()):
    return leaderboard(made.results(list(entries), list(summaries)), TASK, measure)


def test_order_standing_and_texts(made):
    rows = board(
        made,
        made.summary(TASK, "low", "R@10", 0.2, behind=made.behind("top", 0.2, 0.05), n_pairs=2),
        made.summary(TASK, "top", "R@10", 0.4, normalized=0.412, chance=0.027, oracle=0.9, n_pairs=2),
        made.summary(TASK, "near", "R@10", 0.39, behind=made.behind("top", 0.01, 0.02), n_pairs=2),
        made.summary(TASK, "none", "R@10", None, note="too few queries", n_pairs=2),
    )
    assert [(row.rank, row.encoder, row.standing) for row in rows] == [
        (1, "top", "leader"), (2, "near", "level"), (3, "low", "behind"), (None, "none", "unknown"),
    ]  # fmt: skip
    assert rows[0].value_text == "0.400"
    assert rows[0].normalized_text == "41 %"
    assert rows[1].behind_text == "0.010 [−0.010, 0.030]"
    assert (rows[3].rank, rows[3].value_text, rows[3].note) == (None, "–", "too few queries")


def test_the_leader_is_the_encoder_the_others_were_compared_with(made):
    rows = board(
        made,
        made.summary(TASK, "a", "R@10", 0.4, behind=made.behind("b", 0.0, 0.02)),
        made.summary(TASK, "b", "R@10", 0.4),
    )
    assert [(row.encoder, row.standing) for row in rows] == [("b", "leader"), ("a", "level")]


def test_one_pair_without_a_mean_and_several_without_one(made):
    one = board(made, made.summary(TASK, "e", "R@10", 0.4, "de", "en"))
    assert (one[0].value, one[0].ci) == (0.4, made.ci(0.4))
    two = board(
        made,
        made.summary(TASK, "e", "R@10", 0.4, "de", "en"),
        made.summary(TASK, "e", "R@10", 0.2, "en", "de"),
    )
    assert two[0].value == pytest.approx(0.3)
    assert two[0].ci is None and two[0].n_pairs == 2


def test_ties_and_queries_are_summed_over_pairs_and_seeds(made):
    entries = [
        made.entry(TASK, "de", "en", "e", "R@10", 0.3, n_tied=4, n_source=100),
        made.entry(TASK, "en", "de", "e", "R@10", 0.3, n_tied=5, n_source=90),
        made.entry(TASK, "en", "de", "e", "SIM", 0.3, n_tied=50),
        made.entry(TASK, "en", "de", "other", "R@10", 0.3, n_tied=50),
    ]
    rows = board(made, made.summary(TASK, "e", "R@10", 0.3), entries=entries)
    assert (rows[0].n_tied, rows[0].n_queries) == (9, 190)


@pytest.mark.parametrize(("chance", "at_chance"), [(0.40, True), (0.37, True), (0.36, False), (None, False)])
def test_at_chance_means_the_interval_contains_it(made, chance, at_chance):
    assert board(made, made.summary(TASK, "e", "R@10", 0.4, chance=chance))[0].at_chance is at_chance


def bars(made, rows):
    found = table_of([made.results([], [])], task_of(TASK), rows)
    (place,) = [i for i, column in enumerate(found.columns) if column.kind == "chart"]
    return [row.cells[place].bar for row in found.rows]


def test_bars_lie_where_the_numbers_are(made):
    rows = board(
        made,
        made.summary(TASK, "e", "R@10", 0.4, chance=0.1, oracle=0.8),
        made.summary(TASK, "f", "R@10", 0.01),
        made.summary(TASK, "g", "R@10", None),
    )
    axis = bar_axis(rows)
    assert (axis.low, axis.high) == (0.0, 0.8)
    first, second, third = bars(made, rows)
    assert (first.value, first.ends) == (0.4, (0.37, 0.43))
    assert first.lines == (("chance", 0.1), ("oracle", 0.8))
    assert (second.value, second.lines) == (0.01, ()) and axis.at(second.ends[0]) == 0.0
    assert third is None


def pair_plots(made, values, measure="R@10"):
    results = made.results([], [made.summary(TASK, "e", measure, v, s, t) for (s, t), v in values.items()])
    rows = leaderboard(results, TASK, measure)
    return rows, leaders.pair_rows(results, TASK, measure)


def test_box_over_pairs(made):
    languages = [("a", "b"), ("b", "a"), ("a", "c"), ("c", "a"), ("b", "c")]
    rows, pairs = pair_plots(made, dict(zip(languages, [0.4, 0.5, 0.45, 0.55, 1.0], strict=True)))
    (box,) = plots.boxes(rows, pairs)
    assert box.quartiles == pytest.approx((0.45, 0.5, 0.55))
    assert (box.low, box.high) == (0.4, 0.55)  # 1.0 lies beyond the whisker
    assert box.dots[-1] == (1.0, "b → c: 1.000")
    assert plots.box_axis(rows, pairs).holds(1.0)
    assert box.spoken == "e: median 0.500 over 5 pairs, from 0.400 to 1.000"


def test_two_pairs_are_dots_only(made):
    rows, pairs = pair_plots(made, {("a", "b"): 0.4, ("b", "a"): 0.5})
    (box,) = plots.boxes(rows, pairs)
    assert box.quartiles is None and len(box.dots) == 2


def test_heat_map_cells(made):
    rows, pairs = pair_plots(made, {("a", "b"): 0.4, ("b", "a"): 0.5, ("a", "c"): None})
    (found,), _ = plots.heat_maps(rows, pairs)
    assert found.columns == ["a", "b", "c"]
    (source, first), (_, second) = found.lines
    assert source == "a" and first[0] is None
    assert (first[1].step, first[1].text, first[1].short) == (0, "0.400", "0.40")
    assert first[1].title == "a → b: 0.400 [0.370, 0.430]"
    assert (first[2].step, first[2].text) == (None, "–")
    assert second[0].step == STEPS - 1


def test_low_ranks_are_deep_in_the_heat_map(made):
    rows, pairs = pair_plots(made, {("a", "b"): 2.0, ("b", "a"): 9.0}, "MedR")
    (found,), ends = plots.heat_maps(rows, pairs)
    assert found.lines[0][1][1].step == STEPS - 1 and ends == ("9.0", "2.0")


def runs_on(made, *data):
    runs = []
    for place, name in enumerate(data):
        entry = made.entry(TASK, "a", "b", "e", "R@10", 0.3, signature=made.signature(data=name))
        rows = [made.summary(TASK, e, "R@10", v + place / 20) for e, v in (("e", 0.3), ("f", 0.2))]
        runs.append(made.results([entry], rows))
    return runs


def test_runs_that_are_not_comparable_are_ranked_apart(made):
    rows = leaderboard(runs_on(made, "one", "other"), TASK, "R@10")
    assert [(row.rank, row.label) for row in rows] == [
        (1, "e (run 1)"), (2, "f (run 1)"), (1, "e (run 2)"), (2, "f (run 2)"),
    ]  # fmt: skip
    rows = leaderboard(runs_on(made, "one", "one"), TASK, "R@10")
    assert [(row.rank, row.run) for row in rows] == [(1, 2), (2, 1), (3, 2), (4, 1)]


def test_the_axis_ends_beyond_the_intervals_where_the_oracle_would_crowd_them(made):
    marks = {"chance": 0.0127, "oracle": 0.767, "ceiling": 0.94}
    rows = board(
        made,
        made.summary(TASK, "e", "R@10", 0.0196, ci=made.ci(0.0196, 0.002), **marks),
        made.summary(TASK, "f", "R@10", 0.0127, ci=made.ci(0.0127, 0.001), **marks),
    )
    axis = bar_axis(rows)
    assert axis.low == 0.0 and 0.0216 < axis.high <= 0.025
    drawn = [kind for kind, place in bars(made, rows)[0].lines if axis.holds(place)]
    assert drawn == ["chance"]


def test_small_cells_have_digits_enough(made):
    rows, pairs = pair_plots(made, {("a", "b"): 0.012, ("b", "a"): 0.015, ("a", "c"): 0.11})
    (found,), _ = plots.heat_maps(rows, pairs)
    assert [cell.short for cell in found.lines[0][1] if cell] == ["0.012", "0.110"]
