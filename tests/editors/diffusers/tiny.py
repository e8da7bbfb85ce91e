"""Tiny pipelines with random weights, saved in the layout of the published ones. Nothing is fetched.

Every component is of the real class; only the widths and depths are those of a toy. Two of them transformers cannot
build without torchvision (the processors of FLUX.2 and Qwen-Image-Edit); their folders hold the files those would have
written, and the index names their classes, as on the hub.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.editors.diffusers import words

OPTIONS: dict[str, dict[str, Any]] = {
    "flux-kontext": {"max_area": 96 * 64, "auto_resize": False, "max_sequence_length": 48, "guidance": 2.5},
    "flux-2": {"max_sequence_length": 256, "text_encoder_out_layers": [1]},
    "flux-2-klein": {"max_sequence_length": 64, "text_encoder_out_layers": [1], "guidance": 4.0},
    "qwen-edit": {"max_area": 96 * 64, "true_cfg": 2.0},
    "qwen-edit-plus": {"max_area": 96 * 64, "true_cfg": 2.0},
    "instruct-pix2pix": {"guidance": 6.0, "image_guidance": 1.2, "steps": 2},
}
"""What a toy needs beside its path: it has no tenth layer and was not trained at a megapixel."""


def save(family: str, folder: Path) -> Path:
    """A tiny checkpoint of this family in this folder."""
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(0)
        _BUILDERS[family](folder)
    return folder


def shrink_qwen(side: int = 32) -> Callable[[], None]:
    """Show a toy less than the megapixel that is a constant in the code of Qwen's pipelines. Returns the undoing."""
    one: Any = import_module("diffusers.pipelines.qwenimage.pipeline_qwenimage_edit")
    several: Any = import_module("diffusers.pipelines.qwenimage.pipeline_qwenimage_edit_plus")
    before = one.calculate_dimensions, several.VAE_IMAGE_SIZE, several.CONDITION_IMAGE_SIZE
    one.calculate_dimensions = lambda area, ratio: before[0](side * side, ratio)
    several.VAE_IMAGE_SIZE = several.CONDITION_IMAGE_SIZE = side * side

    def undo() -> None:
        one.calculate_dimensions, several.VAE_IMAGE_SIZE, several.CONDITION_IMAGE_SIZE = before

    return undo


def _clip_encoder() -> Any:
    transformers: Any = import_module("transformers")
    ids = {"bos_token_id": 0, "eos_token_id": 2, "pad_token_id": 1}
    size = {"hidden_size": 32, "intermediate_size": 37, "num_attention_heads": 4, "num_hidden_layers": 2}
    return transformers.CLIPTextModel(
        transformers.CLIPTextConfig(vocab_size=600, projection_dim=32, **size, **ids)
    ).eval()


def _name(folder: Path, part: str, kind: str) -> None:
    index = folder / "model_index.json"
    content = json.loads(index.read_text("utf-8"))
    content[part] = ["transformers", kind]
    index.write_text(json.dumps(content, indent=2), "utf-8")


def _instruct_pix2pix(folder: Path) -> None:
    diffusers: Any = import_module("diffusers")
    unet = diffusers.UNet2DConditionModel(
        block_out_channels=(16, 32),
        layers_per_block=1,
        sample_size=32,
        in_channels=8,
        out_channels=4,
        norm_num_groups=8,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=32,
    )
    vae = diffusers.AutoencoderKL(
        block_out_channels=(8, 8, 8),
        norm_num_groups=4,
        down_block_types=("DownEncoderBlock2D",) * 3,
        up_block_types=("UpDecoderBlock2D",) * 3,
        latent_channels=4,
    )
    diffusers.StableDiffusionInstructPix2PixPipeline(
        vae=vae,
        text_encoder=_clip_encoder(),
        tokenizer=words.clip_tokenizer(),
        unet=unet,
        scheduler=diffusers.PNDMScheduler(skip_prk_steps=True),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).save_pretrained(folder)


def add_safety_checker(folder: Path, *, flags: bool) -> None:
    """Give a saved InstructPix2Pix the checker of Stable Diffusion 1, set to flag everything or nothing."""
    transformers: Any = import_module("transformers")
    import torch

    size = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1}
    vision = transformers.CLIPVisionConfig(image_size=32, patch_size=16, **size)
    config = transformers.CLIPConfig(vision_config=vision.to_dict(), projection_dim=16)
    stable = import_module("diffusers.pipelines.stable_diffusion")
    checker = stable.StableDiffusionSafetyChecker(config)
    with torch.no_grad():
        # a similarity is at least −1: a threshold below it flags everything, one above 1 nothing
        checker.concept_embeds_weights.fill_(-2.0 if flags else 2.0)
        checker.special_care_embeds_weights.fill_(2.0)
    checker.save_pretrained(folder / "safety_checker")
    transformers.CLIPImageProcessorPil(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    ).save_pretrained(folder / "feature_extractor")
    index = folder / "model_index.json"
    content = json.loads(index.read_text("utf-8"))
    content["safety_checker"] = ["stable_diffusion", "StableDiffusionSafetyChecker"]
    content["feature_extractor"] = ["transformers", "CLIPImageProcessor"]
    content["requires_safety_checker"] = True
    index.write_text(json.dumps(content), "utf-8")


def _flux_kontext(folder: Path) -> None:
    diffusers: Any = import_module("diffusers")
    transformers: Any = import_module("transformers")
    transformer = diffusers.FluxTransformer2DModel(
        patch_size=1,
        in_channels=4,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=32,
        pooled_projection_dim=32,
        axes_dims_rope=(4, 4, 8),
        guidance_embeds=True,
    )
    vae = diffusers.AutoencoderKL(
        down_block_types=("DownEncoderBlock2D",) * 3,
        up_block_types=("UpDecoderBlock2D",) * 3,
        block_out_channels=(4, 4, 4),
        layers_per_block=1,
        latent_channels=1,
        norm_num_groups=1,
        use_quant_conv=False,
        use_post_quant_conv=False,
        shift_factor=0.0609,
        scaling_factor=1.5035,
    )
    encoder = transformers.T5EncoderModel(
        transformers.T5Config(vocab_size=128, d_model=32, d_kv=8, d_ff=37, num_layers=2, num_heads=4)
    ).eval()
    diffusers.FluxKontextPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=vae,
        text_encoder=_clip_encoder(),
        tokenizer=words.clip_tokenizer(),
        text_encoder_2=encoder,
        tokenizer_2=words.t5_tokenizer(),
        transformer=transformer,
    ).save_pretrained(folder)


def _flux2_parts(**rest: Any) -> dict[str, Any]:
    diffusers: Any = import_module("diffusers")
    transformer = diffusers.Flux2Transformer2DModel(
        patch_size=1,
        in_channels=4,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=16,
        timestep_guidance_channels=256,
        axes_dims_rope=(4, 4, 4, 4),
        **rest,
    )
    vae = diffusers.AutoencoderKLFlux2(
        down_block_types=("DownEncoderBlock2D",) * 3,
        up_block_types=("UpDecoderBlock2D",) * 3,
        block_out_channels=(4, 4, 4),
        layers_per_block=1,
        latent_channels=1,
        norm_num_groups=1,
        use_quant_conv=False,
        use_post_quant_conv=False,
    )
    return {"scheduler": diffusers.FlowMatchEulerDiscreteScheduler(), "vae": vae, "transformer": transformer}


def _flux_2(folder: Path) -> None:
    diffusers: Any = import_module("diffusers")
    transformers: Any = import_module("transformers")
    reading = {
        "model_type": "mistral",
        "vocab_size": 512,
        "hidden_size": 16,
        "intermediate_size": 37,
        "max_position_embeddings": 512,
        "num_attention_heads": 4,
        "num_hidden_layers": 1,
        "num_key_value_heads": 2,
        "bos_token_id": 2,
        "eos_token_id": 3,
        "pad_token_id": 4,
    }
    pictures = {
        "model_type": "pixtral",
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "intermediate_size": 37,
        "image_size": 30,
        "patch_size": 6,
    }
    config = transformers.Mistral3Config(
        text_config=reading, vision_config=pictures, image_token_index=1, vision_feature_layer=-1
    )
    encoder = transformers.Mistral3ForConditionalGeneration(config).eval()
    diffusers.Flux2Pipeline(text_encoder=encoder, tokenizer=words.qwen_tokenizer(), **_flux2_parts()).save_pretrained(
        folder
    )
    _name(folder, "tokenizer", "PixtralProcessor")


def _flux_2_klein(folder: Path) -> None:
    diffusers: Any = import_module("diffusers")
    transformers: Any = import_module("transformers")
    size = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2}
    config = transformers.Qwen3Config(vocab_size=512, max_position_embeddings=512, **size, **heads)
    parts = _flux2_parts(guidance_embeds=False)
    diffusers.Flux2KleinPipeline(
        text_encoder=transformers.Qwen3ForCausalLM(config).eval(), tokenizer=words.qwen_tokenizer(), **parts
    ).save_pretrained(folder)


def _qwen(folder: Path, pipeline: str) -> None:
    diffusers: Any = import_module("diffusers")
    transformers: Any = import_module("transformers")
    tokenizer = words.qwen_tokenizer()
    transformer = diffusers.QwenImageTransformer2DModel(
        patch_size=2,
        in_channels=16,
        out_channels=4,
        num_layers=2,
        attention_head_dim=16,
        num_attention_heads=3,
        joint_attention_dim=16,
        guidance_embeds=False,
        axes_dims_rope=(8, 4, 4),
    )
    vae = diffusers.AutoencoderKLQwenImage(
        base_dim=24,
        z_dim=4,
        dim_mult=[1, 2, 4],
        num_res_blocks=1,
        temperal_downsample=[False, True],
        latents_mean=[0.0] * 4,
        latents_std=[1.0] * 4,
    )
    size = {"hidden_size": 16, "intermediate_size": 16}
    reading = {
        **size,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "vocab_size": 512,
        "rope_scaling": {"mrope_section": [1, 1, 2], "rope_type": "default", "type": "default"},
        "rope_theta": 1e6,
    }
    config = transformers.Qwen2_5_VLConfig(
        text_config=reading,
        vision_config={**size, "depth": 2, "num_heads": 2, "out_hidden_size": 16},
        vision_start_token_id=tokenizer.convert_tokens_to_ids("<|vision_start|>"),
        vision_end_token_id=tokenizer.convert_tokens_to_ids("<|vision_end|>"),
        image_token_id=tokenizer.convert_tokens_to_ids("<|image_pad|>"),
        video_token_id=tokenizer.convert_tokens_to_ids("<|video_pad|>"),
    )
    getattr(diffusers, pipeline)(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=vae,
        text_encoder=transformers.Qwen2_5_VLForConditionalGeneration(config).eval(),
        tokenizer=tokenizer,
        processor=None,
        transformer=transformer,
    ).save_pretrained(folder)
    tokenizer.save_pretrained(folder / "processor")
    pillow = import_module("transformers.models.qwen2_vl.image_processing_pil_qwen2_vl")
    pillow.Qwen2VLImageProcessorPil(min_pixels=28 * 28, max_pixels=56 * 56).save_pretrained(folder / "processor")
    _name(folder, "processor", "Qwen2VLProcessor")


_BUILDERS: dict[str, Callable[[Path], None]] = {
    "flux-kontext": _flux_kontext,
    "flux-2": _flux_2,
    "flux-2-klein": _flux_2_klein,
    "qwen-edit": lambda folder: _qwen(folder, "QwenImageEditPipeline"),
    "qwen-edit-plus": lambda folder: _qwen(folder, "QwenImageEditPlusPipeline"),
    "instruct-pix2pix": _instruct_pix2pix,
}
