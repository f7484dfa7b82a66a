package tokenizer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What is not supported, and what is wrong, is named with its place.
func TestParseErrors(t *testing.T) {
	const bpe = `"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}`
	for _, c := range []struct{ text, want string }{
		{`{` + bpe + `}`, ""},
		{`{`, "unexpected end of JSON"},
		{``, "neither a tokenizer.json nor"},
		{`{}`, `model of type "" is not supported`},
		{`{"model": {"type": "RNN"}}`, `tokenizer.model: model of type "RNN" is not supported`},
		{`{"normalizer": {"type": "Magic"}, ` + bpe + `}`, `tokenizer.normalizer: normalizer of type "Magic" is not supported`},
		{`{"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits"}, {"type": "Scripts"}]}, ` + bpe + `}`, `tokenizer.pre_tokenizer.pretokenizers[1]: pre_tokenizer of type "Scripts"`},
		{`{"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated"}, ` + bpe + `}`, `regular expression "("`},
		{`{"pre_tokenizer": {"type": "Split", "pattern": {"String": "x"}, "behavior": "Gone"}, ` + bpe + `}`, `behavior "Gone"`},
		{`{"decoder": {"type": "CTC"}, ` + bpe + `}`, `decoder of type "CTC"`},
		{`{"post_processor": {"type": "BertProcessing", "sep": ["x"], "cls": ["y", 0]}, ` + bpe + `}`, `sep is no pair`},
		{`{"post_processor": {"type": "BertProcessing", "sep": ["x", 7], "cls": ["y", 0]}, ` + bpe + `}`, `there is no token 7`},
		{`{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}}`, `merge 0, "a b", is not`},
		{`{"model": {"type": "BPE", "vocab": {"a": 99999999999}, "merges": []}}`, `tokenizer.model: token "a" has the id 99999999999`},
		{`{"model": {"type": "Unigram", "vocab": [["a"]], "unk_id": 0}}`, `entry 0 is no pair`},
		{`{"model": {"type": "Unigram", "vocab": [["a", -1]], "unk_id": 4}}`, `unk_id is 4 of 1`},
		{`{"normalizer": {"type": "Precompiled", "precompiled_charsmap": "////fw=="}, ` + bpe + `}`, `is cut off`},
		{"\x05\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\x7f", "token 0 is wrong or cut off"},
	} {
		_, err := Parse([]byte(c.text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%.60q: %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder without a tokenizer is opened")
	}
}

// A regular expression that backtracks without end is given up, and a long word takes no time by its square.
func TestPatience(t *testing.T) {
	tok, err := Parse([]byte(`{"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated"},
		"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "aa": 2}, "merges": ["a a"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if _, err := tok.Encode(strings.Repeat("a", 40) + "b"); err == nil || !strings.Contains(err.Error(), "(a+)+$") {
		t.Errorf("it says %v", err)
	}
	tok.split = nil
	ids, err := tok.Encode(strings.Repeat("a", 200_000))
	if err != nil || len(ids) != 100_000 {
		t.Errorf("%d tokens, %v", len(ids), err)
	}
	if _, err := tok.Encode("\xff"); err == nil {
		t.Error("text that is no UTF-8 is encoded")
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// Whatever a file says, parsing, encoding and decoding end without a panic.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil && !strings.HasSuffix(file, ".cases.json") && len(data) < 8<<10 {
			f.Add(data, "Hello  wörld <unk> 12")
		}
	}
	f.Add([]byte("\x04\x00\x00\x00\x00\x00\x80\x3f\x01\x00\x00\x00a\x00\x00\x80\x3f\x01\x00\x00\x00b\x00\x00\x80\x3f\x02\x00\x00\x00ab"), "abab")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		tok, err := Parse(data)
		if err != nil || len(text) > 1<<10 {
			return
		}
		ids, err := tok.Encode(text)
		if err != nil {
			return
		}
		for _, id := range ids {
			if id < 0 || id >= tok.Size() {
				t.Errorf("token %d of %d", id, tok.Size())
			}
		}
		tok.Decode(ids)
	})
}
