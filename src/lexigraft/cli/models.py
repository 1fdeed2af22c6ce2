"""`lexigraft model`: what a model is, where it comes from, and what it does before it ranks."""

import typer

from lexigraft.cli import model_diagnose, model_fresh, model_import, model_logits, model_mlm

app = typer.Typer(no_args_is_help=True, help="Look into models, and bring in those made elsewhere.")
app.command()(model_diagnose.diagnose)
app.command("import")(model_import.import_)
app.command()(model_fresh.fresh)
app.command()(model_mlm.mlm)
app.command()(model_logits.logits)
