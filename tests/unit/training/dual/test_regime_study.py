"""A study of regimes from end to end: trained once, kept, evaluated, and gone on with."""

import json
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from xlingual.data.pools.parallel import of_pool  # noqa: E402
from xlingual.data.pools.pool import MultilingualPool  # noqa: E402
from xlingual.embed.sides import embed_pool  # noqa: E402
from xlingual.encoders import text_encoders  # noqa: E402
from xlingual.errors import InputError  # noqa: E402
from xlingual.evaluation.multilingual_pool.evaluate import multilingual_pool  # noqa: E402
from xlingual.models.dual_encoder import DualEncoder, DualEncoderConfig  # noqa: E402
from xlingual.models.folder import ModelFolder  # noqa: E402
from xlingual.results.regime_study import RegimeStudy  # noqa: E402
from xlingual.training.options import FitOptions  # noqa: E402
from xlingual.training.recipes.dual_options import DualSettings  # noqa: E402
from xlingual.workflows import regime_models  # noqa: E402
from xlingual.workflows.regime_models import RegimeTrainings  # noqa: E402
from xlingual.workflows.regime_study import run_regime_study, trained_and_tested  # noqa: E402

SETTINGS = DualSettings(batch=16, dim=8, buckets=128, dropout=0.2)
PLAN = RegimeTrainings(
    ("x-y", "x-x-mono"), 2, SETTINGS, fit=FitOptions(epochs=2, rate=1e-2, threads=1, device="cpu")
)
WORDS = ("cat", "dog", "sun", "sea", "ship", "tree", "king", "bread", "snow", "fire")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a pool of 40 questions in two languages, two a paragraph."""
    root = tmp_path_factory.mktemp("pool")
    questions, candidates = [], []
    for tag in ("en", "de"):
        for i in range(40):
            place = {"id": str(i), "lang": tag, "cluster": i // 2}
            name = f"{WORDS[i % 10]} {i // 10}"
            questions.append({**place, "text": f"{tag} where is {name}", "key": str(i)})
            candidates.append({**place, "text": f"{tag} here {name}", "keys": [str(i)]})
    for name, rows in (("questions", questions), ("candidates", candidates)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (root / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def parts(folder, tmp_path_factory):
    return trained_and_tested(folder, str(tmp_path_factory.mktemp("divided")), train=0.4, split_seed=3)


@pytest.fixture(scope="module")
def done(parts, tmp_path_factory):
    out = tmp_path_factory.mktemp("study")
    return out, run_regime_study(*parts, out, trainings=PLAN, replicates=199, store=None)


def test_the_pool_is_divided_by_whole_paragraphs_or_by_its_own_splits(folder, parts, tmp_path):
    train, test = parts
    assert len(train) == 16 and len(test.questions) == 48
    assert not set(train.ids) & set(test.questions.ids)
    again, same = trained_and_tested(parts[1].source, tmp_path)
    assert again.digest() == train.digest() and same.digest == test.digest
    other, whole = trained_and_tested(folder, tmp_path, train_data=parts[1].source)
    assert len(other) == 40 and len(whole.questions) == 80
    with pytest.raises(InputError, match="has no splits, and --split names 'dev'"):
        trained_and_tested(folder, tmp_path, split="dev")


@pytest.mark.filterwarnings("ignore:.*questions of several splits")
@pytest.mark.parametrize("qrels", [("qrels.tsv",), ("qrels/train.tsv", "qrels/test.tsv")])
def test_equal_ids_of_a_retrieval_folder_may_be_different_questions(qrels, tmp_path):
    for tag in ("en", "de"):
        (tmp_path / "b" / tag / "qrels").mkdir(parents=True)
        for name, letter in (("corpus", "d"), ("queries", "q")):
            rows = ({"_id": f"{letter}{i}", "text": f"{tag} {letter} {i}"} for i in range(8))
            lines = "".join(json.dumps(row) + "\n" for row in rows)
            (tmp_path / "b" / tag / f"{name}.jsonl").write_text(lines)
        for part, name in enumerate(qrels):
            lines = "".join(f"q{i}\td{i}\t1\n" for i in range(part, 8, len(qrels)))
            (tmp_path / "b" / tag / name).write_text(lines)
    train, test = trained_and_tested(tmp_path / "b", tmp_path / "out", equal_ids="different")
    assert len(train) + len(set(test.questions.key)) == 16
    assert (train.asked >= 0).sum(axis=1).max() == 1  # each in one language
    assert len(of_pool(MultilingualPool.read(tmp_path / "b", equal_ids="different"))) == 16


def test_what_is_written(done, parts):
    out, study = done
    assert RegimeStudy.read(out) == study
    assert {one.name for one in study.regimes} == {"x-y", "x-x-mono", "untrained"}
    assert len(study.trainings) == 6 and study.n_trainings == 2 and study.n_trained == 16
    assert study.steps == 4  # two epochs of one pass of x-y: 32 pairs in batches of 16
    assert study.request["command"] == "casestudy lareqa" and study.request["batch"] == 16
    for training in study.trainings:
        assert (out / "questions" / f"{training.model}.parquet").is_file()
        assert not (out / "models" / training.model / "checkpoint").exists()
        assert training.steps == (0 if training.regime == "untrained" else 4)


def test_the_numbers_are_those_of_the_evaluation_of_the_pool(done, parts):
    _, study = done
    specs = {one.model: one.spec for one in study.trainings}
    results = multilingual_pool(
        parts[1], text_encoders=specs, store=None, views="one-target,monolingual-pool"
    )
    values = {entry.encoder: entry for entry in results.entries}
    for one in study.regimes:
        for place, model in enumerate(one.models):
            views = values[model].views
            assert one.pool.per_training[place] == pytest.approx(values[model].value, abs=1e-12)
            assert one.own_pool.per_training[place] == pytest.approx(
                views.monolingual_pool_average, abs=1e-12
            )
            assert one.same.per_training[place] == pytest.approx(views.one_target_summary["own"], abs=1e-12)
            assert one.other.per_training[place] == pytest.approx(
                views.one_target_summary["other"], abs=1e-12
            )


def test_the_untrained_model_is_the_one_before_the_first_step(done):
    out, _ = done
    kept = ModelFolder.read(out / "models" / "untrained-1")
    model = DualEncoder(DualEncoderConfig.from_dict(kept.config["model"]), 1)
    weights = kept.weights()
    (name,) = (name for name, weight in model.state_dict().items() if weight.dim() == 2)
    assert torch.equal(weights[name], model.state_dict()[name])
    assert kept.config["training"]["stopped"] == "untrained" and kept.config["training"]["epochs_run"] == 0


def test_a_study_goes_on_and_trains_nothing_twice(done, parts, tmp_path, monkeypatch):
    _, study = done
    calls, train = [], regime_models.train_dual_encoder

    def counting(data, folder, *rest, **more):
        calls.append(folder.name)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return train(data, folder, *rest, **more)

    monkeypatch.setattr(regime_models, "train_dual_encoder", counting)
    with pytest.raises(KeyboardInterrupt):
        run_regime_study(*parts, tmp_path, trainings=PLAN, replicates=199, store=None)
    assert calls == ["x-y-0", "x-x-mono-0", "untrained-0", "x-y-1"]
    found = run_regime_study(*parts, tmp_path, trainings=PLAN, replicates=199, store=None)
    assert calls[4:] == ["x-y-1", "x-x-mono-1", "untrained-1"]
    assert (found.regimes, found.differences) == (study.regimes, study.differences)
    assert (
        run_regime_study(*parts, tmp_path, trainings=PLAN, replicates=199, store=None).regimes
        == study.regimes
    )
    assert len(calls) == 7
    more = replace(PLAN, regimes=("x-y", "x-x-mono", "hybrid"))
    assert len(run_regime_study(*parts, tmp_path, trainings=more, replicates=199, store=None).trainings) == 8
    assert calls[7:] == ["hybrid-0", "hybrid-1"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"settings": SETTINGS.changed(steps=3)}, "trained with other settings .*steps was 2 and is 3"),
        ({"fit": FitOptions(epochs=2, rate=0.5)}, "rate was 0.01 and is 0.5.*--force"),
        ({"times": 0}, "0 trainings: at least one is needed"),
        ({"regimes": ()}, "no regime is given"),
        ({"regimes": ("x-y", "x-y")}, "'x-y' is given twice"),
        ({"regimes": ("x-z",)}, "regime 'x-z' is unknown"),
        ({"regimes": ("en-en",), "settings": SETTINGS.changed(language="fr")}, "trains on 'fr'"),
    ],
)
def test_what_is_refused_before_any_work(done, parts, change, words, monkeypatch):
    monkeypatch.setattr(regime_models, "train_dual_encoder", None)
    with pytest.raises(InputError, match=words):
        run_regime_study(*parts, done[0], trainings=replace(PLAN, **change), store=None)


def test_other_questions_are_refused_and_equal_ones_are_said(done, parts, folder, tmp_path):
    whole = MultilingualPool.read(folder)
    from xlingual.data.pools.parallel import of_pool

    with pytest.raises(InputError, match="the questions trained on are others"):
        run_regime_study(of_pool(whole), parts[1], done[0], trainings=PLAN, store=None)
    plan = replace(PLAN, regimes=("x-y",), times=1)
    with pytest.warns(UserWarning, match="48 of 48 questions that are evaluated are also trained on"):
        found = run_regime_study(
            of_pool(whole), parts[1], tmp_path, trainings=plan, replicates=199, store=None
        )
    assert found.n_trainings == 1 and found.regimes[0].pool.sd_training is None


def test_a_base_that_stays_as_it_is(parts, tmp_path):
    plan = replace(PLAN, regimes=("x-y",), times=1, base="random:?dim=8", settings=DualSettings(batch=16))
    found = run_regime_study(*parts, tmp_path, trainings=plan, replicates=199, store=None)
    (trained, untrained) = found.trainings
    assert trained.spec.endswith("::random:?dim=8")
    (_, encoder), (_, base) = text_encoders(
        {"m": untrained.spec, "b": "random:?dim=8"}, languages=["en", "de"]
    ).items()
    vectors = [embed_pool(parts[1], "m", one).questions for one in (encoder, base)]
    unit = vectors[1] / np.linalg.norm(vectors[1], axis=1)[:, None]
    assert np.allclose(vectors[0], unit, atol=1e-6)
    again = run_regime_study(*parts, tmp_path, trainings=plan, replicates=199, store=None)
    assert again.trainings == found.trainings  # nothing is trained twice
    other = replace(plan, base="random:?dim=8&seed=5")
    with pytest.raises(InputError, match=r"trained with other settings \(its base was random:"):
        run_regime_study(*parts, tmp_path, trainings=other, replicates=199, store=None)
