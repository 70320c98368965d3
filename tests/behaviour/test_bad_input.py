"""Bad input: exit code 2, one line that names what was wrong, no traceback, and nothing is written."""

import json

import numpy as np
import pytest
from tests.behaviour.planted import evaluate, images, manifest, noisy, pool, write_lines
from tests.program import command

N = 30


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A folder with sound data, results of three tasks, and many things that are wrong."""
    folder = tmp_path_factory.mktemp("bad")
    data = manifest(folder, N)
    rows = [json.loads(line) for line in data.read_text().splitlines()]
    spec = noisy(folder, "good", N, 0.5)
    shown = images(folder, np.random.default_rng(0).normal(size=(N, 4)))
    evaluate("xlr", data, [spec], out=folder / "xlr")
    evaluate("xlr", data, [spec], out=folder / "r5", measure="R@5")
    evaluate("xlr", data, [spec, noisy(folder, "other", N, 2.0, seed=1)], out=folder / "two")
    evaluate("bkr", data, [spec], image_encoder=shown, out=folder / "bkr")
    pool(folder / "pool", 6)
    (folder / "empty").mkdir()
    (folder / "text.txt").write_text("nothing of the kind")
    (folder / "none.jsonl").write_text("")
    (folder / "broken.jsonl").write_text('{"id": "a", "lang": "de", "text": "x"}\n{"id": "b", "lang"\n')
    (folder / "latin.csv").write_bytes("id,lang,text\n1,de,Stühle\n".encode("latin-1"))
    write_lines(folder / "twice.jsonl", [*rows, rows[0]])
    write_lines(folder / "no-text.jsonl", [{k: v for k, v in row.items() if k != "text"} for row in rows])
    write_lines(folder / "no-tag.jsonl", [row | {"lang": "not a tag"} for row in rows])
    write_lines(folder / "one-language.jsonl", [row for row in rows if row["lang"] == "de"])
    short, nan, wide = (np.load(folder / "good.de.npy") for _ in range(3))
    nan[3, 2] = np.nan
    for name, array in (("short", short[:-1]), ("nan", nan), ("wide", wide)):
        np.save(folder / f"{name}.de.npy", array)
        np.save(folder / f"{name}.en.npy", array[:, :-1] if name == "wide" else array)
    np.save(folder / "pickled.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    (folder / "broken.json").write_text("{")
    (folder / "suite.toml").write_text("[data.shop]\nmanifest = 'data.jsonl'\n[tasks.xrl]\n")
    (folder / "broken.toml").write_text("[data")
    (folder / "few.qrels").write_text("q0 0\n")
    return folder


SHORT = {
    "XLR": "evaluate xlr data.jsonl --text-encoder good.{lang}.npy",
    "BKR": "evaluate bkr data.jsonl --text-encoder good.{lang}.npy",
    "WITH": "--text-encoder chargram",
}
# a name, the command line, and words that the error must have: the name or the value of what is wrong
TABLE = [
    ("no such file", "evaluate xlr no.jsonl WITH", "no.jsonl"),
    ("an empty file", "evaluate xlr none.jsonl WITH", "none.jsonl"),
    ("an empty folder", "evaluate xlr empty WITH", "empty"),
    ("no manifest", "evaluate xlr text.txt WITH", "text.txt"),
    ("broken JSON", "evaluate xlr broken.jsonl WITH", "broken.jsonl", "2"),
    ("other bytes", "evaluate xlr latin.csv WITH", "latin.csv"),
    ("an id twice", "evaluate xlr twice.jsonl WITH", "de-0"),
    ("no texts", "evaluate xlr no-text.jsonl WITH", "text"),
    ("no tag", "evaluate xlr no-tag.jsonl WITH", "not a tag"),
    ("one language", "evaluate xlr one-language.jsonl WITH", "de"),
    ("an absent language", "XLR --pairs de-fr", "fr"),
    ("a pair of one", "XLR --pairs de", "de"),
    ("an absent split", "XLR --split test", "test"),
    ("rows beyond the end", "XLR --rows 900:901", "900"),
    ("an absent column", "XLR --text-column words", "words"),
    ("an unknown measure", "XLR --measure R@ten", "R@ten"),
    ("a measure of nothing", "XLR --measure R@0", "R@0"),
    ("a measure beyond the candidates", "XLR --measure R@1000", "1000"),
    ("a sample of nothing", "XLR --sample 0", "0"),
    ("no seeds", "XLR --seeds 0", "0"),
    ("a negative seed", "XLR --seed -1", "-1"),
    ("no threads", "XLR --threads 0", "0"),
    ("an unknown similarity", "XLR --similarity euclid", "euclid"),
    ("a correction without a bank", "XLR --similarity csls?k=5", "csls"),
    ("a file as a folder", "XLR --out text.txt", "text.txt"),
    ("an unknown option", "XLR --mesure R@1", "--mesure"),
    ("an unknown format", "XLR --format word", "word"),
    ("a report without a folder", "XLR --report", "--out"),
    ("an encoder twice", "XLR --text-encoder good.{lang}.npy", "good"),
    ("no encoder", "evaluate xlr data.jsonl", "--text-encoder"),
    ("an unknown scheme", "evaluate xlr data.jsonl --text-encoder nosuch:x", "nosuch"),
    ("no such vectors", "evaluate xlr data.jsonl --text-encoder nosuch.{lang}.npy", "nosuch"),
    ("too few vectors", "evaluate xlr data.jsonl --text-encoder short.{lang}.npy", "short.de.npy", "29"),
    ("vectors of no number", "evaluate xlr data.jsonl --text-encoder nan.{lang}.npy", "nan.de.npy"),
    ("vectors of two sizes", "evaluate xlr data.jsonl --text-encoder wide.{lang}.npy", "64", "63"),
    ("a pickle", "evaluate xlr data.jsonl --text-encoder pickled.npy", "pickled.npy"),
    ("an unfitted encoder", "evaluate xlr data.jsonl --text-encoder lsa", "lsa"),
    ("fitted on what is evaluated",
     "evaluate xlr data.jsonl --text-encoder lsa:?dim=4&fit=data.jsonl", "lsa"),
    ("a function that is not there", "evaluate xlr data.jsonl --text-encoder python:nosuch:f", "nosuch"),
    ("a model that is not there", "evaluate xlr data.jsonl --text-encoder model:nosuch", "nosuch"),
    ("images of no encoder", "BKR", "--image-encoder"),
    ("images that are not there", "BKR --image-encoder no.npy", "no.npy"),
    ("too few images", "BKR --image-encoder short.de.npy", "short.de.npy"),
    ("K of all images", "BKR --image-encoder images.npy --measure R@15", "15"),
    ("an unknown task", "evaluate xrl data.jsonl", "xrl"),
    ("an unknown command", "evalute xlr", "evalute"),
    ("a manifest as a pool", "evaluate lareqa data.jsonl WITH", "data.jsonl"),
    ("a pool as a manifest", "evaluate xlr pool WITH", "pool"),
    ("an unknown language of the picture", "evaluate lareqa pool WITH --picture x,y", "'x'"),
    ("a broken run", "evaluate retrieval pool --run text.txt", "text.txt"),
    ("broken judgements", "compare xlr --qrels few.qrels", "xlr"),
    ("no sentence pairs", "evaluate sts data.jsonl --lang en WITH", "score"),
    ("no results", "compare empty xlr", "empty"),
    ("results of one encoder", "compare xlr", "one"),
    ("results of two measures", "compare xlr#good r5#good", "good"),
    ("an absent baseline", "compare two --baseline best", "best"),
    ("a gate without a margin", "gate xlr xlr", "--margin"),
    ("a negative margin", "gate two#good two#other --margin -1", "-1"),
    ("an encoder that is not there", "gate xlr#best xlr --margin 0.1", "best"),
    ("results of two tasks", "gate xlr bkr --margin 0.1 --measure R@10", "backretrieval"),
    ("an effect of nothing", "plan two --effect 0", "0"),
    ("a power of all", "plan two --effect 0.1 --power 1", "1"),
    ("a board of nothing", "leaderboard empty --out board", "empty"),
    ("an inspection of nothing", "inspect empty", "empty"),
    ("a report of nothing", "report empty --out x.html", "empty"),
    ("a history of nothing", "history nosuch", "nosuch"),
    ("a suite with a mistake", "run suite.toml", "xrl"),
    ("a broken suite", "run broken.toml", "broken.toml"),
    ("no suite", "run nosuch.toml", "nosuch.toml"),
    ("nothing to verify", "verify empty", "empty"),
    ("nothing to repair", "repair nosuch.jsonl WITH", "nosuch.jsonl"),
    ("shares of nothing", "repair data.jsonl --text-encoder good.{lang}.npy --shares 1,2", "1,2"),
    ("no n-best lists", "rerank tune nosuch.nbest --references text.txt --out w.json", "nosuch"),
    ("broken n-best lists", "rerank tune text.txt --references text.txt --out w", "text.txt"),
    ("broken weights", "rerank apply text.txt --weights broken.json --out o", "broken.json"),
    ("a study of nothing", "study analyse empty", "empty"),
    ("a study in an absent language",
     "study new data.jsonl --source fr --target de --system a=good.{lang}.npy --out study", "fr"),
    ("a sample of nothing", "data sample data.jsonl --pairs de-fr --out sample", "fr"),
    ("a mix of an absent language", "data mix-pool data.jsonl --mix fr=1 --out mix", "fr"),
    ("a store that is a file", "store verify --store text.txt", "text.txt"),
    ("training on nothing", "train mlmme nosuch.jsonl --beta 0 --out m", "nosuch.jsonl"),
    ("training without images", "train mlmme data.jsonl --out m", "--image-encoder"),
    ("training on no such rate", "train mlmme data.jsonl --beta 0 --rate -1 --out m", "-1"),
]  # fmt: skip


def run(line):
    """Run a line of the table."""
    return command(*(word for part in line.split() for word in SHORT.get(part, part).split()))


@pytest.mark.parametrize("row", TABLE, ids=[row[0] for row in TABLE])
def test_bad_input(shop, monkeypatch, row):
    _, line, *said = row
    monkeypatch.chdir(shop)
    before = set(shop.rglob("*"))
    outcome = run(line)
    lines = [line for line in outcome.err.splitlines() if not line.startswith("warning: ")]
    assert (outcome.code, outcome.out, len(lines)) == (2, "", 1), outcome
    assert lines[0].startswith("error: ") and "Traceback" not in lines[0]
    for word in said:
        assert word in lines[0]
    made = set(shop.rglob("*")) - before
    assert not any(path.is_file() for path in made)


def test_a_failure_leaves_the_results_of_an_earlier_run(shop, monkeypatch):
    monkeypatch.chdir(shop)
    before = {path: path.read_bytes() for path in (shop / "xlr").iterdir()}
    assert run("evaluate xlr data.jsonl --text-encoder nan.{lang}.npy --out xlr").code == 2
    assert run("BKR --image-encoder images.npy --out xlr").code == 2  # results of another task
    assert {path: path.read_bytes() for path in (shop / "xlr").iterdir()} == before
