"""Small SQuAD-style files with sentence breaks, whole and broken."""

from __future__ import annotations

import json
import random
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


def write_mlqa(folder: str | Path = "mlqa", n: int = 24, seed: int = 0) -> dict[str, list[str]]:
    """Write files of the shapes of MLQA-R, and return the languages of each question's id.

    Every question is asked in English and one to three of four other languages, the later ones ever more
    rarely. Paragraphs are no translations: each language has its own number of sentences and its own place of
    the answer. Of every third question the paragraph has a second one about the same sentence.
    """
    rng = random.Random(seed)
    further, share = ("de", "es", "hi", "zh"), (8, 4, 2, 1)
    asked: dict[str, list[str]] = {}
    files: dict[str, list[dict[str, Any]]] = {tag: [] for tag in ("en", *further)}
    for i in range(n):
        own = dict.fromkeys(rng.choices(further, share, k=rng.randint(1, 3)))
        for language in ("en", *own):
            sentences = [f"{language} filler {i} {j}." for j in range(rng.randint(1, 5))]
            place = rng.randrange(len(sentences) + 1)
            sentences.insert(place, f"{language} answer {i} and more {i}.")
            starts = [sum(len(one) + 1 for one in sentences[:j]) for j in range(len(sentences))]
            ids = [f"q{i}", *([f"q{i}b"] if i % 3 == 0 else [])]
            answers = [(f"answer {i}", len(language) + 1), (f"more {i}", sentences[place].index("more"))]
            qas = [
                {
                    "id": name,
                    "question": f"{language} {name}?",
                    "answers": [{"text": text, "answer_start": starts[place] + start}],
                }
                for name, (text, start) in zip(ids, answers, strict=False)
            ]
            for name in ids:
                asked.setdefault(name, []).append(language)
            files[language].append(
                {
                    "context": " ".join(sentences),
                    "qas": qas,
                    "sentence_breaks": [[a, a + len(one)] for a, one in zip(starts, sentences, strict=True)],
                    "sentences": sentences,
                }
            )
    Path(folder).mkdir(exist_ok=True)
    for language, paragraphs in files.items():
        rng.shuffle(paragraphs)  # the files of MLQA are in different orders
        content = {
            "data": [{"title": f"{language} {j}", "paragraphs": [p]} for j, p in enumerate(paragraphs)]
        }
        Path(folder, f"{language}.json").write_text(json.dumps(content), encoding="utf-8")
    return asked


def changed(language: str, change: Any, folder: str = "squad") -> str:
    """Change the third paragraph of a file and return the file's name."""
    path = Path(folder, f"{language}.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content["data"][0]["paragraphs"][2])
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)
