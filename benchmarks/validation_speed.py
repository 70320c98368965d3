"""A whole metric validation against one product for each encoder and seed, in one run on the same vectors."""

from __future__ import annotations

import time
from importlib.util import find_spec

import numpy as np
from scipy.stats import rankdata
from threadpoolctl import threadpool_limits

from benchmarks.vectors import Given, spectrum
from xlingual import Manifest, validate_backretrieval
from xlingual.data.samples import Sampler

POOL, N, TEXT_DIM, IMAGE_DIM, ENCODERS, SEEDS, K = 2_480, 800, 768, 2048, 12, 25, 10
TIMED_ENCODERS, TIMED_SEEDS = 2, 3  # of the straightforward way; its time is the same for each
# A minute of processor time. The ratio grows with N (5.5 at 2,000). The parts are of like size, so that none
# of them makes the whole twice as fast: of CORR products in float64 1/6, ranks 1/6, correlations and sums
# of influence 1/6 (`python -m benchmarks correlation_speed`); XLR 1/8, nearest texts 1/10, ways back 1/6.
LEAST = 1.5


class ByLanguage:
    """An encoder with vectors [items, d] for each language."""

    def __init__(self, name: str, vectors: dict[str, np.ndarray]) -> None:
        self.identity, self.vectors = f"given:{name}", vectors

    def encode(self, batch) -> np.ndarray:
        """Return the lines of the items, in the texts' languages."""
        (items,) = (numbering for numbering in batch.numberings if numbering.unit == "items")
        out = np.empty((len(items.index), TEXT_DIM), dtype=np.float32)
        languages = np.array(batch.language)
        for language, vectors in self.vectors.items():
            rows = languages == language
            out[rows] = vectors[items.index[rows]]
        return out


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return float32 unit vectors."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def nearest_by_faiss(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the nearest target of each source by an exact flat index."""
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(target.shape[1])
    index.add(target)
    return index.search(source, 1)[1][:, 0]


def straightforward(texts, images, source, target, by_faiss: bool = False) -> dict[str, float]:
    """Return XLR, BkR, SIM and CORR of one encoder and sample: whole float32 products, ranks by scipy."""
    s, t = texts["en"][source], texts["de"][target]
    truth = s @ texts["de"][source].T
    xlr = ((truth > np.diag(truth)[:, None]).sum(axis=1) < K).mean()
    scores = s @ t.T
    nearest = nearest_by_faiss(s, t) if by_faiss else scores.argmax(axis=1)
    alike = images[source] @ images[target].T  # [source, target]
    back = alike[:, nearest]
    own = np.diag(back)
    ranks = [rankdata(scores.ravel()), rankdata(alike.ravel())]
    return {
        "XLR": xlr,
        "BkR": ((back > own).sum(axis=0) < K).mean(),
        "SIM": own.mean(),
        "CORR": np.corrcoef(*ranks)[0, 1],
    }


def main() -> None:
    """Print the ratio of times, and assert that it is large enough and the numbers are the same."""
    rng = np.random.default_rng(0)
    meaning = spectrum(rng, POOL, 64) * 2
    images = np.concatenate([meaning, spectrum(rng, POOL, IMAGE_DIM - 64)], axis=1)
    encoders = {}
    for i in range(ENCODERS):
        noise = 0.25 * (i + 1)
        encoders[f"e{i}"] = {
            language: np.concatenate(
                [
                    meaning + noise * rng.standard_normal(meaning.shape, dtype=np.float32),
                    spectrum(rng, POOL, TEXT_DIM - 64),
                ],
                axis=1,
            )
            for language in ("en", "de")
        }
    manifest = Manifest.of([{"id": f"i{i}", "text_en": "e", "text_de": "d"} for i in range(POOL)])
    begun = time.process_time()
    found = validate_backretrieval(
        manifest,
        text_encoders={name: ByLanguage(name, vectors) for name, vectors in encoders.items()},
        image_encoder=Given(images, "images"),
        pairs="en-de",
        sample=N,
        seeds=SEEDS,
        threads=1,
    )
    ours = time.process_time() - begun
    print(f"{ENCODERS} encoders, {SEEDS} seeds, N = {N:,} of {POOL:,}: {ours:.1f} s")
    print("   " + ", ".join(f"{stage} {s:.1f} s" for stage, s in found.timings.items()))
    samples = Sampler(manifest, sample=N, seeds=TIMED_SEEDS).non_matching("en", "de")
    unit_images = unit(images)
    ways = {"numpy": False} | ({"faiss": True} if find_spec("faiss") else {})
    for way, by_faiss in ways.items():
        seconds, largest = 0.0, 0.0
        for record in found.pairs[0].encoders[:TIMED_ENCODERS]:
            vectors = {language: unit(v) for language, v in encoders[record.encoder].items()}
            for number, sample in enumerate(samples):
                source, target = manifest.item[sample.source], manifest.item[sample.target]
                with threadpool_limits(limits=1):
                    begun = time.process_time()
                    wanted = straightforward(vectors, unit_images, source, target, by_faiss)
                    seconds += time.process_time() - begun
                for measure, value in wanted.items():
                    gap = abs(record.scores[measure].per_seed[number] - value)
                    largest = max(largest, gap)
                    # a float32 product may put two candidates in another order: one query of N
                    assert gap <= (1 / N if measure in ("XLR", "BkR") else 1e-4) + 1e-9, (measure, gap)
        timed = TIMED_ENCODERS * TIMED_SEEDS
        whole = seconds / timed * ENCODERS * SEEDS
        print(
            f"straightforward ({way}): {seconds:.1f} s for {timed} of {ENCODERS * SEEDS} encoders × seeds, "
            f"so {whole:.0f} s; largest difference {largest:.1e}"
        )
        print(f"ratio {whole / ours:.1f} (at least {LEAST:g})")
        assert whole / ours >= LEAST
