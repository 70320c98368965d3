"""The colour scale of heat maps: safe for colour-blind readers, with text that stands out in every cell."""

from __future__ import annotations

# Both scales change steadily in lightness, so that they read without hue: pale to deep on a light page,
# deep to pale on a dark one.
LIGHT = ("#f4f6d8", "#b5dfba", "#58b7c4", "#2a73b2", "#16326b")
DARK = ("#1c2740", "#27548c", "#2d8f9f", "#72c59a", "#f1eda6")

# From too little (blue) over the neutral centre to too much (orange): distinguishable with any colour vision.
LIGHT_BOTH_WAYS = ("#1d5fa0", "#8fc0e0", "#f1f1ec", "#f2b37a", "#b4530a")
DARK_BOTH_WAYS = ("#7cc0f5", "#2f6a9c", "#252c37", "#8f5320", "#f5a95f")


def css(steps: int, *, diverging: bool = False) -> str:
    """Return the rules for the classes h0 … of both colour schemes; `diverging` adds d0 … of that scale."""
    light, dark = _rules(LIGHT, steps), _rules(DARK, steps)
    if diverging:
        light += "\n" + _rules(LIGHT_BOTH_WAYS, steps, "d")
        dark += "\n" + _rules(DARK_BOTH_WAYS, steps, "d")
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}"


def colour(anchors: tuple[str, ...], share: float) -> tuple[int, int, int]:
    """Return the colour (red, green, blue) at a share, 0 to 1, of the way along the anchors."""
    place = min(max(share, 0.0), 1.0) * (len(anchors) - 1)
    left = min(int(place), len(anchors) - 2)
    pairs = zip(_rgb(anchors[left]), _rgb(anchors[left + 1]), strict=True)
    red, green, blue = (round(a + (b - a) * (place - left)) for a, b in pairs)
    return red, green, blue


def contrast(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    """Return the contrast of two colours as WCAG defines it (1 to 21)."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def ink(ground: tuple[int, int, int]) -> tuple[int, int, int]:
    """Return near-black or white, whichever reads better on the ground."""
    return max(((17, 24, 39), (255, 255, 255)), key=lambda text: contrast(text, ground))


def _rules(anchors: tuple[str, ...], steps: int, name: str = "h") -> str:
    grounds = [colour(anchors, step / (steps - 1)) for step in range(steps)]
    return "\n".join(
        f".{name}{step} {{ background: {_hex(ground)}; color: {_hex(ink(ground))}; }}"
        for step, ground in enumerate(grounds)
    )


def _rgb(text: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(text[1:])
    return red, green, blue


def _hex(colour: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _luminance(colour: tuple[int, int, int]) -> float:
    shares = (part / 255 for part in colour)
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
