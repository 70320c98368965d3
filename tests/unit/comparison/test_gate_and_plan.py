"""Gate and plan on made results: outcomes, exit codes, what is printed and written."""

import json
import math
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest
from msgspec import structs
from rich.console import Console
from safetensors.numpy import save_file

from xlingual.cli.main import run
from xlingual.comparison.gate import gate
from xlingual.comparison.plan import plan
from xlingual.errors import InputError
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.report import page_of, verdict
from xlingual.report.findings.gate import _margin
from xlingual.report.pages import gate as report
from xlingual.report.render import terminal
from xlingual.report.render.text import as_text
from xlingual.results import Entry, Interval, Results
from xlingual.results.gate import Gate
from xlingual.results.plan import Plan

PAIRS = (("en", "de"), ("de", "en"))


def write(folder, shares, *, n=400, pairs=PAIRS, seed=1, task="crosslingual-retrieval"):
    """Write results whose encoders hit a share of the queries; hits of all encoders go together."""
    luck = {pair: np.random.default_rng([seed, i]).random(n) for i, pair in enumerate(pairs)}
    entries, columns = [], {}
    for encoder, share in shares.items():
        for pair in pairs:
            own = share[pair] if isinstance(share, dict) else share
            noise = np.random.default_rng([seed, len(encoder), *map(ord, encoder)]).random(n)
            value = (0.8 * luck[pair] + 0.2 * noise < own).astype(float)
            signature = f"task:{task}|source:{pair[0]}|target:{pair[1]}|measure:R@10|system:|encoder:e"
            numbers = (float(value.mean()), None, 10 / n, None, None, None, n, n, 0, 0, signature)
            entries.append(Entry(task, *pair, encoder, None, "R@10", *numbers))
            block = {
                "task": [task] * n,
                "encoder": [encoder] * n,
                "measure": ["R@10"] * n,
                "source": [pair[0]] * n,
                "target": [pair[1]] * n,
                "seed": [0] * n,
                "query": [f"q{i}" for i in range(n)],
                "item": [f"q{i}" for i in range(n)],
                "cluster": range(n),
                "retrieved": [None] * n,
                "above": [0] * n,
                "tied": [1] * n,
                "value": value,
            }
            for name, cells in block.items():
                columns.setdefault(name, []).extend(cells)
    columns["retrieved_cluster"] = pa.nulls(len(columns["value"]), pa.int64())
    columns["retrieved"] = pa.array(columns["retrieved"], pa.string())
    Results(entries, [], pa.table(columns)).write(folder)
    return str(folder)


@pytest.fixture
def made(tmp_path):
    shares = {"base": 0.5, "same": 0.5, "good": 0.6, "bad": 0.3, "mixed": {PAIRS[0]: 0.6, PAIRS[1]: 0.3}}
    return write(tmp_path / "made", shares)


def decided(made, candidate, **options):
    return gate(f"{made}#{candidate}", f"{made}#base", **{"margin": 0.05, "replicates": 999} | options)


@pytest.mark.parametrize(("candidate", "outcome"), [("good", "pass"), ("bad", "fail"), ("same", "pass")])
def test_clear_cases(made, candidate, outcome):
    found = decided(made, candidate)
    assert found.outcome == outcome
    assert found.decisions[0].source is None and found.decisions[0].n_queries == 400
    assert found.decisions[0].better == (candidate == "good")


@pytest.mark.parametrize(
    ("low", "margin"),
    [
        (-0.0123, "0.013"),
        (-0.013, "0.013"),
        (-0.00512, "0.0052"),
        (-0.995, "1.00"),
        (-12.3, "13"),
        (0.0, "0"),
    ],
)
def test_the_margin_that_is_settled_is_rounded_up(low, margin):
    assert _margin(SimpleNamespace(low=low)) == margin


def test_decisions_of_one_kind_share_a_sentence_below_the_table(tmp_path):
    names = ("en", "de", "es", "fr")
    folder = write(tmp_path / "six", {"one": 0.5, "two": 0.5}, n=100, pairs=[(a, "zz") for a in names])
    results = Results.read(folder)
    table = results.per_query
    encoder, source = (table.column(name).to_numpy(zero_copy_only=False) for name in ("encoder", "source"))
    value = table.column("value").to_numpy().copy()
    for tag in names:
        value[(encoder == "two") & (source == tag)] = value[(encoder == "one") & (source == tag)]
    value[(encoder == "two") & (source == "de")] = 0
    same = table.set_column(table.schema.get_field_index("value"), "value", pa.array(value))
    entries = [
        structs.replace(
            entry, value=float(value[(encoder == entry.encoder) & (source == entry.source)].mean())
        )
        for entry in results.entries
    ]
    replace(results, per_query=same, entries=entries).write(folder)
    found = gate(f"{folder}#two", f"{folder}#one", margin=0.02, per_pair=True, replicates=999)
    assert [one.outcome for one in found.decisions] == ["cannot tell", "fail", "cannot tell", "cannot tell"]
    lost = found.decisions[1].difference
    head, counted = verdict(found)
    assert f"in de → zz (XLR R@10): −{-lost:.3f} [−" in head and "queries" not in counted
    text = as_text(page_of(found), "markdown")
    line = "en → zz, es → zz and fr → zz: if the two agree on every further query too, it takes 149 queries"
    flat = " ".join(text.split())
    assert flat.count("further query") == 1 and line in flat
    assert flat.index("lower end") < flat.index(line)
    shown = StringIO()
    terminal.show(Console(file=shown, width=80), page_of(found))
    assert "  queries" in shown.getvalue() and "left out" not in shown.getvalue()  # room for all columns


def test_a_larger_margin_never_turns_a_pass_into_something_else(made, full):
    rank = {"fail": 0, "cannot tell": 1, "pass": 2}
    for candidate in ("same", "bad", "mixed"):
        margins = np.linspace(0, 0.4, 21 if full else 6)
        outcomes = [rank[decided(made, candidate, margin=float(m)).outcome] for m in margins]
        assert outcomes == sorted(outcomes)


def test_per_pair_fails_where_one_pair_fails(made):
    found = decided(made, "mixed", per_pair=True)
    assert [decision.outcome for decision in found.decisions] == ["pass", "fail"]
    assert found.outcome == "fail"
    assert found.decisions[1].p_fail_adjusted == pytest.approx(min(2 * found.decisions[1].p_fail, 1))


def test_a_pass_has_its_lower_end_above_the_margin(made):
    for margin in (0.0, 0.005, 0.01, 0.02, 0.05):
        decision = decided(made, "same", margin=margin).decisions[0]
        assert (decision.outcome == "pass") == (decision.low > -margin)


def test_record_reads_back(made, tmp_path):
    found = decided(made, "same", margin=0.002, per_pair=True)
    found.write(tmp_path / "gate.json")
    assert Gate.read(tmp_path / "gate.json") == found
    planned = plan([made], effect=0.01, queries=[1000])
    planned.write(tmp_path / "plan.json")
    assert Plan.read(tmp_path / "plan.json") == planned
    with pytest.raises(InputError, match="xlingual/gate/1"):
        Gate.read(tmp_path / "plan.json")


def test_names_are_escaped(tmp_path):
    evil = "a|<b>&`*_\x01"
    folder = write(tmp_path / "evil", {evil: 0.3, "base": 0.6})
    found = gate(f"{folder}#{evil}", f"{folder}#base", margin=0.01, replicates=999)
    assert "a|<b>&`*_" in ElementTree.fromstring(report.junit(found)).find(".//testcase").get("name")
    text = report.summary(found)
    assert "a\\|&lt;b&gt;&amp;\\`\\*\\_" in text and "<b>" not in text
    assert "<b>" not in as_text(page_of(plan([folder], effect=0.01)), "markdown")


def test_exit_codes_summary_and_junit(made, tmp_path, monkeypatch, capsys):
    summary, junit = tmp_path / "summary.md", tmp_path / "new" / "junit.xml"
    summary.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    options = ["--replicates", "999", "--quiet", "--github", "--junit", str(junit)]
    for candidate, margin, code in (("good", "0.05", 0), ("bad", "0.05", 1), ("same", "0.002", 3)):
        assert run(["gate", f"{made}#{candidate}", f"{made}#base", "--margin", margin, *options]) == code
    assert capsys.readouterr() == ("", "")
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("before\n### ") and text.count("### ") == 3
    assert ElementTree.parse(junit).find(".//error") is not None
    assert [path.name for path in junit.parent.iterdir()] == ["junit.xml"]


def test_json_of_the_command_is_the_record(made, capsys):
    assert run(["gate", f"{made}#good", f"{made}#base", "--margin", "0.05", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["schema"] == "xlingual/gate/1" and content["outcome"] == "pass"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{0}", "{0}#base", "--margin", "0.01"], "5 encoders"),
        (["{0}#base", "{0}#base", "--margin", "0.01"], "same encoder"),
        (["{0}#good", "{0}#base", "--margin", "-1"], "margin"),
        (["{0}#good", "{0}#base", "--margin", "nan"], "margin"),
        (["{0}#good", "{0}#base", "--margin", "0.01", "--alpha", "0.7"], "alpha"),
        (["{0}#good", "{0}#base", "--margin", "0.01", "--replicates", "9"], "replicates"),
        (["{0}#good", "{0}#base", "--margin", "0.01", "--measure", "MedR"], "MedR"),
        (["{0}#good", "{0}#base", "--margin", "0.01", "--task", "bkr"], "task"),
        (["{0}#good", "{0}#base", "--margin", "0.01", "--github"], "GITHUB_STEP_SUMMARY"),
        (["{0}#good", "{0}#base", "--margin", "0.01", "--junit", "{0}"], "folder"),
    ],
)
def test_bad_input(made, arguments, message, capsys, monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert run(["gate", *(word.format(made) for word in arguments)]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_few_clusters_cannot_tell(tmp_path):
    folder = write(tmp_path / "few", {"base": 0.5, "good": 1.0}, n=4, pairs=PAIRS[:1])
    found = gate(f"{folder}#good", f"{folder}#base", margin=0.5, replicates=999)
    assert found.outcome == "cannot tell" and "clusters" in found.decisions[0].note


def test_plan(made):
    found = plan([made], effect=0.03, queries=[100, 10_000])
    assert found.baseline == "good" and found.pool == 400 and found.share == pytest.approx(10 / 400)
    assert {row.encoder for row in found.rows} == {"base", "same", "mixed", "bad"}
    values = [row.value for row in found.rows]
    assert values == sorted(values, reverse=True)
    for row in found.rows:
        assert row.sizes[0].detectable > row.detectable > row.sizes[1].detectable
        assert (row.queries <= 400) == (row.detectable <= 0.03)
    text = " ".join(verdict(found))
    assert "K/N = 10/400 = 0.025" in text and "there are 400" in text


def test_plan_needs_two_encoders_and_can_hold_any_as_the_baseline(made):
    with pytest.raises(InputError, match="needs two"):
        plan([f"{made}#base"], effect=0.01)
    found = plan([f"{made}#good"], effect=0.01, baseline=f"{made}#base")
    assert found.baseline == "base" and [row.encoder for row in found.rows] == ["good"]
    for wrong in ({"effect": 0.0}, {"effect": 0.01, "power": 0.01}, {"effect": 0.01, "queries": [1]}):
        with pytest.raises(InputError, match="out of range"):
            plan([made], **wrong)


@pytest.mark.parametrize("form", ["table", "markdown", "csv", "json"])
def test_formats_of_a_plan(made, form, capsys):
    assert run(["plan", made, "--effect", "0.02", "--queries", "1000", "--format", form]) == 0
    out = capsys.readouterr().out
    if form == "csv":
        rows = [line.split(",") for line in out.splitlines()]
        assert len(rows) == 5 and len({len(row) for row in rows}) == 1
    assert "mixed" in out and not re.search(r"\bnan\b", out.lower())
    assert Path(made).is_dir()


def test_pairs_that_one_side_lacks_are_refused_unless_named(tmp_path):
    both = write(tmp_path / "both", {"one": 0.5})
    half = write(tmp_path / "half", {"two": 0.5}, pairs=PAIRS[:1])
    for names in ((both, half), (half, both)):
        with pytest.raises(InputError, match=r"half#two lacks de-en: .*--pairs"):
            gate(*names, margin=0.1, replicates=999)
    found = gate(both, half, margin=0.1, pairs=["en-de"], replicates=999)
    assert found.pairs == ["en-de"]
    with pytest.raises(InputError, match="half#two has no language pair 'de-en'"):
        gate(both, half, margin=0.1, pairs=["en-de", "de-en"], replicates=999)
    arguments = ["gate", both, half, "--margin", "0.4", "--replicates", "999", "--quiet", "--pairs", "en-de"]
    assert run(arguments) == 0 and run(arguments[:-2]) == 2


def test_the_first_measures_must_be_the_same(folders):
    one = folders.xlr("one", [folders.given("a", 0.2)], measures=["R@10", "RR"])
    two = folders.xlr("two", [folders.given("b", 0.2, 1)], measures=["R@5", "RR"])
    for make in (lambda **more: gate(one, two, margin=0.1, replicates=999, **more),):
        with pytest.raises(InputError, match=r"one#a with R@10 and .*two#b with R@5.*--measure \(RR\)"):
            make()
        assert make(measure="RR").measure == "RR"
    with pytest.raises(InputError, match="begin with different measures"):
        plan([one, two], effect=0.1)


def twins(tmp_path, *, systems):
    """Write two encoders with equal values of 100 queries, whose signatures name these systems."""
    folder = write(tmp_path / "twins", {"one": 0.5, "two": 0.5}, n=100, pairs=PAIRS[:1])
    results = Results.read(folder)
    table = results.per_query
    half = table.column("value").to_numpy()[:100]
    place = table.schema.get_field_index("value")
    same = table.set_column(place, "value", pa.array(np.concatenate([half, half])))
    entries = [
        structs.replace(
            entry, value=float(half.mean()), signature=entry.signature.removesuffix("encoder:e") + system
        )
        for entry, system in zip(results.entries, systems, strict=True)
    ]
    replace(results, per_query=same, entries=entries).write(folder)
    return folder


def test_a_system_passes_against_itself_under_another_name(tmp_path):
    folder = twins(tmp_path, systems=["encoder:same", "encoder:same"])
    found = gate(f"{folder}#one", f"{folder}#two", margin=0.001, replicates=999)
    (decision,) = found.decisions
    assert found.outcome == "pass" and (decision.low, decision.ci.low, decision.ci.high) == (0, 0, 0)
    text = " ".join(verdict(found))
    assert "PASS: nothing changed: one and two are the same system" in text and "takes" not in text
    assert gate(f"{folder}#one", f"{folder}#two", margin=0.0, replicates=999).outcome == "pass"
    assert run(["gate", f"{folder}#one", f"{folder}#two", "--margin", "0.001", "--quiet"]) == 0
    unnamed = twins(tmp_path / "objects", systems=["encoder:python:mine.Model"] * 2)
    assert gate(f"{unnamed}#one", f"{unnamed}#two", margin=0.001, replicates=999).outcome == "cannot tell"


@pytest.mark.parametrize(
    ("vectors", "systems", "outcome"),
    [
        (("a", "a"), ("encoder:one", "encoder:two"), "pass"),
        (("a", "a"), ("encoder:python:mine.Model",) * 2, "pass"),
        (("a", "b"), ("encoder:one", "encoder:two"), "cannot tell"),
        (("a", None), ("encoder:one", "encoder:two"), "cannot tell"),
        (("a", "a"), ("encoder:one", "encoder:two|similarity:csls?k=10"), "cannot tell"),
    ],
)
def test_equal_vectors_that_are_compared_alike_are_one_system(tmp_path, vectors, systems, outcome):
    folder = twins(tmp_path, systems=systems)
    known = zip(("one", "two"), vectors, strict=True)
    run_part = {"vectors": {f"text encoder {name!r}": digest for name, digest in known if digest}}
    replace(Results.read(folder), run=run_part).write(folder)
    assert gate(f"{folder}#one", f"{folder}#two", margin=0.001, replicates=999).outcome == outcome


def test_vectors_under_another_name_path_and_format_are_unchanged(tmp_path):
    """Evaluated twice from files of two formats, with two languages, ties, and every pair decided."""
    rng = np.random.default_rng(0)
    vectors = {tag: rng.integers(1, 4, (30, 3)).astype(np.float32) for tag in ("en", "de")}
    rows = [{"id": f"{i}", "text_en": f"a {i}", "text_de": f"b {i}"} for i in range(30)]
    for tag, of in vectors.items():
        np.save(tmp_path / f"old.{tag}.npy", of)
        save_file({"rows": of}, tmp_path / f"new.{tag}.safetensors")
    for name, ending in (("old", "npy"), ("new", "safetensors")):
        spec = f"vectors:{tmp_path}/{name}.{{lang}}.{ending}"
        crosslingual_retrieval(rows, {name: spec}, pairs="en-de,de-en", store=None).write(tmp_path / name)
    one, two = (Results.read(tmp_path / name) for name in ("old", "new"))
    assert one.entries[0].signature != two.entries[0].signature and one.entries[0].n_tied > 0
    for margin in ("0.01", "0"):
        given = ["gate", str(tmp_path / "new"), str(tmp_path / "old"), "--margin", margin, "--quiet"]
        assert run(given) == 0 and run([*given, "--per-pair"]) == 0
    changed = vectors["de"].copy()
    changed[7] = -changed[7]
    np.save(tmp_path / "old.de.npy", changed)
    again = crosslingual_retrieval(
        rows, {"old": f"vectors:{tmp_path}/old.{{lang}}.npy"}, pairs="en-de,de-en", store=None
    )
    assert gate(again, one, margin=0.01, replicates=999).outcome != "pass"


def test_encoders_that_agree_need_as_many_queries_as_the_rule_of_three_says(tmp_path):
    folder = twins(tmp_path, systems=["encoder:one", "encoder:two"])
    found = gate(f"{folder}#one", f"{folder}#two", margin=0.02, replicates=999)
    (decision,) = found.decisions
    assert found.outcome == "cannot tell" and decision.if_equal is None
    assert decision.if_observed.queries == math.ceil(math.log(0.05) / math.log(0.98)) == 149
    " ".join(verdict(found))
    assert gate(f"{folder}#one", f"{folder}#two", margin=0.05, replicates=999).outcome == "pass"
    nothing = gate(f"{folder}#one", f"{folder}#two", margin=0.0, replicates=999)
    said = " ".join(verdict(nothing))
    assert "not above 0 (" in said and "−0 " not in said


def test_the_same_difference_on_every_query_is_not_called_agreement(tmp_path):
    folder = write(tmp_path / "apart", {"one": 1.1, "two": 0.0}, n=30, pairs=PAIRS[:1])
    found = gate(f"{folder}#two", f"{folder}#one", margin=0.95, replicates=999)
    needed = found.decisions[0].if_observed
    assert (found.outcome, needed.outcome) == ("cannot tell", "fail")
    assert needed.note == "the difference is the same on every further query too"
    row = plan([folder], effect=0.1).rows[0]
    assert row.note == "differs from one by the same amount on every query: nothing to plan with"
    assert row.ci.low == -1.0 and row.ci.high < -0.8


def test_what_cannot_be_written_is_named_after_the_decision(made, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "no" / "summary.md"))
    arguments = ["gate", f"{made}#good", f"{made}#base", "--margin", "0.05", "--replicates", "999"]
    for options, name in (
        (["--github"], "GITHUB_STEP_SUMMARY"),
        (["--junit", str(tmp_path / "file" / "x")], "--junit"),
    ):
        assert run([*arguments, *options]) == 2
        out, error = capsys.readouterr()
        assert "PASS" in out and name in error and error.count("\n") == 1


def test_ends_are_written_so_that_their_side_is_seen(made):
    found = decided(made, "good")
    decision = structs.replace(found.decisions[0], ci=Interval(-0.0002, 0.1, 0.95, "x"), low=0.0003)
    (table, *_) = page_of(structs.replace(found, decisions=[decision])).sections[0].blocks
    cells = table.rows[0].cells
    assert cells[4].interval == "[−0.0002, 0.1000]" and cells[5].text == "0.0003"


def test_a_plan_shows_no_impossible_differences(tmp_path):
    folder = write(tmp_path / "few", {"good": 0.9, "bad": 0.1, "mid": 0.5}, n=12, pairs=PAIRS[:1])
    found = plan([folder], effect=0.5, queries=[5, 12, 5000, 5000], power=0.99)
    assert [size.queries for size in found.rows[0].sizes] == [5, 5000]
    assert all(-1 <= row.ci.low <= row.ci.high <= 1 for row in found.rows)
    shown = [size.detectable for row in found.rows for size in row.sizes]
    assert None in shown and all(least is None or least < 1 for least in shown)
    " ".join(verdict(found))
    assert plan([folder], effect=0.5, baseline=f"{folder}#bad").n_tests == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.update(results=[]), "holds no numbers"),
        (lambda content: content["results"][0].update(signature="nonsense"), "signature"),
        (lambda content: content["results"][0].update(signature=None), "signature"),
        (lambda content: content["results"][0].update(value=float("nan")), "NaN is no number"),
        (
            lambda content: content["results"][0].update(n_source="x"),
            'n_source must be a whole number of at least 1, found "x"',
        ),
        (lambda content: content.update(results=None), "results must be a list, found null"),
    ],
)
def test_damaged_results_are_one_line(made, change, message, capsys):
    path = Path(made) / "results.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    for arguments in (["gate", f"{made}#good", f"{made}#base", "--margin", "0.1"], ["compare", made]):
        assert run(arguments) == 2
        error = capsys.readouterr().err
        assert message in error and error.count("\n") == 1
