"""A WordPiece tokenizer of a corpus's own (V2): for encoders that are made from nothing but that corpus."""

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import InputError, MissingExtraError
from lexigraft.core.installing import install_extra
from lexigraft.vocab.counting import count_words
from lexigraft.vocab.raw_text import normalizer, pre_tokenizer
from lexigraft.vocab.subwords import spelling_words

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNKNOWN, BEGIN, END, MASK = SPECIAL_TOKENS
MOST_LETTERS = 1000
MOST_REPEATS = 100_000
WORDS_AT_ONCE = 1 << 16


class WordPieces(NamedTuple):
    """A tokenizer of raw text, and what its corpus says of its pieces."""

    tokenizer: "Tokenizer"
    counts: NDArray[np.int64]  # of each piece, how often it is used when the corpus is spelt
    n_distinct_words: int
    coverage: float  # share of the corpus's words that are spelt without an unknown piece


def train_wordpiece(texts: Iterable[str], size: int, min_count: int = 2) -> WordPieces:
    """About `size` subwords of the words of `texts`, as the `tokenizers` library learns them, each but the letters from
    a pair that occurs `min_count` times. Letters are always pieces, so there may be more; of a small corpus, fewer.

    Left alone, the library numbers letters in the order of a hash table that differs from run to run, and breaks ties
    by those numbers. Naming the letters first, in an order of ours, makes the result the same every time. So does
    leaving out words with a letter that is not among the first thousand, which would be spelt as unknown anyway: of
    letters that are equally rare, the library keeps other ones every time.
    """
    try:
        from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    except ImportError as error:
        raise MissingExtraError("a WordPiece tokenizer", "tokenizers", install_extra("train")) from error

    words = count_words(texts)
    if not words:
        raise InputError("there is no word in the corpus to learn pieces from; give a collection with text")
    letters: Counter[str] = Counter()
    for word, count in words.items():
        for letter in word:
            letters[letter] += count
    alphabet = sorted(sorted(letters, key=lambda letter: (-letters[letter], letter))[:MOST_LETTERS])
    first = [*SPECIAL_TOKENS, *alphabet, *(f"##{letter}" for letter in alphabet)]
    tokenizer = Tokenizer(models.WordPiece(unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()  # words come cut and normalised by the one word rule
    trainer = trainers.WordPieceTrainer(
        vocab_size=max(size, len(first)), min_frequency=min_count, special_tokens=first,
        limit_alphabet=len(alphabet), show_progress=False,
    )  # fmt: skip
    known = set(alphabet)
    spelt = sorted((word, count) for word, count in words.items() if known.issuperset(word))
    repeated = (" ".join([word] * min(count, MOST_REPEATS)) for word, count in spelt)
    tokenizer.train_from_iterator(repeated, trainer)
    made = _of_raw_text(tokenizer.get_vocab())
    return WordPieces(made, *_use(words, made))


def _of_raw_text(pieces: dict[str, int]) -> "Tokenizer":
    """A fresh tokenizer of the same pieces, because letters were called special only to be named first."""
    from tokenizers import Tokenizer, decoders, models, processors

    made = Tokenizer(models.WordPiece(pieces, unk_token=UNKNOWN))
    made.normalizer = normalizer()
    made.pre_tokenizer = pre_tokenizer()
    made.post_processor = processors.TemplateProcessing(
        single=f"{BEGIN} $A {END}", pair=f"{BEGIN} $A {END} $B:1 {END}:1",
        special_tokens=[(name, pieces[name]) for name in (BEGIN, END)],
    )  # fmt: skip
    made.decoder = decoders.WordPiece()
    made.add_special_tokens(list(SPECIAL_TOKENS))
    return made


def _use(words: Counter[str], tokenizer: "Tokenizer") -> tuple[NDArray[np.int64], int, float]:
    """(counts of the pieces, distinct words, coverage) where `words` are spelt."""
    speller, unknown = spelling_words(tokenizer), tokenizer.token_to_id(UNKNOWN)
    counts, n_unknown, distinct = np.zeros(tokenizer.get_vocab_size(), np.int64), 0, list(words)
    for start in range(0, len(distinct), WORDS_AT_ONCE):
        some = distinct[start : start + WORDS_AT_ONCE]
        spelt = [found.ids for found in speller.encode_batch(some, add_special_tokens=False)]
        times = np.array([words[word] for word in some], np.int64)
        np.add.at(counts, list(chain.from_iterable(spelt)), np.repeat(times, [len(ids) for ids in spelt]))
        n_unknown += int(times[[unknown in ids for ids in spelt]].sum())
    return counts, len(words), 1 - n_unknown / words.total()
