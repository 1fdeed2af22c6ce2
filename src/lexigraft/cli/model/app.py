"""`lexigraft model`: what a model is, where it comes from, and what it does before it ranks."""

import typer

from lexigraft.cli.model import diagnose as model_diagnose
from lexigraft.cli.model import fresh as model_fresh
from lexigraft.cli.model import import_ as model_import
from lexigraft.cli.model import logits as model_logits
from lexigraft.cli.model import mlm as model_mlm

app = typer.Typer(no_args_is_help=True, help="Look into models, and bring in those made elsewhere.")
app.command()(model_diagnose.diagnose)
app.command("import")(model_import.import_)
app.command()(model_fresh.fresh)
app.command()(model_mlm.mlm)
app.command()(model_logits.logits)
