"""Reaching a Ray cluster: quietly, and with errors that say what to look at."""

from __future__ import annotations

import atexit
import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from xlingual.errors import InputError, MissingExtraError, XlingualError
from xlingual.online import page

HEADLESS = 20.0  # seconds without an answer, after which it is an error; after 60 Ray ends the program
_PATIENCE = 5.0  # seconds that a head has to answer
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0", "RAY_DEDUP_LOGS": "0"}


def imported() -> Any:  # noqa: ANN401  (the module)
    """Import Ray so that it prints nothing."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
        import ray.exceptions
        import ray.experimental
    except ImportError as error:
        raise MissingExtraError("--backend ray", "ray") from error
    return ray


def why_not_here(sender: str) -> str:
    """Say that this machine has another version than the sender of its work; "" where it has the same."""
    receiver = version("xlingual")
    if receiver == sender:
        return ""
    return f"a machine of the cluster has xlingual {receiver}, here is {sender}: install the same on all"


def connect(address: str | None, cores: int | None = None) -> Any:  # noqa: ANN401  (the module ray)
    """Import Ray and connect it to the cluster whose head is at HOST:PORT, or is this machine's ("auto").

    Without an address the variable RAY_ADDRESS names it; else Ray starts here with `cores` (None: all). A
    program that is connected already stays so. Raises MissingExtraError where Ray is not installed, and
    InputError where nothing answers or the cluster cannot be used.
    """
    ray, address = imported(), address or os.environ.get("RAY_ADDRESS")
    if ray.is_initialized():
        return ray
    if address and address != "auto":
        _knock(address)
    options: dict[str, Any] = {} if address else {"num_cpus": cores, "include_dashboard": False}
    ray._private.worker.print_to_stdstream = lambda *_, **__: None  # a thread of Ray prints among the results
    try:
        with held_back(), _silent():
            ray.init(
                address=address or "local",
                logging_level=logging.CRITICAL,
                log_to_driver=False,
                namespace="xlingual",
                **options,
            )
    except (ConnectionError, RuntimeError, ValueError, TimeoutError, ray.exceptions.RayError) as error:
        where = f"the Ray cluster at {address} cannot be used" if address else "Ray does not start"
        raise InputError(
            f"{where} ({one_line(error)}): this machine must be part of the cluster (ray start --address "
            "HOST:PORT); RAY_AUTH_MODE, RAY_AUTH_TOKEN, and versions of Ray and Python must be those of all; "
            f"see {page('how-to/scale/use-a-cluster')}"
        ) from error
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # Ray's processes are being ended then
    return ray


def machines(ray: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """List Ray's records of the machines that can work."""
    return [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]


def is_alive(ray: Any) -> bool:  # noqa: ANN401
    """Find out whether the head answers and some machine can work."""
    try:
        _knock(ray.get_runtime_context().gcs_address)
    except InputError:
        return False
    return bool(machines(ray))


def gone(error: Exception) -> XlingualError:
    """Word the error of a cluster that does not answer any more."""
    return XlingualError(
        f"the Ray cluster does not answer any more ({one_line(error)}): mend it and run the same again; what "
        "is finished is kept in the store"
    )


def one_line(error: BaseException) -> str:
    """Shorten the text of an error to one line."""
    return (" ".join(str(error).split()) or type(error).__name__)[:160]


@contextmanager
def held_back() -> Iterator[None]:
    """Let Ctrl-C wait until Ray's code has returned: an exception within it can end the program."""
    handler, pressed = signal.getsignal(signal.SIGINT), list[int]()
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if pressed:
            handler(signal.SIGINT, None)


@contextmanager
def _silent() -> Iterator[None]:
    """Discard what libraries below Ray write to standard error while it starts; an error says it in words."""
    before, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nowhere)


def _knock(address: str) -> None:
    """Raise InputError where nothing listens at HOST:PORT; Ray itself would wait, and end the program."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
    except (OSError, OverflowError, ValueError) as error:
        raise InputError(
            f"no Ray head answers at {address} ({one_line(error)}): give HOST:PORT of the head (6379, unless "
            "ray start was told another), look at ray status on its machine, and at firewalls between"
        ) from error
