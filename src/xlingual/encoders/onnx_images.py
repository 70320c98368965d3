"""`onnx:` on images: they are scaled, cropped and normalised as preprocessor_config.json says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.checkpoints import read_json
from xlingual.encoders.decoding import by_shape, encode_images, refuse_text_options
from xlingual.encoders.networks import NetworkEncoder
from xlingual.encoders.onnx_graph import OnnxGraph, find_graph, graph_files
from xlingual.encoders.weights import checkpoint_digest
from xlingual.errors import InputError, listed
from xlingual.records import Images

if TYPE_CHECKING:
    from PIL.Image import Image

_NAMES = ("vision_model.onnx", "model.onnx")
_SETTINGS = ("preprocessor_config.json", "processor_config.json")
_POOLED = ("image_embeds", "pooler_output", "sentence_embedding")
_STEPS = ("do_resize", "do_center_crop", "do_rescale", "do_normalize", "do_convert_rgb")
_SHORTEST_EDGE = ("CLIP", "ConvNext", "ResNet", "Levit", "MobileNet", "PoolFormer", "Chinese", "Efficient")
_WARPED = 384  # ConvNext's processor crops below this size and warps from it on


class OnnxImages(NetworkEncoder):
    """A graph that takes `pixel_values` [n, 3, height, width].

    Without `pool` the vector is the output `image_embeds` or `pooler_output`, else the mean of the last
    hidden state over its places; `output` names another value, of an inner layer too. Equal bytes are encoded
    once.
    """

    content = ("bytes",)
    has_head = False

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        super().__init__(folder, options, who)
        refuse_text_options(who, options)
        self.path = find_graph(folder, options["file"], _NAMES, who)
        read_processor(folder, who)  # so that bad settings are refused at once

    @cached_property
    def identity(self) -> str:
        """A hash of the graph, its weights and the settings, and how its output is pooled."""
        inner = self.stated("output")
        return f"onnx:pictures:{self.digest}?pool={self.options['pool']}{'&' * bool(inner)}{inner}"

    def _files_digest(self) -> str:
        settings = filter(Path.is_file, (self.folder / name for name in _SETTINGS))
        return checkpoint_digest(self.folder, [*graph_files(self.path, self.who), *settings])

    @cached_property
    def processor(self) -> Processor:
        """What is done to images, read from the settings that the identity is of."""
        with self.unchanged():
            return read_processor(self.folder, self.who)

    @cached_property
    def graph(self) -> OnnxGraph:
        """The graph, which takes nothing but images."""
        with self.unchanged():
            graph = OnnxGraph(self.path, self.who, self.options["output"])
            alone = len(graph.inputs) == 1 and "input_ids" not in graph.inputs  # some call it otherwise
            graph.refuse_other_inputs(list(graph.inputs) if alone else ["pixel_values"], "images")
        return graph

    def encode(self, batch: Images, /) -> Vectors:
        """Return float32 [n, d]; raise InputError naming the first row whose image is absent or broken."""
        return encode_images(
            batch,
            self.processor.pixels,
            self._run,
            batch_size=self.graph.batch_size(self.options["batch"]),
            who=self.who,
            memory=self.memory,
        )

    def _run(self, images: Sequence[np.ndarray]) -> Vectors:
        """Return the vectors of images [3, height, width]; those of one size go through together."""
        name, output = next(iter(self.graph.inputs)), self._output
        return by_shape(
            images,
            lambda image: image.shape,
            lambda alike: self._pooled(self.graph.run({name: np.stack(alike)}, output)),
        )

    @cached_property
    def _output(self) -> str:
        """The output that is read."""
        outputs, pool = self.graph.outputs, self.options["pool"]
        ready = self.graph.outputs_of(_POOLED, 2)
        hidden = [name for name, slot in outputs.items() if len(slot.shape) in (3, 4) and name not in ready]
        offered = {"pooler": ready, None: ready + hidden}.get(pool, hidden)
        if not offered:
            raise InputError(
                f"{self.who}: the graph has no output for pool={pool or 'pooler or mean'}, only "
                f"{listed(outputs)}: choose another pool, or export the model without its classifier"
            )
        return str(offered[0])

    def _pooled(self, answer: np.ndarray) -> Vectors:
        """Return [n, d] of an output [n, d], of tokens [n, tokens, d] or of a map [n, d, height, width]."""
        cls = self.options["pool"] == "cls"
        if cls and answer.ndim == 4:
            raise InputError(f"{self.who}: pool=cls: the output is a map without a first token; use mean")
        if answer.ndim == 3:
            return np.asarray(answer[:, 0] if cls else answer.mean(axis=1))
        return np.asarray(answer.mean(axis=(2, 3)) if answer.ndim == 4 else answer)


@dataclass(frozen=True)
class Processor:
    """What is done to an image, in this order; a step that is None is left out."""

    resize: tuple[int, int] | None  # height, width
    shortest: int | None  # instead: the length of the shorter side; the shape is kept
    resample: int  # as Pillow numbers it
    crop: tuple[int, int] | None  # height, width, from the middle; black where the image is smaller
    scale: float | None
    mean: tuple[float, ...] | None
    std: tuple[float, ...] | None

    def pixels(self, image: Image) -> np.ndarray:
        """Return float32 [3, height, width] of an RGB image."""
        from PIL import Image

        size = self.resize
        if self.shortest is not None:
            short, long = sorted(image.size)
            other = int(self.shortest * long / short)
            size = (other, self.shortest) if image.height >= image.width else (self.shortest, other)
        if size is not None:
            image = image.resize((size[1], size[0]), Image.Resampling(self.resample))
        if self.crop is not None:
            height, width = self.crop
            top, left = (image.height - height) // 2, (image.width - width) // 2
            image = image.crop((left, top, left + width, top + height))
        values = np.asarray(image, dtype=np.float32)
        if self.scale is not None:
            values = values * np.float32(self.scale)
        if self.mean is not None and self.std is not None:
            mean, std = np.array((self.mean, self.std), dtype=np.float32)
            values = (values - mean) / std
        return np.ascontiguousarray(values.transpose(2, 0, 1), dtype=np.float32)


def read_processor(folder: Path, who: str) -> Processor:
    """Return the steps of preprocessor_config.json; raise InputError where one is not known here."""
    settings = read_json(folder / _SETTINGS[0]) or read_json(folder / _SETTINGS[1]).get("image_processor", {})
    if not settings:
        raise InputError(
            f"{who}: no preprocessor_config.json in the folder, which says how images are scaled: save it "
            "with AutoImageProcessor.from_pretrained(NAME).save_pretrained(FOLDER)"
        )
    steps = {name for name, on in settings.items() if name.startswith("do_") and on}
    if others := sorted(steps - set(_STEPS)):
        raise InputError(f"{who}: preprocessor_config.json asks for {listed(others)}, which onnx: cannot do")
    try:
        return _processor(settings)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{who}: preprocessor_config.json: its sizes, mean or std are invalid ({error}): save it again "
            "with transformers"
        ) from None


def _processor(settings: Mapping[str, Any]) -> Processor:
    size, crop = settings.get("size"), settings.get("crop_size")
    resize: tuple[int, int] | None = None
    shortest: int | None = None
    cropped = _pair(crop) if settings.get("do_center_crop") and crop else None
    if settings.get("do_resize", size is not None):
        kind = str(settings.get("image_processor_type") or settings.get("feature_extractor_type") or "")
        if isinstance(size, int) and kind.startswith(_SHORTEST_EDGE):
            size = {"shortest_edge": size}
        if not isinstance(size, int | Mapping):
            raise ValueError(f"size is {size!r}")
        edge = None if isinstance(size, int) else size.get("shortest_edge")
        if edge is None:
            resize = _pair(size)
        elif settings.get("crop_pct") is None:
            shortest = int(edge)
        elif edge < _WARPED:
            shortest, cropped = int(edge / settings["crop_pct"]), cropped or (int(edge), int(edge))
        else:
            resize = (int(edge), int(edge))
    normal = settings.get("do_normalize", "image_mean" in settings)
    return Processor(
        resize,
        shortest,
        int(settings.get("resample", 2)),
        cropped,
        float(settings.get("rescale_factor", 1 / 255)) if settings.get("do_rescale", True) else None,
        tuple(map(float, settings["image_mean"])) if normal else None,
        tuple(map(float, settings["image_std"])) if normal else None,
    )


def _pair(size: int | Mapping[str, int]) -> tuple[int, int]:
    """Return (height, width) of a size that is one number or both."""
    return (size, size) if isinstance(size, int) else (int(size["height"]), int(size["width"]))
