"""`st:` on images: CLIP-style models of sentence-transformers."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.checkpoints import check_processor, check_weights
from xlingual.encoders.decoding import encode_images
from xlingual.encoders.networks import NetworkEncoder
from xlingual.encoders.sentence_transformer import similarity_in
from xlingual.encoders.torch_runtime import choose_device, loading, running, torch_dtype
from xlingual.errors import InputError
from xlingual.records import Images

if TYPE_CHECKING:
    from PIL.Image import Image


class SentenceTransformerImages(NetworkEncoder):
    """A model of sentence-transformers that embeds images.

    Images are decoded in worker threads while the network runs, and prepared by the model's own processor,
    in the variant that needs Pillow only. Equal bytes are encoded once. The vectors are what the model's
    `encode` returns for images.
    """

    content = ("bytes",)

    @property
    def compares_by(self) -> str | None:  # type: ignore[override]
        """How the model's settings say that its vectors are compared."""
        return similarity_in(self.folder)

    @cached_property
    def identity(self) -> str:
        """The digest of the model's files, and the layer that gives the vectors."""
        return f"st:{self.digest}?{self.stated('dtype', 'dim')}{self.stated_device()}"

    def encode(self, batch: Images, /) -> Vectors:
        """Return float32 [n, d]; raise InputError naming the first row whose image is absent or broken."""
        return encode_images(
            batch,
            lambda image: image,
            self._run,
            batch_size=self.options["batch"],
            who=self.who,
            memory=self.memory,
        )

    def _run(self, images: Sequence[Image]) -> Vectors:
        model = self._model
        with running(self.who):
            found = model.encode(
                list(images), batch_size=len(images), show_progress_bar=False, convert_to_tensor=True
            )
            return np.asarray(found.float().cpu().numpy())

    @cached_property
    def _model(self) -> Any:  # noqa: ANN401  (of sentence-transformers)
        """The model, read from the files that the identity is of."""
        check_weights(self.who, self.folder, modules=True)
        check_processor(self.who, self.folder, modules=True)
        from sentence_transformers import SentenceTransformer

        parameters = inspect.signature(SentenceTransformer.__init__).parameters
        more = {"processor_kwargs": {"backend": "pil"}} if "processor_kwargs" in parameters else {}
        with self.unchanged():
            where = str(choose_device(self.options["device"], self.who))
            with loading(self.who):
                model = SentenceTransformer(
                    str(self.folder),
                    device=where,
                    local_files_only=True,
                    truncate_dim=self.options["dim"],
                    model_kwargs={"use_safetensors": True, "dtype": torch_dtype(self.options["dtype"])},
                    **more,
                )
            self.check_images(model)
        return model

    def check_images(self, model: Any) -> None:  # noqa: ANN401
        """Raise InputError where a model does not embed images."""
        supports = getattr(model, "supports", None)  # older versions do not say
        if supports is not None and not supports("image"):
            raise InputError(f"{self.who}: this model does not embed images: take a CLIP-style one, or hf:")
