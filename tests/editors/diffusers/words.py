"""Tokenizers of the real classes that know letters and no words, made without a download."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_QWEN_SPECIAL = ("<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
_CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}{{ part['text'] }}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def _alphabet() -> list[str]:
    from tokenizers import pre_tokenizers

    return sorted(pre_tokenizers.ByteLevel.alphabet())


def clip_tokenizer() -> Any:
    """Letters, and letters that end a word."""
    transformers: Any = import_module("transformers")
    letters = _alphabet()
    tokens = ["<|startoftext|>", "<|pad|>", "<|endoftext|>", *letters, *(f"{letter}</w>" for letter in letters)]
    vocabulary = {token: index for index, token in enumerate(tokens)}
    return transformers.CLIPTokenizer(vocab=vocabulary, merges=[], model_max_length=77)


def t5_tokenizer() -> Any:
    """Letters with made-up frequencies."""
    transformers: Any = import_module("transformers")
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,'!?-"
    vocabulary = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0), *((letter, -3.0) for letter in letters)]
    return transformers.T5Tokenizer(vocab=vocabulary, extra_ids=0, model_max_length=512)


def qwen_tokenizer() -> Any:
    """Bytes, and the marks that the pipelines put into prompts."""
    transformers: Any = import_module("transformers")
    vocabulary = {token: index for index, token in enumerate(["<|endoftext|>", *_alphabet()])}
    tokenizer = transformers.Qwen2Tokenizer(vocab=vocabulary, merges=[], additional_special_tokens=list(_QWEN_SPECIAL))
    tokenizer.chat_template = _CHAT
    return tokenizer
