"""`serve`."""

import logging
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lexigraft.cli.console import print_line, show_messages
from lexigraft.cli.options import QUICKSTART
from lexigraft.core.errors import MissingExtraError, SettingError
from lexigraft.core.installing import install_extra

if TYPE_CHECKING:
    from lexigraft.engines.address import Address
    from lexigraft.serve.catalogue import Shelf
    from lexigraft.serve.limits import Limits

EXTRA = "serve"

SourcesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[RUN]...",
        help="Folders of runs, indexes, live indexes or saved retrievers, or addresses of what 'lexigraft engine load' "
        "loaded; the quickstart's run where none is given.",
        show_default=False,
    ),
]
HostOption = Annotated[str, typer.Option("--host", help="The address to listen at; 0.0.0.0: at all of them.")]
PortOption = Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0: any that is free.")]
AllowHostOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host",
        help="A name that clients may call the server by, beside --host and this machine's own; *: any; may be "
        "repeated.",
    ),
]
AllowOriginOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-origin",
        help="An origin, such as https://example.org, whose pages may ask; *: any; may be repeated.",
    ),
]
KeysOption = Annotated[
    Path | None,
    typer.Option("--api-key-file", help="A file with a key on each line, one of which every request must bring."),
]
ThreadsOption = Annotated[int, typer.Option("--threads", min=0, help="Threads that answer; 0: one for each core.")]
WaitingOption = Annotated[
    int, typer.Option("--max-waiting", min=0, help="Requests that may wait for a thread; others get 429.")
]
SecondsOption = Annotated[
    float, typer.Option("--max-seconds", min=0.01, help="What a request may take, with its waiting; then 503.")
]
BodyOption = Annotated[int, typer.Option("--max-body", min=1, help="Bytes of a request's body.")]
QueryOption = Annotated[int, typer.Option("--max-query", min=1, help="Characters of a query.")]
ResultsOption = Annotated[int, typer.Option("--max-k", min=1, help="Results of a search.")]
TextsOption = Annotated[int, typer.Option("--max-texts", min=1, help="Texts that one request may have encoded.")]
TextOption = Annotated[int, typer.Option("--max-text", min=1, help="Characters of each of those texts.")]
EmbedAsOption = Annotated[
    str,
    typer.Option("--embed-as", help="What /embed_sparse takes a text for where no prompt_name says: query, document."),
]
WackinessOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--wackiness",
        help="Scores of terms for the vocabulary, OUT/NAME/queries of `lexigraft wackiness`; may be repeated.",
    ),
]


def serve(
    runs: SourcesArgument = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8080,
    allow_host: AllowHostOption = None,
    allow_origin: AllowOriginOption = None,
    api_key_file: KeysOption = None,
    threads: ThreadsOption = 0,
    max_waiting: WaitingOption = 256,
    max_seconds: SecondsOption = 10.0,
    max_body: BodyOption = 1 << 20,
    max_query: QueryOption = 2_000,
    max_k: ResultsOption = 100,
    max_texts: TextsOption = 64,
    max_text: TextOption = 100_000,
    embed_as: EmbedAsOption = "query",
    wackiness: WackinessOption = None,
) -> None:
    """Serve runs and indexes over HTTP: a page to search and compare on, and endpoints for programs.

    Every system of a run is offered. What a writer replaces, or adds to a live index, is served within a second,
    without an answer lost or mixed. SIGTERM ends it when the requests that have begun are answered.
    """
    require_server()
    from lexigraft.serve.limits import Limits

    limits = Limits(max_body, max_query, max_k, max_texts, max_text, max_waiting, max_seconds, threads)
    access = host, tuple(allow_host or ()), tuple(allow_origin or ()), api_key_file
    start_server(sources_of(runs), access, port, limits, embed_as, wackiness or ())


Reach = tuple[str, tuple[str, ...], tuple[str, ...], Path | None]  # host, other names, origins, file of keys


def start_server(
    sources: "list[Path | Address]",
    reach: Reach,
    port: int,
    limits: "Limits",
    embed_as: str = "query",
    wackiness: Sequence[Path] = (),
    on_ready: Callable[[str], None] = lambda address: None,
    or_free: bool = False,
    may_judge: bool = False,
) -> None:
    """Serve until a signal; `on_ready` is told the address. `or_free`: at any port where the one given is taken.
    `may_judge`: the page takes judgements, which are written into the run."""
    end_at_once()  # before what takes long to import
    from lexigraft.serve.access import access_for
    from lexigraft.serve.running import address_of, bind, run_server
    from lexigraft.serve.service import Service
    from lexigraft.serve.wackiness import GivenWackiness
    from lexigraft.serve.without_torch import keep_torch_out

    show_messages()
    show_faults()
    if embed_as not in ("query", "document"):
        raise SettingError(f"--embed-as {embed_as!r} is not allowed: query or document")
    keep_torch_out()
    service = Service(access_for(*reach), limits, embed_as, may_judge, wackiness=GivenWackiness(wackiness))
    try:
        listening = bind(reach[0], port)
    except SettingError:
        if not or_free:
            raise
        listening = bind(reach[0], 0)

    def say(shelf: "Shelf") -> None:
        print_line(f"serving {', '.join(shelf.current.names)} at {address_of(listening)} (Ctrl-C ends)")
        sys.stdout.flush()
        on_ready(address_of(listening))

    run_server(service, sources, listening, say)


def end_at_once() -> None:
    """Until there is anything to answer, SIGTERM ends the process, as asked for and so with status 0."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))


def sources_of(given: list[str] | None) -> "list[Path | Address]":
    """What is to be served, as it was given: folders, and addresses of engines."""
    from lexigraft.engines.address import is_address, parse_address

    return [parse_address(one) if is_address(one) else Path(one) for one in given or [str(QUICKSTART)]]


def show_faults() -> None:
    """A fault of the server is written whole to stderr: whoever runs it needs more than a line."""
    logger = logging.getLogger("lexigraft.serve.guard")
    logger.addHandler(logging.StreamHandler())
    logger.propagate = False


def require_server() -> None:
    """Raise unless all is installed that a server needs."""
    from importlib.util import find_spec

    for module in ("starlette", "uvicorn", "httptools", "prometheus_client"):
        if find_spec(module) is None:
            raise MissingExtraError("a server", module, install_extra(EXTRA))
