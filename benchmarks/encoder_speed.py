"""Texts per second of `st:` and `hf:` against the libraries called directly, with their best batch size.

A network with random weights, of the size of small multilingual models, is built in a temporary folder. The
texts have 3 to 250 tokens, in random order, as corpora have them.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from xlingual.encoders import text_encoders
from xlingual.records import Texts

LAYERS, WIDTH = 6, 384
TEXTS = 400
BATCHES = (4, 8, 16, 32)
ROUNDS = 2
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def checkpoint(folder: Path) -> None:
    """Save a network of transformers that reads words of up to three letters."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    words = [a + b for a in LETTERS for b in LETTERS]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    BertTokenizerFast.from_pretrained(folder).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=12,
        intermediate_size=4 * WIDTH,
        max_position_embeddings=256,
    )
    BertModel(config).save_pretrained(folder)


def corpus() -> list[str]:
    """Return texts of mixed lengths: many short ones, few long ones."""
    rng = np.random.default_rng(0)
    lengths = np.clip(rng.lognormal(3.2, 1.0, TEXTS), 3, 250).astype(int)
    letters = np.array(list(LETTERS))
    return [" ".join("".join(letters[rng.integers(0, 26, 2)]) for _ in range(n)) for n in lengths]


def with_transformers(folder: Path, texts: list[str]) -> Callable[[int, bool], np.ndarray]:
    """Return a function that encodes the texts as a user of transformers writes it, sorted or not."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()

    def encode(batch: int, by_length: bool) -> np.ndarray:
        order = np.argsort([-len(text) for text in texts], kind="stable") if by_length else range(len(texts))
        rows, found = list(order), np.empty((len(texts), WIDTH), dtype=np.float32)
        for start in range(0, len(rows), batch):
            some = rows[start : start + batch]
            inputs = tokenizer([texts[i] for i in some], padding=True, truncation=True, return_tensors="pt")
            with torch.inference_mode():
                hidden = model(**inputs).last_hidden_state
            mask = inputs["attention_mask"].unsqueeze(-1)
            found[some] = ((hidden * mask).sum(dim=1) / mask.sum(dim=1)).numpy()
        return found

    return encode


def with_sentence_transformers(folder: Path, texts: list[str]) -> Callable[[int], np.ndarray]:
    """Return a function that encodes the texts with the library; its model is left in the folder."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer

    parts = [Transformer(str(folder)), Pooling(WIDTH, pooling_mode="mean")]
    model = SentenceTransformer(modules=parts, device="cpu")
    model.save_pretrained(str(folder))
    return lambda batch: model.encode(texts, batch_size=batch, show_progress_bar=False)


def ours(spec: str, texts: list[str]) -> Callable[[], np.ndarray]:
    """Return a function that encodes the texts with an encoder that is loaded already."""
    encoder = text_encoders([spec], languages=["en"]).popitem()[1]
    batch = Texts(texts, ["en"] * len(texts), [str(i) for i in range(len(texts))])
    encoder.encode(batch.take(np.arange(4)))
    return lambda: encoder.encode(batch)


def main() -> None:
    """Time all ways in turn, several times, and print the best of each; their vectors must be equal."""
    import torch

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder, texts = Path(name), corpus()
        checkpoint(folder)
        library, plain = with_sentence_transformers(folder, texts), with_transformers(folder, texts)
        ways: dict[str, Callable[[], np.ndarray]] = {}
        for batch in BATCHES:
            ways[f"transformers, as they come, {batch}"] = lambda batch=batch: plain(batch, False)
            ways[f"transformers, by length, {batch}"] = lambda batch=batch: plain(batch, True)
            ways[f"sentence-transformers, {batch}"] = lambda batch=batch: library(batch)
            ways[f"st:, {batch}"] = ours(f"st:{folder}?batch={batch}&device=cpu", texts)
            ways[f"hf:, {batch}"] = ours(f"hf:{folder}?batch={batch}&device=cpu", texts)
        expected = library(BATCHES[0])
        seconds: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(ROUNDS):
            for way, encode in ways.items():
                begun = time.process_time()
                vectors = encode()
                seconds[way].append(time.process_time() - begun)
                np.testing.assert_allclose(vectors, expected, atol=1e-5)
    report({way: len(texts) / min(taken) for way, taken in seconds.items()})


def report(speed: dict[str, float]) -> None:
    """Print the best batch size of each way, and what our ways take in comparison."""
    print(f"{TEXTS} texts of 3 to 250 tokens, {LAYERS} layers of {WIDTH}, one thread, processor time")
    best: dict[str, float] = {}
    for way, rate in speed.items():
        name, _, batch = way.rpartition(", ")
        if rate == max(r for other, r in speed.items() if other.rpartition(", ")[0] == name):
            best[name] = rate
            print(f"{name:32} {rate:7.1f} texts per second, best batch {batch}")
    default = {name: speed[f"{name}, 32"] for name in ("st:", "hf:")}
    for name, direct in (
        ("st:", "sentence-transformers"),
        ("hf:", "transformers, by length"),
        ("hf:", "transformers, as they come"),
    ):
        print(
            f"{name} is {best[name] / best[direct]:.2f} times as fast as {direct} at best batch sizes, "
            f"{default[name] / best[direct]:.2f} times with the default batch of 32"
        )
