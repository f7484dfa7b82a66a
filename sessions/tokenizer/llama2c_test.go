package tokenizer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The tokenizer of a trained model makes of prompts what its goldens say, and its texts of tokens.
func TestLlama2c(t *testing.T) {
	data := os.Getenv("TRTUI_DATA")
	if data == "" {
		t.Skip("TRTUI_DATA names no folder with models")
	}
	folder := filepath.Join(data, "models", "stories260K-llama")
	tok, err := Open(filepath.Join(folder, "tok512.bin"))
	if err != nil {
		t.Fatal(err)
	}
	var goldens []struct {
		Prompt string
		IDs    []int `json:"prompt_ids"`
		Greedy []int `json:"greedy_ids"`
	}
	text, err := os.ReadFile(filepath.Join(folder, "greedy_golden.json"))
	if err == nil {
		err = json.Unmarshal(text, &goldens)
	}
	if err != nil || len(goldens) == 0 {
		t.Fatal(err)
	}
	for _, g := range goldens {
		ids, err := tok.Encode(g.Prompt)
		if err != nil || !slices.Equal(ids, g.IDs) {
			t.Errorf("%q is %v, %v, want %v", g.Prompt, ids, err, g.IDs)
		}
		story := tok.Decode(g.Greedy)
		again, err := tok.Encode(story)
		if err != nil || !slices.Equal(again, g.Greedy) {
			t.Errorf("%q is %v, %v, want %v", story, again, err, g.Greedy)
		}
		if got := tok.Decode(ids); got != g.Prompt {
			t.Errorf("%v is %q, want %q", ids, got, g.Prompt)
		}
	}
	if tok.Size() != 512 || !slices.Equal(tok.Ends(), []int{1, 2}) {
		t.Errorf("%d tokens, ended by %v", tok.Size(), tok.Ends())
	}
}
