"""Damaged manifests, pools, judged folders, runs and judgements: an InputError of one line, or an answer."""

import gzip
import json
import os
import random
import resource
import shutil
import time
import warnings
from pathlib import Path

import pytest

from xlingual import Manifest, MultilingualPool, SearchRun
from xlingual.data.check import check
from xlingual.data.runs import Qrels
from xlingual.errors import InputError

CASES = int(os.environ.get("XLINGUAL_HOSTILE", "150"))
VALUES = [
    None,
    "",
    "\ud800",
    "é\u0000",
    -1,
    1e400,
    float("nan"),
    10**30,
    [],
    {},
    [[]],
    {"a": {}},
    True,
    "x" * 5000,
]
SQUAD = {"data": [{"title": "T", "paragraphs": [{
    "context": "Ann sang. Bob fell.", "sentence_breaks": [[0, 9], [10, 19]],
    "sentences": ["Ann sang.", "Bob fell."],
    "qas": [{"id": "q", "question": "Who?", "answers": [{"text": "Ann", "answer_start": 0}]}],
}]}]}  # fmt: skip
FILES = {
    "pool/questions.jsonl": [{"id": "1", "lang": "en", "text": "Who?", "key": "k", "cluster": 1, "kind": "a"}]
    * 1,
    "pool/candidates.jsonl": [
        {"id": "a", "lang": "de", "text": "Er.", "keys": ["k"], "grades": [1], "context": "c"}
    ],
    "beir/corpus.jsonl": [
        {"_id": "d1", "title": "", "text": "a"},
        {"_id": "d2", "text": "b", "language": "en"},
    ],
    "beir/queries.jsonl": [{"_id": "q1", "text": "a"}],
    "beir/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
    "squad/en.json": SQUAD,
    "m.jsonl": [
        {"id": 1, "lang": "en", "text": "a", "image": "1.png"},
        {"id": 1, "lang": "zh_TW", "text": "b"},
    ],
    "m.json": [
        {"id": "a", "text_en": "x", "text_de": "y", "text_de_2": "z", "title_en": "t", "title_de": "u"}
    ],
    "m.csv": 'id,lang,text,item\n1,en,"a, b",7\n2,de,"two\nlines",7\n',
    "m.tsv": 'id\ttext_en\ttext_de\n1\t"Come\tKomm\n2\ta "hat"\tein Hut\n',
    "run.trec": "q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.4 t\n",
    "run.json": {"q1": {"d1": 0.5, "d2": 1}},
    "p_predictions.json": {
        "mteb_model_meta": {},
        "en": {"test": {"q1": {"d1": 0.5}}},
        "de": {"test": {"q1": {}}},
    },
    "run.jsonl": [{"query_id": "q1", "candidate_id": "d1", "score": 1}],
    "qrels.json": {"q1": {"d1": 1}},
    "qrels.txt": "q1 0 d1 1\nq1 0 d2 0\n",
}


def changed(value, draw):
    """Return JSON in which something is another value, is missing, or stands twice."""
    if draw.random() < 0.25 or not isinstance(value, dict | list) or not value:
        return draw.choice(VALUES)
    place = draw.choice([*value] if isinstance(value, dict) else range(len(value)))
    value = dict(value) if isinstance(value, dict) else list(value)
    if draw.random() < 0.2:
        del value[place]
    elif isinstance(value, list) and draw.random() < 0.2:
        value.append(value[place])
    else:
        value[place] = changed(value[place], draw)
    return value


def text_of(content, name):
    if isinstance(content, str):
        return content
    lines = name.endswith(".jsonl") and isinstance(content, list)
    return "".join(json.dumps(row) + "\n" for row in content) if lines else json.dumps(content)


def damaged(raw, draw):
    """Return bytes some of which are cut, repeated or others."""
    a, b = sorted(draw.choices(range(len(raw) + 1), k=2))
    other = bytes(draw.choices(range(256), k=draw.randint(0, 4)))
    return draw.choice(
        [raw[:a], raw[:a] + raw[b:], raw[:b] + raw[a:], raw[:a] + other + raw[b:], other, b"[" * 9999]
    )


def checked(path):
    """Read and check a manifest; its problems are sentences of one line."""
    manifest, problems = Manifest.read_gathering(path)
    if manifest is not None:
        check(manifest, problems=problems)
    assert all("\n" not in problem.sentence for problem in problems), path
    assert manifest is not None or problems


def read_all(folder):
    for name in ("m.jsonl", "m.json", "m.csv", "m.tsv"):
        yield lambda name=name: checked(folder / name)
    for name in ("pool", "beir", "squad"):
        yield lambda name=name: MultilingualPool.read(folder / name, ["en"] if name == "beir" else None)
    for name in ("run.trec", "run.json", "run.jsonl", "p_predictions.json"):
        yield lambda name=name: SearchRun.read(folder / name).in_trec_order().digest
    for name in ("qrels.json", "qrels.txt"):
        yield lambda name=name: Qrels.of(folder / name)


@pytest.mark.parametrize("part", range(3))
def test_nothing_but_an_error_of_one_line(tmp_path, part):
    draw, said = random.Random(part), []
    before, longest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, 0.0
    for _ in range(CASES // 3):
        folder = tmp_path / "case"
        shutil.rmtree(folder, ignore_errors=True)
        for name, content in FILES.items():
            path = Path(folder / name)
            path.parent.mkdir(parents=True, exist_ok=True)
            if draw.random() < 0.5 and not isinstance(content, str):
                content = changed(content, draw)
                path.write_bytes(text_of(content, name).encode("utf-8", "surrogatepass"))
            else:
                raw = text_of(content, name).encode()
                path.write_bytes(damaged(raw, draw) if draw.random() < 0.6 else raw)
        for read in read_all(folder):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                begun = time.monotonic()
                try:
                    read()
                except InputError as error:
                    said.append(str(error))
                longest = max(longest, time.monotonic() - begun)
    assert not any("\n" in sentence or len(sentence) > 2000 for sentence in said)
    assert longest < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20  # KiB


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("deep.jsonl", b'{"text_en": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"),
        ("deep.json", b'[{"text_en": ' * 50_000),
        ("digits.jsonl", b'{"id": ' + b"9" * 100_000 + b', "text_en": "a"}'),
        ("quotes.csv", b"id,text_en\n" + b'1,"a\n2,b"c\n' * 50_000),
        ("quotes.tsv", b"id\ttext_en\n" + b'1\t"a\n2\tb\n' * 30_000),
        ("columns.csv", b"text_en," + b",".join(b"c%d" % i for i in range(20_000)) + b"\n" + b"," * 20_000),
        ("numbers.csv", b"id,text_en,text_en_999999\n" + b"1,a,b\n" * 100_000),
        ("bomb.csv.gz", gzip.compress(b"text_en\n" + b"a\n" * (1 << 27))),
        ("bomb.jsonl.gz", gzip.compress(b" " * (1 << 29))),
    ],
)
def test_large_hostile_manifests(tmp_path, name, raw):
    (tmp_path / name).write_bytes(raw)
    began, memory = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    checked(tmp_path / name)
    assert time.monotonic() - began < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 1 << 20  # KiB
