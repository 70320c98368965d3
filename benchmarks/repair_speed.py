"""The whole search of a repair against one evaluation of the same encoder and data, in processor time.

XQuAD-R in seven languages, the half of the paragraphs that the encoder was not fitted on.
`python -m benchmarks repair_speed` asserts that the mAP after the repair is that of an evaluation of the
part for testing.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.timed import table
from xlingual import DataWarning, MultilingualPool, multilingual_pool, repair_encoder
from xlingual.data.pools.pool import split_pool

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data")) / "xquad_r"
ENCODERS = {
    "LSA, 120 dimensions": "lsa:?dim=300&fit={pool}#train",
    "character n-grams, 256 dimensions": "chargram:?dim=256&fit={pool}#train",
}


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor time of a call, and what it returned."""
    begin = time.process_time()
    found = run()
    return time.process_time() - begin, found


def main() -> None:
    """Evaluate and repair each encoder, and print the times."""
    rows = [["encoder", "one evaluation, s", "repair, s", "its search, s", "tried", "search / evaluation"]]
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        split_pool(MultilingualPool.read(DATA), 0.5).write(f"{folder}/pool")
        pool = MultilingualPool.read(f"{folder}/pool", split="test")
        for name, form in ENCODERS.items():
            spec = form.format(pool=f"{folder}/pool")
            once, _ = timed(lambda spec=spec: multilingual_pool(pool, spec, store=None))
            whole, made = timed(lambda spec=spec: repair_encoder(pool, spec, store=None))
            found = made.found
            share = found.timings["search"] / sum(found.timings.values())
            if made.map is not None and found.similarity == "cosine":
                after = made.side_by_side().entries[-1].value
                assert abs(after - found.whole.after) < 1e-9, (after, found.whole.after)
            ratio = f"{whole * share / once:.1f}"
            rows.append(
                [name, f"{once:.1f}", f"{whole:.1f}", f"{whole * share:.1f}", str(len(found.tried)), ratio]
            )
    table("The whole search against one evaluation, XQuAD-R in seven languages", rows)


if __name__ == "__main__":
    main()
