"""What multiplies: the precision of the screen, its error, and the library settings it needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, TypeAlias

from xlingual.ranking.torch import bounds

Tensor: TypeAlias = Any  # torch.Tensor: torch may be absent
Device: TypeAlias = Any  # torch.device

PRECISIONS = ("fp16", "bf16", "fp32")
_SMALLEST_NORMAL = {"fp16": 2.0**-14, "bf16": 2.0**-126, "fp32": 2.0**-126}
_ALIGNED = 8  # columns of 16-bit matrices that tensor cores take at full speed


class Arithmetic:
    """Products of unit vectors in a precision on a device.

    CPU tensors have no fast 16-bit products: there vectors are rounded to 16 bits and multiplied as float32,
    which is what the tests and machines without a GPU see.
    """

    def __init__(self, device: Device, precision: str) -> None:
        import torch

        self.device, self.precision = device, precision
        self._kept = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}[precision]
        self.cores = device.type == "cuda" and precision != "fp32"
        self.dtype = self._kept if self.cores else torch.float32  # of the vectors that are multiplied
        self.wide_output = not self.cores or _returns_float32(device, self.dtype)

    @property
    def low(self) -> bool:
        """Whether there is a finer product to narrow with."""
        return self.precision != "fp32"

    def width(self, d: int) -> int:
        """Return how many columns the vectors are filled up to, with zeros."""
        return -(-d // _ALIGNED) * _ALIGNED if self.cores else d

    def rounded(self, unit: Tensor) -> Tensor:
        """Return float64 unit vectors in the precision, without subnormal components."""
        import torch

        low = unit.to(self._kept)
        small = low.abs() < _SMALLEST_NORMAL[self.precision]
        return torch.where(small, torch.zeros_like(low), low).to(self.dtype)

    def product(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Return the scores of rows [r, d] and columns [c, d] as float32 [r, c]."""
        import torch

        if rows.dtype == torch.float32 or not self.wide_output:
            return torch.mm(rows, columns.T).float()
        return torch.mm(rows, columns.T, out_dtype=torch.float32)

    def error(self, d: int) -> tuple[float, float]:
        """Return the error of a product of rounded vectors: relative to both lengths, and absolute."""
        if not self.cores:
            return bounds.nearest_sum(d), bounds.TINY
        sums = bounds.truncated_sum(d)
        if self.wide_output:
            return sums, bounds.TINY
        rounding = bounds.narrow_output(self.precision, sums)
        return sums + rounding, bounds.output_floor(self.precision)

    @staticmethod
    def fine_error(d: int) -> tuple[float, float]:
        """Return the same of float32 vectors."""
        return bounds.nearest_sum(d), bounds.TINY


def _returns_float32(device: Device, dtype: Any) -> bool:  # noqa: ANN401
    """Return whether 16-bit vectors can be multiplied to float32 (torch 2.8 and later)."""
    import torch

    one = torch.ones((16, 16), dtype=dtype, device=device)
    try:
        return bool((torch.mm(one, one, out_dtype=torch.float32) == 16).all())
    except (TypeError, RuntimeError, NotImplementedError):
        return False


@contextmanager
def exact_settings(device: Device, threads: int) -> Iterator[None]:
    """Let products be what they are called inside: no TF32, no sums in 16 bits, no autocast, no gradients.

    All settings are as before afterwards. On a processor torch uses `threads`.
    """
    import torch

    count = torch.get_num_threads()
    on_device = torch.cuda.device(device) if device.type == "cuda" else nullcontext()
    with _plain_products(), on_device, torch.no_grad(), torch.autocast(device.type, enabled=False):
        try:
            if device.type == "cpu" and threads != count:
                torch.set_num_threads(threads)
            yield
        finally:
            if torch.get_num_threads() != count:
                torch.set_num_threads(count)


@contextmanager
def _plain_products() -> Iterator[None]:
    """Switch off all that makes products faster and less exact than their types say."""
    import torch

    cuda = torch.backends.cuda.matmul
    switches: list[tuple[Any, str, object]] = [
        (cuda, "allow_fp16_reduced_precision_reduction", False),
        (cuda, "allow_bf16_reduced_precision_reduction", False),
        (cuda, "allow_fp16_accumulation", False),
        (cuda, "fp32_precision", "ieee"),
        (torch.backends.mkldnn.matmul, "fp32_precision", "ieee"),
    ]
    known = [(owner, name, value) for owner, name, value in switches if hasattr(owner, name)]
    by_backend = hasattr(cuda, "fp32_precision")  # torch 2.9; the two ways must not be mixed
    precision = None if by_backend else torch.get_float32_matmul_precision()
    before = [_setting(owner, name) for owner, name, _ in known]
    try:
        for owner, name, value in known:
            setattr(owner, name, value)
        if not by_backend:
            torch.set_float32_matmul_precision("highest")
        yield
    finally:
        for (owner, name, _), value in zip(known, before, strict=True):
            setattr(owner, name, value)
        if precision is not None:
            torch.set_float32_matmul_precision(precision)


def _setting(owner: Any, name: str) -> object:  # noqa: ANN401  (a module of torch)
    """Return a setting as it is set: that of reductions has two parts in later versions."""
    value, split = getattr(owner, name), getattr(owner, f"{name}_split_k", None)
    return value if split is None else (value, split)
