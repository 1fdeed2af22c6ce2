"""A tiny random backbone of every family, each with a tokenizer of its kind, made offline."""

from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
# Settings of a training that ends in a second, for .format(backbone=...). The last table is [finetune], so that a test
# can say more of it.
TINY_TRAINING = """
[model]
backbone = "{backbone}"
layers = 1
alpha = 1
[vocab]
min_count = 1
stemmer = "none"
[pretrain]
steps = 2
batch = 8
warmup = 0
[finetune]
steps = 2
batch = 8
warmup = 0
validate_every = 2
joint_flops = 0.0
"""
STEMS = ("kur", "mel", "tos", "vip", "zan", "fod", "gix", "bru")
SIZES = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32}
POSITIONS = 40
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def write_wordpieces(folder: Path) -> int:
    """BERT's kind of tokenizer; returns its number of pieces."""
    pieces = [*SPECIAL, *LETTERS, *(f"##{letter}" for letter in LETTERS), *STEMS, ".", ",", "?"]
    tokenizer = transformers.BertTokenizerFast(vocab={piece: number for number, piece in enumerate(pieces)})
    tokenizer.save_pretrained(folder)
    return len(pieces)


def write_byte_pairs(folder: Path, special: tuple[str, ...], begin: str, end: str, names: dict[str, str]) -> int:
    """RoBERTa's and ModernBERT's kind, of bytes, where a space belongs to the word after it."""
    made = Tokenizer(models.BPE())
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=list(special), show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
    )  # fmt: skip
    made.train_from_iterator([" ".join(f"{stem}a {stem}e" for stem in STEMS)] * 5, trainer)
    ends = [(name, made.token_to_id(name)) for name in (begin, end)]
    made.post_processor = processors.TemplateProcessing(single=f"{begin} $A {end}", special_tokens=ends)
    made.decoder = decoders.ByteLevel()
    transformers.PreTrainedTokenizerFast(tokenizer_object=made, **names).save_pretrained(folder)
    return made.get_vocab_size()


def make_bert(folder: Path) -> None:
    config = transformers.BertConfig(
        vocab_size=write_wordpieces(folder), num_hidden_layers=3, max_position_embeddings=POSITIONS, **SIZES
    )
    transformers.BertForMaskedLM(config).save_pretrained(folder)


def make_distilbert(folder: Path) -> None:
    config = transformers.DistilBertConfig(
        vocab_size=write_wordpieces(folder), dim=16, n_layers=3, n_heads=2, hidden_dim=32,
        max_position_embeddings=POSITIONS,
    )  # fmt: skip
    transformers.DistilBertForMaskedLM(config).save_pretrained(folder)


def make_albert(folder: Path) -> None:
    """Embeddings narrower than hidden states, one layer used three times, and rows that no subword names."""
    config = transformers.AlbertConfig(
        vocab_size=write_wordpieces(folder) + 3, embedding_size=8, num_hidden_layers=3,
        max_position_embeddings=POSITIONS, **SIZES,
    )  # fmt: skip
    transformers.AlbertForMaskedLM(config).save_pretrained(folder)


def make_roberta(folder: Path) -> None:
    """Padding is 1, and positions are counted from there."""
    special = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    names = dict(zip(("cls_token", "pad_token", "sep_token", "unk_token", "mask_token"), special, strict=True))
    n_pieces = write_byte_pairs(folder, special, "<s>", "</s>", names)
    config = transformers.RobertaConfig(
        vocab_size=n_pieces, num_hidden_layers=3, max_position_embeddings=POSITIONS + 2, pad_token_id=1,
        bos_token_id=0, eos_token_id=2, type_vocab_size=1, **SIZES,
    )  # fmt: skip
    transformers.RobertaForMaskedLM(config).save_pretrained(folder)


def make_modernbert(folder: Path) -> None:
    """No bias anywhere, and layers of two kinds."""
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True))
    n_pieces = write_byte_pairs(folder, SPECIAL, "[CLS]", "[SEP]", names)
    config = transformers.ModernBertConfig(
        vocab_size=n_pieces, num_hidden_layers=3, max_position_embeddings=POSITIONS, decoder_bias=False,
        layer_types=["full_attention", "sliding_attention", "full_attention"], local_attention=4,
        pad_token_id=0, cls_token_id=2, sep_token_id=3, bos_token_id=2, eos_token_id=3, **SIZES,
    )  # fmt: skip
    transformers.ModernBertForMaskedLM(config).save_pretrained(folder)


FAMILIES = {
    "bert": make_bert,
    "distilbert": make_distilbert,
    "albert": make_albert,
    "roberta": make_roberta,
    "modernbert": make_modernbert,
}


def write_backbone(family: str, folder: Path, loud: float = 1.0) -> Path:
    """A backbone of `family` in `folder`, the same every time. `loud` multiplies the drawn matrices, as logits of the
    usual ones are all nearly 0."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(7)
    FAMILIES[family](folder)
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder)
    with torch.no_grad():
        for name, value in model.named_parameters():
            if value.dim() == 2:
                value.mul_(loud)
            elif name.endswith("bias"):
                value.normal_(0, 0.1)
    model.save_pretrained(folder)
    return folder
