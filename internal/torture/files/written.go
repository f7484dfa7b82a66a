//go:build linux

package files

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/trtui/trtui/internal/torture/networks"
)

// writtenKinds are the files that a person, or another program, writes for this one.
var writtenKinds = []kind{
	{"rules", "some.rules", 3, text(rules), [][]string{with("inspect", "passes", "MODEL", "--rules", "FILE"), with("run", "MODEL", "--items", "1", "--rules", "FILE")}},
	{"keys", "keys.yaml", 1, text(keys), [][]string{{"inspect", "keys", "--keys", "FILE"}}},
	{"theme", "theme.json", 1, text(theme), [][]string{{"replay", "RECORDING", "--theme", "FILE"}}},
	{"budget", "budget.yaml", 2, text(budget), [][]string{with("check", "MODEL", "--budget", "FILE")}},
	{"plugin", "some.wasm", 4, func(rnd *rand.Rand, _ map[string][]byte) []byte { return deformWasm(rnd, plugin) },
		[][]string{{"inspect", "plugins", "FILE"}, {"inspect", "model", "MODEL", "--plugin", "FILE"}, with("run", "POWERED", "--plugin", "FILE", "--items", "2", "--timing-cache", "none"),
			with("build", "POWERED", "--plugin", "FILE", "-o", "OUT", "--timing-cache", "none")}},
	{"tokenizer", "tokenizer.json", 4, text(tokenizer), tokenizerCommands},
	{"tokenizer of llama2.c", "tokenizer.bin", 3, func(rnd *rand.Rand, _ map[string][]byte) []byte { return deformBytes(rnd, llama2c()) }, tokenizerCommands},
	{"language model", "model.onnx", 4, func(rnd *rand.Rand, _ map[string][]byte) []byte {
		m := networks.Language(rnd.Uint64(), rnd.IntN(2) == 0)
		if rnd.IntN(4) == 0 {
			return deformBytes(rnd, m.Encode())
		}
		return deformModel(rnd, m)
	}, [][]string{
		writes("FILE", "--ids", "3,1,2"), writes("FILE", "--ids", "3,1,2", "--length", "64"), writes("FILE", "--ids", "1", "--per-layer", "--format", "json"),
		writes("FILE", "--ids", "1", "--temperature", "1", "--top-k", "9", "--precision", "fp16"), writes("FILE", "--ids", "1", "--weights", "int8"),
	}},
	{"sound language model", "model.onnx", 2, func(rnd *rand.Rand, _ map[string][]byte) []byte {
		return networks.Language(rnd.Uint64(), rnd.IntN(2) == 0).Encode()
	}, boundsOfTexts()},
	{"prompt", "prompt.txt", 3, someText, [][]string{writes("LANGUAGE", "--tokenizer", "LLAMA", "--prompt", "-"), writes("CACHED", "--tokenizer", "LLAMA", "--prompt", "-", "--length", "40")}},
	{"text for a language model", "some.txt", 2, someText, [][]string{with("run", "LANGUAGE", "--data", "FILE", "--tokenizer", "LLAMA", "--items", "2")}},
	{"ranges", "ranges.json", 3, of("ranges.json"), rangeCommands},
	{"calibration cache", "calibration.cache", 2, of("calibration.cache"), rangeCommands},
	{"layers of trtexec", "layers.json", 2, of("layers.json"), [][]string{{"inspect", "layers", "FILE"}, {"inspect", "layers", "FILE", "PROFILE", "--format", "json"}, {"diff", "LAYERS,PROFILE", "FILE,PROFILE"}}},
	{"profile of trtexec", "profile.json", 2, of("profile.json"), [][]string{{"inspect", "layers", "LAYERS", "FILE"}, {"inspect", "layers", "FILE"}}},
	{"times of trtexec", "times.json", 2, of("times.json"), [][]string{{"inspect", "layers", "LAYERS", "PROFILE", "FILE"}, {"inspect", "layers", "FILE"}}},
	{"profile of ONNX Runtime", "runtime.json", 2, text(runtimeProfile), [][]string{{"inspect", "layers", "FILE"}, {"inspect", "layers", "FILE", "--format", "json"}, {"diff", "FILE", "LAYERS,PROFILE"}}},
	{"inputs of Polygraphy", "inputs.json", 2, of("inputs.json"), [][]string{with("run", "MODEL", "--data", "FILE"), with("calibrate", "MODEL", "--calib-data", "FILE")}},
	{"outputs of Polygraphy", "outputs.json", 2, of("outputs.json"), [][]string{with("run", "MODEL", "--items", "1", "--load-outputs", "FILE")}},
}

// writes is a command that writes a few tokens.
func writes(model string, args ...string) []string {
	return with(append([]string{"generate", model, "--tokens", "5", "--timing-cache", "none"}, args...)...)
}

var tokenizerCommands = [][]string{
	writes("LANGUAGE", "--tokenizer", "FILE", "--prompt", "ab ca\xc3\xa9"), writes("CACHED", "--tokenizer", "FILE", "--prompt", "ab\x01"),
	with("run", "LANGUAGE", "--data", "TEXT", "--tokenizer", "FILE", "--items", "2"),
}

// boundsOfTexts are commands whose tokens, lengths and prompts are at edges.
func boundsOfTexts() (list [][]string) {
	for _, n := range []string{"0", "-1", "1", "63", "64", "65", "1000", "16777216", "16777217", "4294967296", "9223372036854775807", "9223372036854775808"} {
		list = append(list, with("generate", "FILE", "--timing-cache", "none", "--ids", "1", "--max-memory", "512MiB", "--length", n, "--tokens", "3"),
			with("generate", "FILE", "--timing-cache", "none", "--ids", "1,2", "--max-memory", "512MiB", "--ignore-end", "--tokens", n),
			writes("FILE", "--ids", n), writes("FILE", "--ids", "1", "--temperature", n, "--top-k", n))
	}
	return list
}

// someText returns a text of letters that tokens have, of any characters, or of bytes that are none.
func someText(rnd *rand.Rand, _ map[string][]byte) []byte {
	text := make([]byte, rnd.IntN(1<<rnd.IntN(12)))
	for i := range text {
		text[i] = "ab c"[rnd.IntN(4)]
	}
	switch rnd.IntN(3) {
	case 0:
		return deformBytes(rnd, text)
	case 1:
		odd := []rune{0, '\x1b', '\u00e9', '\u202e', '\ufeff', '\U0001f600', '\n', '\uffff'}
		return append(text, string(odd[rnd.IntN(len(odd))])...)
	}
	return text
}

// llama2c returns a tokenizer of llama2.c with as many tokens as networks.Language has, of which some act on a terminal.
func llama2c() []byte {
	tokens := []string{"<unk>", "\n<s>\n", "\n</s>\n", " ", "a", "b", "c", "ab", "abc", " a", "\x1b[31m", "\xc3", "\xa9", "\u202e"}
	for len(tokens) < networks.Vocabulary {
		tokens = append(tokens, string(rune('d'+len(tokens))))
	}
	data := binary.LittleEndian.AppendUint32(nil, 8)
	for i, t := range tokens {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(-i)))
		data = append(binary.LittleEndian.AppendUint32(data, uint32(len(t))), t...)
	}
	return data
}

var rangeCommands = [][]string{
	with("run", "MODEL", "--items", "1", "--precision", "int8", "--ranges", "FILE"), with("inspect", "passes", "MODEL", "--precision", "int8", "--ranges", "FILE"),
	with("run", "MODEL", "--items", "1", "--precision", "int8", "--ranges", "FILE", "--calibrator", "entropy"),
}

// text makes deformed copies of a text.
func text(sound string) func(*rand.Rand, map[string][]byte) []byte {
	return func(rnd *rand.Rand, _ map[string][]byte) []byte { return deformed(rnd, []byte(sound)) }
}

// of makes deformed copies of a sound file.
func of(name string) func(*rand.Rand, map[string][]byte) []byte {
	return func(rnd *rand.Rand, sound map[string][]byte) []byte { return deformed(rnd, sound[name]) }
}

// deformed changes a text's bytes, words or lines.
func deformed(rnd *rand.Rand, data []byte) []byte {
	switch rnd.IntN(3) {
	case 0:
		return deformBytes(rnd, data)
	case 1:
		return deformText(rnd, data)
	}
	lines := bytes.Split(data, []byte("\n"))
	for range 1 + rnd.IntN(3) {
		i, j := rnd.IntN(len(lines)), rnd.IntN(len(lines))
		switch rnd.IntN(3) {
		case 0:
			lines[i] = lines[j] // twice
		case 1:
			lines[i], lines[j] = lines[j], lines[i]
		default:
			lines[i] = append([]byte("  \t"), lines[i]...)
		}
	}
	return bytes.Join(lines, []byte("\n"))
}

// plugin is a module with an op, as docs/plugins.md has it made.
//
//go:embed testdata/power.wasm
var plugin []byte

const rules = `# as an exporter writes it
rule spelled-hard-swish: x * relu6(x + 3) / 6
match
    gate = clamp(add(x, 3), 0, 6)
    y = div(mul(x, gate), 6)
where
    x f32|f16[...]
replace
    y = hard_swish(x)

rule written-square: a tensor by itself is its square
match
    y = mul(x, x)
where
    x f32[...]
replace
    y = pow(x, 2)
`

const keys = `everywhere:
  "line": ["up", "down", "k", "j"]
  "ends": ["g", "G", "home", "end"]
  "help": "?"
  "quit": "q"
`

const theme = `{"base": "dark", "colours": {"accent": "#ff8800", "cursor": "#402000"}}`

const budget = `# limits
limits:
  latency_p50: 400 ms
  arena: 12 MiB
  engine_file: 10 %
  launches: 40
`

const tokenizer = `{"version": "1.0", "truncation": null, "padding": null,
 "added_tokens": [{"id": 0, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}],
 "normalizer": {"type": "NFKC"},
 "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
 "post_processor": null,
 "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
 "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": "", "end_of_word_suffix": "", "fuse_unk": false,
  "vocab": {"<s>": 0, "a": 1, "b": 2, "c": 3, "ab": 4, "abc": 5}, "merges": ["a b", "ab c"]}}
`

const runtimeProfile = `[
{"cat": "Session", "pid": 1, "tid": 1, "dur": 2507, "ts": 3, "ph": "X", "name": "model_loading_uri", "args": {}},
{"cat": "Node", "pid": 1, "tid": 1, "dur": 86, "ts": 18931, "ph": "X", "name": "Conv_0_kernel_time", "args": {"op_name": "Conv", "provider": "CPUExecutionProvider", "node_index": "0", "parameter_size": "640", "activation_size": "4096", "output_size": "8192", "input_type_shape": [{"float": [1, 1, 32, 32]}, {"float": [8, 1, 3, 3]}], "output_type_shape": [{"float": [1, 8, 32, 32]}]}},
{"cat": "Node", "pid": 1, "tid": 1, "dur": 12, "ts": 19031, "ph": "X", "name": "Relu_1_kernel_time", "args": {"op_name": "Relu", "provider": "CPUExecutionProvider", "node_index": "1", "input_type_shape": [{"float": [1, 8, 32, 32]}], "output_type_shape": [{"float": [1, 8, 32, 32]}]}},
{"cat": "Session", "pid": 1, "tid": 1, "dur": 681, "ts": 18900, "ph": "X", "name": "SequentialExecutor::Execute", "args": {}}
]
`
