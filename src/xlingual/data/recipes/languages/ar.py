"""Arabic: compounds whose second part takes the article, adjectives that agree in gender and article.

Vowel signs are not written, and sentences are in the first person plural ("we cut"), as recipes often are.
"""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.data.recipes.languages.grammar import Language, table
from xlingual.data.recipes.telling import Amount, Telling
from xlingual.data.scenes.streams import Draws, chance, pick

# Without the article | with it, where that is not the article before the word.
WORDS = table("""
    chicken: دجاج
    beef: لحم بقر | لحم البقر
    lamb: لحم غنم | لحم الغنم
    turkey: ديك رومي | الديك الرومي
    sausage: نقانق
    salmon: سلمون
    tuna: تونة
    cod: سمك القد | سمك القد
    shrimp: روبيان
    tofu: توفو
    cheese: جبن
    tomato: طماطم
    potato: بطاطس
    carrot: جزر
    pumpkin: قرع
    cabbage: ملفوف
    spinach: سبانخ
    aubergine: باذنجان
    courgette: كوسا
    pepper: فلفل أحمر | الفلفل الأحمر
    mushroom: فطر
    corn: ذرة
    beetroot: شمندر
    cucumber: خيار
    broccoli: بروكلي
    cauliflower: قرنبيط
    avocado: أفوكادو
    bean: فاصوليا
    lentil: عدس
    chickpea: حمص
    pea: بازلاء
    apple: تفاح
    banana: موز
    strawberry: فراولة
    orange: برتقال
    mango: مانجو
    cherry: كرز
    blueberry: توت أزرق | التوت الأزرق
    pear: كمثرى
    pineapple: أناناس
    raspberry: توت العليق | توت العليق
    peach: خوخ
    plum: برقوق
    chocolate: شوكولاتة
    walnut: جوز
    almond: لوز
    date: تمر
    raisin: زبيب
    coconut: جوز الهند | جوز الهند
    garlic: ثوم
    onion: بصل
    ginger: زنجبيل
    chilli: فلفل حار | الفلفل الحار
    cumin: كمون
    turmeric: كركم
    paprika: بابريكا
    thyme: زعتر
    bay_leaf: ورق غار | ورق الغار
    soy_sauce: صلصة صويا | صلصة الصويا
    lemon_juice: عصير ليمون | عصير الليمون
    black_pepper: فلفل أسود | الفلفل الأسود
    basil: ريحان
    coriander: كزبرة
    cinnamon: قرفة
    vanilla: فانيليا
    cardamom: هيل
    honey: عسل
    lemon_zest: بشر ليمون | بشر الليمون
    nutmeg: جوزة الطيب | جوزة الطيب
    saffron: زعفران
    parsley: بقدونس
    dill: شبت
    spring_onion: بصل أخضر | البصل الأخضر
    sesame: سمسم
    sour_cream: قشدة حامضة | القشدة الحامضة
    mint: نعناع
    powdered_sugar: سكر ناعم | السكر الناعم
    whipped_cream: كريمة مخفوقة | الكريمة المخفوقة
    cocoa: كاكاو
    water: ماء
    broth: مرق
    flour: دقيق
    sugar: سكر
    butter: زبدة
    oil: زيت
    salt: ملح
    egg: بيض
    milk: حليب
    rice: أرز
    noodles: شعيرية
    bread: خبز
    yogurt: زبادي
    oats: شوفان
    tomato_sauce: صلصة طماطم | صلصة الطماطم
    coconut_milk: حليب جوز الهند | حليب جوز الهند
    lettuce: خس
    yeast: خميرة
""")
# Gender, whether the main ingredient stands behind it as in a compound ("soup of the chicken") or with
# "with", the kind.
KINDS = {
    "soup": (("f", "of", "شوربة"), ("m", "of", "حساء")),
    "stew": (("f", "of", "يخنة"), ("m", "of", "طاجن")),
    "curry": (("m", "of", "كاري"),),
    "salad": (("f", "of", "سلطة"),),
    "noodles": (("f", "with", "شعيرية"), ("f", "with", "نودلز")),
    "rice": (("m", "with", "أرز"),),
    "omelette": (("f", "of", "عجة"), ("m", "with", "أومليت")),
    "pie": (("f", "of", "فطيرة"),),
    "pizza": (("f", "with", "بيتزا"),),
    "casserole": (("f", "of", "صينية"),),
    "cake": (("f", "of", "كعكة"), ("m", "with", "كيك")),
    "cookies": (("m", "with", "بسكويت"), ("m", "with", "كوكيز")),
    "pancakes": (("m", "with", "بان كيك"),),
    "porridge": (("f", "with", "عصيدة"),),
    "sandwich": (("m", "of", "ساندويتش"), ("f", "of", "شطيرة")),
    "dumplings": (("f", "of", "سمبوسة"),),
    "skewers": (("m", "of", "كباب"), ("f", "of", "أسياخ")),
    "smoothie": (("m", "of", "سموذي"), ("m", "of", "مخفوق")),
}
STYLES = {  # masculine and feminine, without the article
    "homemade": (("منزلي", "منزلية"), ("بيتي", "بيتية")),
    "festive": (("احتفالي", "احتفالية"),),
    "classic": (("كلاسيكي", "كلاسيكية"), ("تقليدي", "تقليدية")),
    "simple": (("بسيط", "بسيطة"), ("سهل", "سهلة")),
    "light": (("خفيف", "خفيفة"),),
    "tasty": (("لذيذ", "لذيذة"), ("شهي", "شهية")),
    "favourite": (("مفضل", "مفضلة"),),
    "hearty": (("مشبع", "مشبعة"),),
    "quick": (("سريع", "سريعة"),),
    "spicy": (("حار", "حارة"),),
}
REGIONS = (
    "على الطريقة الحلبية",
    "على الطريقة الشامية",
    "على الطريقة المصرية",
    "على الطريقة المغربية",
    "على الطريقة العراقية",
    "على الطريقة اللبنانية",
    "على الطريقة الخليجية",
    "على الطريقة التونسية",
    "على الطريقة اليمنية",
    "على الطريقة الفلسطينية",
)
OCCASIONS = (
    "لشخصين",
    "للضيوف",
    "لكل العائلة",
    "للأطفال",
    "للفطور",
    "للعشاء",
    "لأيام الشتاء",
    "من مطبخ جدتي",
)
ACTIONS = table("""
    cut: نقطع {x} إلى مكعبات | نقطع {x} إلى قطع صغيرة
    chop: نفرم {x} ناعما | نفرم {x}
    wash: نغسل {x} جيدا | نشطف {x}
    heat: نسخن {x} في مقلاة | نضع {x} في مقلاة ساخنة
    fry: نقلي {x} لمدة {t} | نحمر {x} نحو {t}
    add: نضيف {x} | نضع {x}
    boil: نسلق {x} لمدة {t} | نطهو {x} لمدة {t}
    bring: نغلي {x} | نسخن {x} حتى الغليان
    simmer: نطبخ على نار هادئة لمدة {t} | نغطي القدر ونتركه لمدة {t}
    blend: نخلط {x} في الخلاط | نهرس {x}
    mix: نخلط مع {x} | نحرك مع {x}
    whisk: نخفق {x} | نخفق {x} لمدة {t}
    knead: نعجن {x} | نحضر عجينة من {x}
    rest: نترك العجينة لمدة {t} | نريح العجينة لمدة {t}
    fill: نضع في الداخل {x} | نضع {x} في الوسط
    bake: نخبز في الفرن لمدة {t} على 180 درجة | ندخل الفرن لمدة {t}
    spread: نوزع {x} على الوجه | نفرد {x} في طبقة رقيقة
    layer: نرتب {x} فوقها | نوزع {x} على السطح
    toast: نحمص {x} | نحمص {x} حتى الاحمرار
    steam: نطهو على البخار لمدة {t} | نطبخ على البخار لمدة {t}
    turn: نقلي على الجانبين لمدة {t} | نقلي لمدة {t} مع التقليب
    ladle: نقلي مغرفة من العجين في كل مرة | نقلي أقراصا رقيقة من العجين
    marinate: نتبل {x} لمدة {t} | نخلط {x} ونتركها لمدة {t}
    skewer: نضع {x} في الأسياخ | نشك {x} في الأسياخ
    grill: نشوي لمدة {t} مع التقليب | نشوي على الفحم لمدة {t}
    chill: نبرد في الثلاجة لمدة {t} | نضع في الثلاجة لمدة {t}
    pour: نسكب {x} | نضيف {x} ونحرك
    season: نضيف حسب الذوق {x} | نضيف {x} ونحرك جيدا
    garnish: نضع على الوجه {x} | نضيف {x} قبل التقديم
""")
UNITS = {
    "g": "{n} غرام {x}",
    "ml": "{n} مل {x}",
    "piece": "{n} حبات {x}",
    "clove": "{n} فصوص {x}",
    "bunch": "باقة {x}",
    "taste": "{x} حسب الذوق",
}
OF = {  # with "of" and the article; one and two are told by the noun itself
    ("piece", 2): "حبتان من {x}",
    ("tbsp", 2): "ملعقتان كبيرتان من {x}",
    ("tbsp", 3): "3 ملاعق كبيرة من {x}",
    ("tbsp", 4): "4 ملاعق كبيرة من {x}",
    ("tsp", 1): "ملعقة صغيرة من {x}",
    ("tsp", 2): "ملعقتان صغيرتان من {x}",
}


def definite(name: str) -> str:
    """Return the noun with the article: "الجزر", "عصير الليمون"."""
    forms = WORDS[name]
    return forms[1] if len(forms) == 2 else f"ال{forms[0]}"


def joined(nouns: Sequence[str]) -> str:
    """Return the nouns with "and", which Arabic writes onto the next word."""
    return " و".join(nouns)


class Arabic(Language):
    """Arabic."""

    code = "ar"
    actions = ACTIONS
    ingredients_heading = ("المكونات:", "المقادير:")
    steps_heading = ("طريقة التحضير:", "الخطوات:")
    tips = (
        "بالهناء والشفاء!",
        "يقدم ساخنا أو باردا.",
        "يحفظ في الثلاجة يومين.",
        "في اليوم التالي يصبح ألذ.",
        "عائلتي تحبه كثيرا.",
        "نقلل الملح للأطفال.",
    )

    def title(self, telling: Telling, rng: Draws) -> str:
        """Return "شوربة الجزر البسيطة بالفاصوليا والريحان على الطريقة الشامية"."""
        gender, how, kind = pick(rng, KINDS[telling.kind])
        style = pick(rng, STYLES[telling.style])[gender == "f"] if telling.style else ""
        hero, named = definite(telling.hero), [definite(name) for name in telling.named]
        if how == "of":
            head = f"{kind} {hero}" + (f" ال{style}" if style else "")
        else:
            head, named = f"{kind} {style}".rstrip(), [hero, *named]
        extra = f" ب{joined(named)}" if named else ""
        tail = {
            "region": f" {pick(rng, REGIONS)}",
            "occasion": f" {pick(rng, OCCASIONS)}",
            "minutes": f" في {self.minutes(telling.minutes)}",
            None: "",
        }[telling.tail]
        return f"{'طريقة عمل ' if chance(rng, 0.1) else ''}{head}{extra}{tail}"

    def amount(self, amount: Amount) -> str:
        """Return "200 غرام جزر"."""
        measure = OF.get((amount.unit, amount.number))
        if measure:
            return measure.format(x=definite(amount.name))
        return UNITS[amount.unit].format(n=amount.number, x=WORDS[amount.name][0])

    def listed(self, names: Sequence[str]) -> str:
        """Return "الجزر والفاصوليا والريحان"."""
        return joined([definite(name) for name in names])

    def minutes(self, number: int) -> str:
        """Return "10 دقائق" or, above ten, "20 دقيقة"."""
        return f"{number} {'دقائق' if number <= 10 else 'دقيقة'}"

    def serves(self, number: int) -> str:
        """Return "تكفي 4 أشخاص"."""
        return "تكفي شخصين" if number == 2 else f"تكفي {number} أشخاص"
