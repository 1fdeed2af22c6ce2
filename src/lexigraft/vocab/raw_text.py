"""The one word rule as parts of a `tokenizers` tokenizer, so that a tokenizer of ours reads raw text as we do.

Oniguruma, which `tokenizers` matches with, knows the word boundaries of Annex 29 too (`(?y{w})` and `\\Y`), so the
pattern is that of `words.py`. Its last two conditions undo a difference: where a mark stands beside a joiner ("a.", a
combining acute, "b"), the annex looks past the mark; the `regex` module does not, unless a vowel follows an apostrophe.
What still differs, all of it in tests/property/test_tokenizer.py:

- characters that only one side's Unicode tables know, and some 70 rare ones, most of them modifier letters, that only
  one side's tables decompose;
- an apostrophe with a mark on either side, after a Hebrew letter;
- the names of special tokens, such as "[MASK]", which a tokenizer finds in a text before it is read as words;
- lone surrogates, which a tokenizer refuses.
"""

from typing import TYPE_CHECKING, Any

from lexigraft.vocab.words import UNSEEN

if TYPE_CHECKING:
    from tokenizers.normalizers import Normalizer
    from tokenizers.pre_tokenizers import PreTokenizer

_UNICODE_WORDS = "(?y{w})"
_MARK, _VOWEL = r"[\p{M}\p{Cf}]", "[aàáâeèéêiìíîoòóôuùúû]"
_WORD = _UNICODE_WORDS + (
    r"[\p{L}\p{N}]"
    r"(?:\Y"
    r"(?![_\"]|[.:](?=\p{L}))"
    rf"(?!(?:[,.:;·‧⁄]|(?<!\p{{Hebrew}})'){_MARK})"
    rf"(?:(?<=')(?={_VOWEL})|(?<!{_MARK}[',.:;·‧⁄]))"
    r"(?m:.))*"
)
# The sigma that ends a word, as `str.lower` knows it; `tokenizers` lower-cases letter by letter.
_LAST_SIGMA = r"(?<=\p{Cased}\p{Case_Ignorable}*)Σ(?!\p{Case_Ignorable}*\p{Cased})"


def normalizer() -> "Normalizer":
    """`words.normalise`."""
    from tokenizers import Regex, normalizers

    return normalizers.Sequence(
        [
            normalizers.NFKC(),
            normalizers.Replace(Regex(_LAST_SIGMA), "ς"),
            normalizers.Lowercase(),
            normalizers.Replace("\u2019", "'"),
            normalizers.Replace(Regex(UNSEEN), ""),
        ]
    )


def pre_tokenizer() -> "PreTokenizer":
    """The words of normalised text; what lies between them goes."""
    from tokenizers import Regex, pre_tokenizers

    return pre_tokenizers.Split(Regex(_WORD), "removed", invert=True)


def reads_words(backend: Any) -> bool:
    """Whether a `tokenizers` tokenizer cuts text by the word rule, which none but ours does."""
    cutter = backend.pre_tokenizer
    return cutter is not None and _UNICODE_WORDS.encode() in cutter.__getstate__()
