"""Which column of an export holds what: named by options, or found by what shops call them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xlingual.data.reading.tables import SourceTable
from xlingual.data.tags import tag_of
from xlingual.errors import InputError, listed

# What columns are called (in lower case, with _ between words), the likeliest first.
_USUAL = {
    "text": "text title product_title product_name item_name name caption headline post_title text_content "
    "sentence description product_description short_description body body_html content titel produktname "
    "bezeichnung beschreibung titre nom_du_produit nom nombre titulo título nome naam",
    "lang": "lang language lang_code language_code locale language_tag lng content_language sprache langue "
    "idioma lingua taal",
    "image": "image image_link image_path image_url image_src images image_file file_name filename photo "
    "photos picture pictures img img_url img_src thumbnail main_image image_urls bild bilder imagen immagine",
    "id": "id _id sku variant_sku seller_sku item_sku sku_code product_id item_id offer_id article_id "
    "article_number article_no article_nr art_no product_number product_no product_code item_number item_no "
    "item_code part_number part_no stock_code artikelnummer artikelnr artikel_nummer artikel_nr "
    "art_nr artnr artikel_id artikelcode bestellnummer bestellnr bestell_nummer bestell_nr best_nr "
    "produktnummer produktnr produkt_nr produkt_id produktcode référence_produit référence_article "
    "code_article code_produit id_produit numéro_article référence réf referencia_producto "
    "código_de_artículo código_artículo codigo_articulo código_de_producto código_producto codigo_producto "
    "id_producto referencia codice_articolo codice_prodotto id_prodotto cod_articolo código_do_produto "
    "código_produto referência productnummer productcode bestelnummer varenummer varenr kod_produktu "
    "numer_artykułu ürün_kodu stok_kodu артикул 商品番号 商品コード 商品编号 货号 gtin ean upc asin handle "
    "mpn reference ref",
    "item": "item item product",
    "cluster": "cluster item_group_id parent_sku parent_id parent_asin",
    "split": "split",
}
_LIKE_TEXT = frozenset(_USUAL["text"].split())


@dataclass(frozen=True)
class ExportColumns:
    """The columns by what they mean; of several texts by language, or one text with a language of its own."""

    texts: Mapping[str | None, Sequence[str]]  # language (None: that of the row) → columns that are joined
    lang: str | None
    image: str | None
    id: str | None
    item: str | None
    cluster: str | None
    split: str | None
    fields: Sequence[str]
    language_fields: Mapping[str, Mapping[str, str]]  # field → language → column
    language: str | None = None  # of rows whose own cell is empty

    def named(self) -> dict[str, str]:
        """Return what each column was taken for, in words."""
        texts = [" + ".join(columns) for columns in self.texts.values()]
        roles = {name: getattr(self, name) for name in ("id", "lang", "image", "item", "cluster", "split")}
        fields = [*self.language_fields, *self.fields]
        return {
            "text": listed(texts, 6),
            **{name: column for name, column in roles.items() if column},
            **({"further columns": listed(fields, 8)} if fields else {}),
        }


def find_export_columns(
    table: SourceTable,
    given: Mapping[str, str | None],
    join: Sequence[str] = (),
    language: str | None = None,
) -> ExportColumns:
    """Return the columns of an export; `given` has the names that options give ("text", "lang", …).

    `join` are columns, or patterns with {lang}, whose texts become one. `language` is that of texts where no
    column says it.
    Raises InputError where there is no text, or no language.
    """
    plain: dict[str, str] = {}
    for name in table.names:
        plain.setdefault(_plain(name), name)
    roles: dict[str, str | None] = {}
    for role in ("id", "lang", "image", "item", "cluster", "split"):
        named = given.get(role)
        taken = {column for column in roles.values() if column}
        roles[role] = (
            table.require(named, f"--{role}-column")
            if named
            else next(
                (plain[word] for word in _USUAL[role].split() if plain.get(word, "") not in {"", *taken}),
                None,
            )
        )
    if given.get("text") and join:
        raise InputError("--text-column and --join exclude each other: leave one out")
    text = given.get("text")
    patterns = list(join) or ([text] if text else [])
    tag = tag_of(language) if language else None
    if language and tag is None:
        raise InputError(f"--language {language!r:.40} is no language: give a tag such as en or zh-Hant")
    others = [name for name in table.names if name and name not in roles.values()]
    texts, fields = _texts(table, patterns, others, plain, roles, tag)
    used = {name for columns in texts.values() for name in columns}
    used |= {name for by_language in fields.values() for name in by_language.values()}
    return ExportColumns(
        texts=texts,
        **roles,
        fields=[name for name in others if name not in used],
        language_fields={name: by for name, by in fields.items() if not set(by.values()) <= _used(texts)},
        language=tag,
    )


def _texts(
    table: SourceTable,
    patterns: Sequence[str],
    others: Sequence[str],
    plain: Mapping[str, str],
    roles: dict[str, str | None],
    language: str | None,
) -> tuple[dict[str | None, Sequence[str]], dict[str, dict[str, str]]]:
    """Return the text columns by language, and further ones by field and language."""
    by_stem = _by_language(others)
    if any("{lang}" in name for name in patterns):
        return _of_patterns(table, patterns), by_stem
    if patterns:
        columns = [
            table.require(name, "--join" if len(patterns) > 1 else "--text-column") for name in patterns
        ]
        return {_alone(table, roles, language): columns}, {}
    stem = next((word for word in (*_USUAL["text"].split(), "") if word in by_stem), None)
    if stem is not None and roles["lang"] is None:
        return {tag: [column] for tag, column in by_stem[stem].items()}, by_stem
    text = next((plain[word] for word in _USUAL["text"].split() if plain.get(word) in others), None)
    if text is None:
        raise InputError(
            f"{table.source}: no column of texts is found: name it with --text-column (a pattern such as "
            f"'name_{{lang}}' where each language has one). Its columns: {listed(table.names, 20)}"
        )
    return {_alone(table, roles, language): [text]}, {}


def _alone(table: SourceTable, roles: Mapping[str, str | None], language: str | None) -> str | None:
    """Return the language of all texts; None where each row has its own."""
    if roles["lang"] is None and language is None:
        raise InputError(
            f"{table.source}: no column of languages is found: name it with --lang-column, or say --language "
            f"en where all texts are in one. Its columns: {listed(table.names, 20)}"
        )
    return language if roles["lang"] is None else None


def _of_patterns(table: SourceTable, patterns: Sequence[str]) -> dict[str | None, Sequence[str]]:
    """Return the columns of each language, in the order of the patterns."""
    found: dict[str | None, list[str]] = {}
    for pattern in patterns:
        before, mark, after = pattern.partition("{lang}")
        if not mark or "{lang}" in after:
            raise InputError(f"{pattern!r}: write {{lang}} once in each column, as in 'title_{{lang}}'")
        for name in table.names:
            word = name[len(before) : len(name) - len(after)]
            if name.startswith(before) and name.endswith(after) and (tag := tag_of(word)):
                found.setdefault(tag, []).append(name)
    if not found:
        raise InputError(
            f"{table.source} has no column that matches {listed(map(repr, patterns))}. Its columns: "
            f"{listed(table.names, 20)}"
        )
    return dict(found)


def _by_language(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return stem → language → column, for columns of texts that are named with at least two languages.

    The stem is "" where the columns are named by the languages alone.
    """
    found: dict[str, dict[str, str]] = {}
    for name in names:
        match = re.fullmatch(
            r"(?:(?P<stem>.+?)[\s_.:/(\[-]+)?(?P<tag>[^\s_.:/()\[\]]+(?:[_-][A-Za-z]{2})?)[)\]]*", name
        )
        stem, tag = (_plain(match["stem"] or ""), tag_of(match["tag"])) if match else ("", None)
        if tag and (stem in _LIKE_TEXT or not stem):
            found.setdefault(stem, {}).setdefault(tag, name)
    return {stem: columns for stem, columns in found.items() if len(columns) > 1}


def _used(texts: Mapping[str | None, Sequence[str]]) -> set[str]:
    return {name for columns in texts.values() for name in columns}


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "_", name.strip().casefold()).strip("_") or name
