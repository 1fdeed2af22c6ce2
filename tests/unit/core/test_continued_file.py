"""A file that is continued: whatever moment a call is stopped at, the next one ends with the same bytes."""

import pytest

from lexigraft.core.continued_file import PART, STATE, continued_file
from tests.killed import Killed

LINES = [f"line {number} ä\n" for number in range(7)]


def write(tmp_path, depends_on, dies_at=None, kept_after=True):
    """Write the lines that are not done yet, one at a time, and return how many had been."""
    with continued_file(tmp_path / "out", tmp_path / "work", depends_on) as part:
        before = part.done.get("lines", 0)
        for number in range(before, len(LINES)):
            if number == dies_at and kept_after:
                raise Killed
            part.file.write(LINES[number])
            if number == dies_at:
                part.file.flush()
                raise Killed
            part.keep(lines=number + 1)
    return before


@pytest.mark.parametrize("kept_after", [True, False])
@pytest.mark.parametrize("dies_at", range(7))
def test_stopped_anywhere_it_ends_with_the_same_bytes(tmp_path, dies_at, kept_after):
    with pytest.raises(Killed):
        write(tmp_path, {"by": 1}, dies_at, kept_after)
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "work").exists() == (dies_at > 0)  # where nothing was kept nothing is left
    assert write(tmp_path, {"by": 1}) == dies_at
    assert (tmp_path / "out").read_text(encoding="utf-8") == "".join(LINES)
    assert not (tmp_path / "work").exists()


def test_what_depends_on_something_else_begins_anew(tmp_path):
    with pytest.raises(Killed):
        write(tmp_path, {"by": 1}, 4)
    assert write(tmp_path, {"by": 2}) == 0
    assert (tmp_path / "out").read_text(encoding="utf-8") == "".join(LINES)


@pytest.mark.parametrize("harm", ["short", "no state", "broken state", "no part"])
def test_what_does_not_fit_together_begins_anew(tmp_path, harm):
    with pytest.raises(Killed):
        write(tmp_path, {"by": 1}, 4)
    part, state = tmp_path / "work" / PART, tmp_path / "work" / STATE
    if harm == "short":
        part.write_bytes(part.read_bytes()[:-1])
    elif harm == "no part":
        part.unlink()
    elif harm == "no state":
        state.unlink()
    else:
        state.write_text('{"depends_on"')
    assert write(tmp_path, {"by": 1}) == 0
    assert (tmp_path / "out").read_text(encoding="utf-8") == "".join(LINES)


def test_what_is_written_for_another_is_never_taken_for_what_was_kept(tmp_path):
    with pytest.raises(Killed):
        write(tmp_path, {"by": 1}, 2)
    with pytest.raises(Killed), continued_file(tmp_path / "out", tmp_path / "work", {"by": 2}) as part:
        part.file.write("another's\n" * 20)
        part.file.flush()
        raise Killed
    assert write(tmp_path, {"by": 1}) == 0
    assert (tmp_path / "out").read_text(encoding="utf-8") == "".join(LINES)
