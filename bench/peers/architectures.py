"""Exports small models of random weights of many architectures, with what onnxruntime computes of them, at several shapes where axes are
open.

python architectures.py FOLDER [ARCHITECTURE ...]: FOLDER/test_ARCHITECTURE-EXPORTER-ATTENTION-opsetN-AXES/ as ONNX's backend tests are
laid out, which `trtui conformance FOLDER` runs. What torch cannot export or onnxruntime cannot run is reported, and left out.
"""

import logging
import pathlib
import shutil
import sys
import warnings

import numpy
import onnx
import onnxruntime
import torch
import transformers

from variants import HEADS, LAYERS, VOCABULARY, WIDTH, Hidden

VARIANTS = (("torchscript", "eager", 17, "dynamic"), ("torchscript", "sdpa", 17, "fixed"), ("dynamo", "eager", 18, "fixed"),
            ("dynamo", "sdpa", 18, "dynamic"), ("dynamo", "sdpa", 23, "dynamic"))

SHAPES = ((2, 6), (1, 5), (3, 9))  # batch and length; a model is exported with the first

SIZES = dict(hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=2 * WIDTH)
TEXT = dict(SIZES, vocab_size=VOCABULARY, max_position_embeddings=40)
DECODER = dict(TEXT, use_cache=False)
GROUPED = dict(DECODER, num_key_value_heads=HEADS // 2)
TOKENS = dict(pad_token_id=0, bos_token_id=1, eos_token_id=2)
IMAGE = dict(SIZES, image_size=8, patch_size=4)
T5 = dict(vocab_size=VOCABULARY, d_model=WIDTH, d_kv=8, d_ff=2 * WIDTH, num_layers=LAYERS, num_heads=HEADS, use_cache=False)
WINDOWS = dict(image_size=16, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4)

# By name: the prefix of the classes, what follows it in the model's, the configuration, and what the model reads; of "pooled" images
# the result is one vector, and "causal" texts are given their mask, as TorchScript cannot export how it is computed.
ARCHITECTURES = {
    "albert": ("Albert", "Model", dict(TEXT, embedding_size=16), "text"),
    "deberta2": ("DebertaV2", "Model", dict(TEXT, relative_attention=True, pos_att_type=["c2p", "p2c"], position_buckets=8), "text"),
    "roformer": ("RoFormer", "Model", dict(TEXT, embedding_size=WIDTH), "text"),
    "distilbert": ("DistilBert", "Model", dict(vocab_size=VOCABULARY, dim=WIDTH, n_layers=LAYERS, n_heads=HEADS, hidden_dim=2 * WIDTH,
                                               max_position_embeddings=32), "text"),
    "electra": ("Electra", "Model", dict(TEXT, embedding_size=WIDTH), "text"),
    "longformer": ("Longformer", "Model", dict(TEXT, attention_window=[4] * LAYERS), "text"),
    "mobilebert": ("MobileBert", "Model", dict(TEXT, embedding_size=16, intra_bottleneck_size=16, true_hidden_size=16), "text"),
    "modernbert": ("ModernBert", "Model", dict(TEXT, **TOKENS, cls_token_id=1, sep_token_id=2, global_attn_every_n_layers=2,
                                               local_attention=4), "text"),
    "mpnet": ("MPNet", "Model", TEXT, "text"),
    "roberta": ("Roberta", "Model", TEXT, "text"),
    "siglip-text": ("SiglipText", "Model", TEXT, "text"),
    "t5": ("T5", "EncoderModel", T5, "text"),
    "t5-gated": ("T5", "EncoderModel", dict(T5, feed_forward_proj="gated-gelu"), "text"),
    "xlnet": ("XLNet", "Model", dict(vocab_size=VOCABULARY, d_model=WIDTH, n_layer=LAYERS, n_head=HEADS, d_inner=2 * WIDTH), "text"),
    "xlm-roberta": ("XLMRoberta", "Model", TEXT, "text"),
    "biogpt": ("BioGpt", "Model", DECODER, "causal"),
    "bloom": ("Bloom", "Model", dict(vocab_size=VOCABULARY, hidden_size=WIDTH, n_layer=LAYERS, n_head=HEADS, use_cache=False), "text"),
    "clip-text": ("CLIPText", "Model", TEXT, "causal"),
    "cohere": ("Cohere", "Model", dict(GROUPED, **TOKENS), "causal"),
    "deepseek3": ("DeepseekV3", "Model", dict(DECODER, num_key_value_heads=HEADS, first_k_dense_replace=LAYERS, q_lora_rank=16, kv_lora_rank=16,
                                              qk_rope_head_dim=8, qk_nope_head_dim=8, v_head_dim=8), "causal"),
    "deepseek3-halves": ("DeepseekV3", "Model", dict(DECODER, num_key_value_heads=HEADS, first_k_dense_replace=LAYERS, q_lora_rank=None,
                                                     kv_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=8, v_head_dim=16,
                                                     rope_interleave=False), "causal"),
    "falcon": ("Falcon", "Model", dict(vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
                                       use_cache=False), "causal"),
    "gemma": ("Gemma", "Model", dict(GROUPED, head_dim=8), "causal"),
    "gemma2": ("Gemma2", "Model", dict(GROUPED, head_dim=8, sliding_window=4), "causal"),
    "gemma3": ("Gemma3Text", "Model", dict(GROUPED, head_dim=8, sliding_window=4), "causal"),
    "gptj": ("GPTJ", "Model", dict(vocab_size=VOCABULARY, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, n_positions=32, rotary_dim=4,
                                   use_cache=False), "causal"),
    "gpt-neo": ("GPTNeo", "Model", dict(vocab_size=VOCABULARY, hidden_size=WIDTH, num_layers=LAYERS, num_heads=HEADS,
                                        intermediate_size=2 * WIDTH, max_position_embeddings=32, window_size=4, use_cache=False,
                                        attention_types=[[["global", "local"], 1]]), "causal"),
    "gpt-neox": ("GPTNeoX", "Model", DECODER, "causal"),
    "granite": ("Granite", "Model", GROUPED, "causal"),
    "mistral": ("Mistral", "Model", GROUPED, "causal"),
    "olmo2": ("Olmo2", "Model", dict(GROUPED, pad_token_id=0), "causal"),
    "openai-gpt": ("OpenAIGPT", "Model", dict(vocab_size=VOCABULARY, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, n_positions=32), "text"),
    "opt": ("OPT", "Model", dict(vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
                                 ffn_dim=2 * WIDTH, max_position_embeddings=32, word_embed_proj_dim=WIDTH, use_cache=False), "causal"),
    "phi": ("Phi", "Model", DECODER, "causal"),
    "phi3": ("Phi3", "Model", dict(GROUPED, pad_token_id=0), "causal"),
    "qwen2": ("Qwen2", "Model", GROUPED, "causal"),
    "qwen3": ("Qwen3", "Model", dict(GROUPED, head_dim=8), "causal"),
    "smollm3": ("SmolLM3", "Model", dict(GROUPED, pad_token_id=0), "causal"),
    "stablelm": ("StableLm", "Model", GROUPED, "causal"),
    "starcoder2": ("Starcoder2", "Model", GROUPED, "causal"),
    "detr": ("Detr", "Model", dict(use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, image_size=32, num_queries=5, d_model=WIDTH,
                                   backbone_config=dict(model_type="resnet", embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1],
                                                        layer_type="basic", out_features=["stage2"]),
                                   encoder_layers=1, decoder_layers=LAYERS, encoder_attention_heads=HEADS, decoder_attention_heads=HEADS,
                                   encoder_ffn_dim=2 * WIDTH, decoder_ffn_dim=2 * WIDTH), "image"),
    "beit": ("Beit", "Model", dict(IMAGE, use_relative_position_bias=True), "image"),
    "clip-vision": ("CLIPVision", "Model", IMAGE, "image"),
    "convnext": ("ConvNext", "Model", dict(hidden_sizes=[16, 32], depths=[1, 1], num_stages=2), "image"),
    "deit": ("DeiT", "Model", IMAGE, "image"),
    "dinov2": ("Dinov2", "Model", IMAGE, "image"),
    "dinov2-gated": ("Dinov2", "Model", dict(IMAGE, use_swiglu_ffn=True), "image"),
    "dinov3": ("DINOv3ViT", "Model", dict(IMAGE, use_gated_mlp=True, mlp_bias=True, num_register_tokens=2), "image"),
    "pvt": ("Pvt", "Model", dict(image_size=64, num_encoder_blocks=2, depths=[1, 1], hidden_sizes=[16, 32], num_attention_heads=[1, 2],
                                 sequence_reduction_ratios=[2, 1], patch_sizes=[4, 2], strides=[4, 2], mlp_ratios=[2, 2]), "image"),
    "segformer": ("Segformer", "Model", dict(num_encoder_blocks=2, depths=[1, 1], sr_ratios=[2, 1], hidden_sizes=[16, 32], patch_sizes=[7, 3],
                                             strides=[4, 2], num_attention_heads=[1, 2], mlp_ratios=[2, 2]), "image"),
    "siglip-pooled": ("SiglipVision", "Model", IMAGE, "pooled"),
    "siglip-vision": ("SiglipVision", "Model", IMAGE, "image"),
    "swin": ("Swin", "Model", WINDOWS, "image"),
    "swinv2": ("Swinv2", "Model", WINDOWS, "image"),
    "vitdet": ("VitDet", "Model", dict(SIZES, image_size=32, patch_size=4, use_relative_position_embeddings=True, window_block_indices=[0],
                                       window_size=4), "image"),
    "vit-msn": ("ViTMSN", "Model", IMAGE, "image"),
}


class Pooled(torch.nn.Module):
    """What a model makes of all its hidden states together."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, **given):
        return (self.model(**given)[1],)


def model_of(name, attention, triangle):
    prefix, suffix, sizes, kind = ARCHITECTURES[name]
    make = getattr(transformers, prefix + "Config")
    try:
        config = make(**sizes, attn_implementation=attention)
    except Exception:  # some know no kinds of attention
        config = make(**sizes)
    model = getattr(transformers, prefix + suffix)(config)
    with torch.no_grad():
        for p in model.parameters():  # biases of zero and scales of one would be left out
            if p.dim() == 1:
                p.add_(0.1 * torch.randn_like(p))
    if kind == "pooled":
        model = Pooled(model)
    return Hidden(model, "input_ids" if kind in ("text", "causal") else "pixel_values", triangle and kind == "causal").eval()


def sample(name, batch, length):
    sizes, kind = ARCHITECTURES[name][2:]
    if kind in ("text", "causal"):
        return torch.randint(3, VOCABULARY, (batch, length)), {0: "batch", 1: "sequence"}
    size = sizes.get("image_size", 32)
    return torch.randn(batch, 3, size, size), {0: "batch"}


def export(name, path, exporter, attention, opset, axes):
    torch.manual_seed(1)
    model = model_of(name, attention, exporter == "torchscript")
    x, symbols = sample(name, *SHAPES[0])
    options = dict(opset_version=opset, input_names=["x"], output_names=["hidden"])
    if exporter == "dynamo":
        shapes = {"x": {i: torch.export.Dim(s, min=1 + i, max=16) for i, s in symbols.items()}} if axes == "dynamic" else None
        torch.onnx.export(model, (x,), path, dynamo=True, dynamic_shapes=shapes, external_data=False, verbose=False, **options)
    else:
        torch.onnx.export(model, (x,), path, dynamo=False, dynamic_axes={"x": symbols} if axes == "dynamic" else None, **options)
    return x.numpy()


def save(path, name, value):
    path.write_bytes(onnx.numpy_helper.from_array(value, name).SerializeToString())


def case(folder, name, variant):
    folder.mkdir(parents=True, exist_ok=True)
    model = str(folder / "model.onnx")
    inputs = [export(name, model, *variant)]
    if variant[-1] == "dynamic":
        inputs += [sample(name, *shape)[0].numpy() for shape in SHAPES[1:]]
    session = onnxruntime.InferenceSession(model)
    if not session.get_inputs():
        raise ValueError("the model reads nothing")
    written = 0
    for x in inputs:
        try:
            outputs = session.run(None, {"x": x})
        except Exception:  # exporters fix extents that should be open
            if written == 0:
                raise
            continue
        data = folder / f"test_data_set_{written}"
        data.mkdir()
        save(data / "input_0.pb", "x", x)
        for i, (output, y) in enumerate(zip(session.get_outputs(), outputs)):
            save(data / f"output_{i}.pb", output.name, numpy.asarray(y))
        written += 1


def main():
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    onnxruntime.set_default_logger_severity(4)
    torch.set_num_threads(1)
    for name in sys.argv[2:] or ARCHITECTURES:
        for v in VARIANTS:
            folder = pathlib.Path(sys.argv[1]) / ("test_" + name + "-{}-{}-opset{}-{}".format(*v))
            try:
                case(folder, name, v)
                print(folder, flush=True)
            except Exception as e:  # of torch, transformers or onnxruntime, for any reason
                shutil.rmtree(folder, ignore_errors=True)
                print(f"{folder}: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}", flush=True)


if __name__ == "__main__":
    main()
