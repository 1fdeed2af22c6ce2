"""`lexigraft model`: what a model is, where it comes from, and what it does before it ranks."""

import typer

app = typer.Typer(no_args_is_help=True, help="Look into models, and bring in those made elsewhere.")
