"""JSON objects that hold a checksum of themselves, so that a changed byte is found before anything is made of it.

The last key of a sealed object is "checksum": the SHA-256 of everything else. Files that former versions wrote have
none and are read as they are; a file that has one must have every byte as it was written.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lexigraft.core.errors import ArtifactError
from lexigraft.core.os_errors import remedy_for
from lexigraft.core.plain_files import read_plain_file, replace_for_good

CHECKSUM = "checksum"
REMEDY = "build it again"
_SURROGATES = re.compile("[\ud800-\udfff]")


def sealed(content: Mapping[str, Any]) -> bytes:
    """The bytes of a file that holds `content` and its checksum."""
    body = {key: value for key, value in content.items() if key != CHECKSUM}
    return in_utf8(_indented({**body, CHECKSUM: checksum_of(body)}) + "\n")


def read_sealed(path: Path, remedy: str = REMEDY) -> dict[str, Any]:
    """The object in the file at `path`, without its checksum; raises `ArtifactError` where the file cannot be read,
    holds no JSON object, or does not match the checksum that it holds."""
    try:
        found = read_plain_file(path)
    except FileNotFoundError:
        raise ArtifactError(f"{path} is missing; {remedy}") from None
    except OSError as error:
        raise ArtifactError(
            f"{path} cannot be read ({error.strerror or error}); {remedy_for(error, remedy)}"
        ) from error
    return unsealed(found, path, remedy)


def unsealed(found: bytes, path: Path, remedy: str = REMEDY) -> dict[str, Any]:
    """`read_sealed` of bytes that were read from `path`."""
    try:
        content = json.loads(found)
    except (ValueError, RecursionError):  # RecursionError: thousands of brackets
        raise ArtifactError(f"{path} is not JSON: it was changed or damaged; {remedy}") from None
    if not isinstance(content, dict):
        raise ArtifactError(f"{path} holds no JSON object: it was changed or damaged; {remedy}")
    if CHECKSUM in content and not _is_as_written(content, found):
        raise ArtifactError(f"{path} does not match its checksum: it was changed or damaged; {remedy}")
    return {key: value for key, value in content.items() if key != CHECKSUM}


def write_sealed(path: Path, content: Mapping[str, Any]) -> None:
    """Write `content` with its checksum, whole or not at all."""
    replace_for_good(path, sealed(content))


def _is_as_written(content: Mapping[str, Any], found: bytes) -> bool:
    """Also the bytes are compared: a changed blank, or a key that is there twice, would otherwise pass."""
    try:
        return sealed(content) == found
    except (ValueError, RecursionError):  # numbers that JSON can spell and Python does not write
        return False


def checksum_of(body: Mapping[str, Any]) -> str:
    """What a sealed file that holds `body` has as its checksum."""
    plain = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(in_utf8(plain)).hexdigest()


def in_utf8(text: str) -> bytes:
    """JSON in UTF-8. A lone surrogate, as names of files that are not UTF-8 have, is written as JSON spells it."""
    return _SURROGATES.sub(lambda found: f"\\u{ord(found.group()):04x}", text).encode()


def _indented(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False)
