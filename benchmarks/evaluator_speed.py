"""An evaluator of the training loop, 1,000 × 1,000: what a call takes besides encoding texts."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.vectors import Given, spectrum
from xlingual import Manifest

N, TEXT_DIM, IMAGE_DIM = 1000, 384, 512
CALLS = 5


class Card:
    """Takes the place of a model card."""

    def set_evaluation_metrics(self, *given) -> None:
        """Keep nothing."""


class Model:
    """Gives the vectors of texts that were prepared before the clock starts."""

    model_card_data = Card()

    def __init__(self, vectors: dict[str, np.ndarray]) -> None:
        self.vectors = vectors

    def encode(self, texts: list[str], **options) -> np.ndarray:
        """Return the vectors of the texts."""
        return np.stack([self.vectors[text] for text in texts])

    encode_query = encode_document = encode


def rows(rng: np.random.Generator) -> list[dict[str, object]]:
    """Return N English and N German texts of 12 words of their own items."""
    words = ["".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 6)) for _ in range(4000)]
    return [
        {"id": f"{tag}{i}", "lang": tag, "text": " ".join(rng.choice(words, 12)), "item": f"{tag}{i}"}
        for tag in ("en", "de")
        for i in range(N)
    ]


def plain(texts: np.ndarray, images: np.ndarray, k: int = 10) -> float:
    """Return Backretrieval's R@10 in float64, for vectors without ties."""
    text, image = (
        v / np.linalg.norm(v, axis=1, keepdims=True) for v in (texts.astype(float), images.astype(float))
    )
    nearest = np.argmax(text[:N] @ text[N:].T, axis=1)
    back = image[N:][nearest] @ image[:N].T
    return float(((back > back[np.arange(N), np.arange(N)][:, None]).sum(axis=1) < k).mean())


def main() -> None:
    """Print the seconds of a call without encoding, and assert that the value is right."""
    from xlingual.integrations.sentence_transformers import BackretrievalEvaluator

    rng = np.random.default_rng(0)
    data = rows(rng)
    manifest = Manifest.of(data)
    meaning = spectrum(rng, 2 * N, 64)
    texts = np.concatenate([meaning, spectrum(rng, 2 * N, TEXT_DIM - 64)], axis=1)
    images = np.concatenate([meaning * 2, spectrum(rng, 2 * N, IMAGE_DIM - 64)], axis=1)
    model = Model({str(row["text"]): vector for row, vector in zip(data, texts, strict=True)})
    evaluator = BackretrievalEvaluator(manifest, Given(images, "images"), pairs="en-de", store=None)
    for call in range(CALLS + 1):
        begun = time.perf_counter()
        metrics = evaluator(model)
        seconds, stages = time.perf_counter() - begun, evaluator.results.timings
        encoding = stages["texts: encode"] + stages["images: encode"]
        print(
            f"call {call}: {seconds:.2f} s, of which encoding {encoding:.2f} s; "
            + ", ".join(f"{stage} {s:.2f} s" for stage, s in stages.items())
        )
    assert metrics["en-de_bkr_r@10"] == metrics["bkr_r@10"]
    assert abs(metrics["bkr_r@10"] - plain(texts, images)) < 1e-12, (metrics, plain(texts, images))
    print(f"R@10 {metrics['bkr_r@10']:.4f}, equal to plain float64")
