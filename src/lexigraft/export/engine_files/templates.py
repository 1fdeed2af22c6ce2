"""Texts with placeholders."""

import re
from collections.abc import Mapping


def filled(template: str, parts: Mapping[str, str]) -> str:
    """`template` with each placeholder's text in its place. All at once: a name or a key that is filled in may be the
    word of another placeholder."""
    words = "|".join(map(re.escape, sorted(parts, key=len, reverse=True)))
    return re.sub(words, lambda found: parts[found[0]], template)
