"""Encoding by `st:` against `SentenceTransformer.encode` of the same texts, on a BERT of 6 layers."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timed import Job, measure
from xlingual.encoders import text_encoders
from xlingual.encoders.runtime import loading
from xlingual.records import Texts

COUNT, LIMIT = 600, 1.1
LIBRARY = "SentenceTransformer.encode"


def save(folder: Path) -> None:
    """Write a model with random weights and a tokenizer of letters and pairs of them."""
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    letters = [chr(97 + i) for i in range(26)]
    pairs = [a + b for a in letters for b in letters]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *pairs]
    words += [f"##{part}" for part in (*letters, *pairs)]
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    BertTokenizerFast.from_pretrained(folder).save_pretrained(folder)
    torch.manual_seed(0)
    size = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536}
    BertModel(BertConfig(vocab_size=len(words), **size)).save_pretrained(folder)
    SentenceTransformer(str(folder), device="cpu").save_pretrained(str(folder / "st"))


def main() -> None:
    """Print the seconds of both, and assert that vectors are equal and the ratio is at most 1.1."""
    from sentence_transformers import SentenceTransformer

    rng = random.Random(0)
    texts = [
        " ".join("".join(rng.choices("abcdefghij", k=4)) for _ in range(rng.randint(1, 30)))
        for _ in range(COUNT)
    ]
    batch = Texts(texts, ["en"] * COUNT, [str(i) for i in range(COUNT)])
    with tempfile.TemporaryDirectory() as name, loading("benchmark"):
        save(Path(name) / "model")
        folder = Path(name) / "model" / "st"
        model = SentenceTransformer(str(folder), device="cpu")
        encoder = text_encoders({"st": f"st:{folder}?device=cpu"}, languages=["en"])["st"]
        expected = model.encode(texts)
        encoder.encode(batch)

        def check(vectors: Any) -> None:
            np.testing.assert_allclose(vectors, expected, atol=2e-6)

        jobs = [
            Job(LIBRARY, lambda: model.encode(texts), base=None, check=check),
            Job("st:", lambda: encoder.encode(batch), base=LIBRARY, goal=LIMIT, check=check),
        ]
        measure(f"{COUNT} texts through one network", jobs, turns=3)


if __name__ == "__main__":
    main()
