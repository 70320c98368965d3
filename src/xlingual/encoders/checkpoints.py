"""From the name of a model to its folder; the kind of the model in it, and files that must not be there."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xlingual.encoders.weights import module_folders, module_types
from xlingual.errors import InputError, MissingExtraError

# files to fetch from a hub: never a pickle; code only where a spec pins it
_WANTED = (
    "*.json",
    "*.txt",
    "*.model",
    "*.spm",
    "*.bpe",
    "*.codes",
    "*.tiktoken",
    "*.jinja",
    "*.safetensors",
)
_UNWANTED = ("onnx/*", "*/onnx/*", "openvino/*", "*/openvino/*")
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
_NETWORKS = re.compile("Transformer|CLIPModel|Router|Asym")  # modules that have one, or may

SPARSE, TOKENS, PAIRS = "SparseEncoder", "MultiVectorEncoder", "CrossEncoder"
_KINDS = {  # as sentence-transformers names them → why they give no dense vector
    SPARSE: "a sparse encoder (such as SPLADE), with a weight for each word of its vocabulary",
    TOKENS: "a multi-vector encoder (such as ColBERT), with a vector for each token, compared by MaxSim",
    PAIRS: "a cross-encoder, which scores pairs of texts and has no vectors",
}
_MARKS = {  # in the class of a module
    ".pylate.": TOKENS,
    ".multi_vector_encoder.": TOKENS,
    ".sparse_encoder.": SPARSE,
    ".cross_encoder.": PAIRS,
}
_PYLATE = ("query_prefix", "document_prefix", "do_query_expansion", "attend_to_expansion_tokens")
_HEADS = re.compile(
    "For(SequenceClassification|TokenClassification|QuestionAnswering\\w*|MultipleChoice|NextSentencePrediction)"
)
# how `model_type` begins where a network of transformers was trained on images and texts together
_WITH_IMAGES = ("clip", "siglip", "chinese_clip", "metaclip", "altclip", "align", "blip", "flava")


def model_folder(who: str, name: str, revision: str | None, extra: str, *, with_code: bool = False) -> Path:
    """Return the folder of a model: `name` itself where it is a folder, else what a hub has by that name.

    A model that was fetched before is taken from the cache of `huggingface_hub`, also without a network.
    `who` begins the messages, `extra` is the optional package that brings the client. `with_code` fetches its
    Python files too. Raises InputError
    where there is no such folder, name or revision, and where the hub cannot be reached.
    """
    if not name.strip():
        raise InputError(f"{who}: the name or the folder of a model is missing")
    path = user_path(who, name)
    if path.is_dir():
        if revision is not None:
            raise InputError(f"{who}: revision={revision} is of a model on a hub, but this is a folder")
        return path
    if path.exists() or name.startswith((".", "~", os.sep)) or name.count("/") > 1 or "\\" in name:
        raise InputError(
            f"{who}: expected the folder of a model, found {'a file' if path.exists() else 'nothing'}"
        )
    return _from_hub(who, name, revision, extra, [*_WANTED, *(["*.py"] if with_code else [])])


def user_path(who: str, name: str) -> Path:
    """Return the path that a name stands for, `~` being the user's folder."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise InputError(f"{who}: there is no such user's folder: write its whole path") from None


def _from_hub(who: str, name: str, revision: str | None, extra: str, wanted: list[str]) -> Path:
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError
    except ImportError:
        raise MissingExtraError(who, extra) from None
    try:
        files = {"allow_patterns": wanted, "ignore_patterns": list(_UNWANTED)}
        return Path(snapshot_download(name, revision=revision, **files))
    except GatedRepoError:
        raise InputError(
            f"{who}: its authors ask you to accept a licence: do so on the model's page, then `hf auth login`"
        ) from None
    except RevisionNotFoundError:
        raise InputError(f"{who}: the hub has the model, but no revision {revision!r}") from None
    except RepositoryNotFoundError:
        raise InputError(
            f"{who}: neither a folder here nor a model on the hub: check the spelling, or `hf auth login` "
            "where it is private"
        ) from None
    except Exception as error:  # no network, switched offline, a bad name, a server that fails
        scheme = who.partition(":")[0]
        instead = "translate:hf-FOLDER::…" if scheme == "translate" else f"{scheme}:FOLDER"
        raise InputError(
            f"{who}: not in the cache, and the hub gave no answer ({type(error).__name__}): where there is a "
            f"network, run `hf download {name} --local-dir FOLDER`, then write {instead}"
        ) from None


def read_json(path: Path) -> dict[str, Any]:
    """Return the object that a file of settings holds, {} where there is no such file."""
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error}): fetch the model again") from None
    if not isinstance(found, dict):
        raise InputError(f"{path}: expected an object of settings, found {type(found).__name__}")
    return found


def check_weights(who: str, folder: Path, *, modules: bool = False) -> None:
    """Raise InputError where weights are missing, or there only as a pickle, which could run code.

    With `modules` the folders of the modules of sentence-transformers are looked at too.
    """
    places = [folder, *(module_folders(folder) if modules else ())]
    without = [place for place in places if not any(place.glob("*.safetensors"))]
    if pickles := [path for place in without for path in sorted(place.glob("pytorch_model*.bin"))]:
        raise InputError(
            f"{who}: {pickles[0].relative_to(folder)} is a pickle, which could run code, and is never "
            "read: fetch a revision with model.safetensors (often revision=refs/pr/1), or convert it "
            "where you trust it: AutoModel.from_pretrained(FOLDER).save_pretrained(NEW)"
        )
    if without == places:
        raise InputError(f"{who}: no weights in this folder: a .safetensors file is needed")


def trained_on_images(settings: Mapping[str, Any]) -> bool:
    """Return whether the settings (config.json) of a text network are those of one trained with images."""
    return "vision_config" in settings or str(settings.get("model_type", "")).startswith(_WITH_IMAGES)


def check_dense(who: str, folder: Path, *, heads: bool = True, taken: tuple[str, ...] = ()) -> str | None:
    """Raise InputError where a model is known not to give one dense vector for each text.

    The kinds that are `taken` are not refused: what is found is returned, None for dense vectors.

    Libraries load such a model all the same, without its head or with a pooling that it never had, and what
    comes out is another model. Evidence is what the files say: the kind and the modules in the settings of
    sentence-transformers (PyLate's too), the marks of a ColBERT and, with `heads`, the architecture of a
    classifier where no modules follow the network.
    """
    settings, types = read_json(folder / "config_sentence_transformers.json"), module_types(folder)
    named = read_json(folder / "config.json").get("architectures")
    architectures = [str(name) for name in named] if isinstance(named, list) else []
    kind = settings.get("model_type") or kind_of_modules(types)
    if kind in (None, "SentenceTransformer") and (
        "HF_ColBERT" in architectures
        or any(name.endswith("ForRetrieval") for name in architectures)
        or (folder / "artifact.metadata").is_file()
        or any(name in settings for name in _PYLATE)
    ):
        kind = TOKENS
    kind = TOKENS if kind == "ColBERT" else kind
    if kind in taken:
        return str(kind)
    if kind not in (None, "SentenceTransformer"):
        refuse_kind(who, str(kind))
    if heads and len(types) < 2 and architectures and all(map(_HEADS.search, architectures)):
        raise InputError(
            f"{who}: is a classifier or a cross-encoder ({architectures[0]}), which has no vectors of texts: "
            "take an encoder; to try its body as one, save that alone: "
            "AutoModel.from_pretrained(FOLDER).save_pretrained(NEW)"
        )
    return None


def kind_of_modules(types: Iterable[str]) -> str | None:
    """Return the kind of a model that has a module of one of these classes, None where it is unknown."""
    found = (kind for name in types for mark, kind in _MARKS.items() if mark in f".{name}")
    return next(found, None)


def refuse_kind(who: str, kind: str) -> None:
    """Raise InputError that says what a model of this kind is, and what to take."""
    named = _KINDS.get(kind, f"a model of the kind {kind}")
    as_it_is = "write st: to score its texts as they are, or " if kind in (SPARSE, TOKENS) else ""
    raise InputError(
        f"{who}: is {named}; here an encoder gives one dense vector for each text or image: {as_it_is}take a "
        "dense one (of sentence-transformers: a SentenceTransformer)"
    )


def check_tokenizer(who: str, folder: Path, *, modules: bool = False) -> None:
    """Raise InputError where a model of texts has no tokenizer: the library would make up an empty one.

    With `modules`, of sentence-transformers, its folders are looked at too, and only a model with a network
    of transformers needs a tokenizer.
    """
    listing = folder / "modules.json"
    if modules and listing.is_file() and not _NETWORKS.search(listing.read_text(encoding="utf-8")):
        return
    places = list(_places(folder, modules))
    if any(_reads_text(place) for place in places):
        return
    if any((place / name).is_file() for place in places for name in _PROCESSORS):
        raise InputError(
            f"{who}: has no tokenizer: is it a model of images? It is then an --image-encoder; for texts "
            "take a model with tokenizer.json"
        )
    raise InputError(
        f"{who}: has no tokenizer (tokenizer.json, vocab.txt, vocab.json with merges.txt, or a .model): copy "
        "these files from where the model comes from, or write them: "
        "AutoTokenizer.from_pretrained(ORIGIN).save_pretrained(FOLDER)"
    )


def check_processor(who: str, folder: Path, *, modules: bool = False) -> None:
    """Raise InputError where a model has no processor of images; `modules` as in `check_tokenizer`."""
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
        f"{who}: has no preprocessor_config.json, which says how images are prepared: copy it from where "
        "the model comes from"
    )


def _places(folder: Path, modules: bool) -> Iterable[Path]:
    """Return the folder and, with modules, those up to two levels below (parts of a router lie there)."""
    yield folder
    if modules:
        yield from (path for pattern in ("*", "*/*") for path in folder.glob(pattern) if path.is_dir())


def _reads_text(place: Path) -> bool:
    has = {pattern: any(place.glob(pattern)) for pattern in (*_VOCABULARIES, *_PAIRED)}
    if any(has[pattern] for pattern in _VOCABULARIES) or all(has[pattern] for pattern in _PAIRED):
        return True
    model, tokenizer = read_json(place / "config.json"), read_json(place / "tokenizer_config.json")
    named = (str(settings.get("tokenizer_class")) for settings in (model, tokenizer))
    return model.get("model_type") in _WITHOUT_TYPES or any(
        name.removesuffix("Fast") in _WITHOUT for name in named
    )
