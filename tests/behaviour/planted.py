"""Planted data: texts, vectors, images and judgements of which the right numbers are known beforehand."""

import json
from pathlib import Path

import numpy as np
from tests.program import answer

DE, EN = TAGS = ("de", "en")


def write_lines(path, rows):
    """Write rows as JSON lines; return the path."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return Path(path)


def manifest(folder, items, tags=TAGS, name="data.jsonl", **columns):
    """Write a manifest of items with a text in each language; a column is a function of the item."""
    return write_lines(
        Path(folder) / name,
        [
            {"id": f"{tag}-{i}", "lang": tag, "text": f"{tag} text {i}", "item": f"item-{i}"}
            | {column: value(i) for column, value in columns.items()}
            for i in range(items)
            for tag in tags
        ],
    )


def vectors(folder, name, by_language):
    """Write the vectors of each language; return the encoder's spec."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for language, array in by_language.items():
        np.save(Path(folder) / f"{name}.{language}.npy", np.asarray(array, dtype=np.float32))
    return f"{name}=vectors:{folder}/{name}.{{lang}}.npy"


def same(folder, name, array, tags=TAGS):
    """Write vectors that all languages share."""
    return vectors(folder, name, dict.fromkeys(tags, array))


def noisy(folder, name, items, noise, *, tags=TAGS, dim=64, seed=0):
    """Write vectors that two languages share but for noise; `noise` may differ by item."""
    rng = np.random.default_rng(seed)
    meaning = rng.normal(size=(items, dim))
    scale = np.broadcast_to(noise, items)[:, None]
    return vectors(folder, name, {tag: meaning + scale * rng.normal(size=(items, dim)) for tag in tags})


def images(folder, array, tags=TAGS, name="images.npy"):
    """Write a vector of the image of each row of a manifest, whose items follow each other."""
    np.save(Path(folder) / name, np.repeat(np.asarray(array, dtype=np.float32), len(tags), axis=0))
    return f"vectors:{folder}/{name}"


def circle(angles):
    """Return points [n, 2] of the unit circle, at angles in turns."""
    turns = 2 * np.pi * np.asarray(angles)
    return np.stack([np.cos(turns), np.sin(turns)], axis=1)


def pool(folder, questions, tags=TAGS, distractors=0):
    """Write a pool: question i has one right sentence in each language; distractors have no question."""
    folder = Path(folder)
    write_lines(
        folder / "questions.jsonl",
        [
            {"id": f"q{i}", "lang": tag, "text": f"{tag} question {i}", "key": f"k{i}", "cluster": f"c{i}"}
            for tag in tags
            for i in range(questions)
        ],
    )
    write_lines(
        folder / "candidates.jsonl",
        [
            {
                "id": f"a{i}",
                "lang": tag,
                "text": f"{tag} answer {i}",
                "keys": [f"k{i}"] if i < questions else [],
                "cluster": f"c{i}",
            }
            for tag in tags
            for i in range(questions + distractors)
        ],
    )
    return folder


def pool_vectors(folder, name, questions, candidates):
    """Write the vectors of both roles by language; return the encoder's spec."""
    for role, by_language in (("questions", questions), ("candidates", candidates)):
        for language, array in by_language.items():
            np.save(Path(folder) / f"{name}.{role}.{language}.npy", np.asarray(array, dtype=np.float32))
    return f"{name}=vectors:{folder}/{name}.{{role}}.{{lang}}.npy"


def run_file(path, lists):
    """Write a TREC run of lists of candidates by query, best first."""
    lines = [
        f"{query} Q0 {candidate} {place + 1} {1000 - place} planted"
        for query, candidates in lists.items()
        for place, candidate in enumerate(candidates)
    ]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def evaluate(task, data, encoders, **options):
    """Return the results of an evaluation as JSON; `encoders` are specs, options those of the command."""
    more = {"threads": 1, "no_store": True} | options
    return answer(f"evaluate {task}", data, text_encoder=list(encoders), **more)


def numbers(results, measure, field="value", *, seed=0):
    """Return {(encoder, source, target): a field of the results} of a measure and a seed."""
    rows = [row for row in results["results"] if row["measure"] == measure and row["seed"] in (seed, None)]
    return {(row["encoder"], row["source"], row["target"]): row[field] for row in rows}
