import re

import pytest
from msgspec.structs import replace

from xlingual.report import leaderboard, page_of, verdict

TASK = "backretrieval"


# what to do, and what the measure is: findings/test_advice.py
HEAD = re.compile(
    "Use |Take |Do not |None is good|.* is not good|.* can be used|An encoder that is good|BkR .* is the"
)


def numbers_of(found):
    """Return the sentences behind those that say what to do and what the measure is."""
    return [sentence for sentence in verdict(found) if not HEAD.match(sentence)]


def said(made, *summaries):
    kinds = {row.encoder: GENERAL for row in summaries}
    return numbers_of(made.results([], list(summaries), encoders=kinds))


def mean(made, encoder, value, **changes):
    return made.summary(TASK, encoder, "R@10", value, n_pairs=2, **changes)


def test_runs_that_cannot_be_paired(made):
    runs = []
    for data, value in (("abc", 0.3), ("xyz", 0.4)):
        signature = made.signature(task=TASK, data=data, encoder=f"e{value}")
        entries = [made.entry(TASK, "de", "fr", "e", "R@10", value, signature=signature)]
        runs.append(made.results(entries, [mean(made, "e", value)]))
    sentences = verdict(runs)
    assert sentences[0].startswith("Run 1: BkR R@10 is the share of texts")
    assert sentences[1] == "e reaches BkR R@10 0.300 [0.270, 0.330] on average over 2 language pairs."
    assert [found.name for found in page_of(runs).verdict] == ["Run 1", "Run 2", ""]
    assert sentences[2].startswith("Run 2: e reaches BkR R@10 0.400")  # the measure is explained once
    assert sentences[3].endswith("The conditions differ too (data), so the values are not comparable.")
    assert "conditions differ" not in verdict([runs[0], runs[0]])[-1]


def test_runs_of_different_tasks_do_not_clash(made):
    runs = [
        made.results([], [mean(made, "e", 0.3)]),
        made.results([], [made.summary("distance-correlation", "e", "CORR", 0.3, n_pairs=2)]),
    ]
    assert not any("Run" in sentence for sentence in verdict(runs))


def test_one_encoder_above_chance_is_enough_to_lead(made):
    rows = [
        mean(made, "a", 0.2, chance=0.1),
        mean(made, "b", 0.1, chance=0.1, behind=made.behind("a", 0.1, 0.02)),
        mean(made, "c", 0.01, chance=0.1, behind=made.behind("a", 0.19, 0.02)),
    ]
    sentences = said(made, *rows)
    assert sentences[0].startswith("a leads: ")
    assert sentences[2:] == [
        "Not distinguishable from chance (0.100): b.",
        "Worse than chance (0.100): c.",
    ]


def test_low_ranks_above_chance(made):
    def of(value):
        return said(made, made.summary(TASK, "a", "MedR", value, n_pairs=2, chance=50.0))[0]

    assert of(49.99).startswith("a is not distinguishable from chance (50.0): BkR MedR")
    assert of(60.0).startswith("a is not above chance (50.0)")
    assert of(20.0).startswith("a reaches")


def test_hardest_and_easiest_are_not_named_where_they_may_be_noise(made):
    def of(values):
        pairs = [made.summary(TASK, "e", "R@10", v, "en", f"l{i:02d}") for i, v in enumerate(values)]
        return [s for s in said(made, mean(made, "e", 0.3), *pairs) if "hardest" in s]

    assert of([0.349, 0.353]) == []
    assert of([0.3, 0.331])[0].endswith("0.300 [0.270, 0.330]; its easiest is en → l01 with 0.331.")
    (many,) = of([0.3 + i / 1000 for i in range(12)])
    assert many.endswith("its easiest is en → l11 with 0.311, a difference that may be noise.")


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ([13, 13], "Only 13 queries per pair: the intervals are wide."),
        ([13, 48], "Only 13–48 queries per pair: the intervals are wide."),
        ([13, 50], "Some pairs have only 13 queries: their intervals are wide."),
        ([13], "Only 13 queries: the intervals are wide."),
        ([50, 60], None),
    ],
)
def test_small_samples_are_remarked_on(made, sizes, sentence):
    entries = [made.entry(TASK, "en", f"l{i}", "e", "R@10", 0.3, n_source=n) for i, n in enumerate(sizes)]
    sentences = numbers_of(made.results(entries, [mean(made, "e", 0.3)]))
    assert sentences[1:] == ([sentence] if sentence else [])


def test_a_run_that_left_out_over_a_tenth_of_the_texts_says_so(made):
    entries = [made.entry(TASK, "en", "de", "e", "R@10", 0.3, n_source=100)]
    results = made.results(entries, [mean(made, "e", 0.3)])
    results.dropped = {"texts": 10, "of": 100}
    assert len(numbers_of(results)) == 1
    results.dropped = {"texts": 11, "of": 100}
    assert numbers_of(results)[1] == (
        "11 of 100 texts (11 %) were not evaluated; the numbers are for the others only, and the warnings "
        "say why."
    )
    both = numbers_of([results, made.results(entries, [mean(made, "e", 0.3)])])
    assert both[2].startswith("11 of 100 texts")


def test_clusters_of_near_duplicates_are_counted_with_the_share_of_the_largest(made):
    entries = [made.entry(TASK, "en", "de", "e", "R@10", 0.3, n_source=100)]
    results = made.results(entries, [mean(made, "e", 0.3)])
    results.diagnostics = {"near_duplicates": {"n_near": 9, "n_joined": 1200, "largest_share": 0.0214}}
    assert numbers_of(results)[1] == (
        "Near-duplicates count as one: 1,200 clusters, the largest with 2.1 % of all items."
    )
    results.diagnostics = {"near_duplicates": {"n_near": 9}}
    assert len(numbers_of(results)) == 1


def beside(made, low, high):
    return made.ci(0.5) if low is None else replace(made.ci(0.5), low=low, high=high, level=0.99)


def test_what_one_of_many_encoders_does_by_luck_is_no_distance_from_chance(made):
    marks = {"chance": 0.1, "oracle": 0.9}
    luck = "The 95 % interval of b leaves chance, but with 3 encoders that may be luck."
    rows = [
        mean(made, "a", 0.5, normalized=0.5, **marks),
        mean(made, "b", 0.14, ci_simultaneous=beside(made, 0.095, 0.18), **marks),
        mean(made, "c", 0.1, ci_simultaneous=beside(made, 0.05, 0.15), **marks),
    ]
    assert said(made, *rows)[-2:] == ["Not distinguishable from chance (0.100): b and c.", luck]
    below = mean(made, "b", 0.06, ci_simultaneous=beside(made, 0.01, 0.105), **marks)
    assert said(made, rows[0], below, rows[2])[-1] == luck
    assert said(made, *rows[1:])[:2] == [
        "No encoder is distinguishable from chance (0.100): the highest is b with BkR R@10 0.140 "
        "[0.110, 0.170] on average over 2 language pairs.",
        luck.replace("3", "2"),
    ]


def test_none_is_good_enough_below_the_mark_of_the_task(made):
    marks = {"chance": 0.02, "oracle": 0.92}
    weak = mean(made, "a", 0.05, ci=made.ci(0.05, 0.01), normalized=0.033, **marks)
    other = mean(made, "b", 0.03, ci=made.ci(0.03, 0.009), behind=made.behind("a", 0.02, 0.01), **marks)
    end = "good enough to match texts across languages: try another encoder, or improve"
    scale = "closes at least 10 % of the way from chance to the oracle (images alone)."
    sentences = verdict(made.results([], [weak, other]))
    assert sentences[:2] == [f"None is {end} the best one, a.", f"An encoder that is good enough {scale}"]
    assert verdict(made.results([], [weak]))[0] == f"a is not {end} it."
    for enough in (
        mean(made, "a", 0.12, ci=made.ci(0.12, 0.01), normalized=0.111, **marks),
        mean(
            made, "a", 0.1, ci=made.ci(0.1, 0.02), normalized=0.089, **marks
        ),  # its interval reaches the mark
        mean(made, "a", 0.05, ci=made.ci(0.05, 0.01), **marks),  # not normalised: images tell nothing
    ):
        assert not any("good enough" in sentence for sentence in verdict(made.results([], [enough])))


def test_a_mark_against_the_best_value_and_none_for_correlations_and_median_ranks(made):
    def of(task, measure, value):
        return verdict(made.results([], [made.summary(task, "a", measure, value, chance=0.01, n_pairs=2)]))

    assert of("crosslingual-retrieval", "R@10", 0.1)[:2] == [
        "a is not good enough to match texts across languages: try another encoder, or improve it.",
        "An encoder that is good enough has at least 0.25.",
    ]
    for task, measure, value in (
        ("crosslingual-retrieval", "R@10", 0.24),
        ("crosslingual-retrieval", "MedR", 0.1),
        ("distance-correlation", "CORR", 0.1),
    ):
        assert not any("good enough" in sentence for sentence in of(task, measure, value))


GENERAL, FITTED, SEES = {"kind": "general"}, {"kind": "fitted"}, {"trained_on_images": True}


@pytest.mark.parametrize(
    ("kinds", "why"),
    [
        ({"a": GENERAL, "b": FITTED}, "a was pretrained elsewhere; b was fitted on texts of this domain"),
        ({"a": FITTED}, "a was fitted on texts of this domain; b was of an unknown kind"),
        (
            {"a": GENERAL | {"trained_on_images": True}, "b": GENERAL},
            "a was trained on images, the others not",
        ),
        (dict.fromkeys("ab", FITTED | SEES), None),
        ({"a": GENERAL, "b": {"kind": "surface"}}, None),
        ({}, None),
    ],
)
@pytest.mark.parametrize("task", ["backretrieval", "distance-correlation", "crosslingual-retrieval"])
def test_images_name_no_leader_across_kinds(made, task, kinds, why):
    rows = [made.summary(task, name, "CORR", 0.3, n_pairs=2) for name in "ab"]
    found = verdict(made.results([], rows, encoders=kinds))
    refused = why is not None and task != "crosslingual-retrieval"
    assert any(" leads" in sentence for sentence in found) is not refused
    assert any(sentence.startswith("No leader is named") and why in sentence for sentence in found) is refused
    assert any("taken to be of one kind" in one for one in found) is (
        not kinds and task != "crosslingual-retrieval"
    )
    standings = {row.standing for row in leaderboard(made.results([], rows, encoders=kinds), task, "CORR")}
    assert ("leader" in standings) is not refused
