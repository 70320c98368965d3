"""How many words of each language an encoder did not know, summed over all pieces of a run."""

from __future__ import annotations

from xlingual.errors import listed


class UnknownWords:
    """Counts of unknown words and of all, by language, until they are told."""

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, int]] = {}  # unknown, all

    def add(self, language: str, unknown: int, words: int) -> None:
        """Count the words of some texts."""
        before, total = self._counts.get(language, (0, 0))
        self._counts[language] = before + unknown, total + words

    def told(self, what: str) -> list[str]:
        """Return one sentence, `what` and the shares by language, or none; the count starts anew."""
        shares = [f"{tag} {_percent(*counts)}" for tag, counts in self._counts.items() if counts[0]]
        self._counts = {}
        return [f"{what}: {listed(shares, 20)}"] if shares else []


def _percent(unknown: int, words: int) -> str:
    """Return a share with two digits; 100 % and 0 % only where it is exactly that."""
    share = 100 * unknown / words
    if unknown < words and share >= 99.5:
        return "more than 99 %"
    return f"{share:.0f} %" if share >= 9.95 else "less than 0.1 %" if share < 0.1 else f"{share:.1f} %"
