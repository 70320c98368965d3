"""Indonesian: classifiers, reduplication for plurals without a number, modifiers behind the noun."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.data.scenes.languages.grammar import Fields, Frames, Grammar, chosen, spaced, with_and
from xlingual.data.scenes.mentions import Mention
from xlingual.data.scenes.streams import Draws, chance, pick

NOUNS = {  # noun, plural by reduplication, classifiers
    "star": (("bintang", "bintang-bintang", ("buah",)),),
    "ball": (("bola", "bola-bola", ("buah",)),),
    "tree": (
        ("pohon", "pohon-pohon", ("batang", "buah")),
        ("pohon cemara", "pohon-pohon cemara", ("batang", "buah")),
    ),
    "house": (("rumah", "rumah-rumah", ("buah",)),),
    "flower": (("bunga", "bunga-bunga", ("tangkai", "kuntum")), ("kembang", "kembang-kembang", ("tangkai",))),
    "fish": (("ikan", "ikan-ikan", ("ekor",)),),
    "heart": (("bentuk hati", "bentuk-bentuk hati", ("buah",)),),
    "car": (("mobil", "mobil-mobil", ("buah",)),),
    "boat": (("perahu", "perahu-perahu", ("buah",)), ("perahu layar", "perahu-perahu layar", ("buah",))),
    "cup": (("cangkir", "cangkir-cangkir", ("buah",)),),
    "cloud": (("awan", "awan-awan", ("buah",)),),
    "apple": (("apel", "apel-apel", ("buah",)),),
    "book": (("buku", "buku-buku", ("buah",)),),
    "hat": (("topi", "topi-topi", ("buah",)),),
    "key": (("kunci", "kunci-kunci", ("buah",)),),
    "bottle": (("botol", "botol-botol", ("buah",)),),
    "moon": (("bulan sabit", "bulan-bulan sabit", ("buah",)),),
    "umbrella": (("payung", "payung-payung", ("buah",)),),
    "flag": (("bendera", "bendera-bendera", ("buah",)),),
    "balloon": (("balon", "balon-balon", ("buah",)),),
    "box": (("kotak", "kotak-kotak", ("buah",)), ("kardus", "kardus-kardus", ("buah",))),
    "mushroom": (("jamur", "jamur-jamur", ("buah",)),),
    "triangle": (("segitiga", "segitiga-segitiga", ("buah",)),),
    "bell": (("lonceng", "lonceng-lonceng", ("buah",)), ("bel", "bel-bel", ("buah",))),
}
COLOURS = {
    "red": ("merah",),
    "blue": ("biru",),
    "green": ("hijau",),
    "yellow": ("kuning",),
    "orange": ("oranye", "jingga"),
    "purple": ("ungu",),
    "pink": ("merah muda",),
    "brown": ("cokelat",),
    "black": ("hitam",),
    "white": ("putih",),
}
SIZES = {"small": ("kecil",), "medium": ("berukuran sedang",), "big": ("besar",)}
PATTERNS = {
    "plain": ("polos",),
    "striped": ("bergaris-garis", "bermotif garis"),
    "dotted": ("berbintik-bintik", "bermotif polkadot"),
    "checked": ("bermotif kotak-kotak",),
}
PLACES = {
    "left": ("di sebelah kiri", "di kiri"),
    "right": ("di sebelah kanan", "di kanan"),
    "top": ("di bagian atas", "di atas"),
    "bottom": ("di bagian bawah", "di bawah"),
    "middle": ("di tengah", "di bagian tengah"),
}
NUMBERS = ("dua", "tiga", "empat", "lima")
GROUNDS = {
    "lightblue": ({"ground": "biru muda"},),
    "lightgreen": ({"ground": "hijau muda"},),
    "beige": ({"ground": "krem"},),
    "pink": ({"ground": "merah muda"},),
    "grey": ({"ground": "abu-abu"}, {"ground": "abu-abu muda"}),
    "darkblue": ({"ground": "biru tua"}, {"ground": "biru gelap"}),
    "yellow": ({"ground": "kuning"}, {"ground": "kuning muda"}),
    "purple": ({"ground": "ungu"},),
    "turquoise": ({"ground": "biru toska"}, {"ground": "toska"}),
    "orange": ({"ground": "oranye"}, {"ground": "jingga"}),
    "darkgreen": ({"ground": "hijau tua"}, {"ground": "hijau gelap"}),
    "darkred": ({"ground": "merah tua"}, {"ground": "merah gelap"}),
}


class Indonesian(Grammar):
    """Indonesian."""

    code = "id"
    frames = Frames(
        single=(
            "Ada {np}.",
            "Terlihat {np}.",
            "Dalam gambar ini ada {np}.",
            "Gambar ini menunjukkan {np}.",
            "{np}.",
        ),
        placed=(
            "Ada {np} {place}.",
            "{place} ada {np}.",
            "{place} terdapat {np}.",
            "{np} {place}.",
            "{place} terlihat {np}.",
        ),
        listed=(
            "Ada {np}.",
            "Gambar ini menunjukkan {np}.",
            "{np}.",
            "Gambar {np}.",
            "Terlihat {np}.",
        ),
        ground=("Latar belakangnya {ground}.", "Latarnya berwarna {ground}."),
        attached=("{sentence} dengan latar belakang {ground}.", "{sentence}, berlatar {ground}."),
    )
    grounds = GROUNDS

    def group(self, mention: Mention, rng: Draws) -> Fields:
        """Return np and place."""
        noun, plural, classifiers = pick(rng, NOUNS[mention.kind])
        if mention.number == "bare":
            head = plural
        elif mention.number == "several":
            head = f"beberapa {noun}"
        elif mention.count == 1:
            head = f"se{pick(rng, classifiers)} {noun}"
        else:
            head = spaced(NUMBERS[mention.count - 2], pick(rng, (*classifiers, "")), noun)
        size = chosen(rng, SIZES, mention.size)
        pattern = chosen(rng, PATTERNS, mention.pattern)
        colour = chosen(rng, COLOURS, mention.colour)
        if colour and chance(rng, 0.3):
            modifiers = spaced(size, pattern, f"berwarna {colour}")
        else:
            modifiers = spaced(colour, size, pattern)
        return {"np": spaced(head, modifiers), "place": chosen(rng, PLACES, mention.position)}

    def join(self, phrases: Sequence[str]) -> str:
        """Return a, b, dan c (with a comma before "dan" in a list of three)."""
        if len(phrases) > 2:
            return f"{', '.join(phrases[:-1])}, dan {phrases[-1]}"
        return with_and(phrases, "dan")
