"""Whether a folder holds a model of texts or of pictures, by the files that prepare what it reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from xlingual.encoders.checkpoints import read_json
from xlingual.errors import InputError

_VOCABULARIES = (
    "tokenizer.json",
    "vocab.txt",
    "tekken.json",
    "*.model",
    "*.spm",
    "*.tiktoken",
    "*.tokenizer",
)
_PAIRED = ("vocab*.json", "merges.txt")  # only together
_PROCESSORS = ("preprocessor_config.json", "processor_config.json")
# read characters or bytes, and have no vocabulary
_WITHOUT = ("CanineTokenizer", "ByT5Tokenizer", "PerceiverTokenizer")
_WITHOUT_TYPES = ("canine", "perceiver")


def check_tokenizer(who: str, folder: Path, *, modules: bool = False) -> None:
    """Raise InputError where a model of texts has no tokenizer: the library would make up an empty one.

    With `modules`, of sentence-transformers, its folders are looked at too, and only a model with a network
    of transformers needs a tokenizer.
    """
    if modules and not _has_transformer(folder):
        return
    places = list(_places(folder, modules))
    if any(_reads_text(place) for place in places):
        return
    if any((place / name).is_file() for place in places for name in _PROCESSORS):
        raise InputError(
            f"{who}: has no tokenizer: is it a model of pictures? It is then an --image-encoder; for texts "
            "take a model with tokenizer.json"
        )
    raise InputError(
        f"{who}: has no tokenizer (tokenizer.json, vocab.txt, vocab.json with merges.txt, or a .model): copy "
        "these files from where the model comes from, or write them: "
        "AutoTokenizer.from_pretrained(ORIGIN).save_pretrained(FOLDER)"
    )


def check_processor(who: str, folder: Path, *, modules: bool = False) -> None:
    """Raise InputError where a model has no processor of pictures; `modules` as in `check_tokenizer`."""
    places = list(_places(folder, modules))
    if any((place / name).is_file() for place in places for name in _PROCESSORS):
        return
    if "pretrained_cfg" in read_json(folder / "config.json"):  # of timm: its settings hold a processor's
        return
    if any(_reads_text(place) for place in places):
        raise InputError(
            f"{who}: has a tokenizer and no preprocessor_config.json: is it a model of texts? It is then a "
            "--text-encoder"
        )
    raise InputError(
        f"{who}: has no preprocessor_config.json, which tells how pictures are prepared: copy it from where "
        "the model comes from"
    )


def _places(folder: Path, modules: bool) -> Iterable[Path]:
    """Return the folder and, with modules, those up to two levels below (parts of a router lie there)."""
    yield folder
    if modules:
        yield from (path for pattern in ("*", "*/*") for path in folder.glob(pattern) if path.is_dir())


def _reads_text(place: Path) -> bool:
    if any(any(place.glob(pattern)) for pattern in _VOCABULARIES):
        return True
    if all(any(place.glob(pattern)) for pattern in _PAIRED):
        return True
    settings = read_json(place / "config.json")
    named = (
        read_json(place / "tokenizer_config.json").get("tokenizer_class"),
        settings.get("tokenizer_class"),
    )
    return settings.get("model_type") in _WITHOUT_TYPES or any(
        str(name).removesuffix("Fast") in _WITHOUT for name in named
    )


def _has_transformer(folder: Path) -> bool:
    path = folder / "modules.json"
    return not path.is_file() or any(
        word in path.read_text(encoding="utf-8") for word in ("Transformer", "CLIPModel", "Router", "Asym")
    )
