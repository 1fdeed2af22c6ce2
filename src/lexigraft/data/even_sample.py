"""A few texts out of a stream of unknown length, evenly from all of it, in memory that does not grow."""

from dataclasses import dataclass, field

MOST_TEXTS = 512
BEGINNING = 1000  # characters of each


@dataclass
class EvenSample:
    """Every n-th text; when there are too many, every other one of them goes and n doubles."""

    texts: list[str] = field(default_factory=list)
    every: int = 1
    seen: int = 0

    def add(self, text: str) -> None:
        """Take the next text of the stream, or pass over it."""
        if self.seen % self.every == 0:
            if len(self.texts) == MOST_TEXTS:
                self.texts = self.texts[::2]
                self.every *= 2
            if self.seen % self.every == 0:
                self.texts.append(text[:BEGINNING])
        self.seen += 1
