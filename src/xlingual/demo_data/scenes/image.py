"""A scene as an image: drawn large with Pillow, then scaled down; the same scene gives the same bytes."""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO

from PIL import Image, ImageChops, ImageDraw, ImageFilter

from xlingual.demo_data.scenes.scene import ObjectGroup, Scene
from xlingual.demo_data.scenes.shapes import SHAPES

Box = tuple[float, float, float, float]
Colour = tuple[int, int, int]

OVERSAMPLING = 3

INKS: dict[str, Colour] = {
    "red": (218, 44, 46),
    "blue": (38, 92, 205),
    "green": (46, 150, 66),
    "yellow": (247, 206, 36),
    "orange": (243, 132, 26),
    "purple": (126, 58, 172),
    "pink": (240, 112, 168),
    "brown": (128, 78, 42),
    "black": (40, 40, 46),
    "white": (252, 252, 250),
}
GROUNDS: dict[str, tuple[Colour, Colour]] = {  # top and bottom of a soft slope
    "lightblue": ((132, 196, 244), (160, 212, 248)),
    "lightgreen": ((158, 214, 134), (180, 226, 156)),
    "beige": ((236, 212, 170), (242, 224, 190)),
    "pink": ((250, 178, 202), (252, 198, 216)),
    "grey": ((176, 180, 186), (196, 199, 204)),
    "darkblue": ((24, 34, 84), (38, 50, 108)),
    "yellow": ((252, 236, 130), (253, 242, 164)),
    "purple": ((176, 140, 214), (192, 160, 224)),
    "turquoise": ((98, 206, 200), (132, 218, 212)),
    "orange": ((250, 186, 116), (252, 202, 148)),
    "darkgreen": ((20, 72, 50), (34, 90, 64)),
    "darkred": ((104, 22, 36), (122, 36, 50)),
}
DARK = ("darkblue", "darkgreen", "darkred")  # objects on them get a light outline
SIDES = {"small": 0.22, "medium": 0.36, "big": 0.58}  # of an object, in parts of the image's side
STRIP = 0.34  # height of the strip at the top or the bottom, width of the column left or right
HALF = 0.49  # the same where the only other group is on the opposite side
WIDE = 0.55  # the same where there is no other group
MARGIN = 0.035
TILT = 20  # degrees, at most
LOOSE = 0.64  # the room of an object, at most
DRIFT = 0.1  # how far an object may be from its place, in parts of the side, where there is room
SPOT_CONTRAST = 0.38
DARK_SPOT_CONTRAST = 0.15
FRAME: Colour = (112, 92, 78)


def paint(scene: Scene, size: int = 96) -> bytes:
    """Return the scene as a PNG of size × size pixels."""
    canvas = _ground(scene.background, size * OVERSAMPLING).copy()
    _paint_spots(canvas, scene)
    for group in scene.groups:
        _paint_group(canvas, group, _region(group.position, scene), scene.background in DARK)
    edge, width = canvas.width - 1, max(1, canvas.width // 48)
    # A frame in all images: their similarity then depends less on the objects.
    ImageDraw.Draw(canvas).rectangle((0, 0, edge, edge), outline=FRAME, width=width)
    buffer = BytesIO()
    canvas.reduce(OVERSAMPLING).save(buffer, format="PNG", compress_level=6)
    return buffer.getvalue()


def mixed(first: Colour, second: Colour, share: float) -> Colour:
    """Return the colour between two, with `share` of the second."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


def _region(position: str, scene: Scene) -> Box:
    """Return where the group at `position` has its room: strips at top and bottom, columns between them."""
    taken = {group.position for group in scene.groups}
    strip = _strip(taken)
    if position == "top":
        return (0.1, MARGIN, 0.9, strip)
    if position == "bottom":
        return (0.1, 1 - strip, 0.9, 1 - MARGIN)
    top = strip if "top" in taken else MARGIN
    bottom = 1 - strip if "bottom" in taken else 1 - MARGIN
    if not taken & {"top", "bottom"}:
        top, bottom = 0.1, 0.9
    left, right = {
        "left": (MARGIN, strip),
        "middle": (STRIP, 1 - STRIP) if taken & {"left", "right"} else (0.18, 0.82),
        "right": (1 - strip, 1 - MARGIN),
    }[position]
    return (left, top, right, bottom)


def _strip(taken: set[str]) -> float:
    """Return the height or width of strips; groups that have the image to themselves are drawn larger."""
    if len(taken) == 1:
        return WIDE
    return HALF if taken in ({"top", "bottom"}, {"left", "right"}) else STRIP


def _paint_spots(canvas: Image.Image, scene: Scene) -> None:
    draw, pixels = ImageDraw.Draw(canvas), canvas.width
    top, bottom = GROUNDS[scene.background]
    contrast = DARK_SPOT_CONTRAST if scene.background in DARK else SPOT_CONTRAST
    for x, y, radius in scene.spots:
        box = [round(value * pixels) for value in (x - radius, y - radius, x + radius, y + radius)]
        draw.ellipse(box, fill=mixed(mixed(top, bottom, y), (255, 255, 255), contrast))


def _paint_group(canvas: Image.Image, group: ObjectGroup, region: Box, dark: bool) -> None:
    side, centres = _arrange(group, region)
    upright = _sprite(group.kind, group.colour, group.pattern, max(6, round(side * canvas.width)), dark)
    for x, y, tilt in centres:
        sprite = upright.rotate(tilt * TILT, Image.Resampling.BILINEAR, expand=True)
        corner = (round(x * canvas.width - sprite.width / 2), round(y * canvas.height - sprite.height / 2))
        canvas.paste(sprite, corner, sprite)


def _arrange(group: ObjectGroup, region: Box) -> tuple[float, list[tuple[float, float, float]]]:
    """Return the side of the objects and (x, y, tilt) for each: rows of equal cells, the last row centred."""
    x0, y0, x1, y1 = region
    width, height = x1 - x0, y1 - y0
    columns = max(
        range(1, group.count + 1), key=lambda c: (min(width / c, height / -(-group.count // c)), -c)
    )
    rows = -(-group.count // columns)
    cell = (min(width / columns, LOOSE), min(height / rows, LOOSE))
    side = min(SIDES[group.size], min(cell) * 0.94)
    centres = []
    for i in range(group.count):
        row, column = divmod(i, columns)
        in_row = min(columns, group.count - row * columns)
        right, down, tilt = group.jitter[i] if group.jitter else (0.0, 0.0, 0.0)
        x = (x0 + x1) / 2 + (column - (in_row - 1) / 2) * cell[0] + right * min((cell[0] - side) / 2, DRIFT)
        y = (y0 + y1) / 2 + (row - (rows - 1) / 2) * cell[1] + down * min((cell[1] - side) / 2, DRIFT)
        centres.append((x, y, tilt))
    return side, centres


@lru_cache(maxsize=32)
def _ground(name: str, pixels: int) -> Image.Image:
    top, bottom = GROUNDS[name]
    slope = Image.linear_gradient("L").resize((pixels, pixels))
    return Image.composite(Image.new("RGB", slope.size, bottom), Image.new("RGB", slope.size, top), slope)


@lru_cache(maxsize=256)
def _sprite(kind: str, colour: str, pattern: str, pixels: int, dark: bool) -> Image.Image:
    """Return one object as RGBA, with a thin outline that sets it off from the background."""
    line = max(1, pixels // 40) + 1
    whole = (pixels + 2 * line, pixels + 2 * line)
    fill = _pattern(colour, pattern, whole)
    shades = {"body": None, "dark": mixed(INKS[colour], (0, 0, 0), 0.42), "light": (250, 247, 238)}
    if colour == "black":
        shades["dark"] = (86, 86, 96)
    if colour == "white":
        shades["dark"], shades["light"] = (168, 172, 180), (205, 214, 224)
    sprite = Image.new("RGB", whole)
    outline = Image.new("L", whole)
    for part in SHAPES[kind]:
        mask = Image.new("L", whole)
        getattr(ImageDraw.Draw(mask), part.form)([line + value * pixels for value in part.at], fill=255)
        sprite.paste(shades[part.paint] or fill, (0, 0), mask)
        outline = ImageChops.lighter(outline, mask)
    edge = (240, 240, 245) if dark else mixed(INKS[colour], (20, 20, 30), 0.6)
    result = Image.new("RGB", whole, edge)
    result.paste(sprite, (0, 0), outline)
    result.putalpha(outline.filter(ImageFilter.MaxFilter(2 * line - 1)))
    return result


def _pattern(colour: str, pattern: str, whole: tuple[int, int]) -> Image.Image:
    """Return the colour with the pattern on it, in a contrasting shade."""
    ink = INKS[colour]
    other = mixed(ink, (0, 0, 0), 0.45) if colour in ("white", "yellow") else mixed(ink, (255, 255, 255), 0.5)
    tile = Image.new("RGB", whole, ink)
    draw = ImageDraw.Draw(tile)
    step = whole[0] / (5 if pattern == "dotted" else 6)
    for i in range(7):
        if pattern == "striped":
            draw.rectangle((i * step, 0, i * step + step * 0.45, whole[1]), fill=other)
        for j in range(7 if pattern in ("dotted", "checked") else 0):
            x, y = i * step, j * step
            if pattern == "checked" and (i + j) % 2:
                draw.rectangle((x, y, x + step, y + step), fill=other)
            if pattern == "dotted" and (i + j) % 2:
                draw.ellipse((x + step * 0.1, y + step * 0.1, x + step * 0.9, y + step * 0.9), fill=other)
    return tile
