"""`mcp`."""

from lexigraft.cli.console import show_messages
from lexigraft.cli.serve import SourcesArgument, sources_of
from lexigraft.core.errors import MissingExtraError
from lexigraft.core.installing import install_extra


def mcp(runs: SourcesArgument = None) -> None:
    """Offer search and explanations to an assistant, by the Model Context Protocol over stdin and stdout.

    An assistant's settings name this command; it is not called by hand. Tools: `search`, `explain`.
    """
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise MissingExtraError("an assistant's tool", "mcp", install_extra("mcp"))
    from lexigraft.serve.assistants import run_tools
    from lexigraft.serve.limits import Limits
    from lexigraft.serve.without_torch import keep_torch_out

    show_messages()
    keep_torch_out()
    run_tools(sources_of(runs), Limits())
