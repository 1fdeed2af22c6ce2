"""A WordPiece tokenizer of a corpus's own (V2): for encoders that are made from nothing but that corpus."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lexigraft.vocab.counting import count_words

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
MOST_LETTERS = 1000
MOST_REPEATS = 100_000


def train_wordpiece(texts: Iterable[str], size: int) -> "Tokenizer":
    """About `size` subwords of the words of `texts`, as the `tokenizers` library learns them.

    Left alone, it numbers letters in the order of a hash table that differs from run to run, and breaks ties by those
    numbers. Naming the letters first, in an order of ours, makes the result the same every time.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    words = count_words(texts)
    letters: Counter[str] = Counter()
    for word, count in words.items():
        for letter in word:
            letters[letter] += count
    alphabet = sorted(sorted(letters, key=lambda letter: (-letters[letter], letter))[:MOST_LETTERS])
    first = [*SPECIAL_TOKENS, *alphabet, *(f"##{letter}" for letter in alphabet)]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()  # words come cut and normalised by the one word rule
    trainer = trainers.WordPieceTrainer(
        vocab_size=max(size, len(first)), min_frequency=2, special_tokens=first, limit_alphabet=len(alphabet),
        show_progress=False,
    )  # fmt: skip
    repeated = (" ".join([word] * min(count, MOST_REPEATS)) for word, count in sorted(words.items()))
    tokenizer.train_from_iterator(repeated, trainer)
    # A fresh one of the same pieces: letters were called special only to be named first.
    made = Tokenizer(models.WordPiece(tokenizer.get_vocab(), unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return made
