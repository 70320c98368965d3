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


def beside(made, low, high):
    return made.ci(0.5) if low is None else replace(made.ci(0.5), low=low, high=high, level=0.99)


def test_what_one_of_many_encoders_does_by_luck_is_no_distance_from_chance(made):
    marks = {"chance": 0.1, "oracle": 0.9}
    luck = " (the 95 % interval of b leaves chance, which among 3 encoders may be luck)"
    rows = [
        mean(made, "a", 0.5, normalized=0.5, **marks),
        mean(made, "b", 0.14, ci_simultaneous=beside(made, 0.095, 0.18), **marks),
        mean(made, "c", 0.1, ci_simultaneous=beside(made, 0.05, 0.15), **marks),
    ]
    assert said(made, *rows)[-1] == f"Not distinguishable from chance (0.100): b and c{luck}."
    below = mean(made, "b", 0.06, ci_simultaneous=beside(made, 0.01, 0.105), **marks)
    assert said(made, rows[0], below, rows[2])[-1].endswith(f"{luck}.")
    assert said(made, *rows[1:])[0] == (
        "No encoder is distinguishable from chance (0.100): the highest is b with BkR R@10 0.140 "
        f"[0.110, 0.170] on average over 2 language pairs{luck.replace('3', '2')}."
    )


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
        (
            {"a": GENERAL, "b": FITTED},
            "a was pretrained elsewhere, while b was fitted on texts of this domain",
        ),
        ({"a": FITTED}, "a was fitted on texts of this domain, while b was of an unknown kind"),
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
    assert any("Encoders of one kind are assumed" in one for one in found) is (
        not kinds and task != "crosslingual-retrieval"
    )
    standings = {row.standing for row in leaderboard(made.results([], rows, encoders=kinds), task, "CORR")}
    assert ("leader" in standings) is not refused
