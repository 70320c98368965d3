"""How much it brings to decode images in worker threads while a network runs, against the library alone."""

from __future__ import annotations

import io
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from xlingual.encoders import SCHEMES
from xlingual.encoders.decoding import encode_images
from xlingual.encoders.huggingface_images import HuggingFaceImages
from xlingual.records import Images

COUNT, SIZE, BATCH, ROUNDS = 64, (1600, 1200), 16, 2


def main() -> None:
    """Print images a second, each way; assert that all ways give the same vectors."""
    import torch

    torch.set_num_threads(1)  # the network has one core: what the others do is decoding
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        processor, model = _checkpoint(folder)
        content = [_jpeg(seed) for seed in range(COUNT)]
        batch = Images(content, ["en"] * COUNT, [str(i) for i in range(COUNT)])
        options = {option.name: option.default for option in SCHEMES["hf"].options} | {"batch": BATCH}
        in_turn, in_threads = (
            HuggingFaceImages(folder, options, "images", threads=threads) for threads in (0, None)
        )
        ways: dict[str, Callable[[], np.ndarray]] = {
            "transformers alone": lambda: _directly(model, processor, content),
            "decoding in turn": lambda: in_turn.encode(batch),
            "decoding in threads": lambda: in_threads.encode(batch),
        }
        wall, work = _best(ways)
    for way in ways:
        print(f"{way:20s} {COUNT / wall[way]:7.1f} images/s, {1000 * work[way] / COUNT:5.1f} ms of work each")
    alone, turn, threads = (wall[way] for way in ways)
    print(
        f"{os.cpu_count()} cores: threads bring {turn / threads:.2f} ×, {alone / threads:.2f} × the library"
    )
    _beside_a_device(processor, batch)
    more = work["decoding in turn"] / work["transformers alone"]  # a busy machine changes work little
    assert more < 1.1


def _beside_a_device(processor, batch: Images) -> None:
    """Print what threads bring where the network runs on a device of its own, for which a wait stands.

    The wait is as long as preparing a batch takes, so that threads can bring 2 × at most.
    """
    seconds: dict[int | None, float] = {}
    wait = 0.0

    def prepare(image: Image.Image) -> float:
        return float(processor(images=[image], return_tensors="np")["pixel_values"].mean())

    def run(prepared: Sequence[float]) -> np.ndarray:
        time.sleep(wait * len(prepared))
        return np.array(prepared, dtype=np.float32)[:, None]

    start = time.perf_counter()
    expected = encode_images(batch, prepare, run, batch_size=BATCH, who="wait", threads=0)
    wait = (time.perf_counter() - start) / COUNT
    for threads in (0, None):
        start = time.perf_counter()
        found = encode_images(batch, prepare, run, batch_size=BATCH, who="wait", threads=threads)
        seconds[threads] = time.perf_counter() - start
        np.testing.assert_array_equal(found, expected)
    print(f"beside a device: threads bring {seconds[0] / seconds[None]:.2f} × (at most 2)")
    assert seconds[0] / seconds[None] > 1.3


def _best(ways: dict[str, Callable[[], np.ndarray]]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the least seconds of a few rounds by the clock, and of work; assert that vectors are equal."""
    wall, work = (dict.fromkeys(ways, float("inf")) for _ in range(2))
    expected = None
    for _ in range(ROUNDS + 1):  # in the first, models are loaded
        for way, encode in ways.items():
            start = time.perf_counter(), time.process_time()
            vectors = encode()
            wall[way] = min(wall[way], time.perf_counter() - start[0])
            work[way] = min(work[way], time.process_time() - start[1])
            expected = vectors if expected is None else expected
            np.testing.assert_allclose(vectors, expected, atol=1e-4, err_msg=way)
    return wall, work


def _directly(model, processor, content: list[bytes]) -> np.ndarray:
    """Return what a plain loop over batches gives: open, prepare, run."""
    import torch

    found = []
    for start in range(0, COUNT, BATCH):
        images = [Image.open(io.BytesIO(raw)).convert("RGB") for raw in content[start : start + BATCH]]
        with torch.inference_mode():
            inputs = processor(images=images, return_tensors="pt")
            found.append(model(**inputs).pooler_output.flatten(1).numpy())
    return np.concatenate(found)


def _checkpoint(folder: Path):
    """Write a ResNet-18 with random weights, and return its processor and the network."""
    import torch
    from transformers import ConvNextImageProcessorPil, ResNetConfig, ResNetModel

    torch.manual_seed(0)
    config = ResNetConfig(
        hidden_sizes=[64, 128, 256, 512], depths=[2, 2, 2, 2], layer_type="basic", embedding_size=64
    )
    model = ResNetModel(config).eval()
    model.save_pretrained(folder)
    processor = ConvNextImageProcessorPil(size={"shortest_edge": 224}, crop_pct=0.875)
    processor.save_pretrained(folder)
    return processor, model


def _jpeg(seed: int) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 256, (48, 64, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).resize(SIZE, Image.Resampling.BICUBIC).save(out, "JPEG", quality=90)
    return out.getvalue()
