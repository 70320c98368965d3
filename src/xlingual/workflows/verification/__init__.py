"""Make a result again and compare it; check a claim."""

from xlingual.workflows.verification.verify import Replay, Wanted, is_claim, verify, verify_claim

__all__ = ["Replay", "Wanted", "is_claim", "verify", "verify_claim"]
