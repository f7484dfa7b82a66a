"""Exports small language models with random weights as Hugging Face's classes have them, with past keys and values, and writes
what the library generates with them: always the best token.

    pip install torch==2.11.0 transformers onnx onnxscript && python make.py
"""

import json
from pathlib import Path

import torch
import transformers
from transformers import DynamicCache, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

HERE = Path(__file__).parent


class Decoder(torch.nn.Module):
    """A model whose cache is inputs and outputs."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, position_ids, *past):
        cache = DynamicCache()
        for layer in range(len(past) // 2):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        out = self.model(input_ids=input_ids, attention_mask=attention_mask, position_ids=position_ids, past_key_values=cache, use_cache=True)
        present = [t for layer in out.past_key_values.layers for t in (layer.keys, layer.values)]
        return (out.logits, *present)


def export(name, model, layers, heads, size):
    model.eval()
    past, sequence, vocabulary = 3, 2, model.config.vocab_size
    names, outputs, axes = ["input_ids", "attention_mask", "position_ids"], ["logits"], {}
    axes |= {"input_ids": {0: "batch", 1: "sequence"}, "attention_mask": {0: "batch", 1: "total"}, "position_ids": {0: "batch", 1: "sequence"}}
    args = [torch.ones(1, sequence, dtype=torch.int64), torch.ones(1, past + sequence, dtype=torch.int64), torch.arange(past, past + sequence)[None]]
    for layer in range(layers):
        for kind in ("key", "value"):
            names.append(f"past_key_values.{layer}.{kind}")
            outputs.append(f"present.{layer}.{kind}")
            axes[names[-1]] = {0: "batch", 2: "past"}
            axes[outputs[-1]] = {0: "batch", 2: "total"}
            args.append(torch.randn(1, heads, past, size))
    torch.onnx.export(Decoder(model), tuple(args), str(HERE / f"{name}.onnx"), input_names=names, output_names=outputs, dynamic_axes=axes, opset_version=17, dynamo=False)
    cases = []
    for prompt in ([1], [3, 14, 15, 9, 2, 6], [int(x) for x in torch.randint(0, vocabulary, (21,))]):
        ids = model.generate(torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt), dtype=torch.int64), do_sample=False, max_new_tokens=24, pad_token_id=0)
        cases.append({"prompt": prompt, "tokens": ids[0].tolist()[len(prompt):]})
    (HERE / f"{name}.cases.json").write_text(json.dumps(cases) + "\n")


def main():
    torch.manual_seed(7)
    transformers.set_seed(7)
    llama = LlamaConfig(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=96, max_position_embeddings=128, attn_implementation="eager", initializer_range=0.3, eos_token_id=None)
    export("llama", LlamaForCausalLM(llama), 2, 2, 8)
    gpt2 = GPT2Config(n_embd=32, n_layer=2, n_head=4, vocab_size=96, n_positions=128, attn_implementation="eager", initializer_range=0.3, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, bos_token_id=None, eos_token_id=None)
    export("gpt2", GPT2LMHeadModel(gpt2), 2, 4, 8)


main()
