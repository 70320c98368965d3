"""Inspection, hubs, history and reports: planted weaknesses and planted changes are found, and no others."""

import re

import numpy as np
import pytest
from tests import program
from tests.behaviour.planted import TAGS, evaluate, images, manifest, noisy, numbers, same, vectors
from tests.program import answer, command

N = 200


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """Texts of a fourth of the items, `kind` weak, are noise; the column `other` says nothing."""
    folder = tmp_path_factory.mktemp("shop")
    weak = np.arange(N) % 4 == 0
    rng = np.random.default_rng(0)
    other = rng.choice(["x", "y", "z"], N)
    kinds = np.where(weak, "weak", np.array(["sound", "good", "fine"])[np.arange(N) % 3])
    data = manifest(folder, N, kind=lambda i: kinds[i], other=lambda i: other[i])
    specs = [noisy(folder, "holed", N, np.where(weak, 3.6, 0.6)), noisy(folder, "even", N, 1.5, seed=6)]
    evaluate("xlr", data, specs, measure="R@1", out=folder / "results")
    return folder, data


def test_the_planted_slice_is_found_and_no_other(shop):
    folder, _ = shop
    found = answer("inspect", folder / "results", no_store=True)
    slices = {one["encoder"]: one["slices"] for one in found["encoders"]}
    (planted,) = slices["holed"][0]["conditions"]
    assert (planted["feature"], planted["part"]) == ("kind", "weak") and slices["even"] == []
    for part in slices["holed"]:
        assert any(one["part"] == "weak" for one in part["conditions"])
    counts = {one["encoder"]: (one["n_queries"], one["n_failed"]) for one in found["encoders"]}
    for name, (queries, failed) in counts.items():
        (value,) = {one["value"] for one in found["encoders"] if one["encoder"] == name}
        assert queries == 2 * N and failed == round((1 - value) * queries)


def test_failures_are_the_queries_that_missed(shop, tmp_path):
    folder, _ = shop
    listed = tmp_path / "failures.csv"
    answer("inspect", folder / "results", encoder="holed", failures=listed, no_store=True)
    rows = listed.read_text(encoding="utf-8-sig").strip().splitlines()
    value = np.mean([v for k, v in numbers(shop_results(shop), "R@1").items() if k[0] == "holed"])
    assert len(rows) - 1 == round((1 - value) * 2 * N)


def shop_results(shop):
    folder, data = shop
    return evaluate("xlr", data, [f"holed=vectors:{folder}/holed.{{lang}}.npy"], measure="R@1")


# ------------------------------------------------------------------------------------------------- hubs
def with_hubs(folder):
    """Write vectors whose queries lean to one direction, and six targets too: these are near to all."""
    rng = np.random.default_rng(3)
    meaning, direction = rng.normal(size=(N, 24)), rng.normal(size=24)
    de, en = meaning + 1.2 * rng.normal(size=(2, N, 24))
    en[:6] += direction
    return vectors(folder, "hubs", {"de": de + 1.5 * direction, "en": en})


def test_planted_hubs_raise_the_alarm_and_a_correction_with_a_bank_mends_them(tmp_path):
    data = manifest(tmp_path, N, split=lambda i: "bank" if i % 4 < 2 else "test")
    spec, given = with_hubs(tmp_path), {"measure": "R@1", "split": "test", "pairs": "de-en"}
    plain, csls, softmax = (
        evaluate("xlr", data, [spec], similarity=similarity, **given)["results"][0]
        for similarity in ("cosine", f"csls?k=5&fit={data}#bank", f"inverted-softmax?fit={data}#bank")
    )
    assert plain["views"]["hubs"]["alarm"] and not softmax["views"]["hubs"]["alarm"]
    largest = [row["views"]["hubs"]["largest"] for row in (plain, csls, softmax)]
    assert largest == sorted(largest, reverse=True) and largest[0] > 80 > 40 > largest[2]
    assert plain["value"] + 0.05 < csls["value"] < softmax["value"]


def test_even_spaces_raise_no_alarm(shop):
    assert not any(row["views"]["hubs"]["alarm"] for row in shop_results(shop)["results"])


def test_a_corrected_constant_encoder_is_still_at_chance(tmp_path):
    data = manifest(tmp_path, 40, split=lambda i: "bank" if i % 2 else "test")
    spec = same(tmp_path, "constant", np.ones((40, 2)))
    for similarity in ("csls?k=5", "inverted-softmax?beta=20"):
        found = evaluate("xlr", data, [spec], split="test", similarity=f"{similarity}&fit={data}#bank")
        assert list(numbers(found, "R@10").values()) == pytest.approx([10 / 20] * 2)


# ---------------------------------------------------------------------------------------------- history
def test_a_history_finds_the_planted_change(tmp_path):
    """The second run is as good as the first, the third has lost, the fourth is well again."""
    data = manifest(tmp_path, N)
    runs = {}
    for label, noise, seed in (("v1", 1.0, 0), ("v2", 1.0, 0), ("v3", 2.0, 0), ("v4", 1.0, 0)):
        spec = noisy(tmp_path / label, "search", N, noise, seed=seed).partition("=")[2]
        runs[label] = program.evaluate("crosslingual-retrieval", data, {"search": spec}, measures=["R@1"])
    found = program.history(tmp_path / "history", runs)
    outcomes = [row.value for row in found.rows if row.field.endswith("outcome")]
    changes = [value for value in outcomes if value in ("better", "worse", "unchanged")]
    assert changes[:3] == ["unchanged", "worse", "better"]


# ---------------------------------------------------------------------------------------------- reports
@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reported")
    data = manifest(folder, 40, text=lambda i: f"<b>كوب {i}</b> & 杯")
    rng = np.random.default_rng(0)
    eyes = images(folder, rng.normal(size=(40, 8)))
    specs = [noisy(folder, "one", 40, 0.5), noisy(folder, "two", 40, 2.0, seed=1)]
    for task, more in (("bkr", {"image_encoder": eyes}), ("xlr", {}), ("corr", {"image_encoder": eyes})):
        evaluate(task, data, specs, out=folder / task, report=True, **more)
    return folder


@pytest.mark.parametrize("task", ["bkr", "xlr", "corr"])
def test_a_report_is_rebuilt_from_the_results_alone(reported, task, tmp_path):
    code, _, err = command("report", reported / task, "--out", tmp_path / "again.html")
    assert code == 0, err
    page = (reported / task / "report.html").read_bytes()
    assert (tmp_path / "again.html").read_bytes() == page


def test_a_page_needs_no_network_and_escapes_texts(reported):
    page = (reported / "bkr" / "report.html").read_text(encoding="utf-8")
    assert "<b>كوب" not in page and "&lt;b&gt;كوب" in page
    assert not re.findall(r'(?:src|href)="https?://[^"]*\.(?:js|css|png|woff2?)"', page)
    assert "one" in page and "two" in page


def test_results_are_read_back_as_they_were(reported):
    findings = program.read_results(reported / "xlr")
    again = program.evaluate(
        "crosslingual-retrieval",
        reported / "data.jsonl",
        {name: f"vectors:{reported}/{name}.{{lang}}.npy" for name in ("one", "two")},
    )
    assert findings.rows == again.rows
    assert findings.tables["per_query"].num_rows == 2 * 2 * 40  # encoders, directions


def test_per_query_values_give_the_mean(reported):
    findings = program.read_results(reported / "xlr")
    table = findings.tables["per_query"].to_pylist()
    for name in ("one", "two"):
        for source, target in (TAGS, TAGS[::-1]):
            values = [row["value"] for row in table if (row["encoder"], row["source"]) == (name, source)]
            told = findings.value(
                encoder=name, source=source, target=target, measure="R@10", seed="0", view=""
            )
            assert np.mean(values) == pytest.approx(told)
            assert all(row["above"] + row["tied"] <= 40 for row in table)
