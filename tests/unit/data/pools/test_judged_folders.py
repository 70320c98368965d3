"""Judged folders through the command line: queries without an answer, identical ids, and odd files."""

import gzip
import json

import pytest
from tests.program import answer, command

CORPUS = {"d1": "a green tree", "d 2": "a red house", "d3": "blue water"}
QUERIES = {"q1": "green tree", "q2": "red house", "q 3": "blue water"}
QRELS = [("q1", "d1", "1"), ("q2", "d 2", "1.0"), ("q2", "d3", "0"), ("q 3", "d1", "0")]


def write(folder, corpus=CORPUS, queries=QUERIES, qrels=QRELS, ending=""):
    """Write a folder of BEIR, compressed where the ending says so."""
    header = ("query-id", "corpus-id", "score")
    texts = {
        "corpus.jsonl": "".join(json.dumps({"_id": i, "text": t}) + "\n" for i, t in corpus.items()),
        "queries.jsonl": "".join(json.dumps({"_id": i, "text": t}) + "\n" for i, t in queries.items()),
        "qrels/test.tsv": "".join("\t".join(row) + "\n" for row in (header, *qrels)),
    }
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        raw = text.encode()
        (folder / f"{name}{ending}").write_bytes(gzip.compress(raw) if ending else raw)
    return folder


def value(folder, *words, measure="RR", encoder=("--text-encoder", "chargram")):
    words = "--languages", "en", *encoder, "--measure", measure, "--no-store", *words
    return answer("evaluate retrieval", folder, *words)["results"][0]["value"]


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("ties", ["expected", "trec"])
def test_a_query_judged_0_only_counts_as_0(tmp_path, ties, ending):
    folder = write(tmp_path / "b", ending=ending)
    assert value(folder, "--ties", ties) == pytest.approx(2 / 3)
    qrels = tmp_path / "q.tsv"
    qrels.write_text("".join("\t".join(row) + "\n" for row in QRELS))
    assert value(folder, "--ties", ties, "--qrels", qrels) == pytest.approx(2 / 3)


@pytest.mark.parametrize("ties", ["expected", "trec"])
def test_candidates_with_the_id_of_the_query_are_left_out_on_demand(tmp_path, ties):
    texts = {"d1": "a green tree", "x": "green tree"}
    folder = write(tmp_path / "b", texts | {"q1": "green tree"}, qrels=QRELS[:1])
    without = write(tmp_path / "without", texts, qrels=QRELS[:1])
    run = ("--run", tmp_path / "r.trec")
    run[1].write_text("q1 Q0 q1 1 9 t\nq1 Q0 x 2 8 t\nq1 Q0 d1 3 7 t\n")
    outcome = command("evaluate", "retrieval", folder, "--languages", "en", "--text-encoder", "chargram")
    assert "own ids" in outcome.err
    for measure in ("RR", "nDCG@2", "AP", "Judged@2", "Bpref"):
        expected = value(without, "--ties", ties, measure=measure)
        words = "--ties", ties, "--ignore-identical-ids"
        assert value(folder, *words, measure=measure) == pytest.approx(expected, abs=1e-12)
        assert value(folder, *words, measure=measure, encoder=run) == pytest.approx(expected, abs=1e-12)
    assert value(folder, "--ties", ties) == pytest.approx(1 / 3)
    assert value(folder, *words) == pytest.approx(1 / 2)


@pytest.mark.parametrize("part", ["corpus", "queries"])
def test_half_a_character_is_refused_with_its_line(tmp_path, part):
    folder = write(tmp_path / "b")
    path = folder / f"{part}.jsonl"
    path.write_text(path.read_text() + '{"_id": "x", "text": "cut \\ud83d"}\n')
    outcome = command("evaluate", "retrieval", folder, "--languages", "en", "--text-encoder", "chargram")
    assert outcome.code == 2 and f"{path}, line 4" in outcome.err and "Traceback" not in outcome.err
