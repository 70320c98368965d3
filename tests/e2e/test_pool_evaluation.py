"""`xlingual evaluate multilingual-pool` on a small pool: what it writes, and what can be done with it."""

from __future__ import annotations

import json
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import ir_measures
import jsonschema
import numpy as np
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save_file

from xlingual.results.schemas import schema_of

HERE = Path(__file__)
squads = SimpleNamespace(**run_path(str(HERE.with_name("squads.py"))))
LANGUAGES = ("de", "en", "es")
BOTH = "v/good.{role}.{lang}.npy"
PER_LANGUAGE = 48  # 24 paragraphs of two sentences, a question about each


def write_vectors(name: str, noise: float, seed: int) -> None:
    """Write vectors in which questions are near their answers, by role and language, and by role alone."""
    rng = np.random.default_rng(seed)
    meaning = np.random.default_rng(0).standard_normal((PER_LANGUAGE, 12))
    for role in ("questions", "candidates"):
        parts = [meaning + noise * rng.standard_normal(meaning.shape) for _ in LANGUAGES]
        parts = [part.astype(np.float32) for part in parts]
        for language, part in zip(LANGUAGES, parts, strict=True):
            np.save(f"v/{name}.{role}.{language}.npy", part)
        np.save(f"v/{name}-whole.{role}.npy", np.concatenate(parts))
        save_file({"vectors": np.concatenate(parts)}, f"v/{name}-whole.{role}.safetensors")


@pytest.fixture
def pool(work: Path) -> str:
    squads.write_squad(n=24, languages=LANGUAGES)
    write_vectors("good", 0.7, 1)
    write_vectors("bad", 1.5, 2)
    return "squad"


@pytest.fixture
def evaluate(pool: str, xlingual: Any) -> Any:
    """Return the command, which must succeed without a warning that is not told of."""

    def command(*more: object, text: str = BOTH, warnings: int = 0) -> Any:
        outcome = xlingual("evaluate", "lareqa", pool, "--text-encoder", text, *more)
        assert (outcome.code, len(outcome.warnings)) == (0, warnings), outcome.err
        return outcome

    return command


def content_of(folder: str = "out") -> dict[str, Any]:
    content: dict[str, Any] = json.loads(Path(folder, "results.json").read_text(encoding="utf-8"))
    return content


def numbers(content: dict[str, Any]) -> dict[str, Any]:
    """Return all that does not name the encoder's files, nor what the run cost."""
    rows = [dict(row, encoder=None, signature=None) for row in content["results"]]
    return {"results": rows, "summary": [dict(row, encoder=None, behind=None) for row in content["summary"]]}


def test_measures_have_the_same_names_without_views(evaluate: Any) -> None:
    outcome = evaluate("--measure", "AP", "--measure", "RR", "--views", "none")
    assert "multilingual-pool · mAP" in outcome.out and "multilingual-pool · MRR" in outcome.out
    both = evaluate("--measure", "AP", "--measure", "RR", "--views", "one-target")
    board = both.out[both.out.index("multilingual-pool · MRR") :]
    assert "95 % interval" not in board and "own, other" not in board


def test_everything_is_written(evaluate: Any) -> None:
    measures = (
        "--measure",
        "AP",
        "--measure",
        "AP@20/min",
        "--measure",
        "hit_rate@10",
        "--measure",
        "SetR@10",
    )
    outcome = evaluate(*measures, "--measure", "RR", "--out", "out", "--report", "--subset", "de,es")
    names = {
        "results.json",
        "per_query.parquet",
        "report.html",
        "points.parquet",
        "hubs.parquet",
        "occurrences.parquet",
        "worst.parquet",
        "neighbours.parquet",
        "answers.parquet",
    }
    assert {path.name for path in Path("out").iterdir()} == names
    assert "wrote out/results.json" in outcome.err and "wrote out/report.html" in outcome.err
    assert "multilingual-pool · mAP" in outcome.out and "multilingual-pool · R@10" in outcome.out
    content = content_of()
    ap, *others = content["results"]
    assert [e["measure"] for e in content["results"]] == ["AP", "AP@20/min", "Success@10", "R@10", "RR"]
    assert {"one_target", "remove_one", "monolingual_pool", "language_share_top100", "subsets"} <= ap[
        "views"
    ].keys()
    assert {"language_id_accuracy", "language_id_chance", "fairness", "loss", "hubs"} <= ap["views"].keys()
    assert set(ap["views"]["subsets"]) == {"de,en", "de,es", "en,es"}
    assert set(ap["views"]["one_target"]) == {f"{a}->{b}" for a in LANGUAGES for b in LANGUAGES}
    for entry in others:
        found = {"found_at", "found", "found_summary"} if "@" in entry["measure"] else set()
        always = {"languages", "by_question_language", "macro", "ci_by_article", "ci"}
        assert set(entry["views"]) == always | found
    assert 0.2 < ap["value"] < 0.95 and ap["n_tied"] == 0
    report = Path("out/report.html").read_text(encoding="utf-8")
    assert "<html" in report and "Absatz" in report


def test_json_is_what_is_written_and_follows_the_schema(evaluate: Any) -> None:
    validator = jsonschema.Draft202012Validator(schema_of("results"))
    for more in ((), ("--policy", "prefer-own"), ("--views", "none"), ("--languages", "de,es")):
        printed = json.loads(evaluate("--json", "--out", "out", *more).out)
        validator.validate(printed)
        written = content_of()
        assert set(written.pop("files")) >= {"per_query.parquet"}
        assert printed == written


def test_a_second_run_writes_the_same_and_leaves_nothing_of_the_first(evaluate: Any) -> None:
    evaluate("--out", "out", "--report", "--threads", "1")
    first = content_of()
    tables = {path.name: path.read_bytes() for path in Path("out").glob("*.parquet")}
    evaluate("--out", "out", "--report", "--threads", "3")
    second = content_of()
    for content in (first, second):
        assert content.pop("timings") and content.pop("run") and content.pop("costs")
    assert second == first
    assert {path.name: path.read_bytes() for path in Path("out").glob("*.parquet")} == tables
    evaluate("--out", "out", "--views", "loss", "--no-neighbours")
    assert {path.name for path in Path("out").iterdir()} == {"results.json", "per_query.parquet"}


@pytest.mark.parametrize("file", ["good-whole.{role}.npy", "good-whole.{role}.safetensors"])
def test_files_without_languages_hold_them_one_after_the_other(evaluate: Any, file: str) -> None:
    by_language = json.loads(evaluate("--json").out)
    assert numbers(json.loads(evaluate("--json", text=f"v/{file}").out)) == numbers(by_language)


def test_files_without_languages_follow_the_order_of_languages(evaluate: Any) -> None:
    order = ("es", "de", "en")
    expected = json.loads(evaluate("--json", "--languages", ",".join(order)).out)
    for role in ("questions", "candidates"):
        parts = [np.load(f"v/good.{role}.{language}.npy") for language in order]
        np.save(f"v/turned.{role}.npy", np.concatenate(parts))
        np.save(f"v/two.{role}.npy", np.concatenate(parts[:2]))
    turned = evaluate("--json", "--languages", ",".join(order), text="v/turned.{role}.npy", warnings=2)
    assert "in different orders" in turned.warnings[0]
    found, asked = json.loads(turned.out), numbers(expected)
    assert found.pop("warnings") and numbers(found) == asked
    assert found["results"][0]["views"]["languages"] == list(order)
    two = json.loads(evaluate("--json", "--languages", "es,de", text="v/two.{role}.npy").out)
    assert numbers(two) == numbers(json.loads(evaluate("--json", "--languages", "es,de").out))
    whole = json.loads(evaluate("--json", "--languages", "es,de", text="v/good-whole.{role}.npy").out)
    assert numbers(whole) == numbers(two)


def test_files_for_the_whole_pool_fit_a_split(evaluate: Any, xlingual: Any) -> None:
    made = xlingual("data", "squad-to-pool", "squad", "--out", "pool", "--train", "0.4", "--quiet")
    assert made.code == 0, made.err
    found = []
    for text in (BOTH, "v/good-whole.{role}.npy"):
        command = ("evaluate", "lareqa", "pool", "--split", "test", "--json", "--text-encoder", text)
        found.append(numbers(json.loads(xlingual(*command).out)))
    assert found[0] == found[1] and found[0]["results"][0]["n_source"] < 3 * PER_LANGUAGE


def test_a_star_stands_for_the_names_of_encoders(evaluate: Any) -> None:
    content = json.loads(evaluate("--json", text="v/*.{role}.{lang}.npy").out)
    assert [row["encoder"] for row in content["results"]] == ["bad", "good"]
    content = json.loads(evaluate("--json", text="v/*-whole.{role}.npy").out)
    assert [row["encoder"] for row in content["results"]] == ["bad", "good"]


def test_run_files_of_prefer_own_agree_with_another_program(evaluate: Any) -> None:
    evaluate("--out", "out", "--policy", "prefer-own", "--trec", "trec", "--trec-depth", "all")
    qrels = list(ir_measures.read_trec_qrels("trec/qrels.txt"))
    assert len(qrels) == 3 * PER_LANGUAGE
    found = ir_measures.calc_aggregate(
        [ir_measures.AP], qrels, list(ir_measures.read_trec_run("trec/good.run"))
    )
    assert found[ir_measures.AP] == pytest.approx(content_of()["results"][0]["value"], abs=1e-9)


def test_run_files_agree_with_another_program(evaluate: Any) -> None:
    evaluate(
        "--out", "out", "--trec", "trec", "--trec-depth", "all", "--text-encoder", "v/bad.{role}.{lang}.npy"
    )
    assert {path.name for path in Path("trec").iterdir()} == {"qrels.txt", "good.run", "bad.run"}
    content, table = content_of(), pq.read_table("out/per_query.parquet").to_pylist()
    qrels = list(ir_measures.read_trec_qrels("trec/qrels.txt"))
    for entry in content["results"]:
        assert entry["n_tied"] == 0
        run = list(ir_measures.read_trec_run(f"trec/{entry['encoder']}.run"))
        assert len(run) == entry["n_source"] * entry["n_target"]
        found = {m.query_id: m.value for m in ir_measures.iter_calc([ir_measures.AP], qrels, run)}
        own = {
            row["query"].replace("/", ":"): row["value"]
            for row in table
            if row["encoder"] == entry["encoder"]
        }
        assert found == pytest.approx(own, abs=1e-9)
        assert np.mean(list(found.values())) == pytest.approx(entry["value"], abs=1e-9)


def test_without_examples_no_text_of_the_data_is_kept(evaluate: Any) -> None:
    words = ("Ann", "town", "Absatz", "Stadt", "cantó", "párrafo", "second 3?", "Towns")
    evaluate("--out", "out", "--report")
    assert any(holds(path, "Absatz") for path in Path("out").iterdir())
    evaluate("--out", "out", "--no-examples", "--report")
    names = {path.name for path in Path("out").iterdir()}
    assert "occurrences.parquet" in names and names.isdisjoint({"hubs.parquet", "worst.parquet"})
    for path in Path("out").iterdir():
        for word in words:
            assert not holds(path, word), (path, word)


def test_results_hold_no_text(evaluate: Any) -> None:
    evaluate("--out", "out")
    assert not any(holds(Path("out/results.json"), word) for word in ("Absatz", "town", "párrafo", "Towns"))


def holds(path: Path, word: str) -> bool:
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        return word in json.dumps(table.to_pylist(), ensure_ascii=False) or word in str(table.schema)
    return word in path.read_text(encoding="utf-8")


@pytest.fixture
def folders(evaluate: Any) -> tuple[str, str]:
    """Give two folders of results, of a good and a bad encoder."""
    evaluate("--out", "good", "--measure", "AP", "--measure", "R@10", "--quiet")
    evaluate(
        "--out", "bad", "--measure", "AP", "--measure", "R@10", "--quiet", text="v/bad.{role}.{lang}.npy"
    )
    return "good", "bad"


def test_folders_of_results_can_be_reported_and_compared(folders: tuple[str, str], xlingual: Any) -> None:
    made = xlingual("report", *folders, "--out", "r.html")
    assert made.code == 0, made.err
    report = Path("r.html").read_text(encoding="utf-8")
    assert "good" in report and "bad" in report and "Traceback" not in report
    compared = xlingual("compare", *folders, "--by", "language", "--format", "json")
    assert compared.code == 0, compared.err
    parts = json.loads(compared.out)
    assert all(f'"{language}"' in json.dumps(parts) for language in LANGUAGES)
    assert "good is better" in " ".join(xlingual("compare", *folders, "--baseline", "bad").out.split())


def test_folders_of_results_are_gated_and_planned_with(folders: tuple[str, str], xlingual: Any) -> None:
    assert xlingual("gate", "good", "bad", "--margin", "0.01").code == 0
    assert xlingual("gate", "bad", "good", "--margin", "0.01", "--measure", "R@10").code == 1
    planned = xlingual("plan", *folders, "--effect", "0.02", "--format", "json")
    assert planned.code == 0, planned.err
    assert json.loads(planned.out)["schema"] == "xlingual/plan/1"


def test_other_conditions_are_not_compared_unseen(
    evaluate: Any, folders: tuple[str, str], xlingual: Any
) -> None:
    evaluate("--out", "own", "--policy", "prefer-own", "--quiet", text="v/bad.{role}.{lang}.npy")
    outcome = xlingual("compare", "good", "own")
    assert outcome.code == 2 and "policy" in outcome.err and "prefer-own" in outcome.err
