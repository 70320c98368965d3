"""The runner of studies, on models whose values are known."""

from pathlib import Path

import numpy as np
import pytest

from xlingual.comparison.queries import Queries
from xlingual.errors import InputError
from xlingual.papers.findings import CHANCE, StudyFindings, StudyTable, sentences
from xlingual.papers.study import Measured, Question, Recipe, Study, every_pair, run
from xlingual.results.runs import OfRuns

MEANS = {"good": 0.8, "equal": 0.8, "poor": 0.2, "still": 0.3}


def measured(models, folder, context):
    """Give 400 queries of each model, of which equal ones share their noise; and a finished number."""
    rng = np.random.default_rng(5)
    noise = rng.random(400)
    values = np.stack([noise < MEANS[name] for model in models for name in model.specs]).astype(float)
    labels = [name for model in models for name in model.specs]
    queries = Queries.of_one_sample("t", "R@1", labels, values, np.arange(400))
    yield Measured("Table 1", "R@1", queries, chance=0.3)
    scores = {model.name: OfRuns(MEANS[model.name], [MEANS[model.name]]) for model in models}
    yield Measured("Table 2", "MedR", scores=scores, n=7)


def study(**changes):
    fields = {
        "paper": "toy",
        "title": "A toy",
        "train": {},
        "steps": {"measure": measured},
        "tables": [
            StudyTable("Table 1", "Retrieval", "poor", "R@1"),
            StudyTable("Table 2", "Ranks", "poor", "MedR"),
        ],
        "questions": [
            *every_pair(["poor", "good", "equal"], "Table 1", "R@1", "pairs", headline="poor"),
            Question("still", CHANCE, "Table 1", "R@1", "chance", headline=True),
            Question("good", "absent", "Table 1", "R@1", "left out"),
            Question("good", "poor", "Table 9", "R@1", "left out"),
        ],
        "encoders": {name: f"random:?seed={n}" for n, name in enumerate(MEANS)},
    }
    return Study(**{**fields, **changes})


def test_means_differences_and_their_correction(tmp_path):
    found = run(study(), tmp_path, trainings=1)
    assert StudyFindings.read(tmp_path) == found
    assert found.score("Table 1", "R@1", "good").value == pytest.approx(0.8, abs=0.05)
    by_pair = {(one.model, one.other): one for one in found.differences}
    assert set(by_pair) == {("poor", "good"), ("poor", "equal"), ("good", "equal"), ("still", CHANCE)}
    assert by_pair["poor", "good"].outcome == "worse" and by_pair["good", "equal"].value == 0
    p = sorted(one.p for one in found.differences if one.family == "pairs")
    holm = np.maximum.accumulate(np.minimum(np.array(p) * [3, 2, 1], 1))
    assert sorted(one.p_adjusted for one in found.differences if one.family == "pairs") == pytest.approx(holm)
    alone = by_pair["still", CHANCE]
    assert alone.p == alone.p_adjusted
    gain = found.score("Table 1", "R@1", "good").gain  # of the pair in the other direction
    difference = by_pair["poor", "good"]
    assert gain.value == -difference.value and gain.ci.low == -difference.ci.high
    assert found.score("Table 1", "R@1", "still").gain is None
    assert run(study(), tmp_path, trainings=1).differences == found.differences


def test_the_verdict_counts_every_model_and_both_directions_of_a_measure(tmp_path):
    verdict = sentences(run(study(), tmp_path, trainings=1))
    assert len(verdict) == 4
    assert "highest R@1" in verdict[0] and "poor" in verdict[0].split("better than")[1]
    assert "lowest MedR" in verdict[1] and "poor" in verdict[1].split(" has ")[0]
    assert "worse" in verdict[2] and "good" in verdict[2] and "chance" in verdict[3]


@pytest.fixture
def trained(tmp_path):
    """Give a study with one recipe, the folder, and the list of what was trained, which fails at a seed."""
    torch = pytest.importorskip("torch")
    from xlingual.data.manifest import Manifest
    from xlingual.data.pools.mix import mix_pool
    from xlingual.demo_data.scenes import scene_rows
    from xlingual.training.options import FitOptions
    from xlingual.training.parallel import of_pool
    from xlingual.training.recipes.dual_options import DualOptions
    from xlingual.workflows.train_dual_encoder import train_dual_encoder

    torch.manual_seed(0)
    rows = [
        {"id": f"{item.id} {name}", "item": item.id, "lang": name[:-2], "text": text}
        for item in scene_rows(20, ["en", "de"], texts=2)
        for name, text in item.texts.items()
    ]
    data, log, failing = of_pool(mix_pool(Manifest.of(rows))), [], set()
    options = DualOptions(dim=4, buckets=16, steps=1, batch=4)
    fit = FitOptions(epochs=1, patience=None, threads=1, device="cpu")

    def train(folder, seed, **more):
        if seed in failing:
            raise KeyboardInterrupt
        log.append(seed)
        train_dual_encoder(
            data, folder, options.changed(seed=seed), fit=fit.changed(seed=seed), validation=None, **more
        )

    def plan(**settings):
        MEANS.update({f"tiny-{seed}": 0.5 for seed in range(3)}, tiny=0.5)
        return study(train={"tiny": Recipe(train, {"dim": 4, **settings})}, encoders={"poor": "random"})

    return plan, tmp_path, log, failing


def test_models_are_trained_once_and_a_killed_study_goes_on(trained):
    plan, out, log, failing = trained
    failing.add(1)
    with pytest.raises(KeyboardInterrupt):
        run(plan(), out, trainings=2)
    failing.clear()
    found = run(plan(), out, trainings=2)
    assert log == [0, 1] and [one.encoder for one in found.trainings] == ["tiny-0", "tiny-1"]
    assert found.models == ["poor", "tiny"] and len(found.score("Table 1", "R@1", "tiny").per_run) == 2
    assert run(plan(), out, trainings=3).n_trainings == 3 and log == [0, 1, 2]


def test_models_of_another_recipe_are_refused_or_replaced(trained):
    plan, out, log, _ = trained
    run(plan(), out, trainings=1)
    with pytest.raises(InputError, match="rate was None and is 2"):
        run(plan(rate=2), out, trainings=1)
    run(plan(rate=2), out, trainings=1, force=True)
    run(plan(rate=2), out, trainings=1)
    assert log == [0, 0]
    Path(out, "models", "tiny-0.json").unlink()
    with pytest.raises(InputError, match="cannot be read"):
        run(plan(rate=2), out, trainings=1)
    with pytest.raises(InputError, match="two models are named tiny-0"):
        run(study(train=plan().train, encoders={"tiny-0": "random", "poor": "random"}), out, trainings=1)
