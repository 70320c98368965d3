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
