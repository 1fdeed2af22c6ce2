"""Mutations of files: what a bad disk, a half copy, an editor or a stranger may make of one. Each is a function of the
file's bytes and a source of chance, so that a case is known by its seed."""

import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

Bytes = Callable[[bytes, random.Random], bytes]

ODD_VALUES: tuple[Any, ...] = (
    None, True, [], {}, "", "\ud800", "\x1b[31m", -1, 0, 1e308, 2**31, 2**63, 10**400, "x" * 3000, [[]], {"a": 1}, 0.5,
    float("nan"), "../../../../etc/passwd", "/dev/zero",
)  # fmt: skip


def flip_bit(found: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(found))
    return found[:place] + bytes([found[place] ^ (1 << chance.randrange(8))]) + found[place + 1 :]


def overwrite_run(found: bytes, chance: random.Random) -> bytes:
    place, size = chance.randrange(len(found)), chance.randint(1, 64)
    return (found[:place] + chance.randbytes(size) + found[place + size :])[: len(found)]


def cut_short(found: bytes, chance: random.Random) -> bytes:
    return found[: chance.randrange(len(found))]


def extend(found: bytes, chance: random.Random) -> bytes:
    return found + chance.choice((b"\0", b"\n", b"{}", chance.randbytes(100), found))


def zero_block(found: bytes, chance: random.Random) -> bytes:
    place, size = chance.randrange(len(found)), chance.choice((8, 512, 4096))
    size = min(size, len(found) - place)
    return found[:place] + bytes(size) + found[place + size :]


def swap_blocks(found: bytes, chance: random.Random) -> bytes:
    size = max(1, min(512, len(found) // 4))
    first, second = sorted(chance.randrange(max(1, len(found) - size)) for _ in range(2))
    if second - first < size:
        return found[size:] + found[:size]
    middle = found[first + size : second]
    return found[:first] + found[second : second + size] + middle + found[first : first + size] + found[second + size :]


def empty(found: bytes, chance: random.Random) -> bytes:
    return b""


def shift_byte(found: bytes, chance: random.Random) -> bytes:
    """One byte more or less in the middle: all that follows moves."""
    place = chance.randrange(len(found))
    return found[:place] + (found[place + 1 :] if chance.random() < 0.5 else b"7" + found[place:])


def remove_line(found: bytes, chance: random.Random) -> bytes:
    lines = found.splitlines(keepends=True)
    del lines[chance.randrange(len(lines))]
    return b"".join(lines)


def double_line(found: bytes, chance: random.Random) -> bytes:
    lines = found.splitlines(keepends=True)
    place = chance.randrange(len(lines))
    return b"".join([*lines[: place + 1], *lines[place:]])


def change_number(found: bytes, chance: random.Random) -> bytes:
    numbers = list(re.finditer(rb"-?\d+(\.\d+)?", found))
    if not numbers:
        return flip_bit(found, chance)
    place = chance.choice(numbers)
    new = chance.choice((b"0", b"-1", b"3", b"99999999999999999999", b"1e400", b"9" * 400, b"2147483648", b"0.5"))
    return found[: place.start()] + new + found[place.end() :]


def brackets(found: bytes, chance: random.Random) -> bytes:
    return b"[" * 5000 + found if chance.random() < 0.5 else b'{"a":' * 5000 + found


def remove_key(found: bytes, chance: random.Random) -> bytes:
    content = json.loads(found)
    holders = [part for part in parts_of(content) if isinstance(part, dict) and part]
    if not holders:
        return b"{}"
    holder = chance.choice(holders)
    del holder[chance.choice(sorted(holder))]
    return _written(content)


def add_key(found: bytes, chance: random.Random) -> bytes:
    content = json.loads(found)
    holders = [part for part in parts_of(content) if isinstance(part, dict)]
    if not holders:
        return b"[]"
    chance.choice(holders)[chance.choice(("unknown", "\x1b[2J", "kind", "path"))] = chance.choice(ODD_VALUES)
    return _written(content)


def change_value(found: bytes, chance: random.Random) -> bytes:
    """Some value of a JSON file by one of another type, or one that is out of all bounds."""
    content = json.loads(found)
    holders = [part for part in parts_of(content) if part]
    if not holders:
        return _written(chance.choice(ODD_VALUES))
    holder = chance.choice(holders)
    place = chance.choice(sorted(holder)) if isinstance(holder, dict) else chance.randrange(len(holder))
    holder[place] = chance.choice(ODD_VALUES)
    return _written(content)


def whole_value(found: bytes, chance: random.Random) -> bytes:
    """Valid JSON of which nothing is as it was."""
    return _written(chance.choice(ODD_VALUES))


def parts_of(content: Any) -> list[Any]:
    """The objects and lists within, outer ones first."""
    found, at = [content], 0
    while at < len(found):
        inner = found[at].values() if isinstance(found[at], dict) else found[at] if isinstance(found[at], list) else ()
        found.extend(value for value in inner if isinstance(value, (dict, list)))
        at += 1
    return [part for part in found if isinstance(part, (dict, list))]


def _written(content: Any) -> bytes:
    return (json.dumps(content, indent=2) + "\n").encode()


OF_BYTES: tuple[Bytes, ...] = (
    flip_bit, flip_bit, overwrite_run, cut_short, extend, zero_block, swap_blocks, empty, shift_byte,
)  # fmt: skip
OF_LINES: tuple[Bytes, ...] = (remove_line, double_line, change_number, brackets)
OF_JSON: tuple[Bytes, ...] = (remove_key, add_key, change_value, change_value, whole_value)
# Of the file itself: (its path, another file of the same world, chance).
Moved = Callable[[Path, Path, random.Random], None]


def exchange(path: Path, other: Path, chance: random.Random) -> None:
    shutil.copyfile(other, path)


def remove(path: Path, other: Path, chance: random.Random) -> None:
    path.unlink()


def become_folder(path: Path, other: Path, chance: random.Random) -> None:
    path.unlink()
    path.mkdir()


def become_loop(path: Path, other: Path, chance: random.Random) -> None:
    path.unlink()
    path.symlink_to(path.name)


OF_PLACES: tuple[Moved, ...] = (exchange, exchange, remove, become_folder, become_loop)


def mutate(path: Path, others: list[Path], chance: random.Random) -> str:
    """Do one mutation to the file at `path`, and say which. `others` are files of the same kind elsewhere."""
    is_text = path.suffix in (".json", ".jsonl", ".toml", ".tsv", ".trec", ".md", ".csv", ".txt")
    kinds: list[Any] = [*OF_BYTES, *OF_PLACES, *(OF_LINES if is_text else ()), *(OF_JSON if path.suffix == ".json" else ())]
    kind = chance.choice(kinds)
    if kind in OF_PLACES:
        kind(path, chance.choice(others), chance)
        return str(kind.__name__)
    found = path.read_bytes()
    changed = kind(found, chance) if found else chance.randbytes(10)
    path.write_bytes(changed)
    return str(kind.__name__)
