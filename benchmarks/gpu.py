"""What `make gpu` measures: ranking on a GPU as a share of its peak, up to a million against a million.

    python -m benchmarks.gpu                      # needs a CUDA device, else it ends with status 1
    python -m benchmarks.gpu --device cpu 500     # the same code at a small size on CPU tensors

All answers are compared: the precisions with each other, and with the processor, at a million on a sample of
queries. A million vectors of 768 dimensions a side need some 16 GB of the machine's memory.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from xlingual.ranking.torch.devices import described, ranking_device

from benchmarks import torch_speed
from xlingual.errors import XlingualError

SIZES, DIM = (8_000, 100_000, 1_000_000), 768


def main(sizes: Sequence[int] = SIZES, dim: int = DIM, device: str = "cuda") -> None:
    """Print times and shares of the peak at each size.

    Raises:
        XlingualError: torch is not installed, or there is no such device.

    """
    print(f"device: {described(ranking_device(device))}")
    for n in sizes:
        torch_speed.main(n, dim, device)


def run(arguments: Sequence[str]) -> None:
    """Measure what the command line asks for; where that cannot be, say why and end with status 1."""
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--dim", type=int, default=DIM)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args(arguments)
    try:
        main(options.sizes, options.dim, options.device)
    except XlingualError as error:
        sys.exit(f"error: the benchmark of a GPU did not run: {error}")


if __name__ == "__main__":
    run(sys.argv[1:])
