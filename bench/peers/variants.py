"""Exports small transformers of random weights in each way that torch offers, to one folder per architecture.

python variants.py FOLDER [ARCHITECTURE ...]: FOLDER/ARCHITECTURE/EXPORTER-ATTENTION-opsetN-AXES.onnx, and what onnxruntime's optimiser
makes of it, with -optimised at its end, and what onnxscript's does, with -rewritten. Recognition must make the same layers of all of them: core/graph/passes tests that, with
TRTUI_VARIANTS=FOLDER. A variant that cannot be made is reported. Where torch is too old for a second exporter the names begin with its
version, so that a folder may have those of several: pip install torch==1.13.1 transformers==4.30.2 "numpy<2" onnx onnxruntime
"""

import inspect
import pathlib
import sys
import warnings

import onnx
import torch
import transformers

try:
    import onnxscript.optimizer
    import onnxscript.rewriter
except ImportError:
    onnxscript = None
try:
    from onnxruntime.transformers import optimizer
except ImportError:
    optimizer = None

SEQUENCE, VOCABULARY, WIDTH, LAYERS, HEADS = 6, 50, 32, 2, 4
BOTH = "dynamo" in inspect.signature(torch.onnx.export).parameters
OPSETS = {"torchscript": (14, 17), "dynamo": (18, 23)} if BOTH else {"torchscript": (12, 14)}
BY = "" if BOTH else "torch" + torch.__version__.split("+")[0] + "-"
AXES = ("fixed", "sequence", "dynamic")  # none has a symbol, the sequence has one, the batch has one, too


class Hidden(torch.nn.Module):
    """The hidden states of a model as its only output. With triangle the model is given its causal mask, as TorchScript cannot
    export how it is computed. A padded text comes with which of its places are tokens."""

    def __init__(self, model, of, triangle):
        super().__init__()
        self.model, self.of, self.triangle = model, of, triangle

    def forward(self, x, mask=None):
        given = {} if mask is None else {"attention_mask": mask}
        if self.triangle:
            n, least = x.shape[1], torch.finfo(torch.float32).min
            triangle = torch.triu(torch.full((n, n), least), 1)[None, None]
            if mask is not None:
                triangle = triangle.masked_fill(mask[:, None, None, :] == 0, least)
            given["attention_mask"] = triangle
        return self.model(**{self.of: x}, return_dict=False, **given)[0]


def bert(attention):
    config = transformers.BertConfig(vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
                                     intermediate_size=2 * WIDTH, max_position_embeddings=16, attn_implementation=attention)
    return transformers.BertModel(config, add_pooling_layer=False)


def gpt2(attention):
    config = transformers.GPT2Config(vocab_size=VOCABULARY, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, n_positions=16,
                                     use_cache=False, attn_implementation=attention)
    return transformers.GPT2Model(config)


def llama(attention):
    config = transformers.LlamaConfig(vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
                                      num_key_value_heads=HEADS // 2, intermediate_size=2 * WIDTH, max_position_embeddings=16,
                                      use_cache=False, attn_implementation=attention)
    return transformers.LlamaModel(config)


def vit(attention):
    config = transformers.ViTConfig(hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=2 * WIDTH,
                                    image_size=8, patch_size=4, attn_implementation=attention)
    return transformers.ViTModel(config, add_pooling_layer=False)


def t5(attention):
    config = transformers.T5Config(vocab_size=VOCABULARY, d_model=WIDTH, d_kv=WIDTH // HEADS, d_ff=2 * WIDTH, num_layers=LAYERS, num_heads=HEADS,
                                   use_cache=False, attn_implementation="eager" if attention == "eager" else None)
    return transformers.T5EncoderModel(config)


def whisper(attention):
    config = transformers.WhisperConfig(vocab_size=VOCABULARY, d_model=WIDTH, encoder_layers=LAYERS, encoder_attention_heads=HEADS,
                                        encoder_ffn_dim=2 * WIDTH, num_mel_bins=8, max_source_positions=SEQUENCE, attn_implementation=attention)
    return transformers.models.whisper.modeling_whisper.WhisperEncoder(config)


ARCHITECTURES = {"bert": bert, "gpt2": gpt2, "llama": llama, "vit": vit, "t5": t5, "whisper": whisper,
                 "bert-padded": bert, "gpt2-padded": gpt2, "llama-padded": llama, "t5-padded": t5}
OPTIMISED_AS = {"bert": "bert", "gpt2": "bert", "llama": "bert", "vit": "vit"}  # gpt2 needs earlier keys and values
INPUTS = {"vit": ("pixel_values", lambda batch: torch.randn(2, 3, 8, 8)), "whisper": ("input_features", lambda batch: torch.randn(2, 8, 2 * SEQUENCE))}
TEXT = ("input_ids", lambda batch: torch.randint(0, VOCABULARY, (batch, SEQUENCE)))


def export(name, path, exporter, attention, opset, axes):
    torch.manual_seed(1)
    of, sample = INPUTS.get(name, TEXT)
    triangle = exporter == "torchscript" and name.split("-")[0] in ("gpt2", "llama")
    model = Hidden(ARCHITECTURES[name](attention), of, triangle).eval()
    inputs = {"x": sample(2 if axes == "dynamic" else 1)}
    if name.endswith("-padded"):
        inputs["mask"] = torch.ones_like(inputs["x"])
        inputs["mask"][:, -2:] = 0
    symbols = {} if axes == "fixed" else {0: "batch"} if name in INPUTS else {1: "sequence"} if axes == "sequence" else {0: "batch", 1: "sequence"}
    options = dict(opset_version=opset, input_names=list(inputs), output_names=["hidden"])
    if exporter == "dynamo":
        dims = {i: torch.export.Dim(s, min=1 + i, max=16) for i, s in symbols.items()}
        torch.onnx.export(model, tuple(inputs.values()), path, dynamo=True, dynamic_shapes={n: dims for n in inputs} if symbols else None,
                          external_data=False, verbose=False, **options)
    else:
        if BOTH:
            options["dynamo"] = False
        torch.onnx.export(model, tuple(inputs.values()), path, dynamic_axes={n: symbols for n in inputs} if symbols else None, **options)


def variants(name):
    for exporter, opsets in OPSETS.items():
        for opset in opsets:
            for attention in ("eager", "sdpa") if BOTH else ("eager",):
                for axes in AXES:
                    if name not in INPUTS or axes != "sequence":
                        yield exporter, attention, opset, axes


def rewrite(path, to):
    onnx.save(onnxscript.rewriter.rewrite(onnxscript.optimizer.optimize(onnx.load(path))), to)


def attempt(path, make):
    try:
        make()
        print(path, flush=True)
        return True
    except Exception as e:  # of torch or onnxruntime, for any reason
        print(f"{path}: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}", flush=True)
        return False


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    folder = pathlib.Path(sys.argv[1])
    for name in sys.argv[2:] or ARCHITECTURES:
        (folder / name).mkdir(parents=True, exist_ok=True)
        for v in variants(name):
            path = str(folder / name / (BY + "{}-{}-opset{}-{}".format(*v)))
            if not attempt(path + ".onnx", lambda: export(name, path + ".onnx", *v)):
                continue
            if onnxscript:
                attempt(path + "-rewritten.onnx", lambda: rewrite(path + ".onnx", path + "-rewritten.onnx"))
            if optimizer:
                attempt(path + "-optimised.onnx", lambda: optimizer.optimize_model(
                    path + ".onnx", model_type=OPTIMISED_AS.get(name.split("-")[0], "bert"), num_heads=HEADS, hidden_size=WIDTH).save_model_to_file(path + "-optimised.onnx"))


if __name__ == "__main__":
    main()
