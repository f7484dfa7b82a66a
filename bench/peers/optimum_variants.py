"""Exports small transformers of random weights by Hugging Face Optimum, as cases that `trtui conformance` runs: models with past keys and
values, one decoder merged of two by an If, encoders and decoders apart, and what ONNX Runtime's optimiser makes of each by Optimum's levels.

python optimum_variants.py FOLDER [ARCHITECTURE ...]: FOLDER/ARCHITECTURE-TASK[-LEVEL]-FILE/model.onnx with inputs, and with what ONNX
Runtime computes of them, at two shapes. It runs with Optimum as it comes (pip install optimum-onnx[onnxruntime]), whatever torch and
transformers that wants. What cannot be exported is reported.
"""

import pathlib
import shutil
import sys
import tempfile
import warnings

import numpy
import onnx
import onnxruntime
import torch
import transformers
from optimum.exporters.onnx import main_export

VOCABULARY, WIDTH, LAYERS, HEADS = 50, 32, 2, 4
SHAPES = ({"batch": 1, "sequence": 6, "past": 4}, {"batch": 2, "sequence": 9, "past": 3})

ENCODER = dict(vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=2 * WIDTH,
               max_position_embeddings=64)
DECODER = dict(ENCODER, num_key_value_heads=HEADS // 2, pad_token_id=0, bos_token_id=1, eos_token_id=2)
GPT = dict(vocab_size=VOCABULARY, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, n_positions=64, bos_token_id=1, eos_token_id=2)
BOTH = dict(vocab_size=VOCABULARY, d_model=WIDTH, encoder_layers=LAYERS, decoder_layers=LAYERS, encoder_attention_heads=HEADS,
            decoder_attention_heads=HEADS, encoder_ffn_dim=2 * WIDTH, decoder_ffn_dim=2 * WIDTH, max_position_embeddings=64,
            pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=None)
IMAGE = dict(hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=2 * WIDTH, image_size=32, patch_size=8)
T5 = dict(vocab_size=VOCABULARY, d_model=WIDTH, d_kv=WIDTH // HEADS, d_ff=2 * WIDTH, num_layers=LAYERS, num_heads=HEADS, decoder_start_token_id=0)

# architecture: its configuration, what of it has the task's head, and tasks
TEXTS = ("feature-extraction", "text-classification", "fill-mask")
GENERATES = ("text-generation", "text-generation-with-past")
TRANSLATES = ("text2text-generation", "text2text-generation-with-past")
ARCHITECTURES = {
    "bert": (dict(ENCODER), TEXTS),
    "roberta": (dict(ENCODER, pad_token_id=1), TEXTS),
    "distilbert": (dict(vocab_size=VOCABULARY, dim=WIDTH, n_layers=LAYERS, n_heads=HEADS, hidden_dim=2 * WIDTH, max_position_embeddings=64), TEXTS),
    "albert": (dict(ENCODER, embedding_size=16), TEXTS),
    "electra": (dict(ENCODER, embedding_size=16), ("feature-extraction", "token-classification")),
    "deberta-v2": (dict(ENCODER, relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8), ("feature-extraction",)),
    "mpnet": (dict(ENCODER), ("feature-extraction",)),
    "camembert": (dict(ENCODER, pad_token_id=1), ("feature-extraction", "question-answering")),
    "modernbert": (dict(ENCODER, pad_token_id=0, global_attn_every_n_layers=2, local_attention=8), ("feature-extraction",)),
    "gpt2": (dict(GPT), GENERATES),
    "gpt_neo": (dict(vocab_size=VOCABULARY, hidden_size=WIDTH, num_layers=LAYERS, num_heads=HEADS, attention_types=[[["global", "local"], 1]],
                     max_position_embeddings=64, window_size=4, bos_token_id=1, eos_token_id=2), GENERATES),
    "gpt_neox": (dict(ENCODER, rotary_pct=0.5), GENERATES),
    "gptj": (dict(GPT, rotary_dim=4), GENERATES),
    "opt": (dict(vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS, ffn_dim=2 * WIDTH,
                 max_position_embeddings=64, word_embed_proj_dim=WIDTH), GENERATES),
    "bloom": (dict(vocab_size=VOCABULARY, hidden_size=WIDTH, n_layer=LAYERS, n_head=HEADS), GENERATES),
    "llama": (dict(DECODER), GENERATES),
    "mistral": (dict(DECODER, sliding_window=None), GENERATES),
    "qwen2": (dict(DECODER), GENERATES),
    "qwen3": (dict(DECODER, head_dim=8), GENERATES),
    "phi": (dict(DECODER, partial_rotary_factor=0.5), GENERATES),
    "phi3": (dict(DECODER), GENERATES),
    "gemma": (dict(DECODER, head_dim=8), GENERATES),
    "gemma2": (dict(DECODER, head_dim=8, sliding_window=8, query_pre_attn_scalar=8), GENERATES),
    "falcon": (dict(ENCODER, new_decoder_architecture=False, multi_query=True, parallel_attn=True, bias=False), GENERATES),
    "olmo": (dict(DECODER), GENERATES),
    "granite": (dict(DECODER), GENERATES),
    "codegen": (dict(GPT, n_inner=2 * WIDTH, rotary_dim=4), GENERATES),
    "stablelm": (dict(DECODER), GENERATES),
    "t5": (dict(T5), ("feature-extraction",) + TRANSLATES),
    "mt5": (dict(T5), TRANSLATES),
    "bart": (dict(BOTH), TRANSLATES),
    "mbart": (dict(BOTH), TRANSLATES),
    "marian": (dict(BOTH), TRANSLATES),
    "m2m_100": (dict(BOTH), TRANSLATES),
    "blenderbot": (dict(BOTH), TRANSLATES),
    "pegasus": (dict(BOTH), TRANSLATES),
    "whisper": (dict(BOTH, num_mel_bins=8, max_source_positions=16, max_target_positions=64, suppress_tokens=None, begin_suppress_tokens=None),
                ("automatic-speech-recognition", "automatic-speech-recognition-with-past")),
    "vit": (dict(IMAGE), ("feature-extraction", "image-classification")),
    "deit": (dict(IMAGE), ("image-classification",)),
    "beit": (dict(IMAGE), ("image-classification",)),
    "swin": (dict(image_size=32, patch_size=4, embed_dim=16, depths=[1, 1], num_heads=[2, 2], window_size=4), ("image-classification",)),
    "convnext": (dict(hidden_sizes=[16, 32], depths=[1, 1], num_stages=2, image_size=32), ("image-classification",)),
    "resnet": (dict(embedding_size=16, hidden_sizes=[16, 32], depths=[1, 1], layer_type="basic"), ("image-classification",)),
    "mobilevit": (dict(hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, 16, 16, 24, 24, 48], image_size=64, num_attention_heads=2), ("image-classification",)),
    "segformer": (dict(depths=[1, 1], hidden_sizes=[16, 32], num_encoder_blocks=2, num_attention_heads=[1, 2], sr_ratios=[2, 1], patch_sizes=[7, 3],
                       strides=[4, 2], mlp_ratios=[2, 2], decoder_hidden_size=16), ("semantic-segmentation",)),
    "wav2vec2": (dict(ENCODER, conv_dim=(16, 16), conv_stride=(5, 2), conv_kernel=(10, 3), num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2),
                 ("feature-extraction", "automatic-speech-recognition")),
}
HEADS_OF = {
    "feature-extraction": "AutoModel", "text-classification": "AutoModelForSequenceClassification", "fill-mask": "AutoModelForMaskedLM",
    "token-classification": "AutoModelForTokenClassification", "question-answering": "AutoModelForQuestionAnswering",
    "text-generation": "AutoModelForCausalLM", "text2text-generation": "AutoModelForSeq2SeqLM",
    "image-classification": "AutoModelForImageClassification", "semantic-segmentation": "AutoModelForSemanticSegmentation",
    "automatic-speech-recognition": "AutoModelForSpeechSeq2Seq",
}
LEVELS = ("O1", "O2", "O3")


def model_of(name, task):
    torch.manual_seed(1)
    config = transformers.AutoConfig.for_model(name, **ARCHITECTURES[name][0])
    head = HEADS_OF[task.removesuffix("-with-past")]
    if name == "wav2vec2" and task == "automatic-speech-recognition":
        head = "AutoModelForCTC"
    return getattr(transformers, head).from_config(config).eval()


def extent(dim, shape):
    """What an axis's symbol stands for: the names that Optimum gives, and their sums and quotients."""
    if isinstance(dim, int):
        return dim
    known = {"batch_size": shape["batch"], "sequence_length": shape["sequence"], "past_sequence_length": shape["past"],
             "decoder_sequence_length": shape["sequence"], "encoder_sequence_length": shape["sequence"] + 2,
             "past_decoder_sequence_length": shape["past"], "encoder_sequence_length_out": shape["sequence"] + 2, "num_channels": 3,
             "height": 32, "width": 32, "audio_sequence_length": 400, "encoder_sequence_length / 2": shape["sequence"] + 2}
    if dim in known:
        return known[dim]
    return sum(known[part.strip()] if part.strip() in known else int(part) for part in dim.split("+"))


def inputs_of(session, name, shape):
    rng = numpy.random.default_rng(shape["sequence"])
    values = {}
    for i in session.get_inputs():
        sizes = [extent(d, shape) for d in i.shape]
        if i.type == "tensor(bool)":
            values[i.name] = numpy.ones(sizes, bool)
        elif "mask" in i.name:
            values[i.name] = numpy.ones(sizes, numpy.int64)
        elif i.name == "position_ids":
            first = shape["past"] if any("past" in x.name for x in session.get_inputs()) else 0
            values[i.name] = numpy.tile(numpy.arange(first, first + sizes[1]), (sizes[0], 1))
        elif i.name == "token_type_ids":
            values[i.name] = rng.integers(0, 2, sizes)
        elif i.type == "tensor(int64)":
            values[i.name] = rng.integers(3, VOCABULARY, sizes)
        else:
            values[i.name] = rng.standard_normal(sizes).astype(numpy.float32)
    return values


def save(path, name, value):
    path.write_bytes(onnx.numpy_helper.from_array(value, name).SerializeToString())


def case(model, folder, name):
    session = onnxruntime.InferenceSession(str(model))
    sets = []
    for shape in SHAPES:
        try:
            given = inputs_of(session, name, shape)
            sets.append((given, session.run(None, given)))
        except Exception as e:
            if not sets:
                raise
            print(f"{folder}: {shape}: {str(e).splitlines()[0]}")
    folder.mkdir(parents=True)
    for i, (given, outputs) in enumerate(sets):
        data = folder / f"test_data_set_{i}"
        data.mkdir()
        for k, (n, x) in enumerate(given.items()):
            save(data / f"input_{k}.pb", n, x)
        for k, (output, y) in enumerate(zip(session.get_outputs(), outputs)):
            save(data / f"output_{k}.pb", output.name, numpy.asarray(y))
    shutil.copy(model, folder / "model.onnx")
    print(folder, len(sets), flush=True)


def attempt(what, make):
    try:
        return make()
    except Exception as e:  # of Optimum, torch or ONNX Runtime, for any reason
        print(f"{what}: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}", flush=True)
        return None


def export(folder, name, task):
    with tempfile.TemporaryDirectory() as home:
        source, out = pathlib.Path(home, "model"), pathlib.Path(home, "onnx")
        model_of(name, task).save_pretrained(source)
        main_export(str(source), out, task=task, do_validation=False)
        for file in sorted(out.glob("*.onnx")):
            to = folder / f"{name}-{task}-{file.stem}"
            attempt(to, lambda: case(file, to, name))
        if task in TEXTS or task == "image-classification":
            for level in LEVELS:
                to = folder / f"{name}-{task}-{level}-model"
                attempt(to, lambda: optimise(source, out, home, task, level, name, to))


def optimise(source, out, home, task, level, name, to):
    from optimum.onnxruntime import AutoOptimizationConfig, ORTOptimizer

    optimised = pathlib.Path(home, level)
    ORTOptimizer.from_pretrained(out).optimize(save_dir=optimised, optimization_config=getattr(AutoOptimizationConfig, level)())
    case(next(optimised.glob("*.onnx")), to, name)


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    folder = pathlib.Path(sys.argv[1])
    for name in sys.argv[2:] or ARCHITECTURES:
        for task in ARCHITECTURES[name][1]:
            attempt(f"{name} {task}", lambda: export(folder, name, task))


if __name__ == "__main__":
    main()
