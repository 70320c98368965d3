"""`hf:` on images: networks of transformers, seen through their last pooled layer.

What that layer is, by family (`pool=` chooses another):

- ResNet, ConvNeXt, RegNet, Swin and other convolutional ones: the model's pooled output, a mean over
  positions (after the last layer norm, where there is one);
- CLIP: the projected vector that it compares with texts; SigLIP: its attention pooling;
- ViT, DINOv2, DeiT, …: the model's pooled output where its weights are in the checkpoint (of DINOv2 the first
  token), else the class token after the last layer norm. A checkpoint of a classifier has no pooler, and one
  with random weights is never used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.checkpoints import check_processor, check_weights
from xlingual.encoders.decoding import by_shape, encode_images
from xlingual.encoders.networks import NetworkEncoder
from xlingual.encoders.torch_runtime import choose_device, loading, pretrained, running
from xlingual.errors import InputError
from xlingual.records import Images

_TOWERS = {  # models of texts and images; only one side is needed
    "clip": "CLIPVisionModelWithProjection",
    "siglip": "SiglipVisionModel",
    "siglip_vision_model": "SiglipVisionModel",
    "siglip2": "Siglip2VisionModel",
    "siglip2_vision_model": "Siglip2VisionModel",
}
Prepared = Mapping[str, np.ndarray]  # what a model takes of one image: arrays [1, …] by name


class HuggingFaceImages(NetworkEncoder):
    """A network of transformers on images.

    Images are prepared by the checkpoint's own processor, in the variant that needs Pillow only, in worker
    threads, while the network runs. Equal bytes are encoded once.
    """

    content = ("bytes",)
    has_modules = False

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        super().__init__(folder, options, who)
        self.pool = options["pool"]

    @cached_property
    def identity(self) -> str:
        """The digest of the checkpoint's files, and the layer that gives the vectors."""
        options = self.stated("dtype")
        return f"hf:{self.digest}?pool={self.pool or 'family'}&{options}{self.stated_device()}"

    def encode(self, batch: Images, /) -> Vectors:
        """Return float32 [n, d]; raise InputError naming the first row whose image is absent or broken."""
        processor = self._network.processor  # loaded before worker threads ask for it
        return encode_images(
            batch,
            lambda image: dict(processor(images=[image], return_tensors="np")),
            self._run,
            batch_size=self.options["batch"],
            who=self.who,
            memory=self.memory,
        )

    @cached_property
    def _network(self) -> Network:
        """The network, read from the files that the identity is of."""
        with self.unchanged():
            return load(self.who, self.folder, self.options["device"], self.options["dtype"])

    def _run(self, images: Sequence[Prepared]) -> Vectors:
        """Return the vectors of prepared images; those of one shape go through the network together."""
        return by_shape(images, lambda one: tuple(array.shape for array in one.values()), self._run_alike)

    def _run_alike(self, images: Sequence[Prepared]) -> Vectors:
        import torch

        joined = {name: np.concatenate([one[name] for one in images]) for name in images[0]}
        inputs = {name: self._network.tensor(array) for name, array in joined.items()}
        with running(self.who), torch.inference_mode():
            return np.asarray(self._pooled(self._network, inputs).float().cpu().numpy())

    def _pooled(self, network: Network, inputs: dict[str, Any]) -> Any:  # noqa: ANN401  (a tensor)
        """Return one vector of each image, [n, d]."""
        model = network.model
        if self.pool in (None, "pooler"):
            if hasattr(model, "get_image_features"):
                features = model.get_image_features(**inputs)
                return features if hasattr(features, "flatten") else features.pooler_output
            output = model(**inputs)
            pooled = getattr(output, "image_embeds", None)
            if pooled is None and not network.pooler_is_random:
                pooled = getattr(output, "pooler_output", None)
            if pooled is not None:
                return pooled.flatten(1)
            if self.pool == "pooler":
                raise InputError(
                    f"{self.who}: pool=pooler: the checkpoint has no weights of a pooled output; "
                    "write pool=cls or pool=mean, or leave pool out"
                )
            hidden = output.last_hidden_state
        else:
            if hasattr(model, "get_image_features"):
                raise InputError(f"{self.who}: this model has its pooled layer only: leave out pool")
            hidden = model(**inputs).last_hidden_state
        if hidden.ndim == 4:  # [n, channels, height, width]
            return hidden.mean(dim=(2, 3))
        if self.pool == "cls" and not network.has_class_token:
            raise InputError(f"{self.who}: pool=cls: this model has no class token: write pool=mean")
        return hidden[:, 0] if network.has_class_token and self.pool != "mean" else hidden.mean(dim=1)


class Network(NamedTuple):
    """A loaded model with the processor of its images."""

    model: Any
    processor: Any
    pooler_is_random: bool  # the checkpoint has no weights of it
    has_class_token: bool  # its first token stands for the whole image

    def tensor(self, array: np.ndarray) -> Any:  # noqa: ANN401  (a tensor)
        """Return an array where the model is, numbers in the model's precision."""
        import torch

        tensor = torch.from_numpy(array).to(self.model.device)
        return tensor.to(self.model.dtype) if tensor.is_floating_point() else tensor


def load(who: str, folder: Path, device: str | None, dtype: str) -> Network:
    """Return the model and the processor of a folder; raise InputError where they cannot be used."""
    check_weights(who, folder)
    check_processor(who, folder)
    import transformers

    with loading(who):
        processor = _processor(transformers, folder, who)
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
        kind, config = _tower(transformers, config)
        model, missing, _ = pretrained(kind, folder, dtype, config=config)
    if others := [name for name in missing if "pooler" not in name]:
        raise InputError(
            f"{who}: the checkpoint lacks {len(others)} weights of {kind.__name__} (first: {others[0]}): "
            "they would be random; is it a model of images?"
        )
    names = [name for name, _ in model.named_parameters()]
    class_token = any("cls_token" in name or "class_embedding" in name for name in names)
    return Network(model.to(choose_device(device, who)).eval(), processor, bool(missing), class_token)


def _tower(transformers: Any, config: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """Return the class of the network that sees images, and its config."""
    name = _TOWERS.get(config.model_type)
    if config.model_type == "clip_vision_model":  # with or without the projection, as it was written
        name = next(iter(config.architectures or ()), "CLIPVisionModel")
    if name is None:
        return transformers.AutoModel, config
    vision = getattr(config, "vision_config", config)
    if hasattr(config, "vision_config") and hasattr(config, "projection_dim"):
        vision.projection_dim = config.projection_dim  # the whole model's counts
    return getattr(transformers, name), vision


def _processor(transformers: Any, folder: Path, who: str) -> Any:  # noqa: ANN401
    """Return the checkpoint's processor of images, the one that needs Pillow only."""
    from packaging.version import Version

    chosen = {"backend": "pil"} if Version(transformers.__version__) >= Version("5") else {"use_fast": False}
    try:
        return transformers.AutoImageProcessor.from_pretrained(folder, local_files_only=True, **chosen)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise InputError(
            f"{who}: no processor of images could be loaded ({' '.join(str(error).split())[:200]}): a "
            "model of images has a preprocessor_config.json"
        ) from error
