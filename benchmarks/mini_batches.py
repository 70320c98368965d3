"""Mini-batches of a dual encoder: memory and time of a step of 2,048 pairs, and that its gradient is equal.

`python -m benchmarks.mini_batches [PAIRS MINI_BATCH TOKENS]` (2048 64 32). The tower is a network of
transformers with random weights: 2 layers of 128 units, as in the smallest published BERT. Each step is made
in a process of its own, whose largest resident size counts, less what it was before the step.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

PAIRS, MINI, TOKENS = 2048, 64, 32
LAYERS, UNITS, WORDS = 2, 128, 8000
SHARE = 0.25  # of the memory of the whole batch, at most
EQUAL = 1e-4  # of the largest gradient: float32, summed in another order


def peak() -> int:
    """Return the largest resident size of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def step(pairs: int, mini: int, tokens: int, out: str) -> None:
    """Make one step, print its extra memory and seconds, and write its gradient."""
    import torch
    from transformers import BertConfig, BertModel

    from xlingual.data.pools.parallel import ParallelQuestions
    from xlingual.models.dual_encoder import DualEncoder, DualEncoderConfig
    from xlingual.records import Texts
    from xlingual.training.recipes.dual_encoder import DualRecipe, TokenInputs
    from xlingual.training.recipes.dual_options import DualOptions

    torch.manual_seed(0)
    torch.set_num_threads(1)
    settings = {"num_hidden_layers": LAYERS, "hidden_size": UNITS, "num_attention_heads": 2}
    settings |= {"intermediate_size": 4 * UNITS, "vocab_size": WORDS}
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}  # so that both are comparable
    draws, rows = np.random.default_rng(0), np.arange(pairs)
    ids = [str(row) for row in rows]
    data = ParallelQuestions(
        source="random",
        languages=("en",),
        ids=ids,
        cluster=rows,
        questions=Texts(ids, ["en"] * pairs, ids, role="query"),
        answers=Texts(ids, ["en"] * pairs, ids, role="candidate"),
        answer_cluster=rows,
        asked=rows[:, None],
        first=np.arange(pairs + 1),
        answered=rows,
    )
    pieces = [{"input_ids": own} for own in draws.integers(1, WORDS, (2 * pairs, tokens)).tolist()]
    inputs = TokenInputs({"query": pieces[:pairs], "candidate": pieces[pairs:]}, 0, {})
    model = DualEncoder(
        DualEncoderConfig("transformer", dim=UNITS), network=BertModel(BertConfig(**settings, **dropout))
    )
    options = DualOptions(regime="en-en", batch=pairs, mini_batch=None if mini == pairs else mini)
    recipe = DualRecipe(model.train(), data, inputs, options)
    (batch,) = recipe.batches(1)
    before, begun = peak(), time.perf_counter()
    recipe.loss(batch).value.backward()
    seconds = time.perf_counter() - begun
    gradient = {name: w.grad.numpy() for name, w in model.named_parameters() if w.grad is not None}
    np.savez(out, **gradient)
    print(peak() - before, seconds)


def measured(pairs: int, mini: int, tokens: int, folder: Path) -> tuple[int, float, dict[str, np.ndarray]]:
    """Return extra bytes, seconds and gradient of a step in a process of its own."""
    out = folder / f"{mini}.npz"
    code = "import sys; from benchmarks.mini_batches import step; step(*map(int, sys.argv[1:4]), sys.argv[4])"
    given = [sys.executable, "-c", code, *map(str, (pairs, mini, tokens, out))]
    done = subprocess.run(given, check=True, capture_output=True, text=True)
    size, seconds = done.stdout.split()
    with np.load(out) as gradient:
        return int(size), float(seconds), dict(gradient)


def main(pairs: int = PAIRS, mini: int = MINI, tokens: int = TOKENS) -> None:
    """Print memory and time with and without mini-batches, and assert equal gradients."""
    with tempfile.TemporaryDirectory() as folder:
        mine = measured(pairs, mini, tokens, Path(folder))
        whole = measured(pairs, pairs, tokens, Path(folder))
    largest = max(float(np.abs(g).max()) for g in whole[2].values())
    apart = max(float(np.abs(g - mine[2][name]).max()) for name, g in whole[2].items())
    for name, (size, seconds, _) in (("the whole batch at once", whole), (f"mini-batches of {mini}", mine)):
        print(f"{pairs:,} pairs of {tokens} tokens, {name}: {size / 2**20:,.0f} MiB more, {seconds:.1f} s")
    print(f"memory {mine[0] / whole[0]:.3f}, time {mine[1] / whole[1]:.2f} of the whole batch's")
    print(f"gradients differ by at most {apart / largest:.1e} of the largest")
    assert apart < EQUAL * largest
    assert mine[0] < SHARE * whole[0]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
