"""`lexigraft model`: what a model is, where it comes from, and what it does before it ranks."""

import typer

from lexigraft.cli.model.diagnose import diagnose
from lexigraft.cli.model.fresh import fresh
from lexigraft.cli.model.import_ import import_
from lexigraft.cli.model.logits import logits
from lexigraft.cli.model.mlm import mlm

LOOK = "Look into one"
MAKE = "Make one, or bring it in"

app = typer.Typer(no_args_is_help=True, help="Look into models, and bring in those made elsewhere.")
app.command(rich_help_panel=LOOK)(diagnose)
app.command(rich_help_panel=LOOK)(logits)
app.command("import", rich_help_panel=MAKE)(import_)
app.command(rich_help_panel=MAKE)(fresh)
app.command(rich_help_panel=MAKE)(mlm)
