"""Re-ranking raises BLEU on a planted feature and not on noise; scores are those of plain lists."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.program import answer, command

pytest.importorskip("sacrebleu")
WORDS = ("ein", "das", "haus", "und", "baum", "ist", "da", ".")


def write_lists(path, seed, *, sentences=40, informative=True):
    """Write lists of five translations of which a feature tells the right words, and their references."""
    rng = np.random.default_rng(seed)
    lines, references, firsts = [], [], []
    for sentence in range(sentences):
        reference = rng.choice(WORDS, 8)
        references.append(" ".join(reference))
        for place in range(5):
            words = np.where(rng.random(8) < rng.random(), rng.choice(WORDS, 8), reference)
            good = (words == reference).sum() * informative + rng.normal() * (0.5 if informative else 3)
            noise = rng.normal(size=2)
            lines.append(
                f"{sentence} ||| {' '.join(words)} ||| good= {good:.4f} tm= {noise[0]:.4f} {noise[1]:.4f} "
                f"||| {noise[0]:.4f}"
            )
            firsts += [" ".join(words)] if place == 0 else []
    for name, content in (("nbest", lines), ("ref", references), ("first", firsts)):
        path.with_suffix(f".{name}").write_text("\n".join(content) + "\n", encoding="utf-8")
    return path


def bleu(path, references, **options):
    found = answer("rerank score", path, references=references, samples=100, **options)
    return {Path(one["name"]).name: one["scores"]["BLEU"]["value"] for one in found["systems"]}


def gain(tmp_path, *, informative):
    """Return BLEU of the first translations and after tuning, on lists that took no part in it."""
    dev, test = (
        write_lists(tmp_path / name, seed, informative=informative)
        for name, seed in (("dev", 0), ("test", 1))
    )
    weights, best = tmp_path / "weights.json", tmp_path / "best"
    told = answer("rerank tune", f"{dev}.nbest", references=f"{dev}.ref", out=weights, epochs=4, tunings=2)
    assert json.loads(weights.read_text())["features"] == told["features"] == ["good", "tm[0]", "tm[1]"]
    code, _, err = command("rerank", "apply", f"{test}.nbest", "--weights", weights, "--out", best)
    assert code == 0, err
    assert len(best.read_text().splitlines()) == 40
    return bleu(best, f"{test}.ref", baseline=f"{test}.first", nbest=f"{test}.nbest")


def test_a_planted_feature_raises_bleu_on_other_lists(tmp_path):
    scores = gain(tmp_path, informative=True)
    assert scores["test.first"] + 10 < scores["best"] <= scores["oracle"] + 1e-9 <= 100 + 1e-6


def test_noise_does_not(tmp_path):
    scores = gain(tmp_path, informative=False)
    assert abs(scores["best"] - scores["test.first"]) < 10


def test_a_reference_scores_a_hundred_and_other_words_nothing(tmp_path):
    lists = write_lists(tmp_path / "dev", 0)
    (tmp_path / "wrong").write_text("\n".join(["xa xb xc xd xe xf xg xh"] * 40) + "\n")
    assert bleu(f"{lists}.ref", f"{lists}.ref") == {"dev.ref": pytest.approx(100)}
    assert bleu(tmp_path / "wrong", f"{lists}.ref")["wrong"] == pytest.approx(0, abs=1)


def test_equal_seeds_give_equal_files(tmp_path):
    lists = write_lists(tmp_path / "dev", 0)
    for name in ("a.json", "b.json"):
        answer(
            *("rerank tune", f"{lists}.nbest"), references=f"{lists}.ref", out=tmp_path / name,
            epochs=3, tunings=2, seed=5,
        )  # fmt: skip
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
