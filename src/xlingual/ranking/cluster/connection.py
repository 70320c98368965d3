"""Reaching a Ray cluster: quietly, and with an error that says what to look at."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from xlingual.errors import InputError, MissingExtraError, XlingualError
from xlingual.online import page as address
from xlingual.ranking.cluster.interruption import deaf_at_exit, held_back

_PAGE = address("how-to/scale/use-a-cluster")
_PATIENCE = 5.0  # seconds that a head has to answer
HEADLESS = 20.0  # seconds without a head, after which it is an error; after 60 Ray ends the program
# Settings that stop Ray from printing, unless the user has set them.
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "0",
}
_ADVICE = (
    "check that the head runs (ray status, on its machine), that address and port are its own (6379, unless "
    "another was given), that no firewall is between, that RAY_AUTH_MODE and RAY_AUTH_TOKEN are the same on "
    "all machines and here, and that Ray and Python have the same versions"
)


def connect(address: str | None, cores: int) -> Any:  # noqa: ANN401  (the module ray)
    """Return Ray, connected: to the cluster at an address, else to one of this machine's `cores` alone.

    An address is that of the head ("10.0.0.1:6379"), or "auto": the cluster that this machine is part of.
    Where the program is connected already, it stays so.

    Raises:
        MissingExtraError: Ray is not installed.
        InputError: nothing answers there, or it is no cluster that this machine can use.

    """
    ray = imported()
    if ray.is_initialized():
        return ray
    if address is not None:
        _check(address)
    options: dict[str, Any] = {"num_cpus": cores} if address is None else {}
    _send_messages_nowhere()
    try:
        with held_back(), _silent():
            ray.init(
                address=address or "local",
                include_dashboard=None if address else False,
                logging_level=logging.CRITICAL,
                log_to_driver=False,
                namespace="xlingual",
                **options,
            )
    except (ConnectionError, RuntimeError, ValueError, TimeoutError, ray.exceptions.RayError) as error:
        raise InputError(_refusal(address, error)) from error
    deaf_at_exit()
    return ray


def cluster_address(address: str | None) -> str | None:
    """Return the address that is given, else that of the variable RAY_ADDRESS; None: this machine alone."""
    return address or os.environ.get("RAY_ADDRESS") or None


def imported() -> Any:  # noqa: ANN401
    """Return the module ray, set to print nothing."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise MissingExtraError("--backend ray", "ray") from error
    return ray


def machines(ray: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """Return Ray's records of the machines that can do work, the first ones first."""
    alive = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
    return sorted(alive, key=lambda node: (node["NodeManagerAddress"], node["NodeID"]))


def answers(ray: Any) -> bool:  # noqa: ANN401
    """Return whether something listens where the head of the cluster is."""
    address = ray.get_runtime_context().gcs_address
    try:
        if address:
            _knock(address)
    except InputError:
        return False
    return True


def gone(error: BaseException, kept: str = "the shared folder") -> XlingualError:
    """Return the error of a cluster that does not answer any more."""
    return XlingualError(
        f"the Ray cluster does not answer any more ({_line(error)}): what is finished is kept in {kept}; "
        "mend the cluster and run the same again"
    )


def _send_messages_nowhere() -> None:
    """Keep the output of Ray's own processes out of standard output, where results are printed.

    A thread of Ray prints it there (a machine was lost, memory is short …) whatever `log_to_driver` says; it
    is in Ray's log files too.
    """
    worker = sys.modules.get("ray._private.worker")
    if hasattr(worker, "print_to_stdstream"):
        worker.print_to_stdstream = lambda *_, **__: None  # type: ignore[union-attr]


@contextmanager
def _silent() -> Iterator[None]:
    """Send nowhere what the libraries below Ray write to standard error while it starts.

    They write past Python, a line each second where a token is wrong; an error says what is wrong.
    """
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _check(address: str) -> None:
    """Raise InputError where nothing listens at an address; Ray itself would wait, and end the program."""
    found = _last_cluster() if address == "auto" else None
    if found is not None:
        _knock(found)
    if address in ("auto", "local"):
        return
    if address.startswith("ray://"):
        raise InputError(
            f"--address {address}: a Ray client far from the cluster cannot use its shared folder: run "
            "this on a machine of the cluster, with --address auto"
        )
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise InputError(f"--address {address!r} is no address: give HOST:PORT of the head, or auto")
    _knock(address)


def _last_cluster() -> str | None:
    """Return the address that Ray takes for "auto": that of a cluster which may have died without a word."""
    try:
        from ray._private.services import canonicalize_bootstrap_address

        found: str | None = canonicalize_bootstrap_address("auto")
    except Exception:  # there is none, or this Ray has no such function: Ray itself says more
        return None
    return found


def _knock(address: str) -> None:
    """Raise InputError where nothing listens at HOST:PORT."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise InputError(f"no Ray head answers at {address} ({reason}): {_ADVICE}") from error


def _refusal(address: str | None, error: BaseException) -> str:
    if address is None:
        return f"Ray could not be started on this machine ({_line(error)}): see {_PAGE}"
    if address == "auto":
        return (
            f"no Ray cluster runs on this machine ({_line(error)}): start one with ray start --head, or join "
            "one with ray start --address HOST:PORT, or give --address"
        )
    return f"the Ray cluster at {address} cannot be used from here ({_line(error)}): {_ADVICE}; this machine \
must be part of it too (ray start --address {address})"


def _line(error: BaseException) -> str:
    """Return the first sentence of an error, as one line."""
    words = " ".join(str(error).split()) or type(error).__name__
    return words if len(words) <= 160 else words[:157] + "…"
