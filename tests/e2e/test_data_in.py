"""`xlingual data from`: what they print and write, and that the result is used as it is."""

from __future__ import annotations

import json
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from xlingual.cli.answering import request_of
from xlingual.cli.run import _parts
from xlingual.data.corpora.table import CORPORA
from xlingual.requests.reading import read_toml

refused = SimpleNamespace(**run_path(str(Path(__file__).with_name("refusals.py")))).refused
WORDS = ("red", "blue", "green", "black", "white", "small", "big", "old", "new", "warm", "long", "soft")


def paint(path: str, n: int) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (8, 8), (20 * n % 256, 60 * n % 256, 90)).save(path)


def test_suites_of_pools_and_of_sentence_pairs_are_commands(xlingual: Any) -> None:
    pairs = [{"sentence1": f"a {n}", "sentence2": f"b {n}", "score": n} for n in range(6)]
    for name in ("en-en", "en-de"):
        Path("sts").mkdir(exist_ok=True)
        Path(f"sts/{name}.jsonl").write_text("\n".join(map(json.dumps, pairs)), encoding="utf-8")
    assert xlingual("data", "from", "sts17", "sts", "--out", "17", "--suite", "17.toml").code == 0
    assert [request_of(*reversed(part))[1].language for part in _parts(read_toml("17.toml"), "17.toml")] == [
        "en"
    ]
    ran = xlingual("run", "17.toml")
    assert ran.code == 0, ran.err
    folder = Path("miracl")
    for name, content in {
        "topics/topics.miracl-v1.0-sw-dev.tsv": "1\tq\n",
        "qrels/qrels.miracl-v1.0-sw-dev.tsv": "1 Q0 d1 1\n",
        "miracl-corpus-v1.0-sw/docs-0.jsonl": '{"docid": "d1", "title": "t", "text": "x"}\n',
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    made = xlingual("data", "from", "miracl", "miracl", "--out", "p", "--suite", "p.toml")
    assert made.code == 0 and "1 question, 1 candidate" in made.out, made.err
    ((where, content),) = _parts(read_toml("p.toml"), "p.toml")
    assert request_of(content, where)[1].pool == Path("p")
    refused_again = xlingual("data", "from", "miracl", "miracl", "--out", "p")
    assert refused_again.code == 2 and "--force" in refused_again.err
    refused(xlingual("data", "from", "miracl", "miracl", "--out", "p.parquet"), "name of a file", "such as p")


def test_many_languages_are_evaluated_with_english(xlingual: Any) -> None:
    Path("f/dev").mkdir(parents=True)
    for tag in ("eng_Latn", "deu_Latn", "fra_Latn", "spa_Latn", "ita_Latn", "tur_Latn", "swh_Latn"):
        Path(f"f/dev/{tag}.dev").write_text(f"{tag}\n", encoding="utf-8")
    assert xlingual("data", "from", "flores", "f", "--out", "f.parquet", "--suite", "f.toml").code == 0
    ((where, content),) = _parts(read_toml("f.toml"), "f.toml")
    pairs = request_of(content, where)[1].sampling.pairs
    assert pairs is not None and len(pairs) == 12 and all("en" in pair.split("-") for pair in pairs)


def test_the_list_and_what_is_missing(xlingual: Any) -> None:
    shown = xlingual("data", "from", "--list")
    assert shown.code == 0 and all(f" {name} " in shown.out for name in CORPORA)
    listed = json.loads(xlingual("data", "from", "--list", "--json").out)["corpora"]
    assert [one["name"] for one in listed] == list(CORPORA)
    refused(xlingual("data", "from"), "NAME is missing", "--list")
    refused(xlingual("data", "from", "flores"), "FOLDER is missing", "xlingual data from flores FOLDER --out")
    refused(xlingual("data", "from", "floress", "x", "--out", "m.parquet"), "Did you mean 'flores'")


@pytest.mark.parametrize("name", ["xquad", "flores", "sts17"])
def test_a_wrong_folder_writes_nothing(xlingual: Any, name: str) -> None:
    Path("empty").mkdir()
    out = "m.parquet" if CORPORA[name].kind == "manifest" else "m"
    made = xlingual("data", "from", name, "empty", "--out", out)
    refused(made, CORPORA[name].title, "It holds nothing", CORPORA[name].url)
    assert not Path(out).exists()
