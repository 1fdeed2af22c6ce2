"""`lexigraft model`: what a model is, where it comes from, and what it does before it ranks."""

import typer

from lexigraft.cli import model_import

app = typer.Typer(no_args_is_help=True, help="Look into models, and bring in those made elsewhere.")
app.command("import")(model_import.import_)


@app.callback()
def _group() -> None:
    """Keeps `import` a command of its own also while it is the only one."""
