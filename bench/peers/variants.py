"""Exports small transformers of random weights in each way that torch offers, to one folder per architecture.

python variants.py FOLDER [ARCHITECTURE ...]: FOLDER/ARCHITECTURE/EXPORTER-ATTENTION-opsetN-AXES.onnx. Recognition must make the same
layers of all of them: core/graph/pass tests that, with TRTUI_VARIANTS=FOLDER. A variant that torch cannot export is reported.
"""

import pathlib
import sys
import warnings

import torch
import transformers

SEQUENCE, VOCABULARY, WIDTH, LAYERS, HEADS = 6, 50, 32, 2, 4
TORCHSCRIPT_OPSETS, DYNAMO_OPSETS = (14, 17), (18,)


class Hidden(torch.nn.Module):
    """The hidden states of a model, from tokens, as its only output."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        return self.model(input_ids=ids, return_dict=False, **self.extra)[0]

    extra = {}


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


ARCHITECTURES = {"bert": bert, "gpt2": gpt2, "llama": llama}


def export(make, path, exporter, attention, opset, dynamic):
    torch.manual_seed(1)
    model = Hidden(make(attention)).eval()
    ids = torch.randint(0, VOCABULARY, (1, SEQUENCE))
    if exporter == "dynamo":
        shapes = {"ids": {1: torch.export.Dim("sequence", min=2, max=16)}} if dynamic else None
        torch.onnx.export(model, (ids,), path, dynamo=True, opset_version=opset, dynamic_shapes=shapes, external_data=False,
                          input_names=["ids"], output_names=["hidden"], verbose=False)
    else:
        axes = {"ids": {1: "sequence"}} if dynamic else None
        torch.onnx.export(model, (ids,), path, dynamo=False, opset_version=opset, dynamic_axes=axes, input_names=["ids"],
                          output_names=["hidden"])


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    folder = pathlib.Path(sys.argv[1])
    for name in sys.argv[2:] or ARCHITECTURES:
        (folder / name).mkdir(parents=True, exist_ok=True)
        kinds = [("torchscript", o) for o in TORCHSCRIPT_OPSETS] + [("dynamo", o) for o in DYNAMO_OPSETS]
        for exporter, opset in kinds:
            for attention in ("eager", "sdpa"):
                for dynamic in (False, True):
                    path = folder / name / f"{exporter}-{attention}-opset{opset}-{'dynamic' if dynamic else 'fixed'}.onnx"
                    try:
                        export(ARCHITECTURES[name], str(path), exporter, attention, opset, dynamic)
                        print(path, flush=True)
                    except Exception as e:  # of torch, for any reason
                        print(f"{path}: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}", flush=True)


if __name__ == "__main__":
    main()
