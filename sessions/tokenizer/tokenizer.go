// Package tokenizer turns text into the tokens that language models read, and back. It reads the tokenizer.json of Hugging
// Face's tokenizers library (BPE, Unigram, WordPiece, WordLevel, with their normalisers, splits, templates and decoders) and
// the .bin of llama2.c. What a file asks for and this package does not have is an error that names it. Start with [Open];
// json.go reads the files, the steps of encoding are normalize.go, split.go, the models, and template.go; decode.go is the way
// back.
package tokenizer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/trtui/trtui/internal/host"
)

// maxFile is more than any tokenizer has: the largest vocabularies take some 30 MB.
const maxFile = 256 << 20

// Tokenizer encodes and decodes. It may be used by several goroutines at once.
type Tokenizer struct {
	added     []addedToken
	normalize []normalizer
	split     []splitter
	model     model
	template  template
	decoders  []decoder
	tokens    []string       // by id; "" where there is none
	ids       map[string]int // by token
	special   map[int]bool   // tokens that are no text
	ends      []int          // tokens that end a text
	joins     bool           // tokens without a decoder have spaces between them
}

// model cuts a piece of text, which normalisation and splits have made, into tokens.
type model interface {
	tokenize(piece string) ([]int, error)
}

// Open reads a tokenizer: a tokenizer.json, a folder that has one, or a tokenizer of llama2.c.
func Open(path string) (*Tokenizer, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "tokenizer.json")
	}
	data, err := host.ReadUpTo(path, maxFile)
	if err != nil {
		return nil, err
	}
	t, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// Parse reads a tokenizer from memory.
func Parse(data []byte) (*Tokenizer, error) {
	if text := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n"); len(text) > 0 && text[0] == '{' {
		return parseJSON(text)
	}
	t, err := parseLlama2c(data)
	if err != nil {
		return nil, fmt.Errorf("it is neither a tokenizer.json nor a tokenizer of llama2.c: %w", err)
	}
	return t, nil
}

// Size returns how many tokens there are, which is one more than the largest id.
func (t *Tokenizer) Size() int { return len(t.tokens) }

// Token returns the token with an id as the vocabulary has it, "" if there is none.
func (t *Tokenizer) Token(id int) string {
	if id < 0 || id >= len(t.tokens) {
		return ""
	}
	return t.tokens[id]
}

// ID returns the id of a token of the vocabulary.
func (t *Tokenizer) ID(token string) (int, bool) {
	id, ok := t.ids[token]
	return id, ok
}

// Ends returns the tokens after which nothing follows. A tokenizer.json does not say which they are: they are known by their
// names.
func (t *Tokenizer) Ends() []int { return t.ends }

var errUTF8 = errors.New("the text is not UTF-8")

// Encode returns the tokens of a text, with those around it that the tokenizer's template adds, such as one that begins it.
func (t *Tokenizer) Encode(text string) ([]int, error) {
	if !utf8.ValidString(text) {
		return nil, errUTF8
	}
	segments, err := t.segments(text)
	if err != nil {
		return nil, err
	}
	var ids []int
	for _, p := range segments {
		if p.token >= 0 {
			ids = append(ids, p.token)
			continue
		}
		pieces := []piece{p}
		for _, s := range t.split {
			if pieces, err = s(pieces); err != nil {
				return nil, err
			}
		}
		for _, p := range pieces {
			if p.text == "" {
				continue
			}
			some, err := t.model.tokenize(p.text)
			if err != nil {
				return nil, err
			}
			ids = append(ids, some...)
		}
	}
	return t.template.around(ids), nil
}

// Decode returns the text of tokens, without those that are no text. Bytes that are no UTF-8, such as the first half of a
// letter, become U+FFFD.
func (t *Tokenizer) Decode(ids []int) string {
	var tokens []string
	for _, id := range ids {
		if token := t.Token(id); token != "" && !t.special[id] {
			tokens = append(tokens, token)
		}
	}
	if t.joins {
		return strings.Join(tokens, " ")
	}
	for _, d := range t.decoders {
		tokens = d(tokens)
	}
	return strings.ToValidUTF8(strings.Join(tokens, ""), "\ufffd")
}
