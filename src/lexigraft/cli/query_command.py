"""Commands whose argument is what somebody looks for: a query may begin with a dash, and is no option then."""

import re
from collections.abc import Collection
from typing import Any

from typer.core import TyperCommand

from lexigraft.core.errors import SettingError

_ONE_LETTER = re.compile(r"-[A-Za-z](\W.*|\d.*)?", re.DOTALL)  # an option, as other programs have them: -k 5, -k5, -k=5


class QueryCommand(TyperCommand):
    """A command whose words with one dash that are no option, and texts of several words, are arguments."""

    def make_parser(self, ctx: Any) -> Any:
        parser: Any = super().make_parser(ctx)
        options = {name for one in self.get_params(ctx) for name in (*one.opts, *one.secondary_opts)}
        as_option = parser._process_opts

        def process(given: str, state: Any) -> None:
            if is_query(given, options):
                state.largs.append(given)
            else:
                as_option(given, state)

        parser._process_opts = process
        return parser


def is_query(given: str, options: Collection[str]) -> bool:
    """Whether what begins with a dash is something to look for. Raises where it is an option that lacks a dash."""
    first = given.split()[0].partition("=")[0]
    if first in options:
        return False
    if first != given.partition("=")[0]:  # several words
        return True
    if given.startswith("--"):
        return False
    if f"-{first}" in options:
        raise SettingError(f"there is no option {first}; did you mean -{first}? To look for it, put -- before it")
    return _ONE_LETTER.fullmatch(given) is None
