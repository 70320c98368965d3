"""The words of a card for each kind of model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any

PIVOT = "image pivot"  # begins the transforms of a pivot

# keys of `data` in config.json, in words
DATA: Mapping[str, str] = {
    "source": "manifest",
    "validation_digest": "digest of the validation",
    "validation_items": "items of the validation",
    "validation_questions": "questions of the validation",
    "texts": "texts trained on",
    "images": "image encoder",
}

Config = Mapping[str, Any]


@dataclass(frozen=True)
class Words:
    """A kind of model in words; functions take the content of `config.json`."""

    name: Callable[[Config], str]
    what: Callable[[Config], str]
    reference: str
    scores: str  # what the scores are
    form: str  # of a score
    use: Callable[[Config, str], tuple[str, ...]]  # of the configuration and the name of the folder
    made: str = "trained"

    def title(self, config: Config) -> str:
        """Return the first line of the card."""
        source = " ".join(str((config.get("data") or {}).get("source") or "").split())
        return self.name(config) + (f", {self.made} on {source}" if source else "")

    def number(self, value: float) -> str:
        """Return a score."""
        return format(value, self.form)


def words_of(kind: str) -> Words:
    """Return the words for a kind of model; plain ones for a kind that is not listed."""
    return _WORDS.get(kind, _PLAIN)


_RECIPES = {
    "mlmme": "MLMME",
    "paper": "MLMME",
    "vse": "VSE",
    "vsepp": "VSE++",
    "triplet": "Triplet",
    "triplet-xl": "TripletXL",
    "dual-encoder": "Dual encoder",
}


def _recipe(config: Config) -> str:
    named = str((config.get("training") or {}).get("recipe", config["kind"]))
    return _RECIPES.get(named, named)


def _plain_use(config: Config, where: str) -> tuple[str, ...]:
    return (f"--text-encoder {quote(f'model:{where}' + ('::SPEC' if config.get('base') else ''))}",)


def _mlmme(config: Config) -> str:
    model = config["model"]
    read = f"texts in {', '.join(model['languages'])}"
    images = "" if model.get("picture_dim") is None else " and images"
    own = "word vectors and a GRU"
    if model.get("text_map") == "per-language":
        own = "word vectors, a GRU and a map into the space of its own"
    return (
        f"One space of {model['joint_dim']:,} dimensions for {read}{images}. Each language has {own}; "
        "vectors have unit length and are compared by cosine."
    )


def _mlmme_use(config: Config, where: str) -> tuple[str, ...]:
    specs = [f"--text-encoder {quote(f'model:{where}')}"]
    if config.get("base") is not None:
        specs.append(f"--image-encoder {quote(f'model:{where}::SPEC')}")
    return tuple(specs)


def _triplet(config: Config) -> str:
    model = config["model"]
    towers = "each by separate layers" if model.get("separate_towers") else "both by the same layers"
    if model.get("split"):
        views = f"the two parts of a text (split: {model['split']})"
    else:
        views = f"the fields {model.get('title', 'title')} and {model.get('body', 'body')} of an item"
    unit = ", each half at unit length" if model.get("scaling", "unit") == "unit" else ""
    return (
        f"Two dense layers with ReLU over the vectors of a frozen encoder of texts ({model['base_dim']:,} "
        f"dimensions). It reads {views}, {towers}; the vector has 2 × {model['out_dim']:,} dimensions, "
        f"title before body{unit}."
    )


def _dual(config: Config) -> str:
    model = config["model"]
    tower = {
        "words": "over words that it learnt from scratch",
        "vectors": "over the vectors of a frozen encoder",
        "transformer": "over a network of transformers",
    }.get(model.get("tower", ""), "")
    towers = "a tower each" if model.get("separate") else "one tower"
    return (
        f"Questions and answers in one space of {model['dim']:,} dimensions: {towers} {tower}. Vectors have "
        "unit length and are compared by their dot product."
    )


def place_name(tag: str | None) -> str:
    """Return the name of a language that a transform has a map for: * for all others."""
    return "*" if tag is None else tag


def all_of(model: Config) -> str:
    """Return the languages of a transform in words."""
    tags = [tag for tag in model.get("languages") or () if tag is not None]
    others = None in (model.get("languages") or ())
    if not tags:
        return "all"
    return ", ".join(tags) + (" and all others" if others else "")


def _transform_name(config: Config) -> str:
    made = "Image pivot" if str(config["model"].get("transforms")).startswith(PIVOT) else "Repair"
    return f"{made} of {(config.get('base') or {}).get('name') or 'an encoder'}"


def _transform(config: Config) -> str:
    model = config["model"]
    alike = list(model.get("languages") or ()) == [None]
    maps = "the same map for all languages" if alike else f"a map for each language ({all_of(model)})"
    compared = "Vectors are compared by cosine."
    if model.get("similarity") not in (None, "cosine"):
        compared = (
            f"Texts are ranked with the correction of hubs {model['similarity']}, whose training questions "
            "are in the folder; model:DIR?hubs=plain::SPEC ranks by cosine."
        )
    return (
        f"A linear map of the vectors of an encoder of texts, vector / norm @ matrix + offset: {maps}. It "
        f"was fitted ({model.get('transforms')}) and chosen on data held apart; nothing was trained. "
        + compared
    )


def _transform_use(config: Config, where: str) -> tuple[str, ...]:
    spec, similarity = quote(f"model:{where}::SPEC"), str(config["model"].get("similarity"))
    lines = [*_plain_use(config, where), f"xlingual model export {quote(where)} --to safetensors --out maps"]
    if similarity.startswith(("csls", "inverted-softmax")):  # those that can be one more dimension
        lines.append(f"xlingual embed DATA --text-encoder {spec} --offsets --out vectors")
    return tuple(lines)


_PLAIN = Words(
    name=_recipe,
    what=lambda config: f"A model of the kind {config['kind']}.",
    reference="",
    scores="larger is better",
    form=".4g",
    use=_plain_use,
)

_WORDS: Mapping[str, Words] = {
    "transform": Words(
        name=_transform_name,
        what=_transform,
        reference="",
        scores="",
        form=".3f",
        use=_transform_use,
        made="fitted",
    ),
    "mlmme": Words(
        name=_recipe,
        what=_mlmme,
        reference="I. Calixto, Q. Liu, N. Campbell. Multilingual multi-modal embeddings for natural language "
        "processing. 2017.",
        scores="sums of R@1, R@5 and R@10 both ways in per cent, 600 at most; score is what epochs are "
        "compared by",
        form=".1f",
        use=_mlmme_use,
    ),
    "triplet": Words(
        name=_recipe,
        what=_triplet,
        reference="M. Fain, N. Twomey, D. Bollegala. Backretrieval: an image-pivoted evaluation metric for "
        "cross-lingual text representations without parallel corpora. SIGIR 2021.",
        scores="sums of R@1, R@5 and R@10 both ways in per cent, 600 at most, of titles and bodies that find "
        "each other within a language; score, their mean, is what epochs are compared by",
        form=".1f",
        use=_plain_use,
    ),
    "dual-encoder": Words(
        name=_recipe,
        what=_dual,
        reference="U. Roy and others. LAReQA: Language-agnostic answer retrieval from a multilingual pool. "
        "2020.",
        scores="mean average precision, in the pool of all languages and in pools of the question's language",
        form=".3f",
        use=_plain_use,
    ),
}
