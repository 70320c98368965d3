"""A plain function as an encoder: it gets a list of texts, or of the bytes of images."""

from __future__ import annotations

from typing import Any

from xlingual.encoders.objects import unnamed
from xlingual.encoders.python_function import PythonFunction


class FunctionObject(PythonFunction):
    """A function that was given as it is; nothing tells when it gives other vectors, so none are kept."""

    has_own_identity = False

    @property
    def identity(self) -> str:
        """Its module and name, and what results call it."""
        return unnamed(self.target, self.label)

    @identity.setter
    def identity(self, _: str) -> None:
        """Keep it as it is: the source of a `python:` spec says nothing of an object that is given."""

    @property
    def who(self) -> str:
        """What results call it; before that is known, its name in its definition."""
        return f"{self.kind.removesuffix('s')} encoder {self.label!r}" if self.label else self.argument


def adapter_of(entry: Any, kind: str) -> FunctionObject:  # noqa: ANN401  (a function)
    """Return the encoder that calls the function."""
    name = getattr(entry, "__name__", type(entry).__name__)
    return FunctionObject(entry, f"the function {name!r}", kind=kind)
