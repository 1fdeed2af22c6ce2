"""Tiny generators of text, drawn at random: a T5 and a GPT-2 over the same few words."""

from pathlib import Path

WORDS = "parse sort date time list graph order path zone item".split()
CHARACTERS = "漢字"


def make_generator(folder: Path, kind: str, characters: bool = False) -> Path:
    """`kind`: t5 or gpt2; `characters`: those of CHARACTERS are tokens each, with or without spaces between them."""
    import torch
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    words = [*WORDS, *CHARACTERS] if characters else WORDS
    padding = ["<pad>"] if kind == "t5" else []  # GPT-2 has none
    vocabulary = {word: number for number, word in enumerate([*padding, "</s>", "<unk>", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if characters:
        alone = pre_tokenizers.Split(Regex(f"[{CHARACTERS}]"), "isolated")
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([alone, pre_tokenizers.Whitespace()])
    special = {"eos_token": "</s>", "unk_token": "<unk>"} | ({"pad_token": "<pad>"} if kind == "t5" else {})
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(folder)
    torch.manual_seed(0)
    if kind == "t5":
        shape = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2}
        config = T5Config(vocab_size=len(vocabulary), **shape, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0)
        T5ForConditionalGeneration(config).save_pretrained(folder)
    else:
        shape = {"n_positions": 32, "n_embd": 16, "n_layer": 1, "n_head": 2}
        config = GPT2Config(vocab_size=len(vocabulary), **shape, bos_token_id=0, eos_token_id=0)
        GPT2LMHeadModel(config).save_pretrained(folder)
    return folder
