"""Options that several commands share, as one dataclass: said once, and handed to each command as one value.

    @dataclass(frozen=True)
    class Drawn:
        seed: Annotated[int, typer.Option("--seed")] = 0

    @grouped
    def sample(drawn: Drawn, json: JsonOption = False) -> None: ...

The command has the options `--seed` and `--json`, and gets a `Drawn`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """`command` with the fields of its dataclass parameters as options of their own, in the parameter's place."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if is_dataclass(hint) and isinstance(hint, type)}
    options = [option for parameter in signature(command).parameters.values() for option in _flat(parameter, groups)]

    @wraps(command)
    def flattened(**values: Any) -> None:
        made = {name: group(**{f.name: values.pop(f.name) for f in fields(group)}) for name, group in groups.items()}
        command(**made, **values)

    flattened.__signature__ = Signature(options)  # type: ignore[attr-defined]  # what typer reads
    flattened.__annotations__ = {option.name: option.annotation for option in options}
    return flattened


def _flat(parameter: Parameter, groups: Mapping[str, type[Any]]) -> Iterator[Parameter]:
    """The parameter itself, or one for each field of the group that it stands for."""
    if parameter.name not in groups:
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
        return
    group = groups[parameter.name]
    hints = get_type_hints(group, include_extras=True)
    for one in fields(group):
        default = Parameter.empty if one.default is MISSING else one.default
        yield Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[one.name])
