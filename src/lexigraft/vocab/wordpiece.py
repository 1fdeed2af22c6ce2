"""A WordPiece tokenizer of a corpus's own (V2): for encoders that are made from nothing but that corpus."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lexigraft.vocab.words import split_words

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def train_wordpiece(texts: Iterable[str], size: int) -> "Tokenizer":
    """At most `size` subwords of the words of `texts`, as the `tokenizers` library learns them."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()  # words come cut and normalised by the one word rule
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, min_frequency=2, special_tokens=list(SPECIAL_TOKENS), show_progress=False
    )
    tokenizer.train_from_iterator((" ".join(split_words(text)) for text in texts), trainer)
    return tokenizer
