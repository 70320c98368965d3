"""Table 1: its rows are the validations; mean, error and corrected p by plain formulas; pages, command."""

import json
import re

import numpy as np
import pytest
from msgspec import structs
from scipy.stats import pearsonr, spearmanr

from xlingual import InputError, ValidationTable, validation_table
from xlingual.cli.main import run
from xlingual.evaluation.metric_validation import agreement
from xlingual.evaluation.metric_validation.agreement import ScoreTable, subsets
from xlingual.report import as_html, page_of, verdict
from xlingual.report.render.text import as_text
from xlingual.results.validation import MEASURES, TRUTH, EncoderScores, PairValidation, SeedScores, Validation

CONDITIONS = {
    "task": "backretrieval", "data": "d1", "sample": "20#0", "images": "pixels", "measure": "R@10",
    "conventions": "2", "ties": "expected",
}  # fmt: skip
KINDS = {"pearson": pearsonr, "spearman": spearmanr}
NAMES = ('<b>&"', "אבג", "plain", "other", "a" * 40, "x", "y")


@pytest.fixture(scope="module", autouse=True)
def _few_replicates():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agreement, "REPLICATES", 40)
        yield


def pair(source="en", target="de", *, seed=0, n_seeds=4, noise=(0.1, 0.2, 0.6), n_encoders=7, **changes):
    """Return a validation of planted scores: XLR, and measures with noise of rising size."""
    rng = np.random.default_rng(seed)
    truth = np.linspace(0.1, 0.9, n_encoders) + 0.05 * rng.standard_normal((n_seeds, n_encoders))
    sizes = dict(zip(MEASURES, noise, strict=True))
    scores = {TRUTH: truth} | {
        name: truth + size * rng.standard_normal(truth.shape) for name, size in sizes.items()
    }
    names = NAMES[:n_encoders] if n_encoders <= len(NAMES) else [f"e{i}" for i in range(n_encoders)]
    encoders = []
    for i, name in enumerate(names):
        columns = {
            key: SeedScores(float(values[:, i].mean()), 0.1, values[:, i].tolist(), None)
            for key, values in scores.items()
        }
        encoders.append(EncoderScores(name, name, None, columns))
    table = ScoreTable.of(
        {name: name for name in names}, scores, {key: [np.empty(0)] * len(names) for key in scores}
    )
    fields = {
        "source": source, "target": target, "n_source": 20, "n_target": 20, "n_matching": 20, "k": 10,
        "n_pictures": 20, "n_seeds": n_seeds, "chance": 0.5, "oracle": 0.9, "encoders": encoders,
        "conditions": CONDITIONS | {"source": source, "target": target},
    }  # fmt: skip
    return PairValidation(subsets=subsets(table), **(fields | changes))


def validation(*pairs):
    return Validation("R@10", "pixels", 0.5, None, list(pairs))


def on(data, *, conditions=None, **more):
    """Return the validation of one direction of a data set."""
    return validation(pair(conditions=CONDITIONS | {"data": data} | (conditions or {}), **more))


def by_seed(record, name, kind):
    scores = [np.array([row.scores[key].per_seed for row in record.encoders]).T for key in (TRUTH, name)]
    return [KINDS[kind](*of_seed).statistic for of_seed in zip(*scores, strict=True)]


def test_rows_are_the_validations_and_their_mean_has_the_error_of_the_formulas():
    """Rows of one data set share their seeds: their sum is one series; data sets are independent."""
    first, second = validation(pair(), pair("de", "en", seed=1)), on("d2", seed=2, n_seeds=3)
    table = validation_table({"A": first, "B": second})
    records = [*first.pairs, *second.pairs]
    assert [(row.data_set, row.source) for row in table.rows] == [("A", "en"), ("A", "de"), ("B", "en")]
    for row, record in zip(table.rows, records, strict=True):
        whole = record.subsets["all"]
        assert row.agreement == whole.agreement and (row.n_source, row.n_encoders) == (20, 7)
        for kind in KINDS:
            means = {name: np.mean(by_seed(record, name, kind)) for name in MEASURES}
            assert row.best(kind) == [max(means, key=means.__getitem__)]
            for contrast, tested in row.differences.items():
                before = structs.asdict(whole.differences[contrast][kind])
                assert structs.asdict(tested[kind]).items() >= before.items()
    for name in MEASURES:
        for kind in KINDS:
            a, b, c = (by_seed(record, name, kind) for record in records)
            variance = np.var(np.add(a, b), ddof=1) / 4 + np.var(c, ddof=1) / 3
            mean = table.mean[name][kind]
            assert mean.mean == pytest.approx((np.mean(a) + np.mean(b) + np.mean(c)) / 3, abs=1e-12)
            assert (mean.se, mean.n_rows) == (pytest.approx(np.sqrt(variance) / 3, abs=1e-12), 3)


def test_p_is_corrected_for_all_rows_in_any_order():
    sets = {"A": on("d1"), "B": on("d2", seed=5, noise=(0.05, 0.4, 0.8))}
    table, turned = validation_table(sets), validation_table(dict(reversed(sets.items())))
    tests = [by[kind] for row in table.rows for by in row.differences.values() for kind in KINDS]
    again = [by[kind] for row in turned.rows[::-1] for by in row.differences.values() for kind in KINDS]
    assert [one.p_adjusted for one in tests] == pytest.approx([one.p_adjusted for one in again])
    pairs = sorted((one.p, one.p_adjusted) for one in tests if one.p is not None)
    assert table.n_tests == len(pairs) > 4
    largest = 0.0
    for place, (p, adjusted) in enumerate(pairs):
        largest = max(largest, min(1.0, (len(pairs) - place) * p))
        assert adjusted == pytest.approx(largest)


def test_rows_that_cannot_stand_together_are_refused_and_another_protocol_is_flagged():
    for other in ({"data": "d2", "measure": "R@5"}, {"data": "d2", "conventions": "99"}, {}):
        with pytest.raises(InputError):
            validation_table({"A": on("d1"), "B": on("d1", conditions=other)})
    with pytest.raises(InputError, match="no validation with a language pair"):
        validation_table({})
    for other in ({"conditions": {"texts": "1"}}, {"n_seeds": 2}, {"n_matching": 30}):
        (warning,) = validation_table({"A": on("d1"), "B": on("d2", **other)}).warnings
        assert "B en-de" in warning
    assert not validation_table({"A": on("d1"), "B": on("d2", n_source=900)}).warnings


def test_one_seed_has_no_error_and_missing_measures_are_left_out():
    single = validation_table({"A": on("d1", n_seeds=1), "B": on("d2")}).mean["BkR"]["pearson"]
    assert single.mean is not None and single.se is None
    few = validation_table({"A": on("d1"), "B": on("d2", n_encoders=2)})
    assert few.rows[1].best("pearson") == []
    assert few.rows[1].differences["BkR-SIM"]["pearson"].p_adjusted is None
    mean, row = few.mean["CORR"]["spearman"], few.rows[0].agreement["CORR"]["spearman"]
    assert mean.n_rows == 1 and (mean.mean, mean.se) == pytest.approx((row.mean, row.se))
    assert "None" not in as_text(page_of(few), "markdown") and "nan" not in as_html(few).lower()


def test_pages_show_every_encoder_and_the_best_in_bold():
    both = validation(pair(), pair("de", "en", n_seeds=1))
    page = as_html(both)
    assert not re.search(r"\b(nan|None)\b", page) and "<script" not in page
    for name in ("<bdi>אבג</bdi>", "&lt;b&gt;&amp;"):
        assert name in page
    assert len(verdict(both)) > 4
    first, *rest = both.pairs[0].encoders
    nothing = SeedScores(None, None, [None] * 4, None, "no vector")
    gap = structs.replace(first, scores=first.scores | {"BkR": nothing})
    lacking = structs.replace(both.pairs[0], encoders=[gap, *rest])
    assert "not drawn" in as_html(validation(lacking))
    table = validation_table({"IKEA": both})
    lines = [line for line in as_text(page_of(table), "latex").splitlines() if line.startswith("IKEA & en")]
    assert lines[0].count(r"\textbf") == 2  # the best Pearson, the best Spearman
    row = table.rows[0]
    equal = structs.replace(row, agreement={**row.agreement, "SIM": row.agreement["BkR"]})
    assert len(equal.best("pearson")) == 2 or equal.best("pearson") == ["CORR"]


def test_validations_of_folders_and_of_a_file_become_one_table(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    on("d1").write("IKEA")
    on("d2").write("emoji")
    command = ["papers", "backretrieval", "table1"]
    assert run([*command, "IKEA", "emoji/validation.json", "--out", "table", "--report"]) == 0
    table = ValidationTable.read("table")
    assert [row.data_set for row in table.rows] == ["IKEA", "emoji"]
    origins = {origin.path for origin in table.provenance.derived_from}
    assert origins == {"IKEA/validation.json", "emoji/validation.json"}
    capsys.readouterr()
    file = tmp_path / "sets" / "table1.toml"
    file.parent.mkdir()
    file.write_text('[sets.one]\nvalidation = "../IKEA"\n[sets.two]\nvalidation = "../emoji"\n', "utf-8")
    assert run([*command, str(file), "--json"]) == 0
    assert [row["data_set"] for row in json.loads(capsys.readouterr().out)["rows"]] == ["one", "two"]
    on("d3").write("other/IKEA")
    wrong = tmp_path / "wrong.toml"
    for content, paths in (
        ("", ["IKEA", "other/IKEA"]),
        ("", ["nothing"]),
        ("", [str(wrong)]),
        ("", [str(wrong), "IKEA"]),
        ('[sets."a/b"]\nvalidation = "IKEA"\n', [str(wrong)]),
        ("[sets.a]\nvalidation = 5\n", [str(wrong)]),
        ("[sets.a]\nresults = 5\n", [str(wrong)]),
        ('seeds = 2\n[sets.a]\nvalidation = "IKEA"\n', [str(wrong)]),
        ('[sets.a]\nmanifest = "x"\nfoo = 1\n', [str(wrong)]),
    ):
        wrong.write_text(content, "utf-8")
        assert run([*command, *paths]) == 2
        assert capsys.readouterr().err.count("error:") == 1
