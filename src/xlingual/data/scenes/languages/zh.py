"""Chinese (simplified characters): measure words between the number and the noun, modifiers with 的."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.data.scenes.languages.grammar import Fields, Frames, Grammar, chosen
from xlingual.data.scenes.mentions import Mention
from xlingual.data.scenes.streams import Draws, pick, shuffled

NOUNS = {  # noun, measure word
    "star": (("星星", "颗"), ("五角星", "颗")),
    "ball": (("球", "个"), ("圆球", "个")),
    "tree": (("树", "棵"), ("松树", "棵")),
    "house": (("房子", "座"), ("小屋", "间")),
    "flower": (("花", "朵"),),
    "fish": (("鱼", "条"),),
    "heart": (("心", "颗"), ("爱心", "颗")),
    "car": (("汽车", "辆"), ("小汽车", "辆")),
    "boat": (("船", "艘"), ("帆船", "艘")),
    "cup": (("杯子", "个"), ("马克杯", "个")),
    "cloud": (("云", "朵"), ("云彩", "朵")),
    "apple": (("苹果", "个"),),
    "book": (("书", "本"),),
    "hat": (("帽子", "顶"),),
    "key": (("钥匙", "把"),),
    "bottle": (("瓶子", "个"),),
    "moon": (("月亮", "个"), ("月牙", "个")),
    "umbrella": (("伞", "把"), ("雨伞", "把")),
    "flag": (("旗子", "面"), ("旗帜", "面")),
    "balloon": (("气球", "个"),),
    "box": (("箱子", "个"), ("盒子", "个")),
    "mushroom": (("蘑菇", "个"),),
    "triangle": (("三角形", "个"),),
    "bell": (("铃铛", "个"), ("铃", "个")),
}
COLOURS = {
    "red": ("红色的", "红色"),
    "blue": ("蓝色的", "蓝色"),
    "green": ("绿色的", "绿色"),
    "yellow": ("黄色的", "黄色"),
    "orange": ("橙色的", "橘色的"),
    "purple": ("紫色的",),
    "pink": ("粉色的", "粉红色的"),
    "brown": ("棕色的", "褐色的"),
    "black": ("黑色的", "黑色"),
    "white": ("白色的", "白色"),
}
SIZES = {"small": ("小小的", "很小的"), "medium": ("中等大小的",), "big": ("大大的", "很大的")}
PATTERNS = {
    "plain": ("纯色的",),
    "striped": ("带条纹的", "条纹图案的"),
    "dotted": ("带圆点的", "圆点图案的"),
    "checked": ("格子图案的", "带格子的"),
}
PLACES = {
    "left": ("左边", "左侧"),
    "right": ("右边", "右侧"),
    "top": ("上面", "上方"),
    "bottom": ("下面", "下方"),
    "middle": ("中间", "中央"),
}
NUMBERS = ("一", "两", "三", "四", "五")
GROUNDS = {
    "lightblue": ({"ground": "浅蓝色"}, {"ground": "天蓝色"}),
    "lightgreen": ({"ground": "浅绿色"},),
    "beige": ({"ground": "米色"}, {"ground": "米黄色"}),
    "pink": ({"ground": "粉色"}, {"ground": "浅粉色"}),
    "grey": ({"ground": "灰色"}, {"ground": "浅灰色"}),
    "darkblue": ({"ground": "深蓝色"}, {"ground": "藏青色"}),
    "yellow": ({"ground": "黄色"}, {"ground": "浅黄色"}),
    "purple": ({"ground": "紫色"}, {"ground": "淡紫色"}),
    "turquoise": ({"ground": "青绿色"}, {"ground": "蓝绿色"}),
    "orange": ({"ground": "橙色"}, {"ground": "橘色"}),
    "darkgreen": ({"ground": "深绿色"}, {"ground": "墨绿色"}),
    "darkred": ({"ground": "深红色"}, {"ground": "暗红色"}),
}


class Chinese(Grammar):
    """Chinese: no spaces, the place before the verb."""

    code = "zh"
    stop = "。"
    gap = ""
    listed_fields = ("np", "clause")
    frames = Frames(
        single=("图中有{np}。", "可以看到{np}。", "这里有{np}。", "图上画着{np}。", "{np}。"),
        placed=("{place}有{np}。", "{place}是{np}。", "在{place}可以看到{np}。", "{place}画着{np}。"),
        listed=("图中{clause}。", "{clause}。", "画面里{clause}。"),
        ground=("背景是{ground}的。", "背景为{ground}。"),
        attached=("{sentence}，背景是{ground}的。", "{sentence}，背景为{ground}。"),
    )
    grounds = GROUNDS

    def group(self, mention: Mention, rng: Draws) -> Fields:
        """Return np, clause (the place and "there is") and place."""
        noun, measure = pick(rng, NOUNS[mention.kind])
        colour = chosen(rng, COLOURS, mention.colour)
        before = shuffled(rng, (chosen(rng, SIZES, mention.size), chosen(rng, PATTERNS, mention.pattern)))
        # A colour without 的 stands right before the noun.
        modifiers = [*before, colour] if not colour.endswith("的") else shuffled(rng, [*before, colour])
        phrase = _number(mention, measure, rng) + "".join(modifiers) + noun
        place = chosen(rng, PLACES, mention.position)
        return {"np": phrase, "clause": f"{place}有{phrase}", "place": place}

    def item(self, fields: Fields, name: str) -> str:
        """Return one entry of a list; the clause already has its place."""
        return fields[name]

    def join(self, phrases: Sequence[str]) -> str:
        """Return the clauses with commas between them; only the last is introduced by "also"."""
        last = phrases[-1].replace("有", "还有", 1) if phrases[-1].startswith("有") else phrases[-1]
        return "，".join([*phrases[:-1], last])


def _number(mention: Mention, measure: str, rng: Draws) -> str:
    """Return the number with its measure word; an open number is "some"."""
    if mention.number == "bare":
        return pick(rng, ("一些", "几" + measure)) if mention.count > 2 else "一些"
    if mention.number == "several":
        return pick(rng, ("几", "好几")) + measure
    return NUMBERS[mention.count - 1] + measure
