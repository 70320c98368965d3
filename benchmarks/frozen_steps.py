"""The steps of `benchmarks.frozen`: command lines on built-in and shared data, and the files that they need.

Every step is run in the folder that the steps before it have filled; `data` there is XLINGUAL_DATA. All data
is small: a step takes a few seconds of one core.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from benchmarks import frozen_data


@dataclass(frozen=True)
class Step:
    """A command line, the data or packages that it needs, what is prepared before, and whether it is slow."""

    name: str
    words: str  # as in a shell, without "xlingual"
    needs: tuple[str, ...] = ()  # folders of XLINGUAL_DATA, or modules
    prepare: Callable[[], None] | None = None
    once: bool = False  # too slow to be run at every width


_ENCODERS = " ".join(
    f"--text-encoder data/ikea/embeddings/{name}.{{lang}}.npy"
    for name in ("ridge_2860", "minilm_ibm1_1000", "wordvec_identical", "cllsa_2860")
)
_ROWS = "data/ikea/ikea_en_de_eval.parquet --splits data/ikea/embeddings/splits.npz --pairs en-de,de-en"
_IMAGES = "--image-encoder vectors:data/ikea/ikea_en_de_eval_features.npy"
_MEASURES = "--measure R@10 --measure RR --measure MedR --measure R@1"
_TWO = "bkr#ridge_2860 bkr#wordvec_identical"
IKEA = (
    Step(
        "bkr",
        f"evaluate bkr {_ROWS} {_ENCODERS} --text-encoder random {_IMAGES} {_MEASURES} --out bkr --report",
    ),
    Step("bkr-near", f"evaluate bkr {_ROWS} {_ENCODERS} {_IMAGES} --cluster near-duplicates --out bkr-near"),
    Step("xlr", f"evaluate xlr {_ROWS} {_ENCODERS} --text-encoder random {_MEASURES} --out xlr --report"),
    Step("corr", f"evaluate corr {_ROWS} {_ENCODERS} {_IMAGES} --out corr --report"),
    Step(
        "validate",
        f"validate backretrieval {_ROWS} {_IMAGES} --text-encoder 'data/ikea/embeddings/*.{{lang}}.npy' "
        "--out validation --report",
    ),
    Step(
        "validate-few",
        "validate bkr data/ikea/ikea_en_de_eval.parquet --pairs en-de --both-directions --seeds 3 "
        f"--sample-size 200 {_ENCODERS} --text-encoder random {_IMAGES} --family '^[a-z]+' "
        "--degrade-images 'dims=8;noise=0.5;shuffle' --out validation-few --report",
    ),
    Step("report", "report bkr xlr corr --out all/report.html --title 'All tasks'"),
    Step("compare", "compare bkr --per-pair --margin 0.05 --out comparison"),
    Step("compare-two", f"compare {_TWO} --correction bh --alpha 0.01 --measure RR --measure SIM"),
    Step("compare-xlr", "compare xlr --baseline xlr#random"),
    *(
        Step(f"compare-{form}", f"compare bkr --measure R@10 --format {form}")
        for form in ("markdown", "latex", "csv", "json")
    ),
    Step("plan", f"plan {_TWO} --effect 0.05 --queries 500 --queries 2000 --out planned"),
    *(
        Step(f"plan-{form}", f"plan bkr --effect 0.02 --format {form}")
        for form in ("markdown", "csv", "json")
    ),
    Step("gate", f"gate {_TWO} --margin 0.01 --out gate --junit gate/junit.xml --github"),
    Step("gate-fails", "gate bkr#random bkr#ridge_2860 --margin 0.01"),
    Step("gate-per-pair", "gate bkr#cllsa_2860 bkr#wordvec_identical --margin 0.02 --per-pair"),
    Step("gate-json", "gate bkr#cllsa_2860 bkr#wordvec_identical --margin 0.02 --measure RR --json"),
)
_POOL = "--text-encoder chargram --text-encoder 'random:?dim=256'"
POOLS = (
    Step("squad", "data squad-to-pool data/xquad_r --train 0.5 --out pool"),
    Step("describe", "data describe pool"),
    Step("describe-json", "data describe pool --json"),
    Step(
        "pool",
        f"evaluate multilingual-pool pool --split test --languages ar,de,en {_POOL} --text-encoder "
        "'lsa:?fit=pool#train' --measure AP --measure R@10 --measure Success@10 --measure RR --subset de,en "
        "--out pool-results --report",
    ),
    Step(
        "pool-context",
        f"evaluate lareqa pool --split test --languages en,zh {_POOL} --candidate-text sentence+context "
        "--cluster near-duplicates --picture en,zh --measure AP --measure AP@20/min --trec trec "
        "--trec-depth 20 --out pool-context --report",
    ),
    Step(
        "pool-own",
        f"evaluate lareqa pool --split test --languages en,zh {_POOL} --policy prefer-own "
        "--out pool-own --report",
    ),
    Step("pool-compare", "compare pool-results --by language"),
    Step("pool-gate", "gate pool-results#chargram pool-results#random --margin 0.01 --by language"),
)
SCENES = (
    Step("scenes", "data scenes --n 120 --languages en,de,es --out s", prepare=frozen_data.vectors),
    Step("check", "data check s"),
    Step("check-json", "data check s --json"),
    Step("check-bad", "data check bad.jsonl", prepare=frozen_data.bad_manifest),
    Step("check-bad-json", "data check bad.jsonl --json"),
    Step(
        "captions",
        "evaluate xlr captions.jsonl --text-encoder chargram --text-encoder random --out captions --report",
        prepare=frozen_data.captions,
    ),
    Step("embed", "embed s --text-encoder chargram --image-encoder pixels --out embedded"),
    Step("store-ls", "store ls"),
    Step("store-ls-json", "store ls --json"),
    Step("store-verify", "store verify"),
    Step("store-export", "store export --encoder 'pixels*' --out exported"),
    Step(
        "scenes-bkr",
        "evaluate bkr s --text-encoder v/good.{lang}.npy --text-encoder v/bad.{lang}.npy "
        "--text-encoder chargram --image-encoder img.npy --seeds 3 --sample-size 40 --measure R@10% "
        "--measure Success@5 --out s-bkr --report",
    ),
    Step(
        "scenes-queries",
        "evaluate bkr s --text-encoder v/good.{lang}.npy --image-encoder pixels --queries 30 "
        "--pairs en-de --json",
    ),
    Step("scenes-report", "report s-bkr --out s-again/report.html"),
    Step(
        "image-sentence",
        "evaluate image-sentence s --text-encoder v/good.{lang}.npy --text-encoder v/bad.{lang}.npy "
        "--image-encoder img.npy --baseline bad --out image-sentence --report",
    ),
    Step(
        "image-sentence-fold",
        "evaluate image-sentence s --text-encoder v/middle.{lang}.npy --image-encoder img.npy --languages en "
        "--fold 40 --measure RR --measure MedR --out folded",
    ),
    Step("image-sentence-compare", "compare image-sentence"),
    Step("mix", "data mix-pool s --mix en=3,de=1 --question-languages en,de --seed 1 --out mixed"),
    Step("mix-lines", "data mix-pool s --per-item one --candidates 50 --format jsonl --out mixed-lines"),
    Step("mixed", "evaluate multilingual-pool mixed --text-encoder chargram --out mixed-results --report"),
    Step("demo", "demo --out demo", once=True),
    Step("encoders", "encoders"),
    Step("encoders-json", "encoders --json"),
    Step("encoders-lsa", "encoders lsa"),
)
OTHERS = (
    Step(
        "emoji",
        "evaluate bkr data/emoji/emoji.parquet --rows 0:500 --text-column 'name_{lang}' "
        "--image-column image_png --image-encoder pixels --text-encoder chargram --text-encoder random "
        "--pairs en-de,en-fr --out emoji --report",
        needs=("emoji",),
    ),
    Step("emoji-by", "compare emoji --by group", needs=("emoji",)),
    Step(
        "sts",
        "evaluate sts data/sts_images/sts2014_images.parquet data/sts_images/sts2015_images.parquet "
        "--lang en --text-encoder chargram --text-encoder random --text-encoder 'words=chargram:?n=3&dim=64' "
        "--baseline random --out sts --report",
        needs=("sts_images",),
    ),
    Step(
        "study",
        "study new s --source en --target de --system chargram --system good=v/good.{lang}.npy --queries 8 "
        "--per-system 3 --image-encoder img.npy --repeats 0.3 --controls 0.5 --out study",
    ),
    Step("study-import", "study import study answers.csv", prepare=frozen_data.answers),
    Step("study-export", "study export study --out ratings.parquet --with-key"),
    Step("study-sheet", "study export study --sheet sheet.html --rater 1"),
    Step("study-analyse", "study analyse study --replicates 499 --out analysis --report"),
    Step("study-looks", "study analyse study --replicates 499 --looks 0.5,1 --json"),
    Step("study-report", "report analysis --out study-again/report.html"),
)
_LISTS = "lists/dev+.nbest --references lists/dev.de --epochs 5"
_BEST = "best.0 best.1 --references lists/test.de --samples 100"
RERANK = (
    Step(
        "features",
        "rerank features lists/dev.nbest --source lists/dev.en --text-encoder letters=chargram "
        "--source-language en --target-language de --out lists/dev+.nbest",
        prepare=frozen_data.lists,
    ),
    Step(
        "features-test",
        "rerank features lists/test.nbest --source lists/test.en --text-encoder letters=chargram "
        "--source-language en --target-language de --out lists/test+.nbest",
    ),
    Step("tune", f"rerank tune {_LISTS} --folds 5 --out weights.json"),
    Step(
        "tune-pro",
        "rerank tune lists/dev+.nbest --references lists/dev.de --algorithm pro --standardize --tunings 2 "
        "--json --out weights-pro.json",
    ),
    *(
        Step(
            f"apply-{n}",
            f"rerank apply lists/test+.nbest --weights weights.json --tuning {n} --out best.{n}",
        )
        for n in (0, 1)
    ),
    Step(
        "score",
        f"rerank score {_BEST} --baseline lists/test.first --nbest lists/test+.nbest --language de "
        "--out scores.json",
        needs=("sacrebleu", "nltk"),
    ),
    Step(
        "score-json",
        f"rerank score {_BEST} --baseline lists/test.first --json --test randomization",
        needs=("sacrebleu",),
    ),
    Step(
        "ablate", f"rerank ablate {_LISTS} --without lm,letters --without tm --tunings 1 --out ablation.json"
    ),
    Step(
        "ablate-on",
        f"rerank ablate {_LISTS} --tunings 1 --on lists/test+.nbest --on-references lists/test.de --json",
    ),
)
_BASE = "lsa:?fit=r/manifest.parquet%23fit"
_SMALL = "--word-dim 8 --state-dim 8 --joint-dim 8 --batch 32 --epochs 2 --threads 1 --device cpu"
_TRAIN = f"--split train --text-encoder '{_BASE}' --threads 1 --device cpu --epochs 2"
_STUDY = (
    f"casestudy r --image-encoder pixels --threads 1 --text-encoder 'small=lsa:?pairs=20&{_BASE[5:]}' "
    f"--text-encoder '{_BASE}'"
)
TRAINING = (
    Step(
        "recipes",
        "data scenes --recipes --items 40 --train 60 --parallel 60 --languages en,es,ru --out r",
    ),
    Step(
        "train-mlmme",
        f"train mlmme s --languages en,de --image-encoder img.npy {_SMALL} --validation 0.2 --out m",
        once=True,
    ),
    Step(
        "train-vse",
        f"train mlmme s --recipe vsepp --languages en --image-encoder img.npy {_SMALL} --out vse --json",
        once=True,
    ),
    Step("train-triplet", f"train triplet r {_TRAIN} --lr 0.005 --out-dim 20 --out triplet", once=True),
    Step(
        "train-xl",
        f"train triplet-xl r --split train --text-encoder '{_BASE}' --config options.toml --json --out xl",
        prepare=frozen_data.options,
        once=True,
    ),
    Step(
        "train-dual",
        "train dual-encoder mixed --epochs 2 --dim 8 --buckets 64 --threads 1 --device cpu --validation 0.3 "
        "--out dual",
        once=True,
    ),
    Step("model", "model show m", once=True),
    Step("model-card", "model show triplet --markdown", once=True),
    Step("model-json", "model show dual --json", once=True),
    Step("model-onnx", "model export triplet --to onnx --out triplet.onnx", needs=("onnx",), once=True),
    Step(
        "trained",
        "evaluate image-sentence s --languages en,de --text-encoder model:m --image-encoder model:m::img.npy "
        "--out trained",
        once=True,
    ),
    Step(
        "trained-bkr",
        f"evaluate bkr r --split test --text-encoder 'model:triplet::{_BASE}' --image-encoder pixels --json",
        once=True,
    ),
    Step("trained-pool", "evaluate lareqa mixed --text-encoder model:dual --json", once=True),
    Step(
        "casestudy",
        f"{_STUDY} --measure R@5 --base small --triplet 'lsa:?pairs=30&{_BASE[5:]}' "
        f"--triplet-xl 'lsa:?pairs=40&{_BASE[5:]}' --out case --report",
    ),
    Step(
        "casestudy-trained",
        f"{_STUDY} --epochs 2 --batch 16 --neighbours 2 --trainings 2 --pairs en-es,es-en,en-ru "
        "--out case-trained --report",
        once=True,
    ),
)
REFUSED = tuple(
    Step(f"refused-{number}", words)
    for number, words in enumerate(
        (
            "evaluat bkr s",
            "evaluate bkr",
            "evaluate bkr s --text-encoder chargram",
            "evaluate bkr s --text-encoder chargam --image-encoder pixels",
            "evaluate bkr s --text-encoder chargram --image-encoder pixels --measure R@1000",
            "evaluate bkr s --text-encoder chargram --image-encoder pixels --pairs en-fr",
            "evaluate bkr s --text-encoder chargram --image-encoder pixels --threads 0",
            "evaluate xlr s --text-encoder chargram --report",
            "evaluate sts bad.jsonl --lang en --text-encoder chargram",
            "evaluate multilingual-pool s --text-encoder chargram",
            "compare s-bkr#godo",
            "gate s-bkr#good image-sentence#bad --margin 0.01",
            "gate s-bkr#good s-bkr#bad --margin -1",
            "plan s-bkr --effect 2",
            "validate bkr s --text-encoder chargram --image-encoder pixels",
            "report nowhere --out report.html",
            "train triplet s --text-encoder chargram --margin -1 --out never",
            "train mlmme s --image-encoder img.npy --epochs none --out never",
            "study new s --source en --target fr --system chargram --out never",
            "data mix-pool s --mix en:3 --out never",
            "encoders chargam",
            "store ls --store nowhere",
        )
    )
)


def _needing(needed: str, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    return tuple(replace(step, needs=(*step.needs, needed)) for step in steps)


STEPS = (
    *SCENES,
    *_needing("ikea", IKEA),
    *_needing("xquad_r", POOLS),
    *OTHERS,
    *_needing("nbest_multi30k", RERANK),
    *_needing("torch", TRAINING),
    *REFUSED,
)
