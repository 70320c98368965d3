"""`st:` and `hf:` for images: CLIP-style models of sentence-transformers, and networks of transformers.

`hf:` gives the last pooled layer of a network, by family:

- ResNet, ConvNeXt, RegNet, Swin and other convolutional ones: the model's pooled output, a mean over
  positions (after the last layer norm, where there is one);
- CLIP: the projected vector that it compares with texts; SigLIP: its attention pooling;
- ViT, DINOv2, DeiT, …: the model's pooled output where its weights are in the checkpoint (of DINOv2 the first
  token), else the class token after the last layer norm. A checkpoint of a classifier has no pooler, and one
  with random weights is never used.

Images are prepared by the model's own processor, in the variant that needs Pillow only, in worker threads,
while the network runs. Equal bytes are encoded once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.checkpoints import check_reader, check_weights, kind_of_folder
from xlingual.encoders.decoding import encode_images
from xlingual.encoders.network import NetworkEncoder
from xlingual.encoders.runtime import Batches, choose_device, loading, running
from xlingual.errors import InputError
from xlingual.records import Encoded, Images

if TYPE_CHECKING:
    from PIL.Image import Image

Prepared = Mapping[str, np.ndarray]  # what a network takes of one image: arrays [1, …] by name


class ImageNetwork(Encoder):
    """Images through the `encode` of a model of sentence-transformers."""

    content = ("bytes",)
    model: Any
    who: str
    batches: Batches

    def encode_noting(self, batch: Images, /) -> Encoded:
        """Give float32 [n, d]; raise InputError naming the first row whose image is absent or broken."""
        model = self.model  # before worker threads ask for it

        def run(images: Sequence[Image]) -> Vectors:
            with running(self.who):
                options = {"batch_size": len(images), "show_progress_bar": False, "convert_to_tensor": True}
                return np.asarray(model.encode(list(images), **options).float().cpu().numpy())

        return Encoded(encode_images(batch, lambda image: image, run, self.batches))

    def check_images(self, model: Any) -> None:  # noqa: ANN401
        """Raise InputError where a model does not embed images."""
        if not model.supports("image"):
            raise InputError(f"{self.who}: this model does not embed images: take a CLIP-style one, or hf:")


class ImageFolder(NetworkEncoder):
    """A network of images in a folder."""

    content = ("bytes",)

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        super().__init__(folder, options, who)
        kind_of_folder(who, folder)
        check_weights(who, folder)
        check_reader(who, folder, images=True)


class SentenceTransformerImages(ImageFolder, ImageNetwork):
    """A model of sentence-transformers that embeds images, as its `encode` does."""

    @cached_property
    def identity(self) -> str:
        """The digest of the model's files, and the options that change vectors."""
        return f"st:{self.digest}?{self.stated('dtype', 'dim')}"

    @cached_property
    def model(self) -> Any:  # noqa: ANN401  (of sentence-transformers)
        """The model, read from the files that the identity is of."""
        more = {"truncate_dim": self.options["dim"], "processor_kwargs": {"backend": "pil"}}
        with self.unchanged(), loading(self.who):
            model = self.loaded_st(**more)
        self.check_images(model)
        return model


class HuggingFaceImages(ImageFolder):
    """A network of transformers on images."""

    @cached_property
    def identity(self) -> str:
        """The digest of the checkpoint's files, and the options that change vectors."""
        return f"hf:images:{self.digest}?{self.stated('dtype')}"

    def encode(self, batch: Images, /) -> Vectors:
        """Give float32 [n, d]; raise InputError naming the first row whose image is absent or broken."""
        _, processor, _ = self._loaded  # before worker threads ask for it

        def prepare(image: Image) -> Prepared:
            return dict(processor(images=[image], return_tensors="np"))

        return encode_images(batch, prepare, self.run, self.batches)

    def run(self, images: Sequence[Prepared]) -> Vectors:
        """Give the vectors of prepared images, [n, d]."""
        import torch

        model, _, pooler_is_random = self._loaded
        with running(self.who), torch.inference_mode():
            inputs = {}
            for name in images[0]:
                tensor = torch.from_numpy(np.concatenate([image[name] for image in images])).to(model.device)
                inputs[name] = tensor.to(model.dtype) if tensor.is_floating_point() else tensor
            if hasattr(model, "get_image_features"):
                output = model.get_image_features(**inputs)
            else:
                output = model(**inputs)
            vectors = getattr(output, "image_embeds", None)
            if vectors is None and not pooler_is_random:
                vectors = output if hasattr(output, "flatten") else getattr(output, "pooler_output", None)
            if vectors is None:
                hidden = output.last_hidden_state  # [n, channels, height, width], or [n, tokens, d]
                names = [name for name, _ in model.named_parameters()]
                class_token = any("cls_token" in name or "class_embedding" in name for name in names)
                over = (2, 3) if hidden.ndim == 4 else 1
                vectors = hidden[:, 0] if class_token and hidden.ndim == 3 else hidden.mean(dim=over)
            return np.asarray(vectors.flatten(1).float().cpu().numpy())

    @cached_property
    def _loaded(self) -> tuple[Any, Any, bool]:
        """The network, the processor, and whether the checkpoint has no weights of its pooler."""
        import torch
        import transformers

        with self.unchanged(), loading(self.who):
            local = {"local_files_only": True}
            processor = transformers.AutoImageProcessor.from_pretrained(self.folder, backend="pil", **local)
            config = transformers.AutoConfig.from_pretrained(self.folder, **local)
            kind: Any = transformers.AutoModel
            if config.model_type == "clip_vision_model":  # with or without the projection, as it was written
                kind = getattr(transformers, next(iter(config.architectures or ()), "CLIPVisionModel"))
            weights = {"dtype": getattr(torch, self.options["dtype"]), "use_safetensors": True}
            model, info = kind.from_pretrained(self.folder, output_loading_info=True, **weights, **local)
        missing = sorted((info if isinstance(info, dict) else vars(info)).get("missing_keys", ()))
        if others := [name for name in missing if "pooler" not in name]:
            raise InputError(
                f"{self.who}: the checkpoint lacks {len(others)} weights of {kind.__name__} (first: "
                f"{others[0]}): they would be random; is it a model of images?"
            )
        return model.to(choose_device(self.options["device"], self.who)).eval(), processor, bool(missing)
