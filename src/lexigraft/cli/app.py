"""`lexigraft`: the program, its tour, and what becomes of errors. `overview` lists the commands."""

import gc
import os
import sys
from typing import Annotated

import typer

from lexigraft.cli.console import err, print_line
from lexigraft.cli.display import on_one_line
from lexigraft.cli.in_flags import in_flags
from lexigraft.cli.lazy import MARKUP, LazyGroup, hide_types_of_flags, show_odd_characters_in_words
from lexigraft.cli.plain_values import convert_plain_values
from lexigraft.core.errors import LexigraftError
from lexigraft.core.os_errors import in_words
from lexigraft.core.processes import is_leader, process_rank

SHARED = (["run"], ["quickstart"], ["pretrain"], ["finetune"], ["vocab", "learn"])
STOPPED = 130  # the exit status after Ctrl-C
FEW_COLLECTIONS = 20_000  # new objects between two searches for garbage; importing makes many, and none of them is
CHANGES_OF_LIVE = (["live"], ["add"], ["delete"], ["merge"])

TOUR = """Learned sparse retrieval over the vocabulary you choose.

A tour, from text to explained results:

1. `lexigraft quickstart` — train a model on this machine's Python documentation, measured and drawn.
2. `lexigraft search "remove duplicates but keep order"` — ask it something.
3. `lexigraft explain --text "measure speed"` — which terms a text becomes.
4. `lexigraft run --data DIR --out runs/mine` — the same for your own collection.
5. `lexigraft report --run runs/mine` — what it is worth and what it costs.
6. `lexigraft explain --run runs/mine "a query" DOC_ID` — why a document got its score.
"""

hide_types_of_flags()
show_odd_characters_in_words()
convert_plain_values()
app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    rich_markup_mode=MARKUP,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        from lexigraft import __version__

        print_line(f"lexigraft {__version__}")
        raise typer.Exit


@app.callback(help=TOUR)
def lexigraft(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """All commands: `overview` lists them, and typer asks for a callback where none is registered here."""


def main() -> None:
    """Run the command line; an error of the user's becomes one line and exit status 2."""
    if not is_leader() and not _is_shared(sys.argv[1:]):
        return
    gc.set_threshold(FEW_COLLECTIONS)
    try:
        _run_command()
    except LexigraftError as error:
        _fail(in_flags(str(error)))
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        _fail(in_words(error))
    except UnicodeEncodeError as error:  # the terminal's own encoding
        _fail(f"{sys.stdout.encoding} cannot show {error.object[error.start]!r}; set PYTHONIOENCODING=utf-8")
    except KeyboardInterrupt:
        _stopped()
    except MemoryError:
        _fail("there is not enough memory for this; give it more, or ask for less at once")
    except SystemExit as stop:
        if stop.code == STOPPED:  # typer makes this of Ctrl-C, and says nothing
            _stopped()
        raise


def _run_command() -> None:
    """The command, until all it said is written: a full disk behind the output is an error, too."""
    try:
        app()
    finally:
        try:
            sys.stdout.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python tries once more at its end
            raise


def _is_shared(arguments: list[str]) -> bool:
    """Whether several processes do a command together. Any other is the leader's alone: two would write one folder."""
    return arguments[:1] in SHARED or arguments[:2] in SHARED


def _stopped() -> None:
    err.print(f"stopped; {_after_a_stop(sys.argv[1:])}")
    sys.exit(STOPPED)


def _after_a_stop(arguments: list[str]) -> str:
    """What to do after Ctrl-C. A change of a live index may have been completed just before it."""
    if arguments[:1] == ["index"] and arguments[1:2] in CHANGES_OF_LIVE:
        return "the change was made whole or not at all; see lexigraft index status"
    return "the same command continues where it stopped"


def _fail(message: str) -> None:
    message = on_one_line(message)
    if is_leader():
        err.print(f"error: {message}", style="red", soft_wrap=True)
    else:
        sys.stderr.write(f"error (process {process_rank()}): {message}\n")
    sys.exit(2)
