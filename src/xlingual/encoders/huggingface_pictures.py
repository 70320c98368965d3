"""`hf:` on pictures: networks of transformers, seen through their last pooled layer.

What that layer is, by family (`pool=` and `layer=` choose another):

- ResNet, ConvNeXt, RegNet, Swin and other convolutional ones: the model's pooled output, a mean over
  positions (after the last layer norm, where there is one);
- CLIP: the projected vector that it compares with texts; SigLIP: its attention pooling;
- ViT, DINOv2, DeiT, …: the model's pooled output where its weights are in the checkpoint (of DINOv2 the first
  token), else the first token after the last layer norm. A checkpoint of a classifier has no pooler, and one
  with random weights is never used.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xlingual.encoders.batching import in_batches
from xlingual.encoders.decoding import decoded, distinct
from xlingual.encoders.weights import checkpoint_digest
from xlingual.errors import InputError, MissingExtraError
from xlingual.records import Ints, Pictures, Vectors

if TYPE_CHECKING:
    from PIL.Image import Image

_TOWERS = {  # models of texts and pictures of which only one side is needed
    "clip": "CLIPVisionModelWithProjection",
    "clip_vision_model": "CLIPVisionModelWithProjection",
    "siglip": "SiglipVisionModel",
    "siglip_vision_model": "SiglipVisionModel",
    "siglip2": "Siglip2VisionModel",
    "siglip2_vision_model": "Siglip2VisionModel",
}
MOST_NARROW = 100  # sides of a picture: processors scale the shorter one up to the model's size
Prepared = Mapping[str, np.ndarray]  # what a model takes of one picture: arrays [1, …] by name


class HuggingFacePictures:
    """A network of transformers on pictures; it is loaded when it is first used.

    Pictures are prepared by the checkpoint's own processor, in the variant that needs Pillow only, in worker
    threads, while the network runs. Equal bytes are encoded once.
    """

    content = ("bytes",)

    def __init__(
        self,
        folder: Path,
        *,
        pool: str | None = None,
        layer: int = -1,
        batch: int = 32,
        device: str | None = None,
        dtype: str = "float32",
    ) -> None:
        if pool == "last":
            raise InputError(
                "hf: pool=last is for texts; of pictures there are mean, cls and pooler, or leave it out"
            )
        self.folder, self.pool, self.layer, self.batch, self.dtype = folder, pool, layer, batch, dtype
        self._device = device

    @cached_property
    def identity(self) -> str:
        """The digest of the checkpoint's files, and what is read off the network."""
        weights = checkpoint_digest(self.folder)[:32]
        read = f"pool={self.pool or 'family'}&layer={self.layer}&dtype={self.dtype}"
        return f"hf:pictures?weights={weights}&{read}"

    def encode(self, batch: Pictures) -> Vectors:
        """Return float32 [n, d]; raise InputError naming the first row whose picture is absent or broken."""
        if not len(batch):
            return self._run([self._prepare(_white())])[:0]
        first, code = distinct(batch)
        pictures = decoded(batch.take(first), self._prepare, ahead=2 * self.batch)
        waiting = Waiting(pictures)
        vectors = in_batches(
            np.ones(len(first), dtype=np.int64),  # all of one size: they stay in order
            self.batch,
            lambda rows: self._run(waiting.take(rows)),
            who=f"hf:{self.folder.name}",
        )
        waiting.finish()
        return vectors[code]

    def _prepare(self, picture: Image) -> Prepared:
        return prepare(self._network.processor, picture)

    @cached_property
    def _network(self) -> Network:
        return load(self.folder, self._device, self.dtype)

    def _run(self, pictures: Sequence[Prepared]) -> Vectors:
        """Return the vectors of prepared pictures; those of one shape go through the network together."""
        import torch

        network = self._network
        shapes: dict[tuple[tuple[int, ...], ...], list[int]] = {}
        for i, arrays in enumerate(pictures):
            shapes.setdefault(tuple(array.shape for array in arrays.values()), []).append(i)
        found: list[Vectors] = [np.empty(0, dtype=np.float32)] * len(pictures)
        for rows in shapes.values():
            inputs = {
                name: network.tensor(np.concatenate([pictures[i][name] for i in rows]))
                for name in pictures[rows[0]]
            }
            with torch.inference_mode():
                pooled = self._pooled(network, inputs)
            for i, vector in zip(rows, pooled.float().cpu().numpy(), strict=True):
                found[i] = vector
        return np.stack(found)

    def _pooled(self, network: Network, inputs: dict[str, Any]) -> Any:  # noqa: ANN401  (a tensor)
        """Return one vector of each picture, [n, d]."""
        model = network.model
        if self.layer == -1 and self.pool in (None, "pooler"):
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
                    f"hf:{self.folder.name}: pool=pooler: the checkpoint has no weights of a pooled output; "
                    "write pool=cls or pool=mean, or leave pool out"
                )
            hidden = output.last_hidden_state
        else:
            hidden = self._hidden(model, inputs)
        if hidden.ndim == 4:  # [n, channels, height, width]
            return hidden.mean(dim=(2, 3))
        return hidden.mean(dim=1) if self.pool == "mean" else hidden[:, 0]

    def _hidden(self, model: Any, inputs: dict[str, Any]) -> Any:  # noqa: ANN401  (of transformers and torch)
        """Return a hidden layer, [n, tokens, d] or [n, channels, height, width]."""
        who = f"hf:{self.folder.name}"
        if self.layer != -1 and self.pool == "pooler":
            raise InputError(f"{who}: pool=pooler has no layers: leave layer out, or write pool=cls or mean")
        if hasattr(model, "get_image_features"):
            raise InputError(f"{who}: of this model only the last pooled layer is there: leave out pool, layer")
        if self.layer == -1:
            return model(**inputs).last_hidden_state
        layers = model(**inputs, output_hidden_states=True).hidden_states
        if not layers or not -len(layers) <= self.layer < len(layers):
            raise InputError(
                f"{who}: layer={self.layer}: there are the layers 0 to {len(layers or ()) - 1}, and -1, the last"
            )
        return layers[self.layer]


class Network(NamedTuple):
    """A loaded model with the processor of its pictures."""

    model: Any
    processor: Any
    pooler_is_random: bool  # the checkpoint has no weights of it

    def tensor(self, array: np.ndarray) -> Any:  # noqa: ANN401  (a tensor)
        """Return an array where the model is, numbers in the model's precision."""
        import torch

        tensor = torch.from_numpy(array).to(self.model.device)
        return tensor.to(self.model.dtype) if tensor.is_floating_point() else tensor


class Waiting:
    """Prepared pictures that were taken from the worker threads, until their vectors are there."""

    def __init__(self, pictures: Iterator[Prepared]) -> None:
        self._pictures, self._next = pictures, 0
        self._kept: dict[int, Prepared] = {}

    def take(self, rows: Ints) -> list[Prepared]:
        """Return consecutive pictures; earlier ones are let go, so rows never go back."""
        first, last = int(rows[0]), int(rows[-1])
        self._kept = {row: one for row, one in self._kept.items() if row >= first}
        while self._next <= last and (one := next(self._pictures, None)) is not None:
            self._kept[self._next] = one
            self._next += 1
        return [self._kept[row] for row in range(first, last + 1)]

    def finish(self) -> None:
        """Let the worker threads end."""
        next(self._pictures, None)


def prepare(processor: Any, picture: Image) -> Prepared:  # noqa: ANN401  (of transformers)
    """Return the arrays that a model takes of a picture; raise InputError where it cannot be scaled."""
    short, long = sorted(picture.size)
    if long > MOST_NARROW * short:
        raise InputError(
            f"the picture is {picture.width} × {picture.height} pixels, more than {MOST_NARROW} times as long "
            "as wide: crop it, or leave the row out"
        )
    return dict(processor(images=[picture], return_tensors="np"))


def load(folder: Path, device: str | None, dtype: str) -> Network:
    """Return the model and the processor of a folder; raise InputError where they are not what they must be."""
    torch, transformers = _libraries()
    who = f"hf:{folder.name}"
    if not any(folder.glob("*.safetensors")):
        raise InputError(
            f"{who}: no weights in .safetensors in {folder}: other formats can run code and are not read; "
            "load the model where you trust it and write it with save_pretrained(folder)"
        )
    with _quiet(transformers):
        processor = _processor(transformers, folder, who)
        try:
            config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
            kind, config = _tower(transformers, config)
            model, found = kind.from_pretrained(
                folder,
                config=config,
                use_safetensors=True,
                local_files_only=True,
                output_loading_info=True,
                dtype=getattr(torch, dtype),
            )
        except (OSError, ValueError, KeyError, RuntimeError, AttributeError) as error:
            raise InputError(f"{who} cannot be loaded from {folder} ({_first_line(error)})") from error
    missing = _missing(found.get("missing_keys", ()))
    others = [name for name in missing if "pooler" not in name]
    if others:
        raise InputError(
            f"{who}: {len(others)} weights of {kind.__name__} are not in the checkpoint (first: {others[0]}): "
            "they would be random; is it a model of pictures?"
        )
    try:
        model = model.to(device or _best_device(torch)).eval()
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"{who}: device={device} cannot be used ({_first_line(error)})") from error
    return Network(model, processor, pooler_is_random=bool(missing))


def _tower(transformers: Any, config: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """Return the class of the network that sees pictures, and its config."""
    name = _TOWERS.get(config.model_type)
    if name is None:
        return transformers.AutoModel, config
    vision = getattr(config, "vision_config", config)
    if hasattr(config, "vision_config") and hasattr(config, "projection_dim"):
        vision.projection_dim = config.projection_dim  # the whole model's counts
    return getattr(transformers, name), vision


def _processor(transformers: Any, folder: Path, who: str) -> Any:  # noqa: ANN401
    """Return the checkpoint's processor of pictures, the one that needs Pillow only."""
    from packaging.version import Version

    chosen = {"backend": "pil"} if Version(transformers.__version__) >= Version("5") else {"use_fast": False}
    try:
        return transformers.AutoImageProcessor.from_pretrained(folder, local_files_only=True, **chosen)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise InputError(
            f"{who}: no processor of pictures in {folder} ({_first_line(error)}): a model of pictures has a "
            "preprocessor_config.json"
        ) from error


def _libraries() -> tuple[Any, Any]:
    try:
        import torch
        import transformers
    except ImportError:
        raise MissingExtraError("hf:", "hf") from None
    return torch, transformers


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:  # noqa: ANN401
    """Hold back the bars and reports of loading: what matters of them is checked here."""
    log = transformers.utils.logging
    level, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity(log.CRITICAL)
    log.disable_progress_bar()
    try:
        yield
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()


def _best_device(torch: Any) -> str:  # noqa: ANN401
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _missing(names: Iterable[str]) -> list[str]:
    return sorted(str(name) for name in names)


def _first_line(error: Exception) -> str:
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return text[:200]


def _white() -> Image:
    from PIL import Image

    return Image.new("RGB", (64, 64), "white")


def _folder(argument: str, revision: str | None) -> Path:
    """Return the folder of a model: the one that is named, or the local copy of one from the hub."""
    folder = Path(argument).expanduser()
    if folder.is_dir():
        return folder
    if argument.startswith((".", "/", "~", os.sep)) or argument.count("/") > 1:
        raise InputError(f"hf:{argument}: no such folder; give a folder, or the name of a model on the hub")
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise MissingExtraError("hf:", "hf") from None
    try:
        return Path(
            snapshot_download(argument, revision=revision, allow_patterns=["*.json", "*.txt", "*.safetensors"])
        )
    except Exception as error:  # the hub's client raises errors of many kinds
        raise InputError(
            f"hf:{argument}: no such folder, and no model of this name could be fetched "
            f"({_first_line(error)}): check the name and the connection, or fetch it elsewhere with "
            f"`hf download {argument}` and give the folder"
        ) from error


def build(argument: str, options: Mapping[str, Any], context: object) -> HuggingFacePictures:
    """Return the encoder for a spec."""
    return HuggingFacePictures(
        _folder(argument, options.get("revision")),
        pool=options.get("pool"),
        layer=options.get("layer", -1),
        batch=options.get("batch", 32),
        device=options.get("device"),
        dtype=options.get("dtype", "float32"),
    )
