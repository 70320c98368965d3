"""Steps of sacremoses: what they make of texts, and that they make Moses' files of raw ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlingual.nbest.normalize import normalizer, parse_steps


def test_steps_are_taken_in_their_own_order() -> None:
    assert parse_steps("escape, lowercase,tokenize") == ("tokenize", "lowercase", "escape")
    assert parse_steps("none") == parse_steps("") == parse_steps(()) == ()
    assert parse_steps(["lowercase", "punctuation"]) == ("punctuation", "lowercase")


@pytest.mark.parametrize(
    ("steps", "language", "text", "expected"),
    [
        ("lowercase", "und", "Das HAUS.", "das haus."),
        ("none", "und", "Das  „Haus“ ", "Das  „Haus“ "),
        ("tokenize", "en", "It's the dog's.", "It 's the dog 's ."),
        ("tokenize,lowercase,escape", "en-GB", "It's the dog's.", "it &apos;s the dog &apos;s ."),
        ("punctuation,tokenize,escape", "de", "Das „Haus“.", "Das &quot; Haus &quot; ."),
        ("escape", "en", "a | b & c", "a &#124; b &amp; c"),
        ("detokenize", "en", "it &apos;s the dog &apos;s .", "it's the dog's."),
    ],
)
def test_what_the_steps_make(steps: str, language: str, text: str, expected: str) -> None:
    pytest.importorskip("sacremoses")
    assert normalizer(parse_steps(steps), language)(text) == expected


def test_raw_captions_become_moses_files(real_data: Path) -> None:
    pytest.importorskip("sacremoses")
    import pyarrow.parquet as pq

    columns = pq.read_table(real_data / "multi30k" / "task1_val.parquet", columns=["text_en", "text_de"])
    for language in ("en", "de"):
        path = real_data / "nbest_multi30k" / f"val.{language}"
        expected = path.read_text(encoding="utf-8").split("\n")[:-1]
        steps = parse_steps("punctuation,tokenize,lowercase,escape")
        apply = normalizer(steps, language)
        made = [apply(text) for text in columns[f"text_{language}"].to_pylist()]
        differing = sum(a != b for a, b in zip(made, expected, strict=True))
        assert differing <= 1  # the place of one full stop beside a quotation mark
