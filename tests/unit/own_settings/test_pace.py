"""How fast an encoder reads is taken of so many documents that what a call takes once is a small part of it."""

import pytest

from lexigraft.own_settings import encoder_time


class Reader:
    def reading(self, length):
        return self


@pytest.mark.parametrize(
    ("once", "each", "called", "found"),
    [
        (0.02, 0.001, [2, 16, 128], 0.001 + 0.02 / 128),  # sixteen took .036 s: of that the call alone was most
        (0.02, 0.05, [2, 16], 0.05 + 0.02 / 16),  # they took .82 s, which says enough
    ],
)
def test_of_documents_enough(monkeypatch, once, each, called, found):
    now, sizes = [0.0], []

    def embed(reader, texts, are_queries):
        sizes.append(len(texts))
        now[0] += once + each * len(texts)

    monkeypatch.setattr(encoder_time, "embed", embed)
    monkeypatch.setattr(encoder_time.clock, "monotonic", lambda: now[0])
    assert encoder_time.pace(Reader(), ["text"] * 500, 32) == pytest.approx(found)
    assert sizes == called
