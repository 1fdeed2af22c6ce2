"""What adapters say when something goes wrong: one line, no secret."""

import importlib
from types import ModuleType

from lexigraft.core.errors import MissingExtraError, SettingError
from lexigraft.core.installing import install_extra
from lexigraft.engines.address import Address
from lexigraft.engines.engine import EngineError, UnreachableError

LONGEST = 200  # characters of another program's message


def one_line(error: object, address: Address) -> str:
    """What an engine or its client said, short, without the secret that it may repeat."""
    text = " ".join(str(error).split()) or type(error).__name__
    if address.secret:
        text = text.replace(address.secret, "***")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def no_answer(place: str, error: object, address: Address) -> UnreachableError:
    return UnreachableError(f"{place} does not answer ({one_line(error, address)}); is the server running?")


def not_there(address: Address) -> EngineError:
    return EngineError(f"there is no collection {address}; load an index into it first")


def there_already(address: Address) -> EngineError:
    return EngineError(f"{address} is there already; drop it first, or give another name")


def client_package(module: str, engine: str) -> ModuleType:
    """The package that talks to an engine, imported when it is needed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:  # it may be one that the client needs
        missing = (error.name or module).partition(".")[0]
        raise MissingExtraError(engine, missing, install_extra("engines")) from None


def require_options(address: Address, *known: str) -> None:
    """A misspelt option would be passed over without a word."""
    for name, _ in address.options:
        if name not in known:
            raise SettingError(f"{address.scheme} has no option {name!r}; one of {', '.join(sorted(known))}")


def whole_option(address: Address, name: str) -> int | None:
    """The value of an option that is a whole number from 1 on; None where it is not given."""
    text = address.option(name)
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise SettingError(f"{name} = {text!r} is not allowed: a whole number from 1 on")
    return int(text)


def yes_or_no(address: Address, name: str) -> bool | None:
    """The value of an option that is yes or no; None where it is not given."""
    text = address.option(name)
    if text not in ("", "yes", "no"):
        raise SettingError(f"{name} = {text!r} is not allowed: yes or no")
    return text == "yes" if text else None
