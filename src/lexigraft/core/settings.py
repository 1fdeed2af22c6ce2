"""The settings of every stage: one frozen dataclass each, checked when made. `config` reads them from files."""

from dataclasses import dataclass, field

from lexigraft.core.errors import require as require  # where others have always found it
from lexigraft.core.settings_backbone import BackboneSettings
from lexigraft.core.settings_mlm import MlmSettings
from lexigraft.core.settings_teacher import TeacherSettings
from lexigraft.core.settings_tilde import TildeSettings

SYSTEMS = ("bm25", "bm25-plain", "esplade")
AUTO = "auto"
BUDGETS = ("bm25", "none")
HEADS = ("grafted", "random", "plain", "unicoil")
QUERY_SIDES = ("model", "words")
POOLINGS = ("max", "sum", "cls")


@dataclass(frozen=True)
class DataSettings:
    """How a collection is read, which queries are measured, and what the embedded collection reads."""

    split: str = "auto"  # the qrels file to measure on; auto: test, or dev where there is no test
    on_duplicate: str = "error"  # an id used twice; skip: keep the first and count the others
    on_bad_bytes: str = "error"  # a line that is not UTF-8; replace: read it with U+FFFD and count it
    passage_words: int = 0  # documents are searched in passages of so many words; 0: whole
    passage_overlap: int = 0  # words that a passage repeats of the one before
    packages: tuple[str, ...] = ()  # pydocs: only these top-level packages; empty means all that are installed
    processes: int = 0  # pydocs: parser processes; 0 means one per core

    def __post_init__(self) -> None:
        require(self.on_duplicate in ("error", "skip"), "data.on_duplicate", self.on_duplicate, "error or skip")
        require(self.on_bad_bytes in ("error", "replace"), "data.on_bad_bytes", self.on_bad_bytes, "error or replace")
        require(self.passage_words >= 0, "data.passage_words", self.passage_words, "0 (whole documents) or more")
        most = max(0, self.passage_words - 1)
        fits = 0 <= self.passage_overlap <= most
        require(fits, "data.passage_overlap", self.passage_overlap, f"0 to {most}, less than data.passage_words")
        require(self.processes >= 0, "data.processes", self.processes, "0 (one per core) or more")


@dataclass(frozen=True)
class LexicalSettings:
    """BM25 and its words."""

    k1: float = 1.2
    b: float = 0.75
    stopwords: str = "english"  # english: Lucene's 33; none
    stemmer: str = "english"  # a Snowball language; none

    def __post_init__(self) -> None:
        require(self.k1 >= 0, "lexical.k1", self.k1, "0 or more")
        require(0 <= self.b <= 1, "lexical.b", self.b, "0 to 1")
        require(self.stopwords in ("english", "none"), "lexical.stopwords", self.stopwords, "english or none")


@dataclass(frozen=True)
class IndexSettings:
    memory_mib: int = 256  # postings held in memory at once while building
    bits: int = 8  # of an impact; 16 and 24 take more room and time, and come closer to the weights
    reorder: bool = False  # documents with common terms beside each other (recursive graph bisection)

    def __post_init__(self) -> None:
        require(self.memory_mib >= 1, "index.memory_mib", self.memory_mib, "1 or more")
        require(self.bits in (8, 16, 24), "index.bits", self.bits, "8, 16 or 24")


@dataclass(frozen=True)
class PruneSettings:
    """Static pruning: pairs (qk, dk) of query and document terms kept; 0 keeps all. One report row each."""

    budgets: tuple[tuple[int, int], ...] = ((0, 0), (10, 40), (7, 20), (5, 20), (5, 10))  # of the learned model
    lexical: tuple[tuple[int, int], ...] = ((0, 0),)  # of BM25
    # What a search may cost: the best of `budgets` at no more than BM25's FLOPS (bm25), or than so many, is what a
    # person searches the run with; none: whole vectors.
    budget: float | str = "bm25"

    def __post_init__(self) -> None:
        for name in ("budgets", "lexical"):
            self._check(name, getattr(self, name))
        costs = self.budget in BUDGETS if isinstance(self.budget, str) else 0 < self.budget < float("inf")
        require(costs, "prune.budget", self.budget, f"{' or '.join(BUDGETS)}, or FLOPS of more than 0, such as 0.5")

    @staticmethod
    def _check(name: str, budgets: tuple[tuple[int, int], ...]) -> None:
        pairs = all(len(pair) == 2 and all(type(k) is int and k >= 0 for k in pair) for pair in budgets)
        require(bool(budgets) and pairs, f"prune.{name}", budgets, "pairs of counts such as [[0, 0], [7, 20]]")


SEARCH_METHODS = ("auto", "exhaustive", "maxscore", "blockmax_wand", "sweep", "touched")


@dataclass(frozen=True)
class SearchSettings:
    k: int = 1000  # how deep the measured rankings go
    method: str = "auto"  # or one of SEARCH_METHODS: all give the same ranking
    overlap: float = 0.0  # only documents that hold this share of the query's terms are scored; 0: all that hold one
    two_step: int = 0  # so many candidates of the pruned search are ranked again by full vectors; 0: none

    def __post_init__(self) -> None:
        require(self.k >= 1, "search.k", self.k, "1 or more")
        require(0 <= self.overlap <= 1, "search.overlap", self.overlap, "0 (off) to 1 (all of the query's terms)")
        deep = f"0 (off), or as many as search.k, which is {self.k}, or more, and at least the ten that are timed"
        enough = self.two_step == 0 or self.two_step >= max(self.k, 10)
        require(enough, "search.two_step", self.two_step, deep)
        require(self.method in SEARCH_METHODS, "search.method", self.method, f"one of {', '.join(SEARCH_METHODS)}")


@dataclass(frozen=True)
class EvaluateSettings:
    measures: tuple[str, ...] = ("R@100", "R@1000")  # beside MRR@10, R@10 and nDCG@10, which every report has
    run_depth: int = 100  # results a query in run.trec; measures see all that were searched for
    timing_queries: int = 500  # at most so many searches are timed, `timing_runs` times each, and a tenth encodings
    timing_runs: int = 5

    def __post_init__(self) -> None:
        require(self.run_depth >= 1, "evaluate.run_depth", self.run_depth, "1 or more")
        require(self.timing_queries >= 1, "evaluate.timing_queries", self.timing_queries, "1 or more")
        require(self.timing_runs >= 1, "evaluate.timing_runs", self.timing_runs, "1 or more")


@dataclass(frozen=True)
class VocabSettings:
    """The expanded vocabulary: the most frequent terms of the training texts."""

    source: str = ""  # where its words are counted, or a vocabulary to take as it is; empty: the collection itself
    size: int = 20_000  # 0: all of min_count
    min_count: int = 2
    stemmer: str = "english"  # words of one stem are one term, named by the most frequent; none: each word is a term
    stopwords: str = "english"  # Lucene's 33 are no terms, and the model reads but does not pool them; none

    def __post_init__(self) -> None:
        require(self.size >= 0, "vocab.size", self.size, "0 (all) or more")
        require(self.min_count >= 1, "vocab.min_count", self.min_count, "1 or more")
        require(self.stopwords in ("english", "none"), "vocab.stopwords", self.stopwords, "english or none")


@dataclass(frozen=True)
class ModelSettings:
    """The backbone and the head grafted onto it."""

    backbone: str = (
        "auto"  # embedded (the packaged MiniLM), scratch, a folder, or a hub name; auto: the first that is there
    )
    layers: int = 3  # the first so many; 0 keeps all
    head: str = "grafted"  # random: the same terms, drawn; plain: the backbone's own head over its own subwords;
    # unicoil: those too, one impact for each that stands in the text
    queries: str = "model"  # what writes them; words: their distinct terms weigh 1 each (SPLADE-doc)
    pooling: str = "max"  # over the tokens of a text; sum; cls: the first token alone
    pooled: str = "words"  # the tokens that are pooled: neither stop-words nor special ones; all: all but padding
    inflate: float = 1.0  # multiplies the head before anything is trained: for studies of what alpha is for
    alpha: float | str = 6.0  # the head is divided by it before fine-tuning; auto: probed where it is too large
    own_words: float = 2.0  # how far the text's own words are ahead at the start, times IDF; 0: no such part
    query_length: int = 20  # subwords, the two special ones included
    document_length: int = 16  # of the beginning; own words are those of the whole text
    expansions: str = ""  # a file of {"id", "text"} lines, such as TILDE writes: read after each document
    expansion_length: int = 40  # subwords of it, beyond document_length

    def __post_init__(self) -> None:
        require(self.layers >= 0, "model.layers", self.layers, "0 (all) or more")
        require(self.head in HEADS, "model.head", self.head, f"one of {', '.join(HEADS)}")
        require(self.queries in QUERY_SIDES, "model.queries", self.queries, f"one of {', '.join(QUERY_SIDES)}")
        if self.head == "unicoil":
            why = "0 with model.head = unicoil, whose weights are all of the text's own words"
            require(self.own_words == 0, "model.own_words", self.own_words, why)
            require(self.queries == "model", "model.queries", self.queries, "model with model.head = unicoil")
        require(self.pooling in POOLINGS, "model.pooling", self.pooling, f"one of {', '.join(POOLINGS)}")
        require(self.pooled in ("words", "all"), "model.pooled", self.pooled, "words or all")
        require(self.inflate > 0, "model.inflate", self.inflate, "more than 0")
        ok = self.alpha == AUTO if isinstance(self.alpha, str) else self.alpha > 0
        require(ok, "model.alpha", self.alpha, "more than 0, or auto")
        require(self.own_words >= 0, "model.own_words", self.own_words, "0 or more")
        for name in ("query_length", "document_length"):
            require(getattr(self, name) >= 3, f"model.{name}", getattr(self, name), "3 or more")
        require(self.expansion_length >= 1, "model.expansion_length", self.expansion_length, "1 or more")


@dataclass(frozen=True)
class PretrainSettings:
    """EMLM. `horizon` is where the learning rate reaches 0: 0 means at the last step (lr-l), more is lr-h."""

    steps: int = 50
    batch: int = 64
    learning_rate: float = 5e-4
    warmup: int = 10
    horizon: int = 0
    dropout: float = 0.0
    source: str = ""  # the texts it reads: another collection or a file of texts; empty: the collection itself
    texts: int = 0  # so many of them, drawn once: fewer than steps x batch are read again, masked anew; 0: all
    validate_every: int = 0  # steps between looks at texts kept apart, later and first subwords by themselves; 0: none
    validation_texts: int = 500
    checkpoint_every: int = 25

    def __post_init__(self) -> None:
        _require_schedule("pretrain", self)
        require(self.validation_texts >= 1, "pretrain.validation_texts", self.validation_texts, "1 or more")
        for name in ("texts", "validate_every"):
            require(getattr(self, name) >= 0, f"pretrain.{name}", getattr(self, name), "0 or more")


@dataclass(frozen=True)
class FinetuneSettings:
    """Losses and regularisers, each with its weight (0: without it); `qk`, `dk` are the top-k masks of training (0:
    none)."""

    steps: int = 150
    epochs: float = 0.0  # more than 0: so many passes over the pairs, whatever `steps` says
    batch: int = 128  # pairs, over all processes together
    learning_rate: float = 6e-4
    head_rate: float = 0.2  # the head's rows learn at this share of it: a batch says little of most terms
    frozen_layers: int = 1  # of the backbone, from below; its embeddings train only as a plain head
    warmup: int = 10
    horizon: int = 0
    dropout: float = 0.0
    chunk: int = 0  # texts encoded at once: memory for so many, at the price of a second forward pass; 0: all
    in_batch: float = 1.0  # weight of the ranking loss among the documents of the batch
    temperature: float = 0.5
    margin: float = 0.0  # what a query's own document must be ahead by
    symmetric: bool = True  # documents must find their queries too
    dual: bool = False  # the ranking loss of the unmasked vectors beside that of the masked ones
    mask_kl: float = 0.0  # masked vectors must rank as the unmasked ones do
    negatives: str = ""  # a TREC run over training queries: their hard negatives
    n_negatives: int = 0  # of them a pair, drawn anew at every step
    negatives_depth: int = 100  # drawn from so many of the highest
    teacher: str = ""  # a file of teacher scores: query id, document id, score
    margin_mse: float = 0.0  # differences of scores as the teacher's
    kl: float = 0.0  # scores distributed as the teacher's
    joint_flops: float = 0.5
    flops_q: float = 0.0
    flops_d: float = 0.0
    l1_q: float = 0.0
    l1_d: float = 0.0
    df_flops: float = 0.0  # FLOPS of documents, a term weighing the more the more documents have it
    df_alpha: float = 0.1  # the share of documents at which its weight is one half
    df_beta: float = 10.0  # how sharply it rises there
    ramp: int = 40  # steps over which the regularisers grow to their full weight
    qk: int = 96
    dk: int = 160
    checkpoint_every: int = 75
    validate_every: int = 75  # steps between measurements of R@10 on validation queries; 0: none
    validation_queries: int = 250
    validation_documents: int = 1000  # those of the queries among them
    tensorboard: str = ""  # a folder for TensorBoard's event files

    def __post_init__(self) -> None:
        _require_schedule("finetune", self)
        require(self.temperature > 0, "finetune.temperature", self.temperature, "more than 0")
        require(0 < self.df_alpha < 1, "finetune.df_alpha", self.df_alpha, "more than 0 and less than 1")
        require(self.df_beta > 0, "finetune.df_beta", self.df_beta, "more than 0")
        for name in ("validation_queries", "validation_documents", "negatives_depth"):
            require(getattr(self, name) >= 1, f"finetune.{name}", getattr(self, name), "1 or more")
        for name in NOT_NEGATIVE:
            require(getattr(self, name) >= 0, f"finetune.{name}", getattr(self, name), "0 or more")
        self._require_what_losses_need()

    def _require_what_losses_need(self) -> None:
        """Raise where a loss is asked for that has nothing to be computed from."""
        ranks = self.in_batch > 0 or self.margin_mse > 0 or self.kl > 0
        require(ranks, "finetune.in_batch", self.in_batch, "more than 0, unless margin_mse or kl is")
        has_negatives = bool(self.negatives) and self.n_negatives > 0
        drawn = self.n_negatives > 0 or not self.negatives
        require(drawn, "finetune.negatives", self.negatives, "empty, unless finetune.n_negatives is 1 or more")
        at_most = f"at most finetune.negatives_depth, which is {self.negatives_depth}"
        require(self.n_negatives <= self.negatives_depth, "finetune.n_negatives", self.n_negatives, at_most)
        distils = "empty, unless finetune.negatives and n_negatives give documents to compare the own one with"
        require(has_negatives or not self.teacher, "finetune.teacher", self.teacher, distils)
        weighs = self.margin_mse > 0 or self.kl > 0
        heard = "empty, unless finetune.margin_mse or kl gives its scores a weight"
        require(weighs or not self.teacher, "finetune.teacher", self.teacher, heard)
        masked = "off (false, 0), unless finetune.qk or dk is more than 0: without a mask nothing is masked"
        for name in ("dual", "mask_kl"):
            require(not getattr(self, name) or self.qk + self.dk > 0, f"finetune.{name}", getattr(self, name), masked)
        require(self.in_batch > 0 or not self.dual, "finetune.dual", self.dual, "false, unless in_batch is more than 0")


NOT_NEGATIVE = (
    "epochs", "head_rate", "frozen_layers", "chunk", "in_batch", "margin", "mask_kl", "n_negatives", "margin_mse", "kl",
    "joint_flops", "flops_q", "flops_d", "l1_q", "l1_d", "df_flops", "ramp", "qk", "dk", "validate_every",
)  # fmt: skip


def _require_schedule(section: str, settings: "PretrainSettings | FinetuneSettings") -> None:
    for name, least in (("steps", 0), ("batch", 2), ("warmup", 0), ("horizon", 0), ("checkpoint_every", 1)):
        require(getattr(settings, name) >= least, f"{section}.{name}", getattr(settings, name), f"{least} or more")
    require(0 <= settings.dropout < 1, f"{section}.dropout", settings.dropout, "0 or more and less than 1")
    require(settings.learning_rate > 0, f"{section}.learning_rate", settings.learning_rate, "more than 0")


@dataclass(frozen=True)
class RunSettings:
    systems: tuple[str, ...] = (AUTO,)  # auto: bm25, and esplade where it can be trained, else bm25-plain
    seed: int = 0

    def __post_init__(self) -> None:
        ok = self.systems == (AUTO,) or (bool(self.systems) and set(self.systems) <= set(SYSTEMS))
        require(ok, "run.systems", list(self.systems), f"auto, or some of {', '.join(SYSTEMS)}")


@dataclass(frozen=True)
class Settings:
    """All of them; each stage is handed only its own section."""

    run: RunSettings = field(default_factory=RunSettings)
    data: DataSettings = field(default_factory=DataSettings)
    lexical: LexicalSettings = field(default_factory=LexicalSettings)
    vocab: VocabSettings = field(default_factory=VocabSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    backbone: BackboneSettings = field(default_factory=BackboneSettings)
    mlm: MlmSettings = field(default_factory=MlmSettings)
    pretrain: PretrainSettings = field(default_factory=PretrainSettings)
    teacher: TeacherSettings = field(default_factory=TeacherSettings)
    tilde: TildeSettings = field(default_factory=TildeSettings)
    finetune: FinetuneSettings = field(default_factory=FinetuneSettings)
    prune: PruneSettings = field(default_factory=PruneSettings)
    index: IndexSettings = field(default_factory=IndexSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    evaluate: EvaluateSettings = field(default_factory=EvaluateSettings)

    def __post_init__(self) -> None:
        both = bool(self.model.expansions) and self.tilde.trains
        require(not both, "model.expansions", self.model.expansions, "empty, unless tilde.steps and tilde.epochs are 0")
        if self.tilde.trains:
            words, room = self.tilde.keep or self.tilde.top, self.model.expansion_length
            kept = f"at most model.expansion_length, which is {room}: what is beyond it is never read"
            why = f"{kept}; 0 keeps up to tilde.top, which is {self.tilde.top}" if not self.tilde.keep else kept
            require(words <= room, "tilde.keep", self.tilde.keep, why)
        (_require_room_for_the_teacher if self.teacher.trains else _require_named_files)(self.finetune)


def _require_named_files(finetune: FinetuneSettings) -> None:
    """Raise where negatives or a teacher are to be learned from and nothing gives them."""
    named = bool(finetune.negatives) or not finetune.n_negatives
    no_run = "0, unless finetune.negatives names a run, or teacher.steps or epochs trains a teacher"
    require(named, "finetune.n_negatives", finetune.n_negatives, no_run)
    no_scores = "0, unless finetune.teacher names a file of scores, or teacher.steps or epochs trains a teacher"
    for name in ("margin_mse", "kl"):
        value = getattr(finetune, name)
        require(bool(finetune.teacher) or not value, f"finetune.{name}", value, no_scores)


def _require_room_for_the_teacher(finetune: FinetuneSettings) -> None:
    """Raise where a teacher is trained that fine-tuning would not hear, or that a file stands in the way of."""
    empty = "empty where teacher.steps or epochs trains a teacher, which writes that file itself"
    for name in ("negatives", "teacher"):
        require(not getattr(finetune, name), f"finetune.{name}", getattr(finetune, name), empty)
    least = "1 or more where teacher.steps or epochs trains a teacher: it scores a query's own document and these"
    require(finetune.n_negatives > 0, "finetune.n_negatives", finetune.n_negatives, least)
    weight = (
        "more than 0, or finetune.margin_mse, where teacher.steps or epochs trains a teacher: nothing else hears it"
    )
    require(finetune.kl > 0 or finetune.margin_mse > 0, "finetune.kl", finetune.kl, weight)
