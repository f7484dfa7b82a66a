"""What 8 and 4 bits of weights cost a language model that writes: stories260K, by trtui, ONNX Runtime and NNCF.

    python bench/quantisation/decoding.py DATA [--trtui PROGRAM] [--out FILE]

Freely running counts the tokens that five greedy continuations of FP32 have in common with those of the quantised model, from the
beginning: behind the first token that is another one, none counts. Behind FP32's text each token is predicted from FP32's own tokens
before it; SQNR is of the logits there. Rounding by moments sees texts that FP32 draws by its own probabilities. With a chance q by token that it is another one, independent of all others, n tokens have
(1-(1-q)^n)/q in common on average, which is given as expected.
"""

import argparse
import json
import logging
import os
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime


class Texts:
    """The continuations that FP32 gives."""

    def __init__(self, folder):
        self.model = os.path.join(folder, "stories260K_dyn.onnx")
        with open(os.path.join(folder, "greedy_golden.json")) as f:
            self.all = [(g["prompt_ids"], g["greedy_ids"]) for g in json.load(f)]
        s = self.session(self.model)
        self.logits = [self.of(s, ids) for _, ids in self.all]

    def session(self, path):
        o = onnxruntime.SessionOptions()
        o.intra_op_num_threads, o.log_severity_level = 1, 3
        return onnxruntime.InferenceSession(path, o, providers=["CPUExecutionProvider"])

    def of(self, s, ids):
        return s.run(None, {"tokens": np.array([ids], np.int64)})[0][0]

    def drawn(self, path, count=24, length=128):
        """Writes texts that FP32 draws by its own probabilities: tokens, a row for each text."""
        s, r, texts = self.session(self.model), np.random.default_rng(1), []
        for _ in range(count):
            ids = [1]
            while len(ids) < length:
                e = np.exp(np.float64(l := self.of(s, ids)[-1]) - l.max())
                ids.append(int(r.choice(len(e), p=e / e.sum())))
            texts.append(ids)
        np.save(path, np.array(texts, np.int64))

    def measure(self, write, session=None):
        """Compares what write makes of prompts, and a session's logits behind FP32's text if there is one."""
        common = total = whole = others = 0
        signal = noise = expected = 0.0
        for (prompt, want), real in zip(self.all, self.logits):
            k, n = len(prompt), len(want) - len(prompt)
            got = write(prompt, n)
            same = next((i for i in range(n) if got[k + i] != want[k + i]), n)
            common, total, whole = common + same, total + n, whole + (same == n)
            if session:
                l, r = self.of(session, want)[k - 1 : -1], real[k - 1 : -1]
                others += int((l.argmax(1) != want[k:]).sum())
                signal, noise = signal + float((r**2).sum()), noise + float(((l - r) ** 2).sum())
        row = {"common": common, "of": total, "whole": whole}
        if session:
            q = others / total
            expected = sum((1 - (1 - q) ** (len(w) - len(p))) / q for p, w in self.all) if q else total
            row |= {"others_behind_text": others, "expected": round(expected), "sqnr_db": 10 * np.log10(signal / max(noise, 1e-30))}
        return row

    def written(self, path):
        s = self.session(path)

        def write(prompt, n):
            ids = list(prompt)
            for _ in range(n):
                ids.append(int(self.of(s, ids)[-1].argmax()))
            return ids

        return self.measure(write, s)


def ours(program, t, flags):
    def write(prompt, n):
        done = subprocess.run([program, "generate", t.model, "--ids", ",".join(map(str, prompt)), "--tokens", str(n), "--ignore-end", "--format", "json", "-q", *flags],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return prompt + json.loads(done.stdout)["tokens"]

    return t.measure(write)


def nbits(bits, symmetric):
    def make(t, path):
        from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

        q = MatMulNBitsQuantizer(onnx.load(t.model), bits=bits, block_size=32, is_symmetric=symmetric)
        q.process()
        onnx.save(q.model.model, path)

    return make


def compressed(mode):
    def make(t, path):
        import nncf

        onnx.save(nncf.compress_weights(onnx.load(t.model), mode=nncf.CompressWeightsMode[mode]), path)

    return make


WAYS = {"onnxruntime 8 bits of 32, symmetric": nbits(8, True), "onnxruntime 8 bits of 32, asymmetric": nbits(8, False), "nncf int8 by column, symmetric": compressed("INT8_SYM"),
        "nncf int8 by column, asymmetric": compressed("INT8_ASYM"), "onnxruntime 4 bits of 32, symmetric": nbits(4, True), "onnxruntime 4 bits of 32, asymmetric": nbits(4, False)}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("data")
    p.add_argument("--trtui", default="trtui")
    p.add_argument("--out", help="a JSON file for what was measured")
    args = p.parse_args()
    logging.disable(logging.INFO)
    t, rows = Texts(os.path.join(args.data, "models/stories260K-llama")), {}

    def add(name, row):
        rows[name] = row
        print(f"| {name} |", f"{row['common']} of {row['of']}", f"| {row['whole']} |", row.get("expected", ""), "|", row.get("others_behind_text", ""), "|", f"{row['sqnr_db']:.1f}" if "sqnr_db" in row else "", "|", flush=True)

    print("| weights | freely | whole | expected | other tokens behind the text | SQNR dB |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as work:
        drawn = os.path.join(work, "drawn.npy")
        t.drawn(drawn)
        for flags in ("", "--weights int8", "--weights int8:asymmetric", "--weights int8:32", "--weights int4"):
            add(f"trtui {flags}".strip(), ours(args.trtui, t, flags.split()))
            for by in ("gptq", "gptq:ordered") if flags else ():
                add(f"trtui {flags} --rounding {by}", ours(args.trtui, t, [*flags.split(), "--rounding", by, "--calib-data", drawn]))
        for name, make in WAYS.items():
            path = os.path.join(work, "out.onnx")
            make(t, path)
            add(name, t.written(path))
    if args.out:
        with open(args.out, "w") as f:
            json.dump({"models": rows}, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
