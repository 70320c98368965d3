"""Shared by encoders that run a network from a folder: its files, its options, its memory, its prompts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from xlingual.encoders.base import Encoder
from xlingual.encoders.batching import Memory, in_parts
from xlingual.encoders.checkpoints import check_dense
from xlingual.encoders.prompts import Prompts
from xlingual.encoders.remote_code import trusted
from xlingual.encoders.torch_runtime import device_part
from xlingual.encoders.weights import Watch, checkpoint_digest, model_files
from xlingual.records import Encoded, Texts


class NetworkEncoder(Encoder):
    """A network in a folder, loaded when it is first used; `options` are those of its scheme."""

    origin = "general"
    has_head = True  # whether the architecture in its settings says which kind of model it is
    of_hub = False  # whether its files are a commit of a hub that the spec pins
    has_modules = True  # whether folders of modules of sentence-transformers belong to it
    kinds: tuple[str, ...] = ()  # of models that it takes, which give no dense vectors

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        self.folder, self.options, self.who = folder, options, who
        self.memory = Memory()
        self._watch = Watch()
        self.found_kind = check_dense(who, folder, heads=self.has_head, taken=self.kinds)

    @property
    def digest(self) -> str:
        """16 digits that change with every file that its vectors depend on, as they were at first."""
        return self._watch.digest("", self._files_digest)[:16]

    def _files_digest(self) -> str:
        return checkpoint_digest(self.folder, model_files(self.folder, modules=self.has_modules))

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Raise InputError where a file changes inside: the digest must be of the files that are read."""
        self._watch.digest("", self._files_digest)
        yield
        self._watch.check("", self._files_digest, f"{self.who}: a file of the model")

    @property
    def runs_code(self) -> bool:
        """Whether code that the model brings may run, as the spec pins it."""
        return trusted(self.who, self.folder, self.options, of_hub=self.of_hub)

    def stated(self, *names: str) -> str:
        """Return the options of these names that are given, as an identity has them."""
        return "&".join(f"{name}={self.options[name]}" for name in names if self.options[name] is not None)

    def stated_device(self) -> str:
        """Return what an identity says of the device."""
        return device_part(self.options["device"], self.options["dtype"], self.who)


class TextNetworkEncoder(NetworkEncoder):
    """A network that reads texts, with the prompts before them."""

    def __init__(
        self, folder: Path, options: Mapping[str, Any], who: str, model: Prompts | None = None
    ) -> None:
        super().__init__(folder, options, who)
        self.prompts = Prompts.of(options, model)

    @property
    def content(self) -> tuple[str, ...]:
        """All of a row that its vector depends on."""
        return ("text", "role") if self.prompts.by_role else ("text",)

    @property
    def by_role(self) -> bool:  # type: ignore[override]
        """Whether queries and candidates have different prompts."""
        return self.prompts.by_role

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Return float32 [n, d], and which texts were cut."""
        return in_parts(self._encoded, batch)

    @abstractmethod
    def _encoded(self, batch: Texts) -> Encoded:
        """Return the same for a part of the texts."""
