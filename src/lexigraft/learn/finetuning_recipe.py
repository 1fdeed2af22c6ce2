"""What decides a fine-tuned model, as its manifest holds it, and what cannot be asked of fine-tuning."""

from typing import Any

from lexigraft.core.artifact import hash_file
from lexigraft.core.config import settings_config
from lexigraft.core.errors import SettingError
from lexigraft.core.settings import FinetuneSettings, ModelSettings, Settings
from lexigraft.learn.training_data import scores_file


def finetuning_config(model: ModelSettings, settings: FinetuneSettings, measured_split: str | None) -> dict[str, Any]:
    """The settings in the manifest of a fine-tuned model. What was added later is left out where it changes nothing, so
    that models from before stay good."""
    return {
        "query_length": model.query_length,
        "document_length": model.document_length,
        "alpha": model.alpha,
        "pooling": model.pooling,
        "pooled": model.pooled,
        **({"queries": model.queries} if model.queries != "model" else {}),
        **({"first_terms": model.first_terms} if model.first_terms else {}),
        **({"calibrate": model.calibrate} if model.calibrate != "all" else {}),
        **({"table_terms": model.table_terms} if model.expands_by_table else {}),
        "finetune": deciding(settings),
        "measured": measured_split,
    }


def require_positions(settings: Settings) -> None:
    """Raise where a stage would read more of a text than an encoder from scratch has positions for."""
    model, tilde = settings.model, settings.tilde
    expands = bool(model.expansions) or tilde.trains
    lengths = {
        "model.query_length": model.query_length,
        "model.document_length and expansion_length": model.document_length + expands * model.expansion_length,
        "mlm.length": settings.mlm.length if settings.mlm.trains else 0,
        "tilde.query_length": tilde.query_length if tilde.trains else 0,
        "tilde.document_length": tilde.document_length if tilde.trains else 0,
    }
    for name, length in lengths.items():
        if length > settings.backbone.positions:
            raise SettingError(
                f"{name}: {length} subwords are more than backbone.positions, which is {settings.backbone.positions}; "
                "read less, or give the encoder more positions"
            )


def require_no_pressure_on_queries(settings: FinetuneSettings) -> None:
    """Raise where the number of a query's terms would have to be learned, and no model writes them."""
    if settings.mask_kl and not settings.dk:
        raise SettingError(
            "finetune.mask_kl compares masked vectors with whole ones, and where no model writes queries only "
            "documents are masked; set finetune.dk to more than 0"
        )
    for name in ("flops_q", "l1_q"):
        if getattr(settings, name):
            raise SettingError(
                f"finetune.{name} = {getattr(settings, name)} presses on queries, and their own words are all that "
                "they have where no model writes them; set it to 0 and take flops_d, l1_d, df_flops or joint_flops"
            )


def deciding(settings: FinetuneSettings) -> dict[str, Any]:
    """The settings that decide what is learned. Files count by what is in them, not by their names."""
    left_out = ["chunk", "tensorboard", "negatives", "teacher", "teachers", "steps" if settings.epochs else "epochs"]
    if not settings.hears:
        left_out.append("taught")
    if not settings.patience:
        left_out.append("patience")  # models from before this setting are those that it would make
    return {name: value for name, value in settings_config(settings).items() if name not in left_out}


def named_files(settings: FinetuneSettings) -> dict[str, str]:
    """The hashes of the files that fine-tuning reads beside the collection."""
    negatives = settings.negatives if settings.n_negatives and not settings.miner else ""
    files = {"negatives": negatives, "teacher": settings.teacher}
    return {name: hash_file(scores_file(f"finetune.{name}", file)) for name, file in files.items() if file}
