"""Exports small transformers of random weights in each way that torch offers, to one folder per architecture.

python variants.py FOLDER [ARCHITECTURE ...]: FOLDER/ARCHITECTURE/EXPORTER-ATTENTION-opsetN-AXES.onnx, and what onnxruntime's optimiser
makes of it, with -optimised at its end. Recognition must make the same layers of all of them: core/graph/passes tests that, with
TRTUI_VARIANTS=FOLDER. A variant that cannot be made is reported.
"""

import pathlib
import sys
import warnings

import torch
import transformers

try:
    from onnxruntime.transformers import optimizer
except ImportError:
    optimizer = None

SEQUENCE, VOCABULARY, WIDTH, LAYERS, HEADS = 6, 50, 32, 2, 4
OPSETS = {"torchscript": (14, 17), "dynamo": (18, 23)}
AXES = ("fixed", "sequence", "dynamic")  # none has a symbol, the sequence has one, the batch has one, too


class Hidden(torch.nn.Module):
    """The hidden states of a model as its only output. With triangle the model is given its causal mask, as TorchScript cannot
    export how it is computed."""

    def __init__(self, model, of, triangle):
        super().__init__()
        self.model, self.of, self.triangle = model, of, triangle

    def forward(self, x):
        given = {}
        if self.triangle:
            n = x.shape[1]
            given["attention_mask"] = torch.triu(torch.full((n, n), torch.finfo(torch.float32).min), 1)[None, None]
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


ARCHITECTURES = {"bert": bert, "gpt2": gpt2, "llama": llama, "vit": vit}
OPTIMISED_AS = {"bert": "bert", "gpt2": "bert", "llama": "bert", "vit": "vit"}  # gpt2 needs earlier keys and values


def export(name, path, exporter, attention, opset, axes):
    torch.manual_seed(1)
    image = name == "vit"
    triangle = exporter == "torchscript" and name in ("gpt2", "llama")
    model = Hidden(ARCHITECTURES[name](attention), "pixel_values" if image else "input_ids", triangle).eval()
    x = torch.randn(2, 3, 8, 8) if image else torch.randint(0, VOCABULARY, (2 if axes == "dynamic" else 1, SEQUENCE))
    symbols = {} if axes == "fixed" else {0: "batch"} if image else {1: "sequence"} if axes == "sequence" else {0: "batch", 1: "sequence"}
    if exporter == "dynamo":
        shapes = {"x": {i: torch.export.Dim(s, min=1 + i, max=16) for i, s in symbols.items()}} if symbols else None
        torch.onnx.export(model, (x,), path, dynamo=True, opset_version=opset, dynamic_shapes=shapes, external_data=False,
                          input_names=["x"], output_names=["hidden"], verbose=False)
    else:
        torch.onnx.export(model, (x,), path, dynamo=False, opset_version=opset, dynamic_axes={"x": symbols} if symbols else None,
                          input_names=["x"], output_names=["hidden"])


def variants(name):
    for exporter, opsets in OPSETS.items():
        for opset in opsets:
            for attention in ("eager", "sdpa"):
                for axes in AXES:
                    if name != "vit" or axes != "sequence":
                        yield exporter, attention, opset, axes


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
            path = str(folder / name / "{}-{}-opset{}-{}".format(*v))
            if attempt(path + ".onnx", lambda: export(name, path + ".onnx", *v)) and optimizer:
                attempt(path + "-optimised.onnx", lambda: optimizer.optimize_model(
                    path + ".onnx", model_type=OPTIMISED_AS[name], num_heads=HEADS, hidden_size=WIDTH).save_model_to_file(path + "-optimised.onnx"))


if __name__ == "__main__":
    main()
