"""What is put before a text, by its role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote


@dataclass(frozen=True)
class Prompts:
    """What is put before texts of no role, before queries and before candidates."""

    plain: str = ""
    query: str = ""
    candidate: str = ""

    @classmethod
    def of(cls, options: Mapping[str, Any], model: Prompts | None = None) -> Prompts:
        """Return the prompts of a spec's options; where it has none, those of the model."""
        own = model or cls()
        plain, query, candidate = options["prompt"], options["query_prompt"], options["candidate_prompt"]

        def first(*given: str | None) -> str:
            return next(text for text in given if text is not None)

        return cls(
            first(plain, own.plain), first(query, plain, own.query), first(candidate, plain, own.candidate)
        )

    def before(self, role: str | None) -> str:
        """Return what is put before texts of a role."""
        return {"query": self.query, "candidate": self.candidate}.get(role or "", self.plain)

    @property
    def by_role(self) -> bool:
        """Whether a text has other vectors in another role."""
        return not self.plain == self.query == self.candidate

    def __str__(self) -> str:
        """Return the part of an identity: empty without prompts."""
        parts = {"prompt": self.plain}
        if self.by_role:
            parts |= {"query_prompt": self.query, "candidate_prompt": self.candidate}
        return "".join(
            f"&{name}={quote(text, safe='')}" for name, text in parts.items() if text or self.by_role
        )
