"""What a result keeps of how it was made: never a secret, objects by their identity."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from xlingual.requests.evaluating import BackretrievalRequest
from xlingual.requests.provenance import request_part, run_part

SECRETS = {
    "text_encoders": ("api:m?api_key=sk-1&base_url=https://me:pw@host/v1",),
    "image_encoder": "x=api:m?key=sk-1",
    "address": "sk-1:pw",
    "shared": "s3://sk-1:pw@bucket",
}


def test_secrets_are_not_kept():
    kept = f"{request_part(BackretrievalRequest, SECRETS)} {run_part(BackretrievalRequest, SECRETS)}"
    assert "sk-1" not in kept and "pw" not in kept and "https://…@host/v1" in kept


def test_objects_are_named_by_their_identity():
    encoder = SimpleNamespace(identity="random:8", name="another name")
    given = {
        "manifest": SimpleNamespace(digest="abc"),
        "text_encoders": {"ours": encoder, "theirs": "st:a/b"},
        "image_encoder": SimpleNamespace(),
        "measures": (SimpleNamespace(name="R@10"), "RR"),
        "sample": Path("s.npz"),
        "seeds": 3,
        "queries": None,
        "progress": print,
    }
    assert request_part(BackretrievalRequest, given) == {
        "command": "evaluate backretrieval",
        "manifest": "abc",
        "text_encoders": {"ours": "random:8", "theirs": "st:a/b"},
        "image_encoder": "SimpleNamespace",
        "measures": ["R@10", "RR"],
        "sample": "s.npz",
        "seeds": 3,
    }


def test_the_run_has_versions_and_what_changes_no_number():
    kept = run_part(BackretrievalRequest, {"threads": 2, "seeds": 3, "memory": None, "out": Path("r")})
    assert kept["threads"] == 2 and kept["out"] == "r" and "seeds" not in kept and "memory" not in kept
    assert kept["xlingual"] and kept["python"] and "T" in kept["date"]
    pytest.importorskip("numpy")
    assert "numpy" in run_part(BackretrievalRequest, {})["libraries"]
