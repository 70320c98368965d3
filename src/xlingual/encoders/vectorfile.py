"""Files of vectors, opened without ever running code in them: arrays, columns of tables, indexes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import Rows
from xlingual.encoders.vectorindex import INDEXES, npy_of_pickles, open_archive, open_index
from xlingual.encoders.vectortable import LANCE, TABLES, saved_parts, vectors_of_table
from xlingual.errors import InputError, did_you_mean, listed, nearest
from xlingual.files import regular_file
from xlingual.records import digest
from xlingual.results.provenance import note_file, sha256_of

SUFFIXES = (".npy", ".safetensors", ".npz", *TABLES, *INDEXES)
_PICKLES = {  # files that run code when they are opened → what makes an array of one that is trusted
    **dict.fromkeys(
        (".pt", ".pth", ".bin"), "import torch; v = torch.load({path!r}, weights_only=True).float().numpy()"
    ),
    **dict.fromkeys((".pkl", ".pickle"), "import pickle; v = pickle.load(open({path!r}, 'rb'))"),
}
_SHARDED = (".npy", ".parquet", ".arrow")
_SHARD = re.compile(r".*?(?P<number>[0-9]+)(?:-of-(?P<count>[0-9]+))?")
_MAGIC = b"\x93NUMPY"


@dataclass(frozen=True)
class VectorOptions:
    """Which vectors of a file, and how they belong to the data."""

    key: str | None = None  # name of an array in an archive
    packed: bool = False  # each bit is a dimension
    column: str | None = None  # of vectors, in a table
    id: str | None = None  # column of ids, by which lines belong to texts or items; None: by their order
    lang: str | None = None  # column of languages beside the ids

    @property
    def stated(self) -> str:
        """The options that change vectors, as an identity has them."""
        named = ("key", "column", "id", "lang")
        options = [f"{name}={quote(value)}" for name in named if (value := getattr(self, name)) is not None]
        options += ["packed=1"] if self.packed else []
        return f"?{'&'.join(options)}" if options else ""


def check_file(path: Path) -> None:
    """Raise InputError where there is no such file (naming the nearest one) or its suffix is not known."""
    if path.suffix in _PICKLES:
        code = _PICKLES[path.suffix].format(path=str(path))
        target = path.with_suffix(".npy").name
        raise InputError(
            f"{path}: a pickle, which is refused, since it could run code when it is opened; where you trust "
            f"it: python -c \"import numpy as np; {code}; np.save('{target}', np.asarray(v, 'float32'))\""
        )
    if path.suffix not in SUFFIXES and (shards_of(path) or (path.suffix == LANCE and path.is_dir())):
        return
    if path.suffix not in SUFFIXES:
        raise InputError(f"{path}: a file of vectors ends in {listed(SUFFIXES)}, found {path.suffix!r}")
    if path.is_file():
        return
    if hint := placeholder_hint(str(path)):
        raise InputError(f"file of vectors {path} not found.{hint}")
    beside = [name for name in names_beside(path, "file of vectors") if name.endswith(SUFFIXES)]
    hint = did_you_mean(path.name, beside) or (f" The folder has: {listed(beside)}" if beside else "")
    raise InputError(f"file of vectors {path} not found.{hint}")


def names_beside(path: Path, what: str) -> list[str]:
    """Return the names of the files beside one that is not there; InputError where it never can be."""
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a {what} in it")
    if path.exists():
        regular_file(path, f"a {what}")
    if not path.parent.is_dir():
        raise InputError(f"{what} {path} not found: there is no folder {path.parent}")
    return sorted(other.name for other in path.parent.iterdir() if other.is_file())


def shards_of(path: Path) -> list[Path]:
    """Return the files of one kind in a folder that end in a number, in their order; [] where it has none.

    They are `.npy`, else Parquet, else Arrow; or those of a data set that `save_to_disk` wrote. Raises
    InputError where two of them have one number, or some that are counted (`-00000-of-00004`) lack.
    """
    if path.suffix in (*SUFFIXES, LANCE) or not path.is_dir():
        return []
    if parts := saved_parts(path):
        return parts
    return next(filter(None, (_numbered(path, suffix) for suffix in _SHARDED)), [])


def parts_of(path: Path) -> list[Path]:
    """Return the files of a path: those of a folder of shards, or itself."""
    return shards_of(path) or [path]


def file_digest(path: Path) -> bytes:
    """Return a hash of all bytes of a file, of shards, or of a folder of Lance."""
    if shards := shards_of(path):
        return digest(*map(file_digest, shards))
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        return digest(
            *(part for file in files for part in (file.relative_to(path).as_posix(), file_digest(file)))
        )
    found = sha256_of(path)
    note_file("vectors", path, found)
    return bytes.fromhex(found)


def _numbered(path: Path, suffix: str) -> list[Path]:
    found: dict[int, Path] = {}
    counts: set[int] = set()
    for file in sorted(path.glob(f"*{suffix}")):
        if (match := _SHARD.fullmatch(file.stem)) is None:
            continue
        other = found.setdefault(int(match["number"]), file)
        if other != file:
            raise InputError(
                f"{path}: {other.name} and {file.name} have the same number: a folder of vectors holds the "
                "shards of one array"
            )
        counts |= {int(match["count"])} if match["count"] else set()
    if counts and len(found) != max(counts):
        raise InputError(
            f"{path}: {len(found)} of {max(counts)} shards are there: put all of them into the folder"
        )
    return [found[number] for number in sorted(found)]


def one_size(dims: Mapping[Path, int], remedy: str) -> int:
    """Return the number of dimensions of files of vectors; InputError where they do not share it."""
    first, dim = next(iter(dims.items()), ("", 0))
    for path, other in dims.items():
        if other != dim:
            raise InputError(
                f"{first} has {dim} dimensions but {path} has {other}: vectors of all languages must {remedy}"
            )
    return dim


def placeholder_hint(path: str) -> str:
    """Return what to write instead of a placeholder that is none, such as `{language}`; "" without one."""
    found = re.search(r"\{(?!lang\}|role\}|field\})\w*\}", path)
    if found is None:
        return ""
    near = nearest(found[0][1:-1], ["lang", "role", "field"])
    remedy = (
        ": write {lang} where the language of a text is to stand, "
        "{role} where questions or candidates, and {field} where the name of one of its columns"
    )
    return f" {found[0]} is no placeholder" + (f". Did you mean {{{near}}}?" if near else remedy)


def open_vectors(path: Path, options: VectorOptions = VectorOptions()) -> NDArray[Any]:
    """Return the array of a file, [lines, d], of numbers; mapped into memory and not read, where that can be.

    `packed`: each bit of a file of bytes is a dimension. Raises InputError where the file is missing,
    damaged, a pickle, or not a table of numbers, and where it holds bytes without a sign, whose cosine means
    nothing, and is not said to be packed.
    """
    check_file(path)
    if shards := shards_of(path):
        return _joined(shards, options)
    for name, wanted in (("key", (".safetensors", ".npz")), ("column", (*TABLES, LANCE))):
        if getattr(options, name) is not None and path.suffix not in wanted:
            raise InputError(f"{path}: the option {name}= is for {listed(wanted)} files; leave it out")
    if path.suffix in (*TABLES, LANCE):
        parts = [_checked(part, path, options.packed) for part in vectors_of_table(path, options.column)]
        return parts[0] if len(parts) == 1 else cast("NDArray[Any]", Rows(parts))
    if path.suffix == ".safetensors":
        array = open_safetensors(path, options.key)
    elif path.suffix == ".npz":
        array = open_archive(path, options.key)
    else:
        array = open_index(path) if path.suffix in INDEXES else _open_npy(path)
    return _checked(array, path, options.packed)


def _checked(array: NDArray[Any], path: Path, packed: bool) -> NDArray[Any]:
    """Return an array that is a table of numbers; raise InputError for any other."""
    if array.dtype.kind not in "fiub":
        raise InputError(
            f"{path}: vectors must be numbers, found the type {array.dtype}: save float16 or float32"
        )
    if array.ndim != 2 or array.shape[1] == 0:
        shape = "×".join(map(str, array.shape)) or "a single number"
        raise InputError(f"{path}: expected a table with one vector per line, found the shape {shape}")
    if not packed and array.dtype == np.uint8:
        raise InputError(
            f"{path}: holds bytes (uint8), as bit-packed vectors do (ubinary), and a cosine of bytes means "
            "nothing: write ?packed=1 where each bit is a dimension; save other numbers as float16 or float32"
        )
    if packed and array.dtype not in (np.uint8, np.int8):
        raise InputError(
            f"{path}: packed=1 is for bits in bytes (uint8, int8), found the type {array.dtype}: leave it out"
        )
    return cast("NDArray[Any]", Unpacked(array)) if packed else array


class Unpacked:
    """Lines [n, 8·b] of an array of bytes [n, b]: each bit is a dimension, 1 for one and −1 for zero.

    It is used as an array is by `Rows`: bits are unpacked of those lines only that are asked for.
    """

    ndim = 2

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.shape = (len(array), 8 * array.shape[1])

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, lines: Any) -> NDArray[Any]:  # noqa: ANN401  (what indexes the first axis)
        content = np.asarray(self.array[lines])
        if content.dtype == np.int8:  # sentence-transformers' `binary`: 128 less
            content = (content.astype(np.int16) + 128).astype(np.uint8)
        return 2 * np.unpackbits(content, axis=-1).astype(np.float32) - 1


def _joined(shards: list[Path], options: VectorOptions) -> NDArray[Any]:
    """Return the shards as one array, each mapped into memory."""
    arrays = [open_vectors(shard, options) for shard in shards]
    for shard, array in zip(shards, arrays, strict=True):
        if array.shape[1] != arrays[0].shape[1]:
            raise InputError(
                f"{shard} has {array.shape[1]} dimensions but {shards[0].name} has {arrays[0].shape[1]}: the "
                "shards of one array come from one encoder"
            )
    return cast("NDArray[Any]", Rows(arrays))


def _open_npy(path: Path) -> NDArray[Any]:
    refused = (
        f"{path}: a pickle inside .npy is refused, it could run code; save a plain array of numbers, where "
        f"you trust it by {npy_of_pickles(path)}"
    )
    try:
        with path.open("rb") as handle:
            start = handle.read(len(_MAGIC))
            if start[:1] == b"\x80":
                raise InputError(refused)
            if start != _MAGIC:
                found = "something else" if start else "an empty file"
                raise InputError(f"{path} is not a .npy file (found {found}): save it with numpy.save")
            handle.seek(0)
            first = np.lib.format.read_magic(handle) == (1, 0)
            read = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
            shape, _, dtype = read(handle)
        if dtype.hasobject:
            raise InputError(refused)
        if 0 in shape:
            return np.empty(shape, dtype)  # nothing to map
        return np.lib.format.open_memmap(path, mode="r")
    except InputError:
        raise
    except Exception as error:  # numpy raises errors of many kinds for damaged heads
        raise InputError(f"{path} is damaged or cut short ({_line(error)}): save it again") from error


def open_safetensors(path: Path, key: str | None) -> NDArray[Any]:
    """Return a tensor of a file, the only table in it where no key is given."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as handle:
            shapes = {name: handle.get_slice(name).get_shape() for name in handle.keys()}  # noqa: SIM118
            return np.asarray(handle.get_tensor(_choose(path, key, shapes)))
    except (SafetensorError, OSError, TypeError, AttributeError) as error:  # the last two: bfloat16 in numpy
        raise InputError(
            f"{path} cannot be read ({_line(error)}): save it again as float16 or float32"
        ) from error


def _choose(path: Path, key: str | None, shapes: dict[str, list[int]]) -> str:
    if key in shapes:
        return key
    if key is not None:
        raise InputError(f"{path} has no tensor {key!r}.{did_you_mean(key, shapes)} It has: {listed(shapes)}")
    tables = [name for name, shape in shapes.items() if len(shape) == 2]
    if len(tables) != 1:
        raise InputError(
            f"{path}: expected one 2-d tensor, found {len(tables)} among {listed(shapes) or 'none'}; "
            "choose one with ?key=NAME"
        )
    return tables[0]


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
