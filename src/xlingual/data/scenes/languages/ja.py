"""Japanese: counters, modifiers before the noun, the verb at the end."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.data.scenes.languages.grammar import Fields, Frames, Grammar, chosen
from xlingual.data.scenes.mentions import Mention
from xlingual.data.scenes.streams import Draws, chance, pick, shuffled

NOUNS = {  # noun, counters
    "star": (("星", ("つ", "個")),),
    "ball": (("ボール", ("個", "つ")), ("球", ("個", "つ"))),
    "tree": (("木", ("本",)),),
    "house": (("家", ("軒",)),),
    "flower": (("花", ("本", "輪")), ("お花", ("本",))),
    "fish": (("魚", ("匹",)),),
    "heart": (("ハート", ("つ", "個")),),
    "car": (("車", ("台",)), ("自動車", ("台",))),
    "boat": (("船", ("隻",)), ("ヨット", ("隻",)), ("帆船", ("隻",))),
    "cup": (("カップ", ("個", "つ")), ("マグカップ", ("個", "つ"))),
    "cloud": (("雲", ("つ",)),),
    "apple": (("りんご", ("個", "つ")), ("リンゴ", ("個", "つ"))),
    "book": (("本", ("冊",)),),
    "hat": (("帽子", ("個", "つ")),),
    "key": (("鍵", ("本",)),),
    "bottle": (("瓶", ("本",)), ("ボトル", ("本",))),
    "moon": (("月", ("つ",)), ("三日月", ("つ",))),
    "umbrella": (("傘", ("本",)),),
    "flag": (("旗", ("本",)),),
    "balloon": (("風船", ("個", "つ")),),
    "box": (("箱", ("個", "つ")),),
    "mushroom": (("きのこ", ("本", "個")), ("キノコ", ("本", "個"))),
    "triangle": (("三角形", ("つ", "個")), ("三角", ("つ",))),
    "bell": (("ベル", ("個", "つ")), ("鐘", ("つ",))),
}
COLOURS = {
    "red": ("赤い", "赤色の"),
    "blue": ("青い", "青色の"),
    "green": ("緑の", "緑色の"),
    "yellow": ("黄色い", "黄色の"),
    "orange": ("オレンジ色の", "オレンジの"),
    "purple": ("紫の", "紫色の"),
    "pink": ("ピンクの", "ピンク色の", "桃色の"),
    "brown": ("茶色い", "茶色の"),
    "black": ("黒い",),
    "white": ("白い",),
}
SIZES = {"small": ("小さな", "小さい"), "medium": ("中くらいの",), "big": ("大きな", "大きい")}
PATTERNS = {
    "plain": ("無地の",),
    "striped": ("縞模様の", "ストライプの"),
    "dotted": ("水玉模様の", "水玉の"),
    "checked": ("チェック柄の", "格子柄の"),
}
PLACES = {
    "left": ("左に", "左側に"),
    "right": ("右に", "右側に"),
    "top": ("上に", "上の方に"),
    "bottom": ("下に", "下の方に"),
    "middle": ("真ん中に", "中央に"),
}
NUMBERS = ("一", "二", "三", "四", "五")
SAY_ONE = 0.4  # how often a single thing is counted
GROUNDS = {
    "lightblue": ({"ground": "水色"}, {"ground": "薄い青"}),
    "lightgreen": ({"ground": "黄緑"}, {"ground": "薄い緑"}),
    "beige": ({"ground": "ベージュ"}, {"ground": "クリーム色"}),
    "pink": ({"ground": "ピンク"}, {"ground": "薄いピンク"}),
    "grey": ({"ground": "灰色"}, {"ground": "グレー"}),
    "darkblue": ({"ground": "紺色"}, {"ground": "濃い青"}),
    "yellow": ({"ground": "黄色"}, {"ground": "薄い黄色"}),
    "purple": ({"ground": "紫"}, {"ground": "紫色"}),
    "turquoise": ({"ground": "青緑"}, {"ground": "青緑色"}),
    "orange": ({"ground": "オレンジ"}, {"ground": "オレンジ色"}),
    "darkgreen": ({"ground": "深緑"}, {"ground": "濃い緑"}),
    "darkred": ({"ground": "濃い赤"}, {"ground": "えんじ色"}),
}


class Japanese(Grammar):
    """Japanese: no spaces, and the verb last."""

    code = "ja"
    stop = "。"
    gap = ""
    listed_fields = ("np", "of")
    frames = Frames(
        single=(
            "{np}{exists}。",
            "{np}見えます。",
            "{np}描いてあります。",
            "{np}描かれています。",
            "{of}の絵です。",
        ),
        placed=(
            "{place}{np}{exists}。",
            "{np}{place}{exists}。",
            "{place}{np}見えます。",
            "{place}{np}描かれています。",
            "{place}{of}。",
        ),
        listed=("{np}見えます。", "{np}描かれています。", "{np}描いてあります。", "{of}の絵です。"),
        ground=("背景は{ground}です。", "背景の色は{ground}です。"),
        attached=("{ground}の背景に、{sentence}。", "背景は{ground}で、{sentence}。"),
    )
    grounds = GROUNDS

    def group(self, mention: Mention, rng: Draws) -> Fields:
        """Return np (up to the verb), of (a noun phrase), exists and place."""
        noun, counters = pick(rng, NOUNS[mention.kind])
        phrase = chosen(rng, COLOURS, mention.colour) + chosen(rng, PATTERNS, mention.pattern)
        phrase = "".join(shuffled(rng, (chosen(rng, SIZES, mention.size), phrase))) + noun
        number = _number(mention, pick(rng, counters), rng)
        counted = f"{number}の{phrase}" if number else phrase
        behind = chance(rng, 0.7)  # the number more often follows the noun
        return {
            "np": f"{phrase}が{number}" if behind else f"{counted}が",
            "of": counted,
            "exists": "います" if mention.kind == "fish" else "あります",
            "place": chosen(rng, PLACES, mention.position),
        }

    def item(self, fields: Fields, name: str) -> str:
        """Return one entry of a list: the place comes first, or is passed over in "a picture of"."""
        return fields[name] if name == "of" else fields["place"] + fields[name]

    def join(self, phrases: Sequence[str]) -> str:
        """Return the entries one after the other: commas after verbless clauses, "と" between nouns."""
        if any("が" in phrase for phrase in phrases):
            return "、".join([*(phrase.removesuffix("が") for phrase in phrases[:-1]), phrases[-1]])
        return "と".join(phrases)


def _number(mention: Mention, counter: str, rng: Draws) -> str:
    """Return the number with its counter, or "" where it is not told."""
    if mention.number == "bare":
        return ""
    if mention.number == "several":
        return "いくつか" if counter in "つ個" else f"数{counter}"
    if mention.count == 1 and not chance(rng, SAY_ONE):
        return ""
    return NUMBERS[mention.count - 1] + counter
