"""`repair` of data without translations: a criterion without labels chooses; retrieval is not tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
from msgspec import structs

from xlingual.arrays import Ints, Vectors
from xlingual.data.manifest import Manifest, ManifestLike
from xlingual.data.pools.clusters import joined
from xlingual.data.reading.columns import DataOptions
from xlingual.data.taking import takes_data
from xlingual.embed import batch_identity, embed_roles, fit_texts_for, refuse_fitted_rows
from xlingual.encoders import Encoder, EncoderLike, parse
from xlingual.encoders.plugins import Known
from xlingual.errors import InputError
from xlingual.evaluation.run import Progress, Storing, collected_warnings
from xlingual.evaluation.similarities import COSINE
from xlingual.ranking import Cpu, Ranker
from xlingual.records import Texts, digest
from xlingual.repair import Judged, search, steps
from xlingual.repair.label_free import NEAREST, known
from xlingual.requests import answers
from xlingual.requests.repairing import RepairRequest
from xlingual.results.repair import LeftOut
from xlingual.results.unlabelled_repair import TextsOfPart, TriedUnlabelled, UnlabelledRepair
from xlingual.signature import CONVENTIONS, Signature
from xlingual.store import StoreLike, open_store
from xlingual.streams import stream
from xlingual.transforms.affine import Affine, unit_rows
from xlingual.transforms.moments import FitData
from xlingual.workflows.clock import Clock
from xlingual.workflows.one_encoder import one_encoder
from xlingual.workflows.repairing.chosen import (
    MODEL,
    Chosen,
    check_languages,
    check_options,
)
from xlingual.workflows.repairing.divided import Divided
from xlingual.workflows.repairing.label_free import Unlabelled
from xlingual.workflows.repairing.parts import SHARES, digests_of

CRITERION = "neighbourhoods kept / own-language share"
NAME = "repair-unlabelled"
_FEWEST = NEAREST + 1  # texts of a language in a part


def has_no_translations(data: object) -> bool:
    """Return whether the data are a manifest of two languages or more in which no item has two of them."""
    if not isinstance(data, Manifest) or len(np.unique(data.language)) < 2:
        return False
    pairs = np.unique(np.stack([data.item, data.language]), axis=1)
    return bool(np.bincount(pairs[0]).max() < 2)


@takes_data()
@answers(RepairRequest)
def repair_unlabelled(
    data: ManifestLike,
    text_encoder: EncoderLike,
    *,
    shares: Sequence[float] = SHARES,
    seed: int = 0,
    threads: int = 1,
    ranker: Ranker | None = None,
    progress: Progress | None = None,
    store: StoreLike = "default",
    **columns: Unpack[DataOptions],
) -> Chosen[UnlabelledRepair]:
    """Find the transform of an encoder's vectors that a label-free criterion says is best.

    Whole clusters, language by language, are divided into three parts. Transforms are fitted on the first;
    the one is chosen that has the highest `kept_over_own_share` on the second; the third shows all criteria
    before and after. What it does to retrieval is not known.

    Args:
        data: a manifest whose texts are in two languages or more; which texts match is not looked at.
        text_encoder: the encoder, a spec or an object.
        shares: of the three parts: to fit on, to choose on, to compare criteria on.
        seed: of the parts.
        threads: threads side by side; they change no number.
        ranker: what ranks; None: this machine, with `threads`.
        progress: called with (what, done, total).
        store: where vectors are kept and found again, as in the evaluations.

    Raises:
        InputError: data, encoder or options are invalid; the text says what to do.

    """
    assert isinstance(data, Manifest)
    check_options(shares)
    check_languages(data)
    ranker = Cpu(threads=threads) if ranker is None else ranker
    clock = Clock(progress)
    with collected_warnings() as messages:
        parts = three_parts(data, shares, seed)
        name, encoder = one_encoder(text_encoder, data.languages, fit_texts_for(data))
        storing: Storing = {"store": open_store(store), "progress": progress}
        rows = np.sort(np.concatenate(parts))
        with clock.stage("texts: encode"):
            refuse_fitted_rows({name: encoder}, *(data.texts(part) for part in parts[1:]), **storing)
            whole = _Vectors.of(data, name, encoder, rows, storing)
            identity = batch_identity(encoder, store=storing["store"])
        choose, test = (whole.unlabelled(part, ranker) for part in parts[1:])
        with clock.stage("search"):
            seen: list[TriedUnlabelled] = []

            def judge(map: Affine | None, _: str) -> Judged:
                seen.append(choose.judged("", map))
                return Judged(seen[-1].value, np.array([len(seen) - 1.0]))

            fitting = whole.fit_data(parts[0])
            wanted = steps(whole.vectors.shape[1], len(fitting.moments), translations=False)
            found = search(fitting, judge, wanted, progress=clock.of("trying transforms"))
        with clock.stage("test", "comparing criteria"):
            chosen = found.chosen
            before = test.criteria(None)
            after = before if chosen.map is None else test.criteria(chosen.map)
    divided = Divided(data, [(part, part) for part in parts])
    conditions = _conditions(data, rows, shares, seed)
    dim = int(whole.vectors.shape[1])
    sizes = [TextsOfPart(len(np.unique(data.cluster[part])), len(part)) for part in parts]
    tags = [data.languages[code] for code in data.language[rows]]
    result = UnlabelledRepair(
        encoder=name,
        spec=str(replace(parse(text_encoder, Known()), name=None)) if isinstance(text_encoder, str) else None,
        dim=dim,
        criterion=CRITERION,
        languages={tag: tags.count(tag) for tag in data.languages},
        fit=sizes[0],
        choose=sizes[1],
        test=sizes[2],
        tried=[structs.replace(seen[int(one.judged.values[0])], spec=one.spec) for one in found.tried],
        left_out=[LeftOut(one.spec, one.why) for one in found.left_out],
        chosen=chosen.spec,
        similarity=COSINE,
        before=before,
        after=after,
        signature=str(Signature(conditions, {"encoder": identity})),
        conditions=conditions,
        warnings=list(messages),
        timings=clock.seconds,
        model=None if chosen.map is None else MODEL,
        parts=divided.name,
        n_texts=len(rows),
    )
    base = {"name": name, "identity": identity, "dim": dim, "languages": list(data.languages)}
    fitted_on = digests_of([data.texts(part) for part in parts[:2]])
    return Chosen(result, chosen.map, base, data.source, fitted_on, divided=divided)


def three_parts(data: Manifest, shares: Sequence[float], seed: int) -> list[Ints]:
    """Return the rows of the three parts: whole clusters, drawn with the seed, each language by its shares.

    Clusters that share a text of a language stay together. One of several languages is drawn with the first
    of them. Texts that are blank are left out. Raises InputError where a part would have too few texts in a
    language.
    """
    texts = [text.strip() for text in data.text]
    rows = np.array([row for row, text in enumerate(texts) if text], dtype=np.int64)
    names = [(int(data.language[row]), texts[row]) for row in rows]
    label = joined(data.cluster[rows], names)[data.cluster[rows]]
    clusters, first, place = np.unique(label, return_index=True, return_inverse=True)
    language = data.language[rows][first]
    ends = np.cumsum(shares) / sum(shares)
    part = np.zeros(len(clusters), dtype=np.int64)
    rng = stream(seed, "repair unlabelled")
    for code in np.unique(language):
        own = rng.permutation(np.flatnonzero(language == code))
        part[own] = np.searchsorted(ends, (np.arange(len(own)) + 0.5) / len(own))
    found = [rows[part[place] == number] for number in range(len(ends))]
    for what, own in zip(("fitting", "choosing", "comparing"), found, strict=True):
        counts = np.bincount(data.language[own], minlength=len(data.languages))
        if (counts < _FEWEST).any():
            tag, number = data.languages[int(counts.argmin())], int(counts.min())
            raise InputError(
                f"{data.source}: the part for {what} has {number} texts in {tag}, at least {_FEWEST} are "
                "needed: give more texts, leave its rows out, or give another --shares"
            )
    return found


@dataclass(frozen=True)
class _Vectors:
    """Vectors of a manifest's rows at unit length; `asked` as queries, where these have other vectors."""

    data: Manifest
    vectors: Vectors  # [n, d], of all rows that are used
    asked: Vectors | None
    place: Ints  # of each row of the manifest

    @classmethod
    def of(cls, data: Manifest, name: str, encoder: Encoder, rows: Ints, storing: Storing) -> _Vectors:
        sides = embed_roles(data, name, encoder, rows, rows, **storing)
        place = np.full(len(data), -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        offered = unit_rows(np.asarray(sides.candidates.vectors))
        asked = unit_rows(np.asarray(sides.queries.vectors)) if encoder.by_role else None
        return cls(data, offered, asked, place)

    def languages(self, rows: Ints) -> list[str]:
        return [self.data.languages[code] for code in self.data.language[rows]]

    def fit_data(self, rows: Ints) -> FitData:
        """Return the texts to fit on: as candidates, and as queries where these differ."""
        sides = [side[self.place[rows]] for side in (self.vectors, self.asked) if side is not None]
        return FitData(np.concatenate(sides), self.languages(rows) * len(sides))

    def unlabelled(self, rows: Ints, ranker: Ranker) -> Unlabelled:
        """Return the texts of a part, as candidates."""
        vectors = self.vectors[self.place[rows]]
        kept = known(vectors)
        if len(np.unique(self.data.language[rows[kept]])) < 2:
            raise InputError(
                f"{self.data.source}: in all languages but one the encoder gives zero vectors only: choose "
                "another encoder"
            )
        return Unlabelled.of_known(vectors, self.languages(rows), self.data.cluster[rows], ranker)


def _conditions(data: Manifest, rows: Ints, shares: Sequence[float], seed: int) -> dict[str, str]:
    """Return what the criteria depend on, beside the encoder."""
    texts: Texts = data.texts(rows)
    return {
        "task": NAME,
        "languages": ",".join(data.languages),
        "data": digest(*sorted(texts.row_digests())).hex()[:12],
        "parts": ":".join(f"{share:g}" for share in shares) + f"#{seed}",
        "measure": CRITERION,
        "neighbours": str(NEAREST),
        "conventions": CONVENTIONS,
    }
