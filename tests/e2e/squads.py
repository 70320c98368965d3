"""Small SQuAD-style files with sentence breaks, whole and broken."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CONTEXTS = {
    "en": "Ann sang in the town of paragraph {i}. Bob ran.",
    "de": "Anna sang in der Stadt von Absatz {i}. Bert lief.",
    "es": "Ana cantó en la ciudad del párrafo {i}. Berto corrió.",
}


def write_squad(
    folder: str = "squad", breaks: bool = True, n: int = 6, languages: Sequence[str] = ("en", "de")
) -> None:
    """Write a file for each language, with a paragraph and two questions for each number below n."""
    Path(folder).mkdir(exist_ok=True)
    for language in languages:
        pattern, paragraphs = CONTEXTS[language], []
        for i in range(n):
            context = pattern.format(i=i)
            second = context.index(". B") + 2
            qas = [
                {"id": f"{i}{name}", "question": f"{language} {name} {i}?", "answers": [answer]}
                for name, answer in (
                    ("first", {"text": context[:3], "answer_start": 0}),
                    ("second", {"text": context[second:], "answer_start": second}),
                )
            ]
            paragraphs.append({"context": context, "qas": qas})
            if breaks:
                spans = [[0, second - 1], [second, len(context)]]
                paragraphs[-1] |= {"sentence_breaks": spans, "sentences": [context[a:b] for a, b in spans]}
        content = {"data": [{"title": "Towns", "paragraphs": paragraphs}]}
        Path(folder, f"{language}.json").write_text(json.dumps(content), encoding="utf-8")


def changed(language: str, change: Any, folder: str = "squad") -> str:
    """Change the third paragraph of a file and return the file's name."""
    path = Path(folder, f"{language}.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content["data"][0]["paragraphs"][2])
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)
