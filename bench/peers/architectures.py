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

from variants import HEADS, LAYERS, VOCABULARY, WIDTH

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
GPT = dict(vocab_size=VOCABULARY, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, n_positions=40, use_cache=False)
BOTH = dict(vocab_size=VOCABULARY, d_model=WIDTH, encoder_layers=LAYERS, decoder_layers=LAYERS, encoder_attention_heads=HEADS,
            decoder_attention_heads=HEADS, encoder_ffn_dim=2 * WIDTH, decoder_ffn_dim=2 * WIDTH, max_position_embeddings=40, use_cache=False)
WAVE = dict(SIZES, conv_dim=[16, WIDTH], conv_kernel=[10, 3], conv_stride=[5, 2], num_conv_pos_embeddings=4,
            num_conv_pos_embedding_groups=2, apply_spec_augment=False, layerdrop=0.0)
CONFORMER = dict(SIZES, feature_projection_input_dim=16, conv_depthwise_kernel_size=3, apply_spec_augment=False, layerdrop=0.0)
PYRAMID = dict(image_size=64, num_encoder_blocks=2, depths=[1, 1], sr_ratios=[2, 1], hidden_sizes=[16, 32], patch_sizes=[7, 3],
               strides=[4, 2], num_attention_heads=[1, 2], mlp_ratios=[2, 2])
VIDEO = dict(SIZES, image_size=8, num_frames=4)
DETR = dict(image_size=32, num_queries=5, d_model=WIDTH,
            backbone_config=dict(model_type="resnet", embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic",
                                 out_features=["stage2"]),
            encoder_layers=1, decoder_layers=LAYERS, encoder_attention_heads=HEADS, decoder_attention_heads=HEADS,
            encoder_ffn_dim=2 * WIDTH, decoder_ffn_dim=2 * WIDTH)

# By name: the prefix of the classes, what follows it in the model's, the configuration, and what the model reads (INPUTS); of "pooled"
# images the result is one vector, and "causal" texts are given their mask, as TorchScript cannot export how it is computed.
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
    "detr": ("Detr", "Model", dict(DETR, use_timm_backbone=False, use_pretrained_backbone=False, backbone=None), "image"),
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
    "bert-3-heads": ("Bert", "Model", dict(TEXT, hidden_size=36, num_attention_heads=3), "text"),
    "data2vec-text": ("Data2VecText", "Model", TEXT, "text"),
    "deberta": ("Deberta", "Model", dict(TEXT, relative_attention=True, pos_att_type=["c2p", "p2c"]), "text"),
    "esm": ("Esm", "Model", dict(TEXT, position_embedding_type="rotary", pad_token_id=0, mask_token_id=1), "text"),
    "eurobert": ("EuroBert", "Model", dict(TEXT, **TOKENS, num_key_value_heads=2, mask_token_id=1), "text"),
    "funnel": ("Funnel", "BaseModel", dict(vocab_size=VOCABULARY, block_sizes=[1, 1], d_model=WIDTH, n_head=HEADS, d_head=8,
                                           d_inner=2 * WIDTH), "text"),
    "jina3": ("JinaEmbeddingsV3", "Model", dict(TEXT, pad_token_id=0), "text"),
    "nomic": ("NomicBert", "Model", TEXT, "text"),
    "rembert": ("RemBert", "Model", dict(TEXT, input_embedding_size=16), "text"),
    "roberta-prenorm": ("RobertaPreLayerNorm", "Model", TEXT, "text"),
    "squeezebert": ("SqueezeBert", "Model", dict(TEXT, embedding_size=WIDTH, q_groups=2, k_groups=2, v_groups=2, intermediate_groups=2,
                                                 output_groups=2), "text"),
    "xlm": ("XLM", "Model", dict(vocab_size=VOCABULARY, emb_dim=WIDTH, n_layers=LAYERS, n_heads=HEADS, max_position_embeddings=40), "text"),
    "apertus": ("Apertus", "Model", dict(GROUPED, pad_token_id=0), "causal"),
    "arcee": ("Arcee", "Model", GROUPED, "causal"),
    "bitnet": ("BitNet", "Model", dict(GROUPED, pad_token_id=0), "causal"),
    "codegen": ("CodeGen", "Model", dict(GPT, rotary_dim=4), "causal"),
    "cohere2": ("Cohere2", "Model", dict(GROUPED, **TOKENS, sliding_window=4), "causal"),
    "dbrx": ("Dbrx", "Model", dict(vocab_size=VOCABULARY, d_model=WIDTH, n_heads=HEADS, n_layers=LAYERS, max_seq_len=40, use_cache=False,
                                   attn_config=dict(kv_n_heads=2, clip_qkv=8.0, rope_theta=10000.0),
                                   ffn_config=dict(ffn_hidden_size=2 * WIDTH, hidden_size=WIDTH, moe_num_experts=2, moe_top_k=1)), "causal"),
    "diffllama": ("DiffLlama", "Model", dict(GROUPED, pad_token_id=0), "causal"),
    "doge": ("Doge", "Model", GROUPED, "causal"),
    "ernie4.5": ("Ernie4_5", "Model", dict(GROUPED, head_dim=8, pad_token_id=0), "causal"),
    "exaone4": ("Exaone4", "Model", dict(GROUPED, **TOKENS, sliding_window=4), "causal"),
    "falcon-grouped": ("Falcon", "Model", dict(vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
                                               use_cache=False, new_decoder_architecture=True, num_kv_heads=2), "causal"),
    "gemma3n": ("Gemma3nText", "Model", dict(GROUPED, head_dim=8, sliding_window=4, vocab_size_per_layer_input=VOCABULARY,
                                             hidden_size_per_layer_input=8, laurel_rank=4, num_kv_shared_layers=0,
                                             layer_types=["sliding_attention", "full_attention"]), "causal"),
    "glm4": ("Glm4", "Model", dict(GROUPED, head_dim=8, pad_token_id=0), "causal"),
    "gpt-bigcode": ("GPTBigCode", "Model", GPT, "causal"),
    "helium": ("Helium", "Model", dict(GROUPED, **TOKENS, head_dim=8), "causal"),
    "hunyuan": ("HunYuanDenseV1", "Model", dict(GROUPED, head_dim=8, pad_token_id=0), "causal"),
    "lfm2": ("Lfm2", "Model", dict(GROUPED, layer_types=["conv", "full_attention"]), "causal"),
    "llama-yarn": ("Llama", "Model", dict(GROUPED, rope_parameters=dict(rope_type="yarn", rope_theta=10000.0, factor=2.0,
                                                                        original_max_position_embeddings=20)), "causal"),
    "mamba": ("Mamba", "Model", dict(vocab_size=VOCABULARY, hidden_size=WIDTH, state_size=4, num_hidden_layers=LAYERS, use_cache=False), "text"),
    "mistral-window": ("Mistral", "Model", dict(GROUPED, sliding_window=4), "causal"),
    "modernbert-decoder": ("ModernBertDecoder", "Model", dict(DECODER, **TOKENS, cls_token_id=1, sep_token_id=2, local_attention=4), "causal"),
    "mpt": ("Mpt", "Model", dict(vocab_size=VOCABULARY, d_model=WIDTH, n_heads=HEADS, n_layers=LAYERS, max_seq_len=40, use_cache=False), "text"),
    "nanochat": ("NanoChat", "Model", GROUPED, "causal"),
    "nemotron": ("Nemotron", "Model", dict(GROUPED, head_dim=8, partial_rotary_factor=0.5), "causal"),
    "olmo3": ("Olmo3", "Model", dict(GROUPED, pad_token_id=0, sliding_window=4, layer_types=["sliding_attention", "full_attention"]), "causal"),
    "persimmon": ("Persimmon", "Model", DECODER, "causal"),
    "vaultgemma": ("VaultGemma", "Model", dict(GROUPED, head_dim=8, sliding_window=4), "causal"),
    "bart": ("Bart", "Model", BOTH, "both"),
    "bigbird-pegasus": ("BigBirdPegasus", "Model", dict(BOTH, attention_type="original_full"), "both"),
    "led": ("LED", "Model", dict(BOTH, max_encoder_position_embeddings=40, max_decoder_position_embeddings=40, attention_window=4), "both"),
    "longt5": ("LongT5", "Model", dict(T5, local_radius=3, global_block_size=4), "both"),
    "longt5-global": ("LongT5", "EncoderModel", dict(T5, local_radius=3, global_block_size=4, encoder_attention_type="transient-global"),
                      "text"),
    "m2m100": ("M2M100", "Model", BOTH, "both"),
    "marian": ("Marian", "Model", dict(BOTH, pad_token_id=0, decoder_start_token_id=0), "both"),
    "mbart": ("MBart", "Model", BOTH, "both"),
    "mt5": ("MT5", "Model", dict(T5, feed_forward_proj="gated-gelu"), "both"),
    "pegasus-x": ("PegasusX", "Model", dict(BOTH, num_global_tokens=2, block_size=4), "both"),
    "prophetnet": ("ProphetNet", "Model", dict(vocab_size=VOCABULARY, hidden_size=WIDTH, encoder_ffn_dim=2 * WIDTH, num_encoder_layers=LAYERS,
                                               num_encoder_attention_heads=HEADS, decoder_ffn_dim=2 * WIDTH, num_decoder_layers=LAYERS,
                                               num_decoder_attention_heads=HEADS, max_position_embeddings=40, use_cache=False), "both"),
    "switch": ("SwitchTransformers", "Model", dict(T5, num_experts=2, num_sparse_encoder_layers=1, num_sparse_decoder_layers=1), "both"),
    "t5-decoder": ("T5", "Model", T5, "both"),
    "umt5": ("UMT5", "Model", T5, "both"),
    "conformer": ("Wav2Vec2Conformer", "Model", dict(WAVE, conv_depthwise_kernel_size=3), "wave"),
    "conformer-rotary": ("Wav2Vec2Conformer", "Model", dict(WAVE, conv_depthwise_kernel_size=3, position_embeddings_type="rotary"), "wave"),
    "hubert": ("Hubert", "Model", WAVE, "wave"),
    "sew": ("SEW", "Model", WAVE, "wave"),
    "sew-d": ("SEWD", "Model", dict(WAVE, max_position_embeddings=40, position_buckets=8), "wave"),
    "speech-to-text": ("Speech2Text", "Model", dict(BOTH, max_source_positions=400, max_target_positions=40, conv_channels=16,
                                                    input_feat_per_channel=16), "speech"),
    "wav2vec2": ("Wav2Vec2", "Model", dict(WAVE, do_stable_layer_norm=True, feat_extract_norm="layer"), "wave"),
    "wav2vec2-bert": ("Wav2Vec2Bert", "Model", CONFORMER, "features"),
    "wav2vec2-bert-rotary": ("Wav2Vec2Bert", "Model", dict(CONFORMER, position_embeddings_type="rotary"), "features"),
    "wavlm": ("WavLM", "Model", dict(WAVE, num_buckets=8, max_bucket_distance=16), "wave"),
    "aimv2": ("Aimv2Vision", "Model", IMAGE, "image"),
    "cvt": ("Cvt", "Model", dict(patch_sizes=[3, 3], patch_stride=[2, 2], patch_padding=[1, 1], embed_dim=[16, 32], num_heads=[1, 2],
                                 depth=[1, 2], mlp_ratio=[2.0] * 2, attention_drop_rate=[0.0] * 2, drop_rate=[0.0] * 2,
                                 drop_path_rate=[0.0] * 2, qkv_bias=[True] * 2, cls_token=[False, True],
                                 qkv_projection_method=["dw_bn"] * 2, kernel_qkv=[3] * 2, padding_kv=[1] * 2, stride_kv=[2] * 2,
                                 padding_q=[1] * 2, stride_q=[1] * 2), "image"),
    "conditional-detr": ("ConditionalDetr", "Model", dict(DETR), "image"),
    "donut-swin": ("DonutSwin", "Model", WINDOWS, "image"),
    "dpt": ("DPT", "Model", dict(IMAGE, backbone_out_indices=[0, 1, 1, 1], neck_hidden_sizes=[8] * 4, fusion_hidden_size=8), "image"),
    "focalnet": ("FocalNet", "Model", dict(image_size=16, patch_size=2, embed_dim=16, hidden_sizes=[16, 32], depths=[1, 1],
                                           focal_levels=[2, 2], focal_windows=[3, 3]), "image"),
    "groupvit": ("GroupViTVision", "Model", dict(SIZES, image_size=16, patch_size=4, depths=[1, 1], num_group_tokens=[4, 0],
                                                 num_output_groups=[4, 4]), "image"),
    "mobilevit": ("MobileViT", "Model", dict(image_size=64, hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, 16, 16, 24, 24, 32]), "image"),
    "mlcd": ("MLCDVision", "Model", IMAGE, "image"),
    "pvt2": ("PvtV2", "Model", PYRAMID, "image"),
    "sam": ("SamVision", "Model", dict(SIZES, image_size=32, patch_size=4, window_size=4, global_attn_indexes=[1], output_channels=16,
                                       initializer_range=0.02), "image"),
    "swin2sr": ("Swin2SR", "Model", dict(image_size=8, patch_size=1, embed_dim=16, depths=[2], num_heads=[2], window_size=4), "image"),
    "swiftformer": ("SwiftFormer", "Model", dict(image_size=64, depths=[1] * 4, embed_dims=[8, 16, 16, 32]), "image"),
    "timesformer": ("Timesformer", "Model", dict(VIDEO, patch_size=4), "video"),
    "videomae": ("VideoMAE", "Model", dict(VIDEO, patch_size=4, tubelet_size=2), "video"),
    "vivit": ("Vivit", "Model", dict(VIDEO, tubelet_size=[2, 4, 4]), "video"),
    "convbert": ("ConvBert", "Model", dict(TEXT, embedding_size=WIDTH), "text"),
    "ctrl": ("CTRL", "Model", dict(vocab_size=VOCABULARY, n_positions=40, n_embd=WIDTH, dff=2 * WIDTH, n_layer=LAYERS, n_head=HEADS,
                                   use_cache=False), "text"),
    "ibert": ("IBert", "Model", TEXT, "text"),
    "layoutlm": ("LayoutLM", "Model", TEXT, "text"),
    "megatron-bert": ("MegatronBert", "Model", TEXT, "text"),
    "xmod": ("Xmod", "Model", dict(TEXT, languages=["en_XX", "de_DE"], default_language="en_XX"), "text"),
    "glm": ("Glm", "Model", dict(GROUPED, head_dim=8, pad_token_id=0), "causal"),
    "jetmoe": ("JetMoe", "Model", dict(DECODER, num_key_value_heads=HEADS // 2, kv_channels=8, num_local_experts=2, num_experts_per_tok=1),
               "causal"),
    "olmo": ("Olmo", "Model", dict(GROUPED, pad_token_id=0), "causal"),
    "seed-oss": ("SeedOss", "Model", dict(GROUPED, head_dim=8, pad_token_id=0), "causal"),
    "xglm": ("XGLM", "Model", dict(vocab_size=VOCABULARY, d_model=WIDTH, num_layers=LAYERS, attention_heads=HEADS, ffn_dim=2 * WIDTH,
                                   max_position_embeddings=40, use_cache=False), "causal"),
    "blenderbot": ("Blenderbot", "Model", BOTH, "both"),
    "nllb-moe": ("NllbMoe", "Model", dict(BOTH, num_experts=2, encoder_sparse_step=2, decoder_sparse_step=2), "both"),
    "pegasus": ("Pegasus", "Model", BOTH, "both"),
    "data2vec-audio": ("Data2VecAudio", "Model", dict(WAVE, num_conv_pos_embeddings=3), "wave"),
    "dinov2-registers": ("Dinov2WithRegisters", "Model", dict(IMAGE, num_register_tokens=2), "image"),
    "ijepa": ("IJepa", "Model", IMAGE, "image"),
    "levit": ("Levit", "Model", dict(image_size=32, hidden_sizes=[16, 24, 32], num_attention_heads=[2] * 3, depths=[1] * 3, key_dim=[8] * 3,
                                     patch_size=16, kernel_size=3, stride=2), "image"),
}


def tokens(axis, fewer=0):
    """Makes texts, a few tokens shorter than asked for."""
    return lambda sizes, batch, length: (torch.randint(3, VOCABULARY, (batch, length - fewer)), {0: ("batch", 1, 16), 1: (axis, 2, 16)})


def image(sizes, batch, length):
    size = sizes.get("image_size", 32)
    return torch.randn(batch, 3, size, size), {0: ("batch", 1, 16)}


def video(sizes, batch, length):
    size = sizes["image_size"]
    return torch.randn(batch, sizes["num_frames"], 3, size, size), {0: ("batch", 1, 16)}


def wave(sizes, batch, length):
    return torch.randn(batch, 80 * length), {0: ("batch", 1, 16), 1: ("samples", 100, 4000)}


def features(sizes, batch, length):
    return torch.randn(batch, 4 * length, 16), {0: ("batch", 1, 16), 1: ("frames", 8, 400)}


# By kind, the model's inputs and what makes them of the configuration, batch and length: with the axes that may be open, each with its
# name and bounds.
INPUTS = {
    "text": {"input_ids": tokens("sequence")},
    "causal": {"input_ids": tokens("sequence")},
    "both": {"input_ids": tokens("sequence"), "decoder_input_ids": tokens("decoded", 1)},
    "image": {"pixel_values": image},
    "pooled": {"pixel_values": image},
    "video": {"pixel_values": video},
    "wave": {"input_values": wave},
    "features": {"input_features": features},
    "speech": {"input_features": features, "decoder_input_ids": tokens("decoded", 1)},
}


class Hidden(torch.nn.Module):
    """The hidden states of a model as its only output. With triangle the model is given its causal mask."""

    def __init__(self, model, inputs, triangle):
        super().__init__()
        self.model, self.inputs, self.triangle = model, inputs, triangle

    def forward(self, x, y=None):
        given = dict(zip(self.inputs, (x, y)))
        if self.triangle:
            n = x.shape[1]
            given["attention_mask"] = torch.triu(torch.full((n, n), torch.finfo(torch.float32).min), 1)[None, None]
        return self.model(**given, return_dict=False)[0]


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
    return Hidden(model, list(INPUTS[kind]), triangle and kind == "causal").eval()


def sample(name, batch, length):
    """Returns the inputs x and y, or x alone, each with its axes that may be open."""
    sizes, kind = ARCHITECTURES[name][2:]
    return dict(zip("xy", (make(sizes, batch, length) for make in INPUTS[kind].values())))


def values(samples):
    return {name: x.numpy() for name, (x, _) in samples.items()}


def export(name, path, exporter, attention, opset, axes):
    torch.manual_seed(1)
    model = model_of(name, attention, exporter == "torchscript")
    samples = sample(name, *SHAPES[0])
    given, shapes = tuple(x for x, _ in samples.values()), None
    options = dict(opset_version=opset, input_names=list(samples), output_names=["hidden"])
    if exporter == "dynamo":
        if axes == "dynamic":
            dims = {}
            shapes = {n: {i: dims.setdefault(axis[0], torch.export.Dim(axis[0], min=axis[1], max=axis[2])) for i, axis in open_.items()}
                      for n, (_, open_) in samples.items()}
        torch.onnx.export(model, given, path, dynamo=True, dynamic_shapes=shapes, external_data=False, verbose=False, **options)
    else:
        if axes == "dynamic":
            shapes = {n: {i: axis[0] for i, axis in open_.items()} for n, (_, open_) in samples.items()}
        torch.onnx.export(model, given, path, dynamo=False, dynamic_axes=shapes, **options)
    return values(samples)


def save(path, name, value):
    path.write_bytes(onnx.numpy_helper.from_array(value, name).SerializeToString())


def case(folder, name, variant):
    folder.mkdir(parents=True, exist_ok=True)
    model = str(folder / "model.onnx")
    sets = [export(name, model, *variant)]
    if variant[-1] == "dynamic":
        sets += [values(sample(name, *shape)) for shape in SHAPES[1:]]
    session = onnxruntime.InferenceSession(model)
    inputs = [i.name for i in session.get_inputs()]
    if not inputs:
        raise ValueError("the model reads nothing")
    written = 0
    for given in sets:
        try:
            outputs = session.run(None, {n: given[n] for n in inputs})
        except Exception:  # exporters fix extents that should be open
            if written == 0:
                raise
            continue
        data = folder / f"test_data_set_{written}"
        data.mkdir()
        for i, n in enumerate(inputs):
            save(data / f"input_{i}.pb", n, given[n])
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
