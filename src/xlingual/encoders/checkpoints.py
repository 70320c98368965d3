"""The folder of a model: where it comes from, which files count, and what must not be in it.

A folder from strangers is data: no code and no pickle in it is ever opened, and numbers in its settings that
no network has are refused before memory is asked for.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from xlingual.encoders.runtime import require
from xlingual.errors import InputError
from xlingual.models.folder import file_digest

# endings of the files that loaders read, and that are fetched from a hub: never a pickle, never code
_READ = (*("json", "txt", "model", "spm", "bpe", "codes", "tiktoken", "tokenizer", "jinja"), "safetensors")
_DEPTH = 4  # folders of modules in folders of modules
_VOCABULARIES = ("tokenizer.json", "vocab*", "tekken.json", "*.model", "*.spm", "*.tiktoken", "*.tokenizer")
_CHARACTERS = re.compile("canine|byt5|perceiver", re.IGNORECASE)  # networks without a vocabulary
_MOSES = re.compile("(xlm|flaubert|fsmt)(tokenizer)?", re.IGNORECASE)  # tokenizers that need sacremoses
_NETWORKS = re.compile("Transformer|CLIPModel|Router|Asym")  # modules that have one, or may
# how `model_type` begins where a network of transformers was trained on images and texts together
_WITH_IMAGES = ("clip", "siglip", "chinese_clip", "metaclip", "altclip", "align", "blip", "flava")
_LARGEST = 10**8  # no size in the settings of a network is larger

DENSE, SPARSE, TOKENS, PAIRS = "SentenceTransformer", "SparseEncoder", "MultiVectorEncoder", "CrossEncoder"
_MARKS = {  # in the class of a module
    ".pylate.": TOKENS,
    ".multi_vector_encoder.": TOKENS,
    ".sparse_encoder.": SPARSE,
    ".cross_encoder.": PAIRS,
}
_PYLATE = {"query_prefix", "document_prefix", "do_query_expansion", "attend_to_expansion_tokens"}
_COLBERT = re.compile("HF_ColBERT|ForRetrieval$")
_HEADS = re.compile(
    "For(SequenceClassification|TokenClassification|QuestionAnswering\\w*|MultipleChoice|NextSentencePrediction)"
)


def model_folder(who: str, name: str, revision: str | None = None, extra: str | None = None) -> Path:
    """Find the folder of a model: `name` itself where it is a folder, else what a hub has by that name.

    A model that was fetched before is taken from the cache of `huggingface_hub`, also without a network.
    `extra` is the optional package that brings the client; without it only folders are taken.
    """
    path = Path(os.path.expanduser(name))
    if name.strip() and path.is_dir():
        if revision is not None:
            raise InputError(f"{who}: revision={revision} is of a model on a hub, but this is a folder")
        return path
    is_path = name.startswith((".", "~", os.sep)) or name.count("/") > 1 or "\\" in name
    if extra is None or not name.strip() or path.exists() or is_path:
        raise InputError(f"{who}: expected the folder of a model: no such folder")
    require(who, extra, "huggingface_hub")
    from huggingface_hub import snapshot_download

    try:
        folder = snapshot_download(
            name, revision=revision, allow_patterns=[f"*.{ending}" for ending in _READ]
        )
    except Exception as error:  # no network, switched offline, no such name or revision, a licence to accept
        raise InputError(
            f"{who}: not in the cache, and not fetched from the hub ({type(error).__name__}): check name and "
            "revision; where its page asks for it, accept a licence and run `hf auth login`; or, where there "
            f"is a network, run `hf download {name} --local-dir FOLDER` and write "
            f"{who.partition(':')[0]}:FOLDER"
        ) from None
    return Path(folder)


def read_json(path: Path) -> dict[str, Any]:
    """Read the object that a file of settings holds, {} where there is no such file."""
    if not path.is_file():
        return {}
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error}): fetch the model again") from None
    if not isinstance(settings, dict):
        raise InputError(f"{path}: expected an object of settings, found {type(settings).__name__}")
    return settings


def checkpoint_digest(folder: str | Path, files: Iterable[Path] | None = None) -> str:
    """Hash names (in the folder) and bytes of its `model_files`, or of other `files`, to 64 digits."""
    chosen = model_files(folder) if files is None else sorted(files)
    lines = (f"{path.relative_to(folder).as_posix()}\0{file_digest(path)}\n" for path in chosen)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def model_files(folder: str | Path) -> list[Path]:
    """List the files in the folder and in those of its modules that a loader may read, sorted."""
    root = Path(folder)
    files = set(root.iterdir()) if root.is_dir() else set[Path]()
    for part in module_folders(root)[1:]:
        files |= {path for path in part.rglob("*") if "/." not in f"/{path.relative_to(part).as_posix()}"}
    files = {path for path in files if path.suffix[1:] in _READ and path.is_file()}
    if not files:
        raise InputError(
            f"{root}: no file of a model in this folder: a model has config.json, a tokenizer or a "
            "processor, and weights in .safetensors"
        )
    return sorted(files)


def modules(folder: Path, depth: int = _DEPTH) -> list[tuple[Path, str]]:
    """List folder and class of what `modules.json` and a Router's routes name, in their folders too.

    Of a module whose folder leads out of this one, the class counts, and the folder is this one.
    """
    listing = folder / "modules.json"
    try:
        entries = json.loads(listing.read_text(encoding="utf-8")) if listing.is_file() else []
        named = [(str(entry.get("path", "")), str(entry.get("type", ""))) for entry in map(dict, entries)]
        if routes := read_json(folder / "router_config.json"):
            named += [(str(name), str(kind)) for name, kind in routes["types"].items()]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise InputError(f"{folder}: modules.json or router_config.json lists no modules") from None
    parts: list[tuple[Path, str]] = []
    for name, kind in named:
        inside = ".." not in Path(name).parts and not Path(name).is_absolute()
        part = folder / name if inside else folder
        parts += [(part, kind), *(modules(part, depth - 1) if depth > 1 and part != folder else ())]
    return parts


def module_folders(root: Path) -> list[Path]:
    """List the folder of a model, and those of its modules in it."""
    return list(dict.fromkeys([root, *(part for part, _ in modules(root))]))


def kind_of_modules(types: Iterable[str]) -> str | None:
    """Find the kind of a model that has a module of one of these classes, None where it is unknown."""
    return next((kind for name in types for mark, kind in _MARKS.items() if mark in f".{name}"), None)


def kind_of_folder(who: str, folder: Path, *taken: str, heads: bool = True) -> str:
    """Find the kind of a model: `DENSE`, or one of those `taken`; raise InputError for any other.

    Libraries load such a model all the same, without its head or with a pooling that it never had, and what
    comes out is another model. Evidence is what the files say: the kind and the modules in the settings of
    sentence-transformers (PyLate's too), the marks of a ColBERT and, with `heads`, the architecture of a
    classifier where no modules follow the network.
    """
    settings = read_json(folder / "config_sentence_transformers.json")
    types = [kind for _, kind in modules(folder)]
    named = read_json(folder / "config.json").get("architectures")
    architectures = [str(name) for name in named] if isinstance(named, list) else []
    kind = str(settings.get("model_type") or kind_of_modules(types) or DENSE)
    colbert = any(map(_COLBERT.search, architectures)) or bool(_PYLATE & set(settings))
    if kind == "ColBERT" or (kind == DENSE and colbert):
        kind = TOKENS
    is_head = bool(architectures) and all(map(_HEADS.search, architectures))
    if heads and kind == DENSE and len(types) < 2 and is_head:
        kind = architectures[0]
    if kind != DENSE and kind not in taken:
        refuse_kind(who, kind)
    return kind


def refuse_kind(who: str, kind: str) -> None:
    """Raise InputError that says what a model of this kind is, and what to take."""
    as_it_is = "write st: to score its texts as they are, or " if kind in (SPARSE, TOKENS) else ""
    raise InputError(
        f"{who}: is a {kind[:80]}; here an encoder gives one dense vector for each text or image: {as_it_is}"
        "take a dense one (of sentence-transformers: a SentenceTransformer), or save the body of a "
        "classifier alone: AutoModel.from_pretrained(FOLDER).save_pretrained(NEW)"
    )


def trained_on_images(settings: Mapping[str, Any]) -> bool:
    """Tell whether the settings (config.json) of a text network are those of one trained with images."""
    return "vision_config" in settings or str(settings.get("model_type", "")).startswith(_WITH_IMAGES)


def check_weights(who: str, folder: Path) -> None:
    """Raise InputError where weights are missing, are a pickle, or are fewer than the settings say."""
    weights = {place: sorted(place.glob("*.safetensors")) for place in module_folders(folder)}
    pickles = [path for place in weights if not weights[place] for path in place.glob("pytorch_model*.bin")]
    if pickles:
        raise InputError(
            f"{who}: {min(pickles).relative_to(folder)} is a pickle, which could run code, and is never "
            "read: fetch a revision with model.safetensors (often revision=refs/pr/1), or convert it "
            "where you trust it: AutoModel.from_pretrained(FOLDER).save_pretrained(NEW)"
        )
    if not any(weights.values()):
        raise InputError(f"{who}: no weights in this folder: a .safetensors file is needed")
    for place, files in weights.items():
        check_sizes(who, place / "config.json", files)


def check_sizes(who: str, path: Path, weights: Iterable[Path]) -> None:
    """Raise InputError where settings name more layers than there are weights, or sizes that nothing has."""
    from safetensors import SafetensorError, safe_open

    tensors = 0
    for file in weights:
        with suppress(SafetensorError, OSError), safe_open(file, framework="numpy") as content:
            tensors += len(content.keys())  # a damaged file is told when it is loaded
    level: list[tuple[str, Any]] = [("", read_json(path))]
    while level:
        name, value = level.pop()
        if isinstance(value, dict):
            level += [(str(key), below) for key, below in value.items()]
        elif isinstance(value, list):
            level += [(name, below) for below in value]
        if not isinstance(value, int) or abs(value) <= 100 or "theta" in name or name.endswith("_id"):
            continue
        if abs(value) > _LARGEST or ("layer" in name and value > tensors):
            stored = f", and its weights are {tensors} tensors"
            raise InputError(f"{who}: {path.name} says {name} = {value}{stored}: fetch the model again")


def check_reader(who: str, folder: Path, *, images: bool = False) -> None:
    """Raise InputError where a model has no tokenizer, or no processor of images: libraries invent them.

    Of the models of sentence-transformers only one with a network of transformers needs a tokenizer.
    """
    places = module_folders(folder)
    if images:
        needed, maker = "preprocessor_config.json", "AutoImageProcessor"
        files: tuple[str, ...] = ("preprocessor_config.json", "processor_config.json")
    else:
        needed, maker, files = "tokenizer", "AutoTokenizer", _VOCABULARIES
        both = [
            read_json(place / name) for place in places for name in ("config.json", "tokenizer_config.json")
        ]
        kinds = [str(part.get(name)) for part in both for name in ("model_type", "tokenizer_class")]
        if any(map(_MOSES.fullmatch, kinds)):
            require(f"the tokenizer of {who}", "mt", "sacremoses")
        listing = folder / "modules.json"
        bare = listing.is_file() and not _NETWORKS.search(listing.read_text(encoding="utf-8"))
        if bare or any(map(_CHARACTERS.match, kinds)):
            return
    if not any(any(place.glob(name)) for place in places for name in files):
        raise InputError(
            f"{who}: has no {needed}: is it a model of {'texts' if images else 'images'}? Else copy its "
            f"files, or write them: {maker}.from_pretrained(ORIGIN).save_pretrained(FOLDER)"
        )
