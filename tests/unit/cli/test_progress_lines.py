"""Where no bar can be drawn, a line says now and then how far the work is."""

import io

from lexigraft.cli import console
from lexigraft.cli.display import SafeConsole


def test_a_file_of_messages_tells_how_far_it_is(monkeypatch):
    said = io.StringIO()
    monkeypatch.setattr(console, "err", SafeConsole(file=said, width=80))
    monkeypatch.setattr(console, "SECONDS_A_LINE", 0.0)
    assert list(console.BarProgress().track(iter("abc"), "embedding", 3)) == list("abc")
    assert said.getvalue().splitlines() == [f"embedding: {n} of 3, about 0 s left" for n in (1, 2, 3)]
    assert list(console.BarProgress().track(iter("a"), "counting")) == ["a"]
    assert said.getvalue().splitlines()[-1] == "counting: 1"
    monkeypatch.setattr(console, "SECONDS_A_LINE", 60.0)
    assert list(console.BarProgress().track(iter("a"), "quick")) == ["a"]
    assert "quick" not in said.getvalue()
