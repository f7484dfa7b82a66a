"""Trains small tokenizers of every kind with Hugging Face's tokenizers library on the words below, and writes them with what
the library makes of some texts: the test's cases.

    pip install tokenizers==0.23.3 sentencepiece && python make.py
"""

import base64
import io
import json
from pathlib import Path

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as pb
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

WORDS = """The quick brown fox jumps over the lazy dog. A performance engineer opens a model and sees its graph before and after
fusion, per-layer timing bars and the memory it takes. Layers are fused, quantised and timed; 12 layers of 768 make 110 million
weights, and 3.14159 is not one of them. Don't we'll they've I'm it's you're he'd: contractions. naïve café Ångström Straße œuvre.
Привет, мир! 你好，世界。こんにちは Hello\tworld\n\nnew   lines  and   spaces. ¿Qué? “quotes” – dashes… e-mail@example.org x+=1; y[0]{}
été ÉTÉ İstanbul ﬁne ½ ① ｆｕｌｌ 🙂👩‍👩‍👧""".replace("\n", " ")

TEXTS = ["", " ", "Hello world", "  two  spaces ", "The quick brown fox doesn't jump over 12345 lazy dogs!", "naïve café É e\u0301te\u0301 Ångström", "İstanbul STRASSE ΣΑΣ",
         "你好，世界 mixed 文字", "Привет, мир!", "tab\tnew\nline\r\n\r\n  end", "🙂👩‍👩‍👧 emoji", "ﬁne ½ ① ｆｕｌｌ \u200bzero\u00a0nbsp", "a<sep>b <sep> c", "xx[MASK]yy [MASK] zz",
         "\u0001control\ufffd", "I'M they'VE it's", "x+=1; y[0]{}", "unknown ☃ snowman ☃☃", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "3.14159 1,000,000", "▁mark"]

LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def train(tokenizer, trainer):
    tokenizer.train_from_iterator([WORDS] * 4 + WORDS.split("."), trainer)
    return tokenizer


def gpt2():
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    return train(t, trainers.BpeTrainer(vocab_size=400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<|endoftext|>"]))


def roberta():
    t = gpt2()
    t.add_special_tokens(["<s>", "</s>", AddedToken("[MASK]", lstrip=True, special=True)])
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    t.post_processor = processors.RobertaProcessing(("</s>", t.token_to_id("</s>")), ("<s>", t.token_to_id("<s>")))
    return t


def llama3():
    t = Tokenizer(models.BPE(ignore_merges=True))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    train(t, trainers.BpeTrainer(vocab_size=400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<|begin|>", "<|eot_id|>"]))
    t.post_processor = processors.Sequence([processors.ByteLevel(), processors.TemplateProcessing(single="<|begin|> $A", special_tokens=[("<|begin|>", 0)])])
    return t


def llama2():
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    train(t, trainers.BpeTrainer(vocab_size=500, special_tokens=["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)], max_token_length=8, limit_alphabet=60))
    t.add_tokens([AddedToken("<sep>", normalized=False)])
    t.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return t


def clip():
    t = Tokenizer(models.BPE(unk_token="[UNK]", end_of_word_suffix="</w>"))
    t.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(r"\p{L}+|\p{N}|[^\s\p{L}\p{N}]+"), "removed", invert=True)])
    t.decoder = decoders.BPEDecoder("</w>")
    return train(t, trainers.BpeTrainer(vocab_size=350, special_tokens=["[UNK]"], end_of_word_suffix="</w>"))


def bert():
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer, t.pre_tokenizer, t.decoder = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    train(t, trainers.WordPieceTrainer(vocab_size=350, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    t.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return t


def word_level():
    t = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    t.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Strip(), normalizers.Nmt()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Punctuation("merged_with_previous")])
    train(t, trainers.WordLevelTrainer(vocab_size=300, special_tokens=["[UNK]"]))
    t.add_tokens([AddedToken("[MASK]", single_word=True), AddedToken("Café", normalized=True)])
    return t


def charsmap():
    model = io.BytesIO()
    words = Path("/tmp/words.txt")
    words.write_text(WORDS)
    rules = Path("/tmp/rules.tsv")
    replace = {"ﬁ": "fi", "½": "1⁄2", "①": "1", "\u00a0": " ", "\u200b": "", "e\u0301": "é", "É": "E", "ｆ": "f", "ｕ": "u", "ｌ": "l", "\t": " ", "\n": " ", "…": "..."}
    rules.write_text("".join(" ".join(f"{ord(c):X}" for c in a) + "\t" + " ".join(f"{ord(c):X}" for c in b) + "\n" for a, b in replace.items()))
    sentencepiece.SentencePieceTrainer.train(input=str(words), model_writer=model, vocab_size=140, normalization_rule_tsv=str(rules), hard_vocab_limit=False)
    proto = pb.ModelProto()
    proto.ParseFromString(model.getvalue())
    return proto.normalizer_spec.precompiled_charsmap


def t5():
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([normalizers.Precompiled(charsmap()), normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer, t.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    train(t, trainers.UnigramTrainer(vocab_size=250, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>"))
    t.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return t


def unigram_bytes():
    model = json.loads(t5().to_str())["model"]
    vocab = [(token, score) for token, score in model["vocab"]] + [(f"<0x{b:02X}>", -20.0) for b in range(256)]
    t = Tokenizer(models.Unigram(vocab, unk_id=2, byte_fallback=True))
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    t.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="first")])
    t.add_special_tokens(["<sep>"])
    return t


def main():
    here = Path(__file__).parent
    for make in [gpt2, roberta, llama3, llama2, clip, bert, word_level, t5, unigram_bytes]:
        t = make()
        name = make.__name__
        (here / f"{name}.json").write_text(t.to_str() + "\n")
        cases = []
        for text in TEXTS:
            ids = t.encode(text).ids
            cases.append({"text": text, "ids": ids, "decoded": t.decode(ids)})
        (here / f"{name}.cases.json").write_text(json.dumps(cases, ensure_ascii=False, indent=0) + "\n")


main()
