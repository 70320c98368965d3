"""The page's way to ResNeXt-101, run on a tiny one: what it writes encodes images as torch does."""

import re
import sys
from io import BytesIO
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from torch import nn  # noqa: E402

from xlingual import Manifest  # noqa: E402
from xlingual.encoders import image_encoder  # noqa: E402
from xlingual.evaluation.backretrieval import backretrieval  # noqa: E402
from xlingual.records import Images  # noqa: E402

PAGE = Path(__file__).parents[4] / "docs/papers/case-study.md"


class Bottleneck(nn.Module):
    """A block of ResNeXt: its convolution of 3 × 3 is grouped."""

    def __init__(self, given, width, out, groups, stride):
        super().__init__()
        grouped = nn.Conv2d(width, width, 3, stride, 1, groups=groups, bias=False)
        layers = [nn.Conv2d(given, width, 1, bias=False), grouped, nn.Conv2d(width, out, 1, bias=False)]
        norms = [nn.BatchNorm2d(layer.out_channels) for layer in layers]
        steps = [part for pair in zip(layers, norms, strict=True) for part in (*pair, nn.ReLU())]
        self.body = nn.Sequential(*steps[:-1])
        self.short = nn.Conv2d(given, out, 1, stride, bias=False)

    def forward(self, x):
        return torch.relu(self.body(x) + self.short(x))


def tiny(weights):
    """Return a ResNeXt with the parts of torchvision's, in their order."""
    torch.manual_seed(0)
    net = nn.Module()
    net.conv1, net.bn1, net.relu = nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU()
    net.maxpool = nn.MaxPool2d(3, 2, 1)
    for i, (given, out) in enumerate([(8, 16), (16, 32), (32, 32), (32, 32)], 1):
        setattr(net, f"layer{i}", Bottleneck(given, 8, out, 4, 2 if i in (2, 3) else 1))
    net.avgpool, net.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(32, 1000)
    return net


def picture(seed, size=(300, 260)):
    colours = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    out = BytesIO()
    Image.fromarray(colours).resize(size, Image.Resampling.NEAREST).save(out, "PNG")
    return out.getvalue()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_recipe_of_the_page(tmp_path, monkeypatch):
    code = re.search(r"```python\n(import json\n.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    vision = ModuleType("torchvision")
    vision.models = ModuleType("torchvision.models")
    vision.models.resnext101_32x8d = tiny
    monkeypatch.setitem(sys.modules, "torchvision", vision)
    monkeypatch.chdir(tmp_path)
    exec(compile(code[1], str(PAGE), "exec"), {})

    pictures = [picture(seed) for seed in range(12)]
    _, encoder = image_encoder("onnx:resnext")
    found = encoder.encode(Images(pictures, ["en"] * 12, [f"p{i}" for i in range(12)]))
    net = nn.Sequential(*list(tiny(None).children())[:-2]).eval()
    expected = []
    for source in pictures:
        with Image.open(BytesIO(source)) as image:
            short = image.resize((295, 256), Image.Resampling.BILINEAR)  # the shorter side is 256
        left, top = (295 - 224) // 2, (256 - 224) // 2
        pixels = np.asarray(short.crop((left, top, left + 224, top + 224)), dtype=np.float64) / 255
        pixels = (pixels - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
        with torch.inference_mode():
            places = net(torch.tensor(pixels.transpose(2, 0, 1)[None], dtype=torch.float32))
        expected.append(places.mean(dim=(2, 3))[0].numpy())
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert np.ptp(np.asarray(expected), axis=0).max() > 1e-3  # images differ

    rows = [
        {"id": f"r{i}", "lang": ("en", "de")[i % 2], "text": f"text {i}", "image": pictures[i]}
        for i in range(12)
    ]
    results = backretrieval(
        Manifest.of(rows),
        text_encoders="random",
        image_encoder="resnext=onnx:resnext",
        measures=["R@2"],
        store=None,
    )
    assert {row.image_encoder for row in results.summary} == {"resnext"}
