"""`st:` and `hf:` for images: CLIP-style models of sentence-transformers, and networks of transformers.

`hf:` gives the last pooled layer of a network, by family (`pool=` chooses another):

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

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.checkpoints import check_reader, check_weights, kind_of_folder
from xlingual.encoders.decoding import encode_images
from xlingual.encoders.network import NetworkEncoder
from xlingual.encoders.options import PROMPT_NAMES, TEXT
from xlingual.encoders.runtime import Batches, choose_device, loading, running
from xlingual.errors import InputError
from xlingual.records import Images

if TYPE_CHECKING:
    from PIL.Image import Image

T = TypeVar("T")
Prepared = Mapping[str, np.ndarray]  # what a network takes of one image: arrays [1, …] by name
_TOWERS = {  # models of texts and images; only one side is needed
    "clip": "CLIPVisionModelWithProjection",
    "siglip": "SiglipVisionModel",
    "siglip_vision_model": "SiglipVisionModel",
    "siglip2": "Siglip2VisionModel",
    "siglip2_vision_model": "Siglip2VisionModel",
}


class SentenceTransformerImages(NetworkEncoder):
    """A model of sentence-transformers that embeds images, as its `encode` does."""

    content = ("bytes",)

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        super().__init__(folder, options, who)
        kind_of_folder(who, folder)
        check_weights(who, folder)
        check_reader(who, folder, images=True)

    @cached_property
    def identity(self) -> str:
        """The digest of the model's files, and the options that change vectors."""
        return f"st:{self.digest}?{self.stated('dtype', 'dim')}"

    def encode(self, batch: Images, /) -> Vectors:
        """Give float32 [n, d]; raise InputError naming the first row whose image is absent or broken."""
        return encode_with(self.model, batch, self.batches)

    @cached_property
    def model(self) -> Any:  # noqa: ANN401  (of sentence-transformers)
        """The model, read from the files that the identity is of."""
        more = {"truncate_dim": self.options["dim"], "processor_kwargs": {"backend": "pil"}}
        with self.unchanged(), loading(self.who):
            model = self.loaded_st(**more)
        check_images(self.who, model)
        return model


def encode_with(model: Any, batch: Images, batches: Batches) -> Vectors:  # noqa: ANN401
    """Encode images by the `encode` of a model of sentence-transformers."""

    def run(images: Sequence[Image]) -> Vectors:
        with running(batches.who):
            options = {"batch_size": len(images), "show_progress_bar": False, "convert_to_tensor": True}
            return np.asarray(model.encode(list(images), **options).float().cpu().numpy())

    return encode_images(batch, lambda image: image, run, batches)


def check_images(who: str, model: Any) -> None:  # noqa: ANN401
    """Raise InputError where a model of sentence-transformers does not embed images."""
    if not model.supports("image"):
        raise InputError(f"{who}: this model does not embed images: take a CLIP-style one, or hf:")


class HuggingFaceImages(NetworkEncoder):
    """A network of transformers on images."""

    content = ("bytes",)

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        super().__init__(folder, options, who)
        if options["dim"] is not None:
            raise InputError(f"{who}: dim is an option for texts: leave it out for images")
        kind_of_folder(who, folder)
        check_weights(who, folder)
        check_reader(who, folder, images=True)
        self.pool = options["pool"]

    @cached_property
    def identity(self) -> str:
        """The digest of the checkpoint's files, and the layer that gives the vectors."""
        return f"hf:{self.digest}?pool={self.pool or 'family'}&{self.stated('dtype')}"

    def encode(self, batch: Images, /) -> Vectors:
        """Give float32 [n, d]; raise InputError naming the first row whose image is absent or broken."""
        _, processor, _ = self._loaded  # before worker threads ask for it

        def prepare(image: Image) -> Prepared:
            return dict(processor(images=[image], return_tensors="np"))

        return encode_images(batch, prepare, self.run, self.batches)

    def run(self, images: Sequence[Prepared]) -> Vectors:
        """Give the vectors of prepared images; those of one shape go through the network together."""
        return by_shape(images, lambda image: tuple(array.shape for array in image.values()), self._run_alike)

    def _run_alike(self, images: Sequence[Prepared]) -> Vectors:
        import torch

        model = self._loaded[0]
        inputs = {}
        for name in images[0]:
            tensor = torch.from_numpy(np.concatenate([image[name] for image in images])).to(model.device)
            inputs[name] = tensor.to(model.dtype) if tensor.is_floating_point() else tensor
        with running(self.who), torch.inference_mode():
            return np.asarray(self._pooled(inputs).float().cpu().numpy())

    def _pooled(self, inputs: dict[str, Any]) -> Any:  # noqa: ANN401  (a tensor)
        """Give one vector of each image, [n, d]."""
        model, _, pooler_is_random = self._loaded
        if hasattr(model, "get_image_features"):
            if self.pool not in (None, "pooler"):
                raise InputError(f"{self.who}: this model has its pooled layer only: leave out pool")
            features = model.get_image_features(**inputs)
            return features if hasattr(features, "flatten") else features.pooler_output
        output = model(**inputs)
        if self.pool in (None, "pooler"):
            pooled = getattr(output, "image_embeds", None)
            if pooled is None and not pooler_is_random:
                pooled = getattr(output, "pooler_output", None)
            if pooled is not None:
                return pooled.flatten(1)
            if self.pool == "pooler":
                raise InputError(
                    f"{self.who}: pool=pooler: the checkpoint has no such weights: leave pool out"
                )
        hidden = output.last_hidden_state
        if hidden.ndim == 4:  # [n, channels, height, width]
            return hidden.mean(dim=(2, 3))
        names = [name for name, _ in model.named_parameters()]
        class_token = any("cls_token" in name or "class_embedding" in name for name in names)
        if self.pool == "cls" and not class_token:
            raise InputError(f"{self.who}: pool=cls: this model has no class token: write pool=mean")
        return hidden[:, 0] if class_token and self.pool != "mean" else hidden.mean(dim=1)

    @cached_property
    def _loaded(self) -> tuple[Any, Any, bool]:
        """The network, the processor, and whether the checkpoint has no weights of its pooler."""
        import torch
        import transformers

        with self.unchanged(), loading(self.who):
            processor = image_processor(self.folder)
            config = transformers.AutoConfig.from_pretrained(self.folder, local_files_only=True)
            kind: Any = transformers.AutoModel
            name = _TOWERS.get(config.model_type)
            if config.model_type == "clip_vision_model":  # with or without the projection, as it was written
                name = next(iter(config.architectures or ()), "CLIPVisionModel")
            if name is not None:
                kind, whole = getattr(transformers, name), config
                config = getattr(whole, "vision_config", whole)
                if config is not whole and hasattr(whole, "projection_dim"):
                    config.projection_dim = whole.projection_dim  # the whole model's counts
            model, info = kind.from_pretrained(
                self.folder,
                config=config,
                dtype=getattr(torch, self.options["dtype"]),
                use_safetensors=True,
                local_files_only=True,
                output_loading_info=True,
            )
        missing = sorted((info if isinstance(info, dict) else vars(info)).get("missing_keys", ()))
        if others := [name for name in missing if "pooler" not in name]:
            raise InputError(
                f"{self.who}: the checkpoint lacks {len(others)} weights of {kind.__name__} (first: "
                f"{others[0]}): they would be random; is it a model of images?"
            )
        return model.to(choose_device(self.options["device"], self.who)).eval(), processor, bool(missing)


def image_processor(folder: Path) -> Any:  # noqa: ANN401  (of transformers)
    """Load the checkpoint's processor of images, the one that needs Pillow only."""
    from transformers import AutoImageProcessor

    return AutoImageProcessor.from_pretrained(folder, local_files_only=True, backend="pil")


def by_shape(images: Sequence[T], shape: Callable[[T], object], run: Callable[[list[T]], Vectors]) -> Vectors:
    """Give float32 [n, d] of prepared images; those of one shape go through `run` together."""
    groups: dict[object, list[int]] = {}
    for row, image in enumerate(images):
        groups.setdefault(shape(image), []).append(row)
    vectors = np.concatenate([run([images[row] for row in rows]) for rows in groups.values()])
    return np.asarray(vectors[np.argsort([row for rows in groups.values() for row in rows])])


def refuse_text_options(who: str, options: Mapping[str, Any]) -> None:
    """Raise InputError for an option that images have no use for."""
    if options.get("pool") == "last":
        raise InputError(f"{who}: pool=last is for texts; of images there are mean, cls and pooler")
    for option in (*TEXT, *PROMPT_NAMES):
        if options.get(option.name, option.default) != option.default:
            raise InputError(f"{who}: {option.name} is an option for texts: leave it out for images")
