"""`open`."""

import webbrowser
from threading import Thread
from typing import Annotated

import typer

from lexigraft.cli.serve import PortOption, SourcesArgument, require_server, sources_of, start_server

BrowserOption = Annotated[
    bool, typer.Option("--browser/--no-browser", help="Open the page in the browser, or only say its address.")
]


def open(runs: SourcesArgument = None, port: PortOption = 8080, browser: BrowserOption = True) -> None:
    """Open a run in the browser: a page to search and compare on, and to see why.

    It is served to this machine alone, until Ctrl-C; where the port is taken, another one is.
    """
    require_server()
    from lexigraft.serve.limits import Limits

    def show(address: str) -> None:
        if browser:  # some browsers let go of their caller only when they are closed
            Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    reach = ("127.0.0.1", (), (), None)
    start_server(sources_of(runs), reach, port, Limits(), on_ready=show, or_free=True, may_judge=True)
