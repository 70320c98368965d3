"""`xlingual data translate-pool`: a pool in further languages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from xlingual.data.pools.build import translate_rows
from xlingual.data.pools.pool import MultilingualPool
from xlingual.encoders.translate import DictionaryTranslator
from xlingual.errors import InputError

WORDS = {"ann": "anne", "sings": "singt", "who": "wer", "two": "zwei", "birds": "voegel", "where": "wo"}


def write_pool(folder: str = "pool", n: int = 3) -> str:
    """Write a pool with English questions and candidates, and one German candidate."""
    path = Path(folder)
    path.mkdir()
    questions = [
        {
            "id": f"q{i}",
            "lang": "en",
            "text": f"who sings {i}",
            "key": f"k{i}",
            "cluster": f"c{i // 2}",
            "split": "a",
        }
        for i in range(n)
    ]
    candidates = [
        {
            "id": f"a{i}",
            "lang": "en",
            "text": f"Ann sings {i}",
            "keys": [f"k{i}"],
            "context": "Ann. Two birds",
        }
        for i in range(n)
    ] + [{"id": "x", "lang": "de", "text": "Wo", "keys": [], "context": ""}]
    for name, rows in (("questions", questions), ("candidates", candidates)):
        (path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def write_dictionary(to: str, words: dict[str, str] | None = None) -> None:
    rows = (f"{word}\t{other}-{to}\n" for word, other in (WORDS if words is None else words).items())
    Path(f"en-{to}.tsv").write_text("".join(rows))


def translate(xlingual: Any, *more: object) -> Any:
    command = ("data", "translate-pool", "pool", "--by", "translate:{lang}-{to}.tsv", "--out", "out")
    return xlingual(*command, instead=more)


def test_rows_are_translated_and_keep_their_ids(xlingual: Any) -> None:
    write_pool()
    write_dictionary("fr")
    write_dictionary("nl")
    outcome = translate(xlingual, "--to", "fr,nl")
    assert outcome.code == 0, outcome.err
    made, before = MultilingualPool.read("out"), MultilingualPool.read("pool")
    assert made.languages == ("en", "de", "fr", "nl")
    for code, tag in ((2, "fr"), (3, "nl")):
        rows = [row for row in range(9) if made.questions.language[row] == code]
        assert [made.questions.text[row] for row in rows] == [f"wer-{tag} singt-{tag} {i}" for i in range(3)]
        for name in ("ids", "key", "split"):
            assert [getattr(made.questions, name)[row] for row in rows] == getattr(before.questions, name)
        own = [row for row in range(10) if made.candidates.language[row] == code]
        assert [made.candidates.text[row] for row in own] == [f"anne-{tag} singt-{tag} {i}" for i in range(3)]
        assert {made.candidates.context[row] for row in own} == {f"anne-{tag} zwei-{tag} voegel-{tag}"}
        assert [made.candidates.keys[row] for row in own] == [(f"k{i}",) for i in range(3)]
    assert made.questions.cluster.tolist() == [0, 0, 1] * 3  # a translation is of the cluster of its original
    assert not Path("out/translations").exists()


def test_a_stopped_translation_goes_on(xlingual: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    write_pool(n=6)
    write_dictionary("fr")
    monkeypatch.setattr("xlingual.workflows.translate_pool._AT_ONCE", 4)
    asked: list[str] = []
    real = DictionaryTranslator.translate

    def stopping(self: DictionaryTranslator, texts: Any, language: str) -> Any:
        if len(asked) == 8:
            raise KeyboardInterrupt
        asked.extend(texts)
        return real(self, texts, language)

    monkeypatch.setattr(DictionaryTranslator, "translate", stopping)
    assert translate(xlingual, "--to", "fr").code == 130
    with Path("out/translations/en-fr.jsonl").open("a") as file:
        file.write('["who sin')  # as a process that is killed leaves it
    first = set(asked)
    asked.clear()
    asked.append("")  # one more than was asked: never stopped again
    assert translate(xlingual, "--to", "fr").code == 0
    assert not first & set(asked) and len(first) == 8
    whole = MultilingualPool.read("out")
    assert translate(xlingual, "--to", "fr", "--out", "fresh").code == 0
    assert MultilingualPool.read("fresh").digest == whole.digest


def test_what_another_dictionary_made_is_not_taken(xlingual: Any) -> None:
    write_pool()
    write_dictionary("fr")
    Path("out/translations").mkdir(parents=True)
    head = {"by": "another", "from": "en", "to": "fr"}
    Path("out/translations/en-fr.jsonl").write_text(f'{json.dumps(head)}\n["who sings 0", "stale", false]\n')
    assert translate(xlingual, "--to", "fr").code == 0
    assert "stale" not in MultilingualPool.read("out").questions.text


def test_contexts_may_be_left_out_and_empty_questions_are(xlingual: Any) -> None:
    write_pool()
    write_dictionary("fr", {"0": "zero", "ann": "anne"})
    outcome = translate(xlingual, "--to", "fr", "--no-context", "--by", "translate:en-fr.tsv?unknown=drop")
    assert outcome.code == 0, outcome.err
    made = MultilingualPool.read("out")
    assert [
        text for text, code in zip(made.questions.text, made.questions.language, strict=True) if code == 2
    ] == ["zero-fr"]
    assert {
        c for c, code in zip(made.candidates.context, made.candidates.language, strict=True) if code == 2
    } == {""}


def test_two_languages_of_questions_need_a_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_pool()
    with Path("pool/questions.jsonl").open("a") as file:
        file.write(
            json.dumps({"id": "q9", "lang": "de", "text": "wo", "key": "k0", "cluster": "c0", "split": "a"})
            + "\n"
        )
    pool = MultilingualPool.read("pool")
    with pytest.raises(InputError, match="questions in en, de: say with --from"):
        translate_rows(pool, ["fr"], lambda texts, tag: texts)
    made = translate_rows(pool, ["fr"], lambda texts, tag: [f"{tag} {text}" for text in texts], source="en")
    assert len(made.questions) == 4 + 3
    _, relevant = made.relevant
    assert len(relevant) == 7 * 2  # every question finds its answer in both languages
