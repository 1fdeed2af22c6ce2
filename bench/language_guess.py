"""How often the language of a few words is guessed rightly: docs/explanation/words.md has the table.

    python -m bench.language_guess TEXTS --out docs/results/language_guess.json

TEXTS has a file of paragraphs for each language, NAME.txt, named as the guess names it. Those of the table are the help
of LibreOffice 7.4.7 (Debian's libreoffice-help-*; of Arabic the messages of libreoffice-l10n-ar): paragraphs of 20
characters and more that the English help does not have as well, of other scripts those with most letters in theirs.
A sample is so many words, one after the other; of Chinese and Japanese, twice as many characters.
"""

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path

from lexigraft.vocab.language import SAME, guess_language

LENGTHS, SAMPLES = (1, 10, 100), 300
WITHOUT_SPACES = ("chinese", "japanese")


def samples(file: Path, n_words: int) -> Iterator[str]:
    """Texts of so many words from random places."""
    draw, text = random.Random(f"{file.stem} {n_words}"), file.read_text(encoding="utf-8")
    spaced = file.stem not in WITHOUT_SPACES
    parts = [word for word in text.split() if any(map(str.isalpha, word))] if spaced else list("".join(text.split()))
    size = n_words if spaced else 2 * n_words
    for _ in range(SAMPLES):
        start = draw.randrange(len(parts) - size)
        yield (" " if spaced else "").join(parts[start : start + size])


def table_row(file: Path, n_words: int) -> dict[str, object]:
    """Shares of the samples, and the language that is taken most for this one."""
    guesses = [guess_language([text]).language for text in samples(file, n_words)]
    expected = SAME.get(file.stem, file.stem)
    wrong = [guess for guess in guesses if guess not in (expected, None)]
    return {
        "language": file.stem,
        "words": n_words,
        "right": round(guesses.count(expected) / SAMPLES, 3),
        "unsure": round(guesses.count(None) / SAMPLES, 3),
        "wrong": round(len(wrong) / SAMPLES, 3),
        "taken_for": max(sorted(set(wrong)), key=wrong.count, default=""),
    }


def main() -> None:
    """Guess, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    rows = [table_row(file, n_words) for file in sorted(given.texts.glob("*.txt")) for n_words in LENGTHS]
    given.out.write_text(json.dumps({"samples": SAMPLES, "rows": rows}, indent=1) + "\n", encoding="utf-8")
    for row in rows:
        print(*row.values(), sep="\t")


if __name__ == "__main__":
    main()
