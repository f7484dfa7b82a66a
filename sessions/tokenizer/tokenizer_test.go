package tokenizer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every kind of tokenizer makes of every text what Hugging Face's library makes of it (testdata/make.py), both ways.
func TestAgainstTheLibrary(t *testing.T) {
	files, err := filepath.Glob("testdata/*.cases.json")
	if err != nil || len(files) < 9 {
		t.Fatalf("%d files of cases, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".cases.json")
		t.Run(name, func(t *testing.T) {
			var cases []struct {
				Text, Decoded string
				IDs           []int
			}
			data, err := os.ReadFile(file)
			if err == nil {
				err = json.Unmarshal(data, &cases)
			}
			if err != nil {
				t.Fatal(err)
			}
			tok, err := Open(filepath.Join("testdata", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cases {
				ids, err := tok.Encode(c.Text)
				if err != nil {
					t.Errorf("%q: %v", c.Text, err)
				}
				if !slices.Equal(ids, c.IDs) {
					t.Errorf("%q is %v, want %v: %q, want %q", c.Text, ids, c.IDs, names(tok, ids), names(tok, c.IDs))
				}
				if got := tok.Decode(c.IDs); got != c.Decoded {
					t.Errorf("%v is %q, want %q", c.IDs, got, c.Decoded)
				}
			}
		})
	}
}

func names(t *Tokenizer, ids []int) (list []string) {
	for _, id := range ids {
		list = append(list, t.Token(id))
	}
	return list
}
