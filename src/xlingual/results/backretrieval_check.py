"""What Backretrieval can tell on some data, from their images: a yes or no with its figures."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct, field

from xlingual.results.document import Answer
from xlingual.results.values import Amount, Count, Interval, Number, Share, Size, Warnings, about, among

FEW_IMAGES, SAME, NO_NEIGHBOURS, NO_ROOM, FEW_QUERIES, UNRELATED = REASONS = (
    "few images",
    "near-identical images",
    "no neighbours",
    "no room",
    "few queries",
    "texts unrelated to images",
)
FEWEST_NEIGHBOURS = 0.1  # share of images with a neighbour nearer than chance; less are hardly any


class PairImages(Struct, frozen=True):
    """The images of a language pair, divided as an evaluation divides them."""

    source: Annotated[str, about("Language of the queries.")]
    target: Annotated[str, about("Language of the candidates.")]
    n_queries: Annotated[Size, about("Texts that are queries of an evaluation.")]
    n_images: Annotated[Size, about("Distinct source images, D: a query's own is ranked among them.")]
    reasons: Annotated[
        list[Annotated[str, among(*REASONS)]],
        about("Why Backretrieval tells nothing here; empty where it does."),
    ]
    chance: Annotated[Share | None, about("R@k of an encoder that knows nothing.")] = None
    oracle: Annotated[Share | None, about("R@k of perfect retrieval by images alone.")] = None
    oracle_ci: Annotated[Interval | None, about("Interval of the oracle.")] = None
    room: Annotated[Number | None, about("Oracle minus chance.")] = None
    room_error: Annotated[Amount | None, about("Standard error of the room.")] = None
    look_alikes: Annotated[
        Share | None, about("R@k by way of the source image that is nearest to the query's own.")
    ] = None
    look_alikes_ci: Annotated[Interval | None, about("Interval of it.")] = None
    neighbours: Annotated[
        Share | None,
        about("Images with near neighbours: (look_alikes - chance) / (1 - chance), or 0."),
    ] = None
    queries_needed: Annotated[
        Count | None,
        about("Queries that show an encoder above chance that closes a tenth of the way; null: no number."),
    ] = None

    @property
    def can_tell(self) -> bool:
        """Whether Backretrieval tells something about this pair."""
        return not self.reasons


class LanguageTexts(Struct, frozen=True):
    """Whether texts of one language that are spelt alike have images that are alike."""

    language: Annotated[str, about("The language.")]
    n_queries: Annotated[Size, about("Texts of half of the items, or fewer: the queries.")]
    value: Annotated[
        Share, about("R@k of Backretrieval within the language, with character n-grams in place of encoders.")
    ]
    ci: Annotated[Interval, about("Interval that holds its target together with those of all languages.")]
    chance: Annotated[Share, about("Its chance.")]

    @property
    def related(self) -> bool:
        """Whether that is above chance, interval and all."""
        return self.ci.low > self.chance


class BackretrievalCheck(Answer, frozen=True, tag="xlingual/backretrieval_check/1"):
    """What Backretrieval can tell on some data. No text encoder was asked."""

    made_by = "xlingual data check … --image-encoder SPEC --json"

    image_encoder: Annotated[str, about("Name of the image encoder.")]
    k: Annotated[Size, about("K of R@K.")]
    n_images: Annotated[Count, about("Distinct images of the data.")]
    distance: Annotated[
        Amount | None, about("Median cosine distance of two images; null for fewer than two.")
    ]
    pairs: Annotated[list[PairImages], about("Each language pair, those that tell least first.")]
    languages: Annotated[list[LanguageTexts], about("Each language that has texts enough.")]
    reasons: Annotated[
        list[Annotated[str, among(*REASONS)]], about("Why Backretrieval tells nothing on any pair.")
    ]
    left_out: Annotated[dict[str, str], about("Pairs that cannot be divided, and why.")] = field(
        default_factory=dict
    )
    warnings: Warnings = field(default_factory=list)

    @property
    def can_tell(self) -> bool:
        """Whether Backretrieval tells something about one language pair at least."""
        return not self.reasons and any(pair.can_tell for pair in self.pairs)
