"""Indonesian: nothing is inflected, what describes a noun stands behind it."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.data.recipes.languages.grammar import Language, capital, table, with_and
from xlingual.data.recipes.telling import Amount, Telling
from xlingual.data.scenes.streams import Draws, chance, pick

WORDS = table("""
    chicken: ayam
    beef: daging sapi
    lamb: daging domba
    turkey: daging kalkun
    sausage: sosis
    salmon: salmon
    tuna: tuna
    cod: ikan kod
    shrimp: udang
    tofu: tahu
    cheese: keju
    tomato: tomat
    potato: kentang
    carrot: wortel
    pumpkin: labu kuning
    cabbage: kol
    spinach: bayam
    aubergine: terung
    courgette: zukini
    pepper: paprika merah
    mushroom: jamur
    corn: jagung
    beetroot: bit
    cucumber: mentimun
    broccoli: brokoli
    cauliflower: kembang kol
    avocado: alpukat
    bean: kacang merah
    lentil: kacang lentil
    chickpea: kacang arab
    pea: kacang polong
    apple: apel
    banana: pisang
    strawberry: stroberi
    orange: jeruk
    mango: mangga
    cherry: ceri
    blueberry: bluberi
    pear: pir
    pineapple: nanas
    raspberry: rasberi
    peach: persik
    plum: plum
    chocolate: cokelat
    walnut: kacang kenari
    almond: almon
    date: kurma
    raisin: kismis
    coconut: kelapa
    garlic: bawang putih
    onion: bawang bombai
    ginger: jahe
    chilli: cabai bubuk
    cumin: jintan
    turmeric: kunyit
    paprika: paprika bubuk
    thyme: timi
    bay_leaf: daun salam
    soy_sauce: kecap asin
    lemon_juice: air lemon
    black_pepper: lada hitam
    basil: kemangi
    coriander: daun ketumbar
    cinnamon: kayu manis
    vanilla: vanili
    cardamom: kapulaga
    honey: madu
    lemon_zest: parutan kulit lemon
    nutmeg: pala
    saffron: safron
    parsley: peterseli
    dill: adas sowa
    spring_onion: daun bawang
    sesame: wijen
    sour_cream: krim asam
    mint: daun mint
    powdered_sugar: gula halus
    whipped_cream: krim kocok
    cocoa: cokelat bubuk
    water: air
    broth: kaldu
    flour: tepung terigu
    sugar: gula
    butter: mentega
    oil: minyak
    salt: garam
    egg: telur
    milk: susu
    rice: beras
    noodles: mi kering
    bread: roti tawar
    yogurt: yoghurt
    oats: oat
    tomato_sauce: saus tomat
    coconut_milk: santan
    lettuce: selada
    yeast: ragi
""")
KINDS = table("""
    soup: sup | sop
    stew: semur
    curry: kari | gulai
    salad: salad
    noodles: mi | bakmi
    rice: nasi
    omelette: telur dadar | omelet
    pie: pai
    pizza: pizza
    casserole: skotel
    cake: bolu | kue
    cookies: kue kering | kukis
    pancakes: panekuk
    porridge: bubur
    sandwich: roti lapis | roti isi
    dumplings: pangsit
    skewers: sate
    smoothie: smoothie | jus
""")
STYLES = table("""
    homemade: rumahan | ala rumah
    festive: istimewa
    classic: klasik | tradisional
    simple: sederhana | simpel
    light: ringan
    tasty: enak | lezat
    favourite: favorit
    hearty: mengenyangkan
    quick: cepat | praktis
    spicy: pedas
""")
REGIONS = (
    "khas Bandung",
    "khas Padang",
    "khas Surabaya",
    "khas Medan",
    "khas Bali",
    "khas Makassar",
    "khas Manado",
    "khas Solo",
    "khas Palembang",
    "khas Betawi",
)
OCCASIONS = (
    "untuk berdua",
    "untuk keluarga",
    "untuk anak-anak",
    "untuk sarapan",
    "untuk makan malam",
    "untuk akhir pekan",
    "untuk musim hujan",
    "resep nenek",
)
ACTIONS = table("""
    cut: Potong-potong {x} | Potong dadu {x}
    chop: Cincang halus {x} | Cincang {x}
    wash: Cuci bersih {x} | Bilas {x}
    heat: Panaskan {x} di wajan | Panaskan {x}
    fry: Tumis {x} selama {t} | Goreng {x} kira-kira {t}
    add: Tambahkan {x} | Masukkan {x}
    boil: Rebus {x} selama {t} | Rebus {x} kira-kira {t}
    bring: Didihkan {x} | Panaskan {x} sampai mendidih
    simmer: Masak dengan api kecil selama {t} | Tutup panci dan masak selama {t}
    blend: Haluskan {x} | Blender {x} sampai halus
    mix: Campur dengan {x} | Aduk rata dengan {x}
    whisk: Kocok {x} | Kocok {x} selama {t}
    knead: Uleni {x} menjadi adonan | Buat adonan dari {x}
    rest: Diamkan adonan selama {t} | Istirahatkan adonan {t}
    fill: Isi dengan {x} | Taruh {x} di tengahnya
    bake: Panggang selama {t} pada suhu 180 derajat | Masukkan ke oven selama {t}
    spread: Olesi dengan {x} | Oleskan {x}
    layer: Tata {x} di atasnya | Tutup dengan {x}
    toast: Panggang {x} | Panggang {x} sampai kecokelatan
    steam: Kukus selama {t} | Kukus sampai matang, kira-kira {t}
    turn: Goreng kedua sisinya selama {t} | Goreng selama {t} sambil dibalik
    ladle: Goreng adonan sesendok demi sesendok | Dadar adonan tipis-tipis
    marinate: Rendam {x} selama {t} | Lumuri {x} lalu diamkan {t}
    skewer: Tusuk {x} dengan lidi | Tusukkan {x} pada lidi
    grill: Bakar selama {t} sambil dibalik | Bakar di atas arang selama {t}
    chill: Dinginkan selama {t} | Simpan di kulkas selama {t}
    pour: Tuang {x} | Masukkan {x} lalu aduk
    season: Bumbui dengan {x} | Beri {x} secukupnya
    garnish: Taburi dengan {x} | Hias dengan {x} sebelum disajikan
""")
UNITS = {
    "g": "{n} gram {x}",
    "ml": "{n} ml {x}",
    "piece": "{n} buah {x}",
    "tbsp": "{n} sdm {x}",
    "tsp": "{n} sdt {x}",
    "clove": "{n} siung {x}",
    "bunch": "{n} ikat {x}",
    "taste": "{x} secukupnya",
}


class Indonesian(Language):
    """Indonesian."""

    code = "id"
    actions = ACTIONS
    ingredients_heading = ("Bahan:", "Bahan-bahan:")
    steps_heading = ("Cara membuat:", "Langkah:")
    tips = (
        "Selamat mencoba!",
        "Sajikan hangat.",
        "Tahan dua hari di kulkas.",
        "Lebih enak dimakan keesokan harinya.",
        "Keluarga saya suka sekali.",
        "Kurangi garam untuk anak-anak.",
    )

    def title(self, telling: Telling, rng: Draws) -> str:
        """Return "Sup wortel sederhana dengan kacang merah dan kemangi khas Solo"."""
        kind = pick(rng, KINDS[telling.kind])
        style = f" {pick(rng, STYLES[telling.style])}" if telling.style else ""
        extra = ""
        if telling.named:
            linked = pick(rng, ("dengan", "dan"))
            names = [WORDS[name][0] for name in telling.named]
            extra = f" {linked if len(names) == 1 else 'dengan'} {with_and(names, 'dan')}"
        hero = WORDS[telling.hero][0]
        head = f"{kind} {hero}{extra}{style}" if " dan " in extra[:5] else f"{kind} {hero}{style}{extra}"
        tail = {
            "region": f" {pick(rng, REGIONS)}",
            "occasion": f" {pick(rng, OCCASIONS)}",
            "minutes": f" {telling.minutes} menit",
            None: "",
        }[telling.tail]
        return capital(f"{'resep ' if chance(rng, 0.15) else ''}{head}{tail}")

    def amount(self, amount: Amount) -> str:
        """Return "200 gram wortel"; eggs are counted with a word of their own."""
        if amount.name == "egg":
            return f"{amount.number} butir telur"
        return UNITS[amount.unit].format(n=amount.number, x=WORDS[amount.name][0])

    def listed(self, names: Sequence[str]) -> str:
        """Return "wortel, kacang merah dan kemangi"."""
        return with_and([WORDS[name][0] for name in names], "dan")

    def minutes(self, number: int) -> str:
        """Return "20 menit"."""
        return f"{number} menit"

    def serves(self, number: int) -> str:
        """Return "Untuk 4 porsi"."""
        return f"Untuk {number} porsi"
