"""VGG-19's fc7 as the page on MLMME's experiment makes it: of a tiny checkpoint with the same layers."""

import io
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from xlingual.encoders import image_encoder
from xlingual.records import Images

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

PAGE = Path(__file__).parents[4] / "docs/papers/mlmme-multi30k.md"
TINY = {"width": 2, "hidden": 12, "classes": 5}


@pytest.fixture(scope="module")
def page():
    """The names that the page's code defines."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (code,) = (block for block in blocks if "class VGG19" in block)
    found = {}
    exec(compile(code, str(PAGE), "exec"), found)
    return found


@pytest.fixture(scope="module")
def network(page):
    torch.manual_seed(0)
    made = page["VGG19"](**TINY)
    for weight in made.parameters():
        torch.nn.init.normal_(weight, std=(2 / weight[0].numel()) ** 0.5 if weight.ndim > 1 else 0.1)
    return made.eval()


@pytest.fixture(scope="module")
def folder(page, network, tmp_path_factory):
    place = tmp_path_factory.mktemp("vgg")
    torch.save(network.state_dict(), place / "tiny.pth")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter says that there is a newer one
        page["write_vgg19"](place / "tiny.pth", place / "vgg19", **TINY)
    return place / "vgg19"


def test_it_is_network_configuration_e(page):
    """Table 2 of Simonyan and Zisserman: 144 million weights; the names of torchvision's checkpoint."""
    with torch.device("meta"):
        whole = page["VGG19"]()
    shapes = {name: tuple(weight.shape) for name, weight in whole.state_dict().items()}
    assert sum(weight.numel() for weight in whole.parameters()) == 143_667_240
    convolutions = [0, 2, 5, 7, 10, 12, 14, 16, 19, 21, 23, 25, 28, 30, 32, 34]
    assert [
        int(name.split(".")[1]) for name in shapes if name.startswith("features") and "weight" in name
    ] == (convolutions)
    assert shapes["features.34.weight"] == (512, 512, 3, 3)
    assert shapes["classifier.0.weight"] == (4096, 25_088)
    assert shapes["classifier.3.weight"] == (4096, 4096) and shapes["classifier.6.weight"] == (1000, 4096)


def a_picture(seed, size):
    pixels = np.random.default_rng(seed).integers(0, 256, (*size, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "png")
    return file.getvalue()


def prepared(picture):
    """Shorter side 256, the middle 224 × 224, ImageNet's mean and standard deviation."""
    image = Image.open(io.BytesIO(picture))
    short = min(image.size)
    image = image.resize([int(256 * side / short) for side in image.size], Image.Resampling.BILINEAR)
    left, top = (image.width - 224) // 2, (image.height - 224) // 2
    pixels = np.asarray(image.crop((left, top, left + 224, top + 224)), dtype=np.float64) / 255
    pixels = (pixels - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    return torch.tensor(pixels.transpose(2, 0, 1)[None], dtype=torch.float32)


def test_fc7_is_what_the_network_itself_gives(folder, network):
    pictures = [a_picture(seed, size) for seed, size in enumerate([(300, 240), (64, 64), (230, 512)])]
    batch = Images(pictures, ["en"] * 3, ["a", "b", "c"])
    found = image_encoder(f"onnx:{folder}")[1].encode(batch)
    with torch.inference_mode():
        bottom = torch.cat([torch.flatten(network.features(prepared(each)), 1) for each in pictures])
        fc7 = network.classifier[:4](bottom).numpy()
    scale = np.abs(fc7).max()
    assert found.shape == (3, 12) and (found > 0.01 * scale).any() and (fc7 < -0.01 * scale).any()
    np.testing.assert_allclose(found, np.maximum(fc7, 0), atol=1e-5 * scale)
