package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/tokenizer"
)

// story is what a trained model wrote elsewhere, always with the best token.
type story struct {
	Prompt string
	IDs    []int `json:"prompt_ids"`
	Greedy []int `json:"greedy_ids"`
}

// stories returns the folder of the model and what it is to write.
func stories(t *testing.T) (folder string, all []story) {
	t.Helper()
	data := os.Getenv("TRTUI_DATA")
	if data == "" {
		t.Skip("TRTUI_DATA names no folder with models")
	}
	folder = filepath.Join(data, "models", "stories260K-llama")
	text, err := os.ReadFile(filepath.Join(folder, "greedy_golden.json"))
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil || len(all) == 0 {
		t.Fatal(err)
	}
	return folder, all
}

// A trained model writes its goldens, token by token; on the simulated GPU the beginning of one.
func TestGenerateGoldens(t *testing.T) {
	folder, all := stories(t)
	model := filepath.Join(folder, "stories260K_dyn.onnx")
	for i, s := range all {
		for _, backend := range []string{"cpu", "cudasim"} {
			want := s.Greedy[len(s.IDs):]
			if backend == "cudasim" {
				if want = want[:2]; i != 1 || testing.Short() {
					continue
				}
			}
			out, _ := command(t, 0, "generate", model, "--tokenizer", filepath.Join(folder, "tok512.bin"), "--prompt", s.Prompt,
				"--tokens", strconv.Itoa(len(want)), "--backend", backend, "--format", "json", "-q")
			var got struct {
				Text         string
				PromptTokens int `json:"prompt_tokens"`
				Tokens       []int
			}
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Tokens, want) || got.PromptTokens != len(s.IDs) || !strings.HasPrefix(got.Text, s.Prompt) {
				t.Errorf("%s: %q goes on with %v, want %v: %q", backend, s.Prompt, got.Tokens, want, got.Text)
			}
		}
	}
}

// --per-layer times the layers of a model with state for prompts and for single tokens, side by side.
func TestGeneratePerLayer(t *testing.T) {
	model := filepath.Join("..", "sessions", "generate", "testdata", "llama.onnx")
	args := []string{"generate", model, "--ids", "1,2,3", "--tokens", "3", "--per-layer", "-q", "--timing-cache", filepath.Join(t.TempDir(), "c")}
	out, _ := command(t, 0, args...)
	for _, want := range []string{"prefill, 16 tokens at once: median", "decode, 1 token at once: median", "attention_f32", "prefill µs", "decode µs"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	out, _ = command(t, 0, append(args, "--format", "json")...)
	var got struct {
		Phases []struct {
			Name   string
			Tokens int
			Layers []struct {
				Name   string
				Median *float64 `json:"median_ms"`
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Phases) != 2 || got.Phases[1].Name != "decode" || got.Phases[1].Tokens != 1 || len(got.Phases[1].Layers) == 0 || got.Phases[1].Layers[0].Median == nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A model of a fixed length says when it is full, and what is missing or wrong is named.
func TestGenerateErrors(t *testing.T) {
	folder, _ := stories(t)
	fixed, tokens := filepath.Join(folder, "stories260K_seq64.onnx"), filepath.Join(folder, "tok512.bin")
	out, _ := command(t, 0, "generate", fixed, "--tokenizer", tokens, "--prompt", "The dog was", "--tokens", "100", "-q")
	if !strings.Contains(out, "The dog was a big, red ball.") || !strings.Contains(out, "60 new tokens") || !strings.Contains(out, "takes no more tokens") {
		t.Errorf("it writes %q", out)
	}
	out, _ = command(t, 0, "generate", filepath.Join(folder, "stories260K_dyn.onnx"), "--ids", "1", "--tokens", "1000", "-q") // it has 256 positions
	if !strings.Contains(out, "256 new tokens") || !strings.Contains(out, "takes no more tokens") {
		t.Errorf("it writes %q", out)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"there is no tokenizer.json beside", []string{fixed, "--prompt", "x"}},
		{"give one or the other", []string{fixed, "--prompt", "x", "--ids", "1"}},
		{"the prompt has no tokens", []string{fixed, "--tokenizer", filepath.Join("..", "sessions", "tokenizer", "testdata", "gpt2.json")}},
		{"token 600: the model has 512", []string{fixed, "--ids", "600"}},
		{"token -1: the model has 512", []string{fixed, "--ids", "-1"}},
		{"the prompt has 70 tokens, there is room for 64", []string{fixed, "--ids", strings.Repeat("1,", 69) + "1"}},
		{"prompt: the text is not UTF-8", []string{fixed, "--tokenizer", tokens, "--prompt", "a\xff"}},
		{"--tokens 0", []string{fixed, "--ids", "1", "--tokens", "0"}},
		{"--tokens 9223372036854775807: want 1 to", []string{fixed, "--ids", "1", "--tokens", "9223372036854775807"}},
		{"--length 1000000000000: want 0 to", []string{fixed, "--ids", "1", "--length", "1000000000000"}},
		{"is 0 to 1", []string{fixed, "--ids", "1", "--top-p", "2"}},
		{"name a text by --calib-data, or a file of trtui calibrate by --ranges", []string{fixed, "--ids", "1", "--precision", "int8"}},
		{"what it is for is not known", []string{filepath.Join("..", "testdata", "digits.onnx"), "--ids", "1"}},
		{"no such file", []string{"nothing.onnx", "--ids", "1"}},
	} {
		if _, text := command(t, exitFailure, append([]string{"generate"}, c.args...)...); !strings.Contains(text, c.want) {
			t.Errorf("trtui generate %v says %q, want %q", c.args, text, c.want)
		}
	}
}

// What a tokenizer has tokens for that act on a terminal is spelled out.
func TestGenerateVisibly(t *testing.T) {
	for i, want := range []string{"a", `\x1b[31m`, `\u202e`} {
		tok, err := tokenizer.Parse([]byte(`{"model": {"type": "BPE", "vocab": {"a": 0, "\u001b[31m": 1, "\u202e": 2}, "merges": []}}`))
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		w := newTextWriter(&out, tok, []int{0}, false)
		if err := w.add(i); err != nil || out.String() != "a "+want {
			t.Errorf("token %d is written as %q, %v", i, &out, err)
		}
	}
}

// A recording of a session on a language model, whose tokenizer is there, has the text that it wrote, and the layers' times.
func TestRecordedText(t *testing.T) {
	folder, _ := stories(t)
	file := filepath.Join(t.TempDir(), "a.trtui")
	command(t, 0, "record", filepath.Join(folder, "stories260K_dyn.onnx"), "--shapes", "tokens:1x16", "--random-items", "2", "--precision", "fp32",
		"--tokenizer", filepath.Join(folder, "tok512.bin"), "-q", "-o", file)
	r, err := recording.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	snap, err := r.At(len(r.Steps()) - 1)
	if err != nil {
		t.Fatal(err)
	}
	g := snap.Generation
	if g == nil || !strings.HasPrefix(g.Text, livePrompt) || len(g.Tokens) != liveTokens || g.Rate <= 0 || len(g.Phases) == 0 || len(g.Phases[0].Layers) == 0 {
		t.Errorf("the last state has %+v", g)
	}
}
