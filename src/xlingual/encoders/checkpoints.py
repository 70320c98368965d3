"""The folder of a model: where it comes from, which files count, and what must not be in it.

A folder from strangers is data: no code and no pickle in it is ever opened, and numbers in its settings that
no network has are refused before memory is asked for.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from xlingual.errors import InputError, MissingExtraError
from xlingual.models.files import file_digest

# files to fetch from a hub: never a pickle, never code
_ENDINGS = ("json", "txt", "model", "spm", "bpe", "codes", "tiktoken", "jinja", "safetensors")
_WANTED = [f"*.{ending}" for ending in _ENDINGS]
_UNWANTED = ["onnx/*", "*/onnx/*", "openvino/*", "*/openvino/*"]
# what no loader reads: words about the model, images, pickles and weights of other frameworks, states and
# logs of training; any other file may change vectors (generation_config.json, bpe.codes, adapters, …)
UNREAD = (
    *("readme*", "license*", "licence*", "notice*", "*.md", ".*", "*.log", "*.lock"),
    *("*.png", "*.jpg", "*.jpeg", "*.gif", "*.svg", "*.webp"),
    *("*.bin", "*.bin.index.json", "*.pt", "*.pth", "*.ckpt", "*.h5", "*.msgpack", "*.ot"),
    *("optimizer*", "training_args*", "trainer_state*", "scheduler*", "rng_state*", "events.out.tfevents*"),
)
_OF_MODULES = ("modules.json", "sentence_*_config.json", "router_config.json")
_DEPTH = 4  # folders of modules in folders of modules
_VOCABULARIES = (
    *("tokenizer.json", "vocab.txt", "tekken.json", "*.model", "*.spm", "*.tiktoken", "*.tokenizer"),
    "vocab*.json merges.txt",  # only together
)
_PROCESSORS = ("preprocessor_config.json", "processor_config.json")
_CHARACTERS = re.compile("canine|byt5|perceiver", re.IGNORECASE)  # networks without a vocabulary
_NETWORKS = re.compile("Transformer|CLIPModel|Router|Asym")  # modules that have one, or may
# how `model_type` begins where a network of transformers was trained on images and texts together
_WITH_IMAGES = ("clip", "siglip", "chinese_clip", "metaclip", "altclip", "align", "blip", "flava")
_LARGEST = 10**8  # no size in the settings of a network is larger

DENSE, SPARSE, TOKENS, PAIRS = "SentenceTransformer", "SparseEncoder", "MultiVectorEncoder", "CrossEncoder"
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
_PYLATE = {"query_prefix", "document_prefix", "do_query_expansion", "attend_to_expansion_tokens"}
_HEADS = re.compile(
    "For(SequenceClassification|TokenClassification|QuestionAnswering\\w*|MultipleChoice|NextSentencePrediction)"
)


def user_path(who: str, name: str) -> Path:
    """Make the path that a name stands for, `~` being the user's folder."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise InputError(f"{who}: there is no such user's folder: write its whole path") from None


def model_folder(who: str, name: str, revision: str | None, extra: str) -> Path:
    """Find the folder of a model: `name` itself where it is a folder, else what a hub has by that name.

    A model that was fetched before is taken from the cache of `huggingface_hub`, also without a network.
    `who` begins the messages, `extra` is the optional package that brings the client.
    """
    if not name.strip():
        raise InputError(f"{who}: the name or the folder of a model is missing")
    path = user_path(who, name)
    if path.is_dir():
        if revision is not None:
            raise InputError(f"{who}: revision={revision} is of a model on a hub, but this is a folder")
        return path
    if path.exists() or name.startswith((".", "~", os.sep)) or name.count("/") > 1 or "\\" in name:
        what = "a file" if path.exists() else "nothing"
        raise InputError(f"{who}: expected the folder of a model, found {what}")
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError
    except ImportError:
        raise MissingExtraError(who, extra) from None
    try:
        return Path(
            snapshot_download(name, revision=revision, allow_patterns=_WANTED, ignore_patterns=_UNWANTED)
        )
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


def model_files(folder: str | Path, *, modules: bool = True) -> list[Path]:
    """List the files in the folder that make a model, sorted: all that are not known to be `UNREAD`.

    With `modules` those of sentence-transformers count too: its settings, and all files in the folders of
    its modules (pooling, dense layers, routes, …). Folders that no module is in never count.
    """
    root = Path(folder)
    if not root.is_dir():
        raise InputError(f"{root}: no such folder of a model")
    unread = UNREAD if modules else (*UNREAD, *_OF_MODULES)
    files = {path for path in root.iterdir() if not _matches(path.name, unread)}
    for part in module_folders(root) if modules else ():
        inside = (path for path in part.rglob("*") if not _matches(path.name, UNREAD))
        files |= {path for path in inside if "/." not in f"/{path.relative_to(part).as_posix()}"}
    files = {path for path in files if path.is_file()}
    if not files:
        raise InputError(
            f"{root}: no file of a model in this folder: a model has config.json, a tokenizer or a "
            "processor, and weights in .safetensors or .onnx"
        )
    return sorted(files)


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name.lower(), pattern) for pattern in patterns)


def checkpoint_digest(folder: str | Path, files: Iterable[Path] | None = None) -> str:
    """Hash names (relative to the folder) and bytes of the files to 64 hexadecimal digits.

    `files` are `model_files(folder)` by default. Where the folder lies and when it was written do not count.
    """
    root = Path(folder)
    chosen = model_files(root) if files is None else sorted(files)
    lines = (f"{path.relative_to(root).as_posix()}\0{file_digest(path)}\n" for path in chosen)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


class Watch:
    """Digests as they were when first asked for; `check` raises InputError where one has changed since.

    What is read after `digest` and before `check` is then what the digest, and so an identity, is of.
    """

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def digest(self, name: str, make: Callable[[], str]) -> str:
        """Give the digest that `make` gave the first time."""
        if name not in self._first:
            self._first[name] = make()
        return self._first[name]

    def check(self, name: str, make: Callable[[], str], what: str) -> None:
        """Raise InputError where `make` gives another digest now, or cannot read the files any more."""
        first, now = self.digest(name, make), ""
        with suppress(OSError):
            now = make()
        if now != first:
            raise InputError(f"{what} changed while it was read: start again")


def module_folders(root: Path) -> list[Path]:
    """List the sub-folders of modules: those in `modules.json`, and those that routers among them name."""
    folders: dict[Path, None] = {}
    level = [root]
    for _ in range(_DEPTH):
        below = [part / name for part in level for name, _ in _modules(part)]
        level = [part for part in dict.fromkeys(below) if part != root and part not in folders]
        folders |= dict.fromkeys(level)
    return list(folders)


def _modules(folder: Path, *, outside: bool = False) -> Iterator[tuple[str, str]]:
    """Yield (folder, class) of what `modules.json` and a Router's routes name in a folder.

    Folders that lead out of this one are left out, unless `outside`. A Router was called Asym before 5.0, and
    wrote config.json.
    """
    listing, entries = folder / "modules.json", []
    try:
        if listing.is_file():
            modules = json.loads(listing.read_text(encoding="utf-8"))
            entries = [
                (str(dict(entry).get("path", "")), str(dict(entry).get("type", ""))) for entry in modules
            ]
    except (ValueError, TypeError, RecursionError):
        raise InputError(f"{listing}: not a list of modules as sentence-transformers writes it") from None
    routes, asym = folder / "router_config.json", folder / "config.json"
    try:
        if routes.is_file():
            entries += [(str(name), str(kind)) for name, kind in read_json(routes)["types"].items()]
        elif {"types", "structure"} <= set(settings := read_json(asym)):
            entries += [(str(name), str(kind)) for name, kind in settings["types"].items()]
    except (InputError, KeyError, AttributeError):
        if routes.is_file():
            raise InputError(
                f"{routes}: not the routes of a Router as sentence-transformers writes it"
            ) from None
    for name, kind in entries:
        if outside or (name and ".." not in Path(name).parts and not Path(name).is_absolute()):
            yield name, kind


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
    types = [kind for place in (folder, *module_folders(folder)) for _, kind in _modules(place, outside=True)]
    named = read_json(folder / "config.json").get("architectures")
    architectures = [str(name) for name in named] if isinstance(named, list) else []
    kind = str(settings.get("model_type") or kind_of_modules(types) or DENSE)
    colbert = "HF_ColBERT" in architectures or any(name.endswith("ForRetrieval") for name in architectures)
    if kind == DENSE and (colbert or _PYLATE & set(settings) or (folder / "artifact.metadata").is_file()):
        kind = TOKENS
    kind = TOKENS if kind == "ColBERT" else kind
    if kind != DENSE and kind not in taken:
        refuse_kind(who, kind)
    if (
        heads
        and kind == DENSE
        and len(types) < 2
        and architectures
        and all(map(_HEADS.search, architectures))
    ):
        raise InputError(
            f"{who}: is a classifier or a cross-encoder ({architectures[0]}), which has no vectors of texts: "
            "take an encoder; to try its body as one, save that alone: "
            "AutoModel.from_pretrained(FOLDER).save_pretrained(NEW)"
        )
    return kind


def refuse_kind(who: str, kind: str) -> None:
    """Raise InputError that says what a model of this kind is, and what to take."""
    named = _KINDS.get(kind, f"a model of the kind {kind[:80]}")
    as_it_is = "write st: to score its texts as they are, or " if kind in (SPARSE, TOKENS) else ""
    raise InputError(
        f"{who}: is {named}; here an encoder gives one dense vector for each text or image: {as_it_is}take a "
        "dense one (of sentence-transformers: a SentenceTransformer)"
    )


def trained_on_images(settings: Mapping[str, Any]) -> bool:
    """Tell whether the settings (config.json) of a text network are those of one trained with images."""
    return "vision_config" in settings or str(settings.get("model_type", "")).startswith(_WITH_IMAGES)


def check_weights(who: str, folder: Path, *, modules: bool = False) -> None:
    """Raise InputError where weights are missing, are a pickle, or are fewer than the settings say.

    With `modules` the folders of the modules of sentence-transformers are looked at too.
    """
    places = [folder, *(module_folders(folder) if modules else ())]
    weights = {place: sorted(place.glob("*.safetensors")) for place in places}
    without = [place for place in places if not weights[place]]
    if pickles := [path for place in without for path in sorted(place.glob("pytorch_model*.bin"))]:
        raise InputError(
            f"{who}: {pickles[0].relative_to(folder)} is a pickle, which could run code, and is never "
            "read: fetch a revision with model.safetensors (often revision=refs/pr/1), or convert it "
            "where you trust it: AutoModel.from_pretrained(FOLDER).save_pretrained(NEW)"
        )
    if without == places:
        raise InputError(f"{who}: no weights in this folder: a .safetensors file is needed")
    for place in places:
        check_sizes(who, place / "config.json", weights[place])


def check_sizes(who: str, path: Path, weights: Iterable[Path]) -> None:
    """Raise InputError where settings name more layers than there are weights, or sizes that nothing has."""
    tensors = None
    level = [("", read_json(path))]
    while level:
        name, value = level.pop()
        if isinstance(value, dict):
            level += [(str(key), below) for key, below in value.items()]
        elif isinstance(value, list):
            level += [(name, below) for below in value]
        if not isinstance(value, int) or abs(value) <= 100 or "theta" in name or name.endswith("_id"):
            continue
        if "layer" in name and tensors is None:
            tensors = sum(map(_tensors, weights))
        if abs(value) > _LARGEST or ("layer" in name and value > (tensors or 0)):
            stored = f", and its weights are {tensors} tensors" if tensors is not None else ""
            raise InputError(f"{who}: {path.name} says {name} = {value}{stored}: fetch the model again")


def _tensors(path: Path) -> int:
    """Count the tensors of a file; 0 where it is damaged, which is said when it is loaded."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            return len(file.keys())
    except (SafetensorError, OSError):
        return 0


def check_tokenizer(who: str, folder: Path, *, modules: bool = False) -> None:
    """Raise InputError where a model of texts has no tokenizer: the library would make up an empty one.

    With `modules`, of sentence-transformers, its folders are looked at too, and only a model with a network
    of transformers needs a tokenizer.
    """
    listing = folder / "modules.json"
    if modules and listing.is_file() and not _NETWORKS.search(listing.read_text(encoding="utf-8")):
        return
    places = _places(folder, modules)
    if any(map(_reads_text, places)):
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
    places = _places(folder, modules)
    if any((place / name).is_file() for place in places for name in _PROCESSORS):
        return
    if "pretrained_cfg" in read_json(folder / "config.json"):  # of timm: its settings hold a processor's
        return
    if any(map(_reads_text, places)):
        raise InputError(
            f"{who}: has a tokenizer and no preprocessor_config.json: is it a model of texts? It is then a "
            "--text-encoder"
        )
    raise InputError(
        f"{who}: has no preprocessor_config.json, which says how images are prepared: copy it from where "
        "the model comes from"
    )


def _places(folder: Path, modules: bool) -> list[Path]:
    """List the folder and, with modules, those up to two levels below (parts of a router lie there)."""
    below = (path for pattern in ("*", "*/*") for path in folder.glob(pattern) if path.is_dir())
    return [folder, *(below if modules else ())]


def _reads_text(place: Path) -> bool:
    if any(all(any(place.glob(name)) for name in names.split()) for names in _VOCABULARIES):
        return True
    model, tokenizer = read_json(place / "config.json"), read_json(place / "tokenizer_config.json")
    named = (model.get("model_type"), model.get("tokenizer_class"), tokenizer.get("tokenizer_class"))
    return any(_CHARACTERS.match(str(name)) for name in named)
