"""Tiny networks of images with random weights, written to folders as a hub has them."""

import io

import numpy as np
import torch
import transformers
from PIL import Image

TOKENS = {
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "image_size": 32,
    "patch_size": 8,
}
STAGES = {"hidden_sizes": [4, 8, 12, 16], "depths": [1, 1, 1, 1]}
WORDS = {
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "vocab_size": 50,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}


def models():
    """Return for each family its model and its processor."""
    t = transformers
    cropped = {"size": {"shortest_edge": 36}, "crop_size": {"height": 32, "width": 32}}
    square = {"size": {"height": 32, "width": 32}}
    clip = t.CLIPConfig(text_config=WORDS, vision_config=TOKENS, projection_dim=12)
    siglip = t.SiglipConfig(text_config=WORDS, vision_config=TOKENS)
    return {
        "resnet": (
            t.ResNetModel(t.ResNetConfig(embedding_size=4, **STAGES)),
            t.ConvNextImageProcessorPil(size={"shortest_edge": 32}, crop_pct=0.875),
        ),
        "regnet": (
            t.RegNetModel(t.RegNetConfig(embedding_size=4, groups_width=4, **STAGES)),
            t.ConvNextImageProcessorPil(size={"shortest_edge": 32}, crop_pct=0.875),
        ),
        "convnext": (
            t.ConvNextModel(t.ConvNextConfig(**STAGES)),
            t.ConvNextImageProcessorPil(size={"shortest_edge": 32}, crop_pct=0.875),
        ),
        "vit": (t.ViTModel(t.ViTConfig(**TOKENS)), t.ViTImageProcessorPil(**square)),
        "dinov2": (t.Dinov2Model(t.Dinov2Config(**TOKENS)), t.BitImageProcessorPil(**cropped)),
        "clip": (t.CLIPModel(clip), t.CLIPImageProcessorPil(**cropped)),
        "siglip": (t.SiglipModel(siglip), t.SiglipImageProcessorPil(**square)),
    }


def save(folder, family):
    """Write a model of a family and return it with its processor."""
    torch.manual_seed(0)
    model, processor = models()[family]
    for name, tensor in model.named_parameters():  # fresh weights are too even to tell images apart
        if tensor.ndim > 1:
            torch.nn.init.normal_(tensor, std=0.3)
        elif "bias" in name:
            torch.nn.init.normal_(tensor, std=0.1)
    model.eval()
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return model, processor


def noise(seed, size=(50, 40)):
    """Return an image that is not like another."""
    pixels = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(pixels).resize(size, Image.Resampling.BICUBIC)


def encoded(image, form="PNG", **options):
    """Return the bytes of an image file."""
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def encoder_of(kind, scheme, folder, **options):
    """Return an encoder of images of a class, with the options of its scheme that are not given."""
    from xlingual.encoders import SCHEMES

    given = {option.name: option.default for option in SCHEMES[scheme].options} | options
    return kind(folder, given, f"{scheme}:{folder}")
