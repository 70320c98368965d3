"""Functions that work on a manifest take its data as they are: the one door for all of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar, cast

from xlingual.data.manifest import Manifest, ManifestLike
from xlingual.data.reading.columns import DataOptions, ReadOptions
from xlingual.errors import did_you_mean
from xlingual.results.provenance import noting

F = TypeVar("F", bound=Callable[..., Any])
_OPTIONS = (*ReadOptions.__annotations__, *DataOptions.__annotations__)


def takes_data(*further: str, leave: type | tuple[type, ...] = ()) -> Callable[[F], F]:
    """Make a function's first argument, and those named `further`, anything that `Manifest.of` takes.

    The function has a last parameter `**columns: Unpack[DataOptions]`, for its callers' sake: it is always
    empty inside, since the options are used here. Arguments of a type in `leave`, and None, stay what they
    are.
    """

    def of(function: F) -> F:
        wanted = signature(function)
        names = (next(iter(wanted.parameters)), *further)
        rest = next(p.name for p in wanted.parameters.values() if p.kind is Parameter.VAR_KEYWORD)

        @wraps(function)
        def taken(*given: Any, **more: Any) -> Any:  # noqa: ANN401
            try:
                bound = wanted.bind(*given, **more)
            except TypeError as error:
                raise TypeError(f"{function.__name__}(): {error}") from None
            columns = bound.arguments.pop(rest, {})
            for name in columns:
                if name not in _OPTIONS:
                    known = [*wanted.parameters, *_OPTIONS]
                    near = did_you_mean(name, known)
                    raise TypeError(f"{function.__name__}() has no argument {name!r}{near and '.' + near}")
            with noting():
                for name in names:
                    value = bound.arguments.get(name)
                    if value is not None and not isinstance(value, leave):
                        own = {} if name in further and isinstance(value, Manifest) else columns
                        bound.arguments[name] = Manifest.of(value, **own)
                return function(*bound.args, **bound.kwargs)

        return cast("F", taken)

    return of


def manifest_of(data: ManifestLike, arguments: dict[str, Any]) -> Manifest:
    """Return the manifest of data; options of reading it are taken out of `arguments`."""
    return Manifest.of(data, **{name: arguments.pop(name) for name in _OPTIONS if name in arguments})
