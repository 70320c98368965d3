"""What identifies an encoder is shown in words, without percent signs."""

from types import SimpleNamespace

from xlingual.report.conditions import systems
from xlingual.signature import Signature


def test_prompts_and_roles_are_read_as_they_were_written():
    identity = "st:0123?dtype=float32&query_prompt=query%3A%20&candidate_prompt="
    system = {"encoder": identity, "roles": "source=query,target=candidate"}
    entry = SimpleNamespace(encoder="e5", signature=str(Signature({"task": "x"}, system)))
    shown = ["st:0123?dtype=float32&query_prompt=query: &candidate_prompt=", system["roles"]]
    assert systems([entry]) == {"e5": shown}
