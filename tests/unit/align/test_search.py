"""The search: each transform is fitted once behind the others, judged once, and the best is chosen."""

import numpy as np

from xlingual.align.search import Judged, Step, fitted, search, steps
from xlingual.transforms import methods
from xlingual.transforms.affine import Affine
from xlingual.transforms.moments import FitData


def data(rows=80, dim=12):
    rng = np.random.default_rng(0)
    tags = ["de", "en", "zh"] * rows
    return FitData(rng.normal(size=(len(tags), dim)).astype(np.float32) + 0.3, tags)


def wanted():
    return steps(12, 3, translations=False)


def judge_by(number):
    """Return a callback that finds a map as good as a number of it, and notes what it is given."""
    seen = []

    def judge(map, similarity):
        seen.append((map, similarity))
        values = np.full(4, number(map))
        return Judged(float(values.mean()), values)

    return judge, seen


def test_at_least_thirty_transforms_are_tried_each_once():
    judge, seen = judge_by(lambda map: 0.0)
    found = search(data(), judge, wanted())
    assert len(found.tried) == len(seen) == len({one.spec for one in found.tried}) >= 30
    assert found.chosen.spec == "none"  # of equal ones the first: the encoder as it is


def test_the_best_is_chosen():
    aim = methods.centre(data()).rounded()

    def likeness(map):
        if map is None or map.matrix is not None or len(map.row) != len(aim.row):
            return -1.0
        return -float(np.abs(map.offset - aim.offset).max())

    judge, _ = judge_by(likeness)
    assert search(data(), judge, wanted()).chosen.spec == "centre:"


def test_what_cannot_be_fitted_is_left_out_with_the_reason():
    one = data()
    same = FitData(one.vectors, ["de"] * len(one.languages))
    found = search(same, judge_by(lambda map: 0.0)[0], steps(12, 1, translations=True))
    {each.spec: each.why for each in found.left_out}
    assert not any(spec.startswith("lsar") for spec in {each.spec for each in found.tried})


def test_similarities_are_tried_on_the_best_and_on_none():
    judge, seen = judge_by(lambda map: 0.0 if map is None else 1.0)
    found = search(data(), judge, wanted(), similarities=("other",), corrected=2)
    again = [one.spec for one in found.tried if one.similarity == "other"]
    assert len(again) == 3
    assert "none" in again
    assert [similarity for _, similarity in seen[-3:]] == ["other"] * 3


def test_two_steps_are_fitted_one_behind_the_other():
    both = fitted(data(), (Step("centre:", methods.centre), Step("lir:1", methods.lir)))
    first = methods.centre(data())
    second = methods.lir(data().through(first))
    x = np.asarray(data().vectors)
    assert both is not None
    np.testing.assert_allclose(
        both.apply(x, data().languages),
        second.apply(first.apply(x, data().languages), data().languages),
        atol=1e-5,
    )


def test_maps_are_those_that_are_written():
    judge, seen = judge_by(lambda map: 0.0)
    search(data(), judge, wanted())
    for map, _ in seen[1:]:
        again = Affine.of_arrays(map.arrays(), map.places)
        x = np.asarray(data().vectors)
        np.testing.assert_array_equal(again.apply(x, data().languages), map.apply(x, data().languages))


def test_specs_name_what_the_table_of_schemes_has():
    from xlingual.encoders import text_encoders
    from xlingual.records import Texts

    texts = Texts(["a", "b"] * 30, ["de", "en"] * 30, [str(i) for i in range(60)], items=["1"] * 60)
    for each in steps(12, 2, translations=True):
        for step in each:
            joined = "&" if "?" in step.spec else "?"
            spec = f"{step.spec}{joined}fit=F::random:?dim=12"
            made = text_encoders({"e": spec}, languages=["de", "en"], fit_texts=lambda _: texts)
            assert made["e"].identity.startswith(step.spec.partition(":")[0])
