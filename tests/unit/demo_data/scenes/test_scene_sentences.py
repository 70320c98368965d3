"""Exact sentences in every language, as a native speaker would write them."""

import pytest

from xlingual.demo_data.scenes.languages import GRAMMARS
from xlingual.demo_data.scenes.mentions import Mention, Mentions


class Always:
    """A stream that gives the same number for ever: 0.0 takes every first option, 0.99 every last one."""

    def __init__(self, number):
        self.number = number

    def random(self):
        return self.number


BALL = Mentions((Mention("ball", 1, colour="red", size="big", pattern="striped", position="left"),))
LIST = Mentions(
    (
        Mention("star", 3, colour="blue", size="small", position="top"),
        Mention("apple", 2, colour="green"),
    )
)
BOOKS = Mentions((Mention("book", 5, colour="yellow"),), background="darkblue")
HOUSES = Mentions((Mention("house", 4, "several", colour="orange"),))
FISH = Mentions((Mention("fish", 3, "bare", colour="black"),))
KEYS = Mentions((Mention("key", 2, colour="pink", position="middle"),))
UMBRELLA = Mentions((Mention("umbrella", 1, colour="purple"),))
CARS = Mentions((Mention("car", 4, "several", colour="white", size="big", position="right"),))
TWO = Mentions((Mention("heart", 1, colour="red"), Mention("box", 3, position="bottom")), background="beige")

FIRST = {
    "en": {
        BALL: "There is a big red striped ball on the left.",
        LIST: "There are three small blue stars at the top and two green apples.",
        BOOKS: "There are five yellow books on a dark blue background.",
        HOUSES: "There are several orange houses.",
        FISH: "There are black fish.",
    },
    "de": {
        BALL: "Links ist ein großer gestreifter roter Ball.",
        LIST: "Man sieht drei kleine blaue Sterne oben und zwei grüne Äpfel.",
        BOOKS: "Da sind fünf gelbe Bücher, auf dunkelblauem Hintergrund.",
        HOUSES: "Da sind mehrere orange Häuser.",
        FISH: "Da sind schwarze Fische.",
    },
    "es": {
        BALL: "Hay una gran pelota roja de rayas a la izquierda.",
        LIST: "Hay tres pequeñas estrellas azules arriba y dos manzanas verdes.",
        BOOKS: "Hay cinco libros amarillos, sobre un fondo azul oscuro.",
        HOUSES: "Hay varias casas naranja.",
        FISH: "Hay unos peces negros.",
    },
    "fr": {
        BALL: "Il y a une grande balle rouge à rayures à gauche.",
        LIST: "Il y a trois petites étoiles bleues en haut et deux pommes vertes.",
        BOOKS: "Il y a cinq livres jaunes, sur un fond bleu foncé.",
        HOUSES: "Il y a plusieurs maisons orange.",
        FISH: "Il y a des poissons noirs.",
    },
    "id": {
        BALL: "Ada sebuah bola besar bergaris-garis berwarna merah di sebelah kiri.",
        LIST: "Ada tiga buah bintang kecil berwarna biru di bagian atas dan dua buah apel berwarna hijau.",
        BOOKS: "Ada lima buah buku berwarna kuning dengan latar belakang biru tua.",
        HOUSES: "Ada beberapa rumah berwarna oranye.",
        FISH: "Ada ikan-ikan berwarna hitam.",
    },
    "ja": {
        BALL: "左に大きな赤い縞模様のボールが一個あります。",
        LIST: "上に小さな青い星が三つ、緑のりんごが二個見えます。",
        BOOKS: "紺色の背景に、黄色い本が五冊あります。",
        HOUSES: "オレンジ色の家が数軒あります。",
        FISH: "黒い魚がいます。",
    },
    "ru": {
        BALL: "Слева большой красный мяч в полоску.",
        LIST: "На картинке три маленькие синие звезды вверху и два зелёных яблока.",
        BOOKS: "На картинке пять жёлтых книг на тёмно-синем фоне.",
        HOUSES: "На картинке несколько оранжевых домов.",
        FISH: "На картинке чёрные рыбы.",
    },
    "ar": {
        BALL: "على اليسار كرة حمراء كبيرة مخططة.",
        LIST: "هناك ثلاث نجمات زرقاء صغيرة في الأعلى وتفاحتان خضراوان.",
        BOOKS: "هناك خمسة كتب صفراء على خلفية زرقاء داكنة.",
        HOUSES: "هناك عدة بيوت برتقالية.",
        FISH: "هناك سمكات سوداء.",
    },
    "zh": {
        BALL: "左边有一个大大的带条纹的红色的球。",
        LIST: "图中上面有三颗小小的蓝色的星星，还有两个绿色的苹果。",
        BOOKS: "图中有五本黄色的书，背景是深蓝色的。",
        HOUSES: "图中有几座橙色的房子。",
        FISH: "图中有一些黑色的鱼。",
    },
}
LAST = {
    "en": {
        KEYS: "In the centre, two pink keys.",
        UMBRELLA: "In the picture there is a violet umbrella.",
        CARS: "On the right side, a few large white automobiles.",
        TWO: "Everything is on a cream-coloured background. In the picture there is a red heart. "
        "At the bottom, three cartons.",
    },
    "de": {
        KEYS: "In der Mitte gibt es zwei rosafarbene Schlüssel.",
        UMBRELLA: "Ein Bild mit einem violetten Regenschirm.",
        CARS: "Auf der rechten Seite gibt es einige große weiße Autos.",
        TWO: "Alles ist vor cremefarbenem Hintergrund zu sehen. Ein Bild mit einem roten Herz. "
        "Im unteren Teil gibt es drei Schachteln.",
    },
    "es": {
        KEYS: "En el medio, dos llaves rosadas.",
        UMBRELLA: "Una imagen con una sombrilla violeta.",
        CARS: "En el lado derecho, algunos autos grandes de color blanco.",
        TWO: "El color del fondo es crema. Una imagen con un corazón rojo. En la parte inferior, tres cajas.",
    },
    "fr": {
        KEYS: "Au centre se trouvent deux clefs roses.",
        UMBRELLA: "Dessin d'un parapluie violet.",
        CARS: "Sur la droite se trouvent quelques grosses autos blanches.",
        TWO: "L'arrière-plan est crème. Dessin d'un cœur rouge. En bas se trouvent trois caisses.",
    },
    "id": {
        KEYS: "Di bagian tengah terlihat dua kunci merah muda.",
        UMBRELLA: "Sebuah payung ungu.",
        CARS: "Di kanan terlihat beberapa mobil putih besar.",
        TWO: "Latarnya berwarna krem. Sebuah bentuk hati merah. Di bawah terlihat tiga kardus.",
    },
    "ja": {
        KEYS: "中央に二本の桃色の鍵。",
        UMBRELLA: "紫色の傘の絵です。",
        CARS: "右側に数台の白い大きい自動車。",
        TWO: "背景の色はクリーム色です。赤色のハートの絵です。下の方に三つの箱。",
    },
    "ru": {
        KEYS: "Посередине на картинке два розовых ключа.",
        UMBRELLA: "Здесь виден один лиловый зонтик.",
        CARS: "С правой стороны на картинке несколько крупных белых автомобилей.",
        TWO: "Всё это на кремовом фоне. Здесь видно одно красное сердце. Снизу на картинке три ящика.",
    },
    "ar": {
        KEYS: "مفتاحان زهريان في المنتصف.",
        UMBRELLA: "صورة فيها شمسية أرجوانية.",
        CARS: "عدد من السيارات البيضاء الكبيرة في الجهة اليمنى.",
        TWO: "لون الخلفية بيج. صورة فيها قلب أحمر. ثلاث علب في الأسفل.",
    },
    "zh": {
        KEYS: "中央画着两把粉红色的钥匙。",
        UMBRELLA: "一把紫色的雨伞。",
        CARS: "右侧画着好几辆很大的白色小汽车。",
        TWO: "背景为米黄色。一颗红色爱心。下方画着三个盒子。",
    },
}


def _cases(table):
    return [(language, mentions, text) for language, rows in table.items() for mentions, text in rows.items()]


@pytest.mark.parametrize(("language", "mentions", "expected"), _cases(FIRST))
def test_sentence_of_first_options(language, mentions, expected):
    assert GRAMMARS[language].describe(mentions, Always(0.0)) == expected


@pytest.mark.parametrize(("language", "mentions", "expected"), _cases(LAST))
def test_sentence_of_last_options(language, mentions, expected):
    assert GRAMMARS[language].describe(mentions, Always(0.99)) == expected


def test_every_language_has_exact_sentences():
    assert set(FIRST) == set(LAST) == set(GRAMMARS)


def _phrase(language, field="np", draw=0.0, **said):
    return GRAMMARS[language].group(Mention(**said), Always(draw))[field]


@pytest.mark.parametrize(
    ("kind", "nominative", "accusative", "dative"),
    [
        ("ball", "ein kleiner roter Ball", "einen kleinen roten Ball", "einem kleinen roten Ball"),
        ("flower", "eine kleine rote Blume", "eine kleine rote Blume", "einer kleinen roten Blume"),
        ("house", "ein kleines rotes Haus", "ein kleines rotes Haus", "einem kleinen roten Haus"),
    ],
)
def test_german_cases_in_the_singular(kind, nominative, accusative, dative):
    said = {"kind": kind, "count": 1, "colour": "red", "size": "small"}
    assert _phrase("de", "np", **said) == nominative
    assert _phrase("de", "acc", **said) == accusative
    assert _phrase("de", "dat", **said) == dative


@pytest.mark.parametrize(
    ("kind", "dative"),
    [
        ("ball", "mehreren roten Bällen"),
        ("car", "mehreren roten Autos"),
        ("cup", "mehreren roten Tassen"),
        ("apple", "mehreren roten Äpfeln"),
        ("key", "mehreren roten Schlüsseln"),
    ],
)
def test_german_dative_plural(kind, dative):
    assert _phrase("de", "dat", kind=kind, count=3, number="several", colour="red") == dative


@pytest.mark.parametrize(
    ("kind", "counted"),
    [
        ("house", ["синий дом", "два синих дома", "три синих дома", "четыре синих дома", "пять синих домов"]),
        (
            "book",
            ["синяя книга", "две синие книги", "три синие книги", "четыре синие книги", "пять синих книг"],
        ),
        (
            "apple",
            [
                *("синее яблоко", "два синих яблока", "три синих яблока"),
                *("четыре синих яблока", "пять синих яблок"),
            ],
        ),
    ],
)
def test_russian_numerals_govern_cases(kind, counted):
    phrases = [_phrase("ru", kind=kind, count=count, colour="blue") for count in range(1, 6)]
    assert phrases == counted


def test_russian_verb_agrees():
    assert _phrase("ru", "seen", kind="cloud", count=1) == "видно"
    assert _phrase("ru", "seen", kind="book", count=1) == "видна"
    assert _phrase("ru", "seen", kind="book", count=3) == "видны"
    assert _phrase("ru", "seen", kind="book", count=5) == "видно"


@pytest.mark.parametrize(
    ("kind", "counted"),
    [
        ("book", ["كتاب أسود", "كتابان أسودان", "ثلاثة كتب سوداء", "أربعة كتب سوداء", "خمسة كتب سوداء"]),
        ("tree", ["شجرة سوداء", "شجرتان سوداوان", "ثلاث أشجار سوداء", "أربع أشجار سوداء", "خمس أشجار سوداء"]),
        ("mushroom", ["حبة فطر سوداء", "حبتا فطر سوداوان", "ثلاث حبات فطر سوداء"]),
    ],
)
def test_arabic_dual_plural_and_opposite_gender_of_numbers(kind, counted):
    phrases = [_phrase("ar", kind=kind, count=i + 1, colour="black") for i in range(len(counted))]
    assert phrases == counted


def test_arabic_article_goes_to_the_second_noun_and_to_adjectives():
    said = {"kind": "mushroom", "count": 4, "number": "several", "colour": "red"}
    assert _phrase("ar", draw=0.99, **said) == "عدد من حبات الفطر الحمراء"


def test_french_articles():
    assert _phrase("fr", kind="star", count=2, number="bare", colour="white") == "des étoiles blanches"
    assert _phrase("fr", kind="star", count=2, number="bare", size="small") == "de petites étoiles"
    assert _phrase("fr", "of", kind="star", count=2, number="bare") == "d'étoiles"
    assert _phrase("fr", "of", kind="tree", count=1) == "d'un arbre"
    assert _phrase("fr", "of", kind="tree", count=3) == "de trois arbres"


def test_english_article_before_a_vowel():
    assert _phrase("en", kind="umbrella", count=1) == "an umbrella"
    assert _phrase("en", kind="umbrella", count=1, colour="red") == "a red umbrella"
    assert _phrase("en", kind="ball", count=1, colour="orange") == "an orange ball"


def test_english_backgrounds_go_with_the_article_a():
    entries = GRAMMARS["en"].words.grounds.entries
    words = [ground["ground"] for grounds in entries.values() for ground in grounds]
    assert len(words) > 12
    assert not [word for word in words if word[0] in "aeiou"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "There are five yellow books on a turquoise background."),
        ("de", "Da sind fünf gelbe Bücher, auf türkisfarbenem Hintergrund."),
        ("es", "Hay cinco libros amarillos, sobre un fondo turquesa."),
        ("fr", "Il y a cinq livres jaunes, sur un fond turquoise."),
        ("id", "Ada lima buah buku berwarna kuning dengan latar belakang biru toska."),
        ("ja", "青緑の背景に、黄色い本が五冊あります。"),
        ("ru", "На картинке пять жёлтых книг на бирюзовом фоне."),
        ("ar", "هناك خمسة كتب صفراء على خلفية فيروزية."),
        ("zh", "图中有五本黄色的书，背景是青绿色的。"),
    ],
)
def test_backgrounds_agree(language, text):
    books = Mentions(BOOKS.groups, background="turquoise")
    assert GRAMMARS[language].describe(books, Always(0.0)) == text


@pytest.mark.parametrize(
    ("kind", "phrase"),
    [
        ("tree", "木が二本"),
        ("fish", "魚が二匹"),
        ("book", "本が二冊"),
        ("car", "車が二台"),
        ("star", "星が二つ"),
        ("house", "家が二軒"),
        ("boat", "船が二隻"),
    ],
)
def test_japanese_counters(kind, phrase):
    assert _phrase("ja", kind=kind, count=2) == phrase


def test_indonesian_classifiers_and_reduplication():
    assert _phrase("id", kind="fish", count=1) == "seekor ikan"
    assert _phrase("id", kind="tree", count=3, number="bare") == "pohon-pohon"
    assert _phrase("id", kind="tree", count=3, number="several") == "beberapa pohon"
