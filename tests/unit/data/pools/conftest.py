import json

import pytest


def squad_paragraph(context, breaks=None, questions=(), **more):
    """Return a paragraph; questions are (id, answer, answer_start)."""
    qas = [
        {"id": name, "question": f"{name}?", "answers": [{"text": text, "answer_start": start}]}
        for name, text, start in questions
    ]
    content = {"context": context, "qas": qas}
    if breaks is not None:
        content |= {"sentence_breaks": breaks, "sentences": [context[start:end] for start, end in breaks]}
    return content | more


@pytest.fixture
def paragraph():
    return squad_paragraph


@pytest.fixture
def squad(tmp_path):
    """Return a function that writes articles (lists of paragraphs) as `squad/NAME.json`."""

    def write(name, *articles, folder="squad"):
        path = tmp_path / folder / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        data = [{"title": f"T{i}", "paragraphs": paragraphs} for i, paragraphs in enumerate(articles, 1)]
        path.write_text(json.dumps({"version": "1.1", "data": data}, ensure_ascii=False), encoding="utf-8")
        return path

    return write


def rows(*table):
    names, *values = table
    return [dict(zip(names.split(), row, strict=True)) for row in values]


QUESTIONS = rows(
    "id lang text key cluster split",
    ("1", "de", "Wer?", "k1", "p1", "train"),
    ("1", "en", "Who?", "k1", "p1", "train"),
    ("2", "de", "Wann?", "k2", "p1", "train"),
    ("3", "en", "Where?", "k3", "p2", "test"),
)
CANDIDATES = rows(
    "id lang text context keys split",
    ("a", "en", "He did.", "He did. Then.", ["k1"], "train"),
    ("b", "en", "Then.", "He did. Then.", [], "train"),
    ("c", "en", "There.", "There.", ["k3"], "test"),
    ("d", "de", "Er war es.", "Er war es. Dann.", ["k1", "k9"], "train"),
    ("e", "de", "Dann.", "Er war es. Dann.", ["k2"], "train"),
    ("f", "de", "Nichts.", "Nichts.", [], "test"),
)


@pytest.fixture
def tables():
    """Return the rows of questions and of candidates, to be changed at will."""
    return [dict(row) for row in QUESTIONS], [dict(row) for row in CANDIDATES]


@pytest.fixture
def pool_folder(tmp_path, tables):
    """Return a function that writes rows (by default those of `tables`) as a pool folder in JSONL."""

    def write(questions=None, candidates=None, name="pool"):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        for stem, default, given in zip(
            ("questions", "candidates"), tables, (questions, candidates), strict=True
        ):
            lines = [json.dumps(row, ensure_ascii=False) for row in (default if given is None else given)]
            (folder / f"{stem}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return folder

    return write
