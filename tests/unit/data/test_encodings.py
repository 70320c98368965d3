import pytest

from xlingual.data.manifest import Manifest
from xlingual.data.reading.encodings import Encoding, find_encoding, guesses
from xlingual.errors import DataWarning, InputError

WORDS = {
    "cp1252": "Größe grüner Stühle schöne Tür Öl großer Käfer füllen Möbel für Äste müde hören Gefäß weiß",
    "cp1250": "příliš žluťoučký kůň úpěl ďábelské ódy řeka šířka člověk žába čeština může třída údolí něco",
    "cp1251": "Красная лампа стоит на столе Большая кровать для детей белый шкаф зеркало полка кухня Дом",
    "cp1253": "μικρή καρέκλα κόκκινο τραπέζι λευκή λάμπα ξύλινο ράφι μεγάλος καθρέφτης κουζίνα σπίτι",
    "cp1254": "kırmızı sandalye büyük yatak çocuk için dolap güneş ışık şişe ağaç öğle çiçek ayakkabı gömlek",
    "cp932": "赤い椅子 白いランプ 大きなベッド 子供の部屋 青い帽子 木の棚 小さな鏡 台所の机 夏の靴",
    "cp949": "빨간 의자 하얀 램프 큰 침대 아이 방 파란 모자 나무 선반 작은 거울 부엌 책상 여름 신발",
    "gb18030": "红色 椅子 白色 台灯 大床 儿童 房间 蓝色 帽子 木头 架子 小镜子 厨房 桌子 夏天 鞋子 冬天 外套",
}


@pytest.mark.parametrize("name", WORDS)
def test_an_encoding_is_known_by_the_letters_of_its_languages(tmp_path, name):
    text = "id,lang,text\n" + "".join(f"{i},de,{word}\n" for i, word in enumerate(WORDS[name].split()))
    (tmp_path / "m.csv").write_bytes(text.encode(name))
    found = find_encoding(tmp_path / "m.csv")
    assert (tmp_path / "m.csv").read_bytes().decode(found.name) == text
    assert 0.8 <= found.confidence < 1


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"", "utf-8-sig"),
        ("\ufefftext".encode(), "utf-8-sig"),
        ("größer".encode("utf-16"), "utf-16"),
        ("größer".encode("utf-32"), "utf-32"),
        ("lang,text\nen,a word\n".encode("utf-16-le"), "utf-16-le"),
        ("lang,text\nen,a word\n".encode("utf-16-be"), "utf-16-be"),
    ],
)
def test_what_needs_no_guess(tmp_path, content, name):
    (tmp_path / "m.csv").write_bytes(content)
    assert find_encoding(tmp_path / "m.csv") == Encoding(name)


def test_few_odd_bytes_and_damaged_utf8_are_refused(tmp_path):
    path = tmp_path / "m.csv"
    path.write_bytes(b"lang,text\nde,gr\xfcn\nde,blau\n")
    with pytest.raises(InputError, match=r"line 2 is not UTF-8 text \(like cp1252, .* 0\.50\).* encoding=…"):
        find_encoding(path)
    path.write_bytes(b"lang,text\n" + "de,größer\n".encode() * 30 + b"de,gr\xfcn\n")
    with pytest.raises(InputError, match=r"line 32 is not UTF-8 text: save"):
        find_encoding(path)
    assert guesses("größer\n".encode() * 30 + b"gr\xfcn\n") == {}


@pytest.mark.parametrize("given", ["nonsense", "rot13", "base64", ""])
def test_unknown_encodings(tmp_path, given):
    (tmp_path / "m.csv").write_bytes(b"lang,text\nde,a\n")
    with pytest.raises(InputError, match="no such encoding: give one such as utf-8"):
        find_encoding(tmp_path / "m.csv", given)


def test_a_given_encoding_is_used_and_no_warning_is_given(tmp_path):
    path = tmp_path / "m.csv"
    path.write_bytes("lang;text\nde;grün\n".encode("cp1252"))
    assert list(Manifest.read(path, encoding="cp1252", separator=";").text) == ["grün"]
    assert Manifest.read(path, encoding="cp1252", separator=";").columns["encoding"] == "cp1252"
    with pytest.raises(InputError, match="line 2 is not utf-8 text: give the right one with encoding=…"):
        Manifest.read(path, encoding="utf-8", separator=";")


def test_a_guess_is_stated_with_its_confidence(tmp_path):
    rows = [f'{i};{tag};"Stühl {i} größer &amp; grün";12,50' for i in range(30) for tag in ("de", "fr")]
    text = "\r\n".join(["id;lang;text;preis", *rows])
    (tmp_path / "m.csv").write_bytes(text.encode("cp1252"))
    words = (
        r"read with encoding cp1252 \(confidence 0\.97\) and separator ';' \(confidence 0\.99\): "
        "give encoding=… and separator=…"
    )
    with pytest.warns(DataWarning, match=words):
        manifest = Manifest.read(tmp_path / "m.csv")
    assert manifest.text[0] == "Stühl 0 größer &amp; grün"
    assert manifest.fields["preis"][0] == "12,50"
    (tmp_path / "m.tsv").write_bytes(text.replace(";", "\t").encode("utf-16"))
    assert Manifest.read(tmp_path / "m.tsv").text[0] == "Stühl 0 größer &amp\t grün"


def test_json_lines_in_another_encoding(tmp_path):
    lines = [
        f'{{"lang": "de", "text": "{word}", "image": {{"path": "{i}.png"}}}}'
        for i, word in enumerate(WORDS["cp1252"].split())
    ]
    (tmp_path / "m.jsonl").write_bytes("\n".join(lines).encode("utf-16"))
    manifest = Manifest.read(tmp_path / "m.jsonl")
    assert list(manifest.text) == WORDS["cp1252"].split()
    assert len(manifest.image_source) == len(lines)  # cells that are read from the file again
