"""Prompts: the words before a text, by its role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from xlingual.errors import InputError, did_you_mean, listed, warn


def named_prompts(
    who: str, options: Mapping[str, Any], known: Mapping[str, str | None]
) -> dict[str, str | None]:
    """Return the prompts of options by role: texts, or those that options name among the model's own.

    `prompt_name` stands for `prompt`, and so on. Raises InputError where both are given, or for another name.
    """
    prompts: dict[str, str | None] = {}
    for option in ("prompt", "query_prompt", "candidate_prompt"):
        text, name = options.get(option), options.get(f"{option}_name")
        if text is not None and name is not None:
            raise InputError(f"{who}: {option} and {option}_name: give one of them")
        if name is not None and name not in known:
            has = f"it has {listed(known, 12)}" if known else "it has none"
            raise InputError(
                f"{who}: the model has no prompt named {name!r}.{did_you_mean(name, known)} ({has}); write "
                f"the prompt itself: {option}="
            )
        prompts[option] = text if name is None else known[name] or ""
    return prompts


@dataclass(frozen=True)
class Prompts:
    """The prompts of texts without a role, of queries and of candidates."""

    plain: str = ""
    query: str = ""
    candidate: str = ""
    # options for roles that a warning names where texts have none; they are named once
    idle: list[str] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def of(cls, options: Mapping[str, Any], model: Prompts | None = None) -> Prompts:
        """Return the prompts of a spec's options; where it has none, those of the model."""
        own, plain = model or cls(), options["prompt"]
        if plain is not None:
            own = cls(plain, plain, plain)
        query, candidate = options["query_prompt"], options["candidate_prompt"]
        by_role = {"query_prompt": query, "candidate_prompt": candidate}
        idle = [name for name, prompt in by_role.items() if prompt is not None and plain is None]
        return cls(
            own.plain,
            own.query if query is None else query,
            own.candidate if candidate is None else candidate,
            idle,
        )

    def before(self, role: str | None) -> str:
        """Return the prompt of a role; warn once where options count for other roles only."""
        if role is None and self.idle:
            verb = "is" if len(self.idle) == 1 else "are"
            warn(f"these texts have no role: {' and '.join(self.idle)} {verb} not used; write prompt=")
            self.idle.clear()
        return {"query": self.query, "candidate": self.candidate}.get(role or "", self.plain)

    @property
    def by_role(self) -> bool:
        """Whether a text has other vectors in another role."""
        return not self.plain == self.query == self.candidate

    def __str__(self) -> str:
        """Return the part of an identity: empty without prompts."""
        parts = {"prompt": self.plain} if self.by_role or self.plain else {}
        if self.by_role:
            parts |= {"query_prompt": self.query, "candidate_prompt": self.candidate}
        return "".join(f"&{name}={quote(text, safe='')}" for name, text in parts.items())
