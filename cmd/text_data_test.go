package cmd

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const lily = "Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, she saw a big, red ball. " +
	"She wanted to play with it, but it was too high. Lily's mom said, \"Lily, let's go to the park.\" Lily was sad and didn't know what to do. " +
	"She said, \"I want to play with you, but I can't find it.\" Her mom helped her get the ball. Lily was happy and thanked her mom. " +
	"They played all day until the sun went down.\n"

// TestPerplexity: that of a text in pieces of 32 tokens is what ONNX Runtime 1.32's outputs give in float64.
func TestPerplexity(t *testing.T) {
	folder, _ := stories(t)
	text := filepath.Join(t.TempDir(), "story.txt")
	if err := os.WriteFile(text, []byte(lily), 0o600); err != nil {
		t.Fatal(err)
	}
	model, tokens := filepath.Join(folder, "stories260K_dyn.onnx"), filepath.Join(folder, "tok512.bin")
	out, _ := command(t, 0, "eval", model, "--data", text, "--tokenizer", tokens, "--shapes", "tokens:1x32", "--precision", "fp32,fp16", "--format", "json", "-q")
	var doc struct {
		Rows []struct {
			Top1, Perplexity float64
			Tokens           int
		} `json:"rows"`
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || len(doc.Rows) != 2 {
		t.Fatalf("%v in\n%s", err, out)
	}
	for i, bound := range []float64{1e-6, 2e-3} {
		if r := doc.Rows[i]; !(math.Abs(r.Perplexity-2.6791304) <= bound) || r.Tokens != 169 || i == 0 && math.Abs(r.Top1-76.92307692) > 1e-6 {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"", "there is no tokenizer.json beside"},
		{"--tokenizer " + tokens + " --mean 0.5", "--mean is for numbers and images"},
		{"--tokenizer " + tokens + " --items 99", "has 6"},
	} {
		_, text := command(t, 2, append([]string{"eval", model, "--data", text, "--shapes", "tokens:1x32"}, strings.Fields(c.args)...)...)
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: %s, want %q", c.args, text, c.want)
		}
	}
}
