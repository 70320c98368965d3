"""`xlingual data sample`: what an engine indexes and searches is what evaluate draws."""

from __future__ import annotations

import json
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest

refused = SimpleNamespace(**run_path(str(Path(__file__).with_name("refusals.py")))).refused
MAKE_POOL = ("data", "mix-pool", "s", "--out", "pool")


def lines(path: str | Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def search(folder: str | Path, depth: int | None = None) -> None:
    """Write what an engine finds that counts the letters that texts share."""
    targets = [(one["id"], set(one["text"])) for one in lines(Path(folder) / "targets.jsonl")]
    with (Path(folder) / "engine.jsonl").open("w", encoding="utf-8") as file:
        for query in lines(Path(folder) / "queries.jsonl"):
            own = set(query["text"])
            scores = sorted(((len(own & found), name) for name, found in targets), reverse=True)
            for score, name in scores[:depth]:
                print(json.dumps({"query_id": query["id"], "candidate_id": name, "score": score}), file=file)


def test_backretrieval_of_an_engine_that_searched_the_samples(xlingual: Any, work: Path) -> None:
    sampling = ("--pairs", "en-de,de-en", "--seeds", "2", "--sample", "40")
    done = xlingual("data", "sample", "s", "--out", "samples", *sampling)
    assert done.code == 0, done.err
    folders = [f"samples/{pair}.seed{seed}" for pair in ("en-de", "de-en") for seed in (0, 1)]
    assert all(f"{Path(folder)}: 40 queries, 40 targets" in done.out for folder in folders)
    for folder in folders:
        assert sorted(path.name for path in Path(folder).iterdir()) == [*("queries.jsonl", "targets.jsonl")]
        search(folder)
    (command,) = [line for line in done.out.splitlines() if line.startswith("  xlingual evaluate bkr s ")]
    for part in ("--pairs en-de,de-en", "--seeds 2", "--sample 40", "engine=samples/{source}-{target}"):
        assert part in command
    run = "engine=samples/{source}-{target}.seed{seed}/engine.jsonl"
    found = xlingual(
        "evaluate", "bkr", "s", *sampling, "--image-encoder", "img.npy", "--run", run, "--out", "o"
    )
    assert found.code == 0 and "no results" not in found.err, found.err
    table = pq.read_table("o/per_query.parquet").to_pylist()
    for folder in folders:
        pair, _, seed = Path(folder).name.partition(".seed")
        rows = [row for row in table if f"{row['source']}-{row['target']}" == pair]
        rows = [row for row in rows if row["seed"] == int(seed) and row["measure"] == "R@10"]
        ids = [query["id"] for query in lines(f"{folder}/queries.jsonl")]
        assert [f"{row['source']}:{row['query']}" for row in rows] == ids
        targets = {one["id"] for one in lines(f"{folder}/targets.jsonl")}
        retrieved = {f"{row['target']}:{row['retrieved']}" for row in rows if row["retrieved"] is not None}
        assert retrieved and retrieved <= targets


def test_matching_samples_have_the_qrels_of_the_evaluation(xlingual: Any, work: Path) -> None:
    sampling = ("--pairs", "en-de", "--sample", "30", "--seed", "3", "--queries", "12")
    assert xlingual("data", "sample", "s", "--matching", "--out", "x", *sampling, "--quiet").out == ""
    search("x/en-de")
    run = "engine=x/{source}-{target}/engine.jsonl"
    done = xlingual("evaluate", "xlr", "s", *sampling, "--run", run, "--trec", "t", "--measure", "RR")
    assert done.code == 0, done.err
    assert Path("x/en-de/qrels.txt").read_text() == Path("t/en-de/qrels.txt").read_text()
    assert len(lines("x/en-de/queries.jsonl")) == 12 and len(lines("x/en-de/targets.jsonl")) == 30


def test_a_pool_is_written_whole(xlingual: Any, work: Path) -> None:
    assert xlingual(*MAKE_POOL, "--quiet").code == 0
    done = xlingual("data", "sample", "pool", "--out", "p", "--languages", "en,de")
    assert done.code == 0, done.err
    from xlingual import MultilingualPool

    pool = MultilingualPool.read("pool", ["en", "de"])
    assert [one["text"] for one in lines("p/queries.jsonl")] == list(pool.questions.text)
    assert [one["text"] for one in lines("p/targets.jsonl")] == list(pool.candidates.text)
    assert len(Path("p/qrels.txt").read_text().splitlines()) == len(pool.relevant[0])


def test_queries_have_the_clusters_of_the_evaluation(xlingual: Any, work: Path) -> None:
    assert xlingual(*MAKE_POOL, "--quiet").code == 0
    assert xlingual("data", "sample", "pool", "--out", "p", "--quiet").code == 0
    search("p")
    run = "engine=p/engine.jsonl"
    assert xlingual("evaluate", "retrieval", "pool", "--run", run, "--out", "o", "--quiet").code == 0
    with_table = ("--qrels", "p/qrels.txt", "--query-table", "p/queries.jsonl")
    Path("other.jsonl").write_text(Path("p/engine.jsonl").read_text())
    done = xlingual("compare", *with_table, "p/engine.jsonl", "other.jsonl", "--out", "c")
    assert done.code == 0, done.err
    table = pq.read_table("o/per_query.parquet")
    n_clusters = len(set(table["cluster"].to_pylist()))
    (board,) = json.loads(Path("c/comparison.json").read_text())["boards"]
    assert board["n_clusters"] == n_clusters


def test_files_that_are_there_are_replaced_with_force_alone(xlingual: Any, work: Path) -> None:
    assert xlingual(*MAKE_POOL, "--quiet").code == 0
    Path("p").mkdir()
    Path("p/queries.jsonl").write_text("mine")
    refused(
        xlingual("data", "sample", "pool", "--out", "p"), "p holds queries.jsonl", "would be lost", "--force"
    )
    assert [path.name for path in Path("p").iterdir()] == ["queries.jsonl"]
    assert Path("p/queries.jsonl").read_text() == "mine"
    done = xlingual("data", "sample", "pool", "--out", "p", "--force")
    assert done.code == 0 and "--force" not in done.out, done.err
    assert len(list(Path("p").iterdir())) == 3 and lines("p/queries.jsonl")

    sampling = ("data", "sample", "s", "--pairs", "en-de", "--sample", "20", "--out", "x")
    assert xlingual(*sampling, "--matching").code == 0
    Path("x/en-de/engine.jsonl").write_text("kept")
    refused(xlingual(*sampling), "x holds en-de/queries.jsonl", "--force")
    assert xlingual(*sampling, "--force").code == 0
    assert sorted(path.name for path in Path("x/en-de").iterdir()) == [  # no qrels of the first sample
        *("engine.jsonl", "queries.jsonl", "targets.jsonl")
    ]
    other = ("data", "sample", "s", "--pairs", "de-en", "--sample", "20", "--out", "x")
    assert xlingual(*other).code == 0  # another folder


def test_judged_pairs_have_their_grades_also_the_irrelevant(xlingual: Any, tmp_path: Path) -> None:
    (tmp_path / "beir" / "qrels").mkdir(parents=True)
    for name, ids in (("queries", ("q1", "q2")), ("corpus", ("d1", "d2", "d3"))):
        rows = [json.dumps({"_id": own, "title": "", "text": f"text of {own}"}) for own in ids]
        (tmp_path / "beir" / f"{name}.jsonl").write_text("\n".join(rows))
    judged = ["q1 d1 2", "q1 d2 1", "q1 d3 0", "q2 d1 0", "q2 d3 1"]
    table = ["query-id corpus-id score", *judged]
    (tmp_path / "beir" / "qrels" / "test.tsv").write_text("\n".join(table).replace(" ", "\t") + "\n")
    beir, out = str(tmp_path / "beir"), tmp_path / "p"
    done = xlingual("data", "sample", beir, "--languages", "de", "--out", str(out))
    assert done.code == 0, done.err
    written = [line.split() for line in (out / "qrels.txt").read_text().splitlines()]
    assert [f"{q} {d} {grade}".replace("de:", "") for q, _, d, grade in written] == judged
    search(out)
    (command,) = [line.split() for line in done.out.splitlines() if "evaluate retrieval" in line]
    found = xlingual(*command[1:])  # the printed step, of one language
    assert found.code == 0, found.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["s", "--out", "x", "--languages", "en"], ["--languages", "is for pools", "manifest"]),
        (["s", "--out", "img.npy"], ["--out img.npy is a file"]),
        (["pool", "--out", "x", "--seeds", "2"], ["--seeds", "is for manifests", "pool is a pool"]),
        (["pool", "--out", "x", "--matching"], ["--matching", "is for manifests"]),
    ],
)
def test_what_cannot_be_is_refused(xlingual: Any, work: Path, arguments: list[str], words: list[str]) -> None:
    if arguments[0] == "pool":
        assert xlingual(*MAKE_POOL, "--quiet").code == 0
    refused(xlingual("data", "sample", *arguments), *words)
    assert not Path("x").exists()
