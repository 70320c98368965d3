"""Whether the machines of a cluster can do the work: asked before it begins, with an answer for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from xlingual.errors import InputError
from xlingual.extras import pip_line
from xlingual.ranking.cluster.connection import machines
from xlingual.ranking.cluster.tasks import own_version
from xlingual.ranking.folders import LocalFolder, open_folder

_PATIENCE = 60.0  # seconds for all machines to answer


def check_machines(ray: Any, shared: str | None) -> int:  # noqa: ANN401  (the module ray)
    """Return how many machines can work; raise InputError naming one that lacks something it needs.

    Each must have xlingual in the version that runs here, and see the shared folder where one is given.
    """
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = machines(ray)
    if not nodes:
        raise InputError(
            "no machine of the Ray cluster offers a processor: start some with ray start --address HOST:PORT"
        )
    mark = f"mark-{uuid4().hex}"
    folder = None if shared is None else open_folder(shared)
    path = str(folder.local(mark)) if isinstance(folder, LocalFolder) else None
    url = f"{folder}/{mark}" if path is None and folder is not None else None
    if folder is not None:
        try:
            folder.write(mark, b"")
        except OSError as error:
            raise InputError(
                f"the shared folder {shared} cannot be written to ({error.strerror or error}): choose "
                "another one with --shared"
            ) from error
    try:
        question = ray.remote(num_cpus=0, max_retries=1)(_question())
        answers = {
            node["NodeID"]: question.options(
                scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            ).remote(path, url)
            for node in nodes
        }
        able = 0
        for node in nodes:
            able += _judged(ray, node, answers[node["NodeID"]], shared)
        if not able:
            raise InputError(
                "no machine of the Ray cluster answers: look at it with ray status, and run again"
            )
    finally:
        if folder is not None:
            folder.remove(mark)
    return able


def _judged(ray: Any, node: dict[str, Any], answer: Any, shared: str | None) -> int:  # noqa: ANN401
    """Return 1 for a machine that can work, 0 for one that has left; raise InputError for any other."""
    where = f"machine {node['NodeManagerAddress']} of the Ray cluster"
    try:
        version, remote, sees = ray.get(answer, timeout=_PATIENCE)
    except ray.exceptions.GetTimeoutError as error:
        raise InputError(f"{where} does not answer: look at it with ray status, or stop Ray on it") from error
    except ray.exceptions.RayError:  # it left the cluster meanwhile
        return 0
    own = own_version()
    if version is None:
        raise InputError(f"{where} has no xlingual: {pip_line('ray')} there, version {own}")
    if version != own:
        raise InputError(f"{where} has xlingual {version}, here is {own}: install the same on all")
    if not remote:
        raise InputError(f"{where} has no fsspec, which {shared} needs: {pip_line('ray')} there")
    if not sees:
        raise InputError(
            f"{where} does not see what is written to {shared} here: --shared must be a folder that all "
            "machines mount at the same path, or a URL that all reach (with the package of its protocol)"
        )
    return 1


def _question() -> Callable[[str | None, str | None], tuple[str | None, bool, bool]]:
    """Return the function that a machine runs; it travels as code, since xlingual may be missing there."""

    def ask(path: str | None, url: str | None) -> tuple[str | None, bool, bool]:
        import importlib.metadata
        import importlib.util
        import os

        try:
            version: str | None = importlib.metadata.version("xlingual")
        except importlib.metadata.PackageNotFoundError:
            version = "unknown" if importlib.util.find_spec("xlingual") else None
        sees = path is None or os.path.exists(path)
        if url is None:
            return version, True, sees
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            return version, False, False
        try:
            files, name = url_to_fs(url)
            sees = files.exists(name)
        except Exception:  # whatever the package of a protocol raises, or that there is none
            sees = False
        return version, True, sees

    return ask
