"""`st:` on pictures: CLIP-style models of sentence-transformers."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.encoders.batching import Memory
from xlingual.encoders.checkpoints import check_weights, model_folder
from xlingual.encoders.model_kind import check_dense, check_processor
from xlingual.encoders.picture_batches import encode_pictures, refuse_text_options
from xlingual.encoders.torch_runtime import choose_device, device_part, loading, require, running, torch_dtype
from xlingual.encoders.weights import checkpoint_digest
from xlingual.errors import InputError
from xlingual.records import Pictures, Vectors

if TYPE_CHECKING:
    from PIL.Image import Image


class SentenceTransformerPictures:
    """A model of sentence-transformers that embeds pictures; it is loaded when it is first used.

    Pictures are decoded in worker threads while the network runs, and prepared by the model's own processor,
    in the variant that needs Pillow only. Equal bytes are encoded once. The vectors are what the model's
    `encode` returns for pictures.
    """

    content = ("bytes",)

    def __init__(
        self,
        folder: Path,
        *,
        name: str | None = None,
        dim: int | None = None,
        batch: int = 32,
        device: str | None = None,
        dtype: str = "float32",
    ) -> None:
        self.folder, self.dim, self.batch, self.dtype = folder, dim, batch, dtype
        self._device, self._who = device, name or f"st:{folder}"
        self._memory = Memory()
        check_dense(self._who, folder)

    @cached_property
    def identity(self) -> str:
        """The digest of the model's files, and what is read off the network."""
        kept = "" if self.dim is None else f"&dim={self.dim}"
        where = device_part(self._device, self.dtype, self._who, "st")
        return f"st:{self._digest()}?dtype={self.dtype}{kept}{where}"

    def _digest(self) -> str:
        return checkpoint_digest(self.folder)[:16]

    def encode(self, batch: Pictures) -> Vectors:
        """Return float32 [n, d]; raise InputError naming the first row whose picture is absent or broken."""
        return encode_pictures(
            batch,
            lambda picture: picture,
            self._run,
            batch_size=self.batch,
            who=self._who,
            memory=self._memory,
        )

    def _run(self, pictures: Sequence[Image]) -> Vectors:
        model = self._model
        with running(self._who):
            found = model.encode(
                list(pictures), batch_size=len(pictures), show_progress_bar=False, convert_to_tensor=True
            )
            vectors: Vectors = found.float().cpu().numpy()
            return vectors

    @cached_property
    def _model(self) -> Any:  # noqa: ANN401  (of sentence-transformers)
        """The model, read from the files that the identity is of."""
        require(self._who, "st", "torch", "sentence_transformers")
        identity = self.identity
        check_weights(self._who, self.folder, modules=True)
        check_processor(self._who, self.folder, modules=True)
        model = _loaded(self._who, self.folder, self._device, self.dtype, self.dim)
        if f"st:{self._digest()}?" not in identity:
            raise InputError(f"{self._who}: files of the model changed while it was read: start again")
        return model


def _loaded(who: str, folder: Path, device: str | None, dtype: str, dim: int | None) -> Any:  # noqa: ANN401
    from sentence_transformers import SentenceTransformer

    options: dict[str, Any] = {}
    if "processor_kwargs" in inspect.signature(SentenceTransformer.__init__).parameters:
        options["processor_kwargs"] = {"backend": "pil"}
    where = str(choose_device(device, who))
    with loading(who):
        model = SentenceTransformer(
            str(folder),
            device=where,
            local_files_only=True,
            truncate_dim=dim,
            model_kwargs={"use_safetensors": True, "dtype": torch_dtype(dtype)},
            **options,
        )
    supports = getattr(model, "supports", None)  # older versions do not tell
    if supports is not None and not supports("image"):
        raise InputError(f"{who}: this model does not embed pictures: take a CLIP-style one, or hf:")
    return model


def build(argument: str, options: Mapping[str, Any], context: object) -> SentenceTransformerPictures:
    """Return the encoder for a spec; the model is found, and fetched where need be, but not loaded."""
    who = f"st:{argument}"
    refuse_text_options(who, options)
    return SentenceTransformerPictures(
        model_folder(who, argument, options.get("revision"), "st"),
        name=who,
        dim=options.get("dim"),
        batch=options.get("batch", 32),
        device=options.get("device"),
        dtype=options.get("dtype", "float32"),
    )
