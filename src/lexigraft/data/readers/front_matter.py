"""What stands between two lines `---` at the beginning of a Markdown file: YAML, of which texts and lists of texts are
kept as they are written. Objects are passed over: nothing filters by them."""

import logging
import re
from functools import cache
from typing import Any

from lexigraft.core.bounds import DEEPEST_FRONT_MATTER, LONGEST_FRONT_MATTER

Value = str | list[str]

_FRONT = re.compile(r"---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)

log = logging.getLogger(__name__)


def split_front_matter(text: str, where: str) -> tuple[dict[str, Value], str]:
    """(what a front matter says, the text after it). What lies there and is no mapping of YAML is text: a line `---`
    may also be drawn; `where` is the file, for a warning."""
    front = _FRONT.match(text)
    said = None if front is None else _read(front.group(1) or "", where)
    if front is None or said is None:
        return {}, text
    return {str(key): value for key, value in said.items() if _is_kept(value)}, text[front.end() :]


def _read(front: str, where: str) -> dict[Any, Any] | None:
    import yaml  # only where there is something to read by it

    try:
        if len(front) > LONGEST_FRONT_MATTER:
            raise yaml.YAMLError(f"it has more than {LONGEST_FRONT_MATTER:,} characters")
        said = yaml.load(front, Loader=_loader())
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # the last two: characters that there are not
        message = " ".join(str(error).split())
        log.warning("%s: the front matter is not YAML and is read as text: %s", where, message)
        return None
    if said is None or said == "":
        return {}
    return said if isinstance(said, dict) else None


@cache
def _loader() -> Any:
    import yaml

    class Shallow(yaml.BaseLoader):  # type: ignore[misc]  # it has no types
        """Leaves dates and numbers the texts that they are, and refuses what is nested deeply."""

        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.depth == DEEPEST_FRONT_MATTER:
                raise yaml.YAMLError(f"it is nested more than {DEEPEST_FRONT_MATTER} deep")
            self.depth += 1
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    return Shallow


def _is_kept(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(element, str) for element in value)
    return isinstance(value, str) and value != ""
