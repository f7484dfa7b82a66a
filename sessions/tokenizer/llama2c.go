package tokenizer

import (
	"encoding/binary"
	"fmt"
	"math"
)

// llama2c's file is the length of the longest token and then, for each, its score, its length and its bytes. The first three
// are what is unknown, what begins a text and what ends it; those of the 256 bytes follow.
const (
	llama2cBegin, llama2cEnd = 1, 2
	llama2cBytes             = 3
)

// parseLlama2c reads a tokenizer of llama2.c. Pairs are merged by the score of what they become, the best first.
func parseLlama2c(data []byte) (*Tokenizer, error) {
	t := &Tokenizer{ids: map[string]int{}, special: map[int]bool{0: true, llama2cBegin: true, llama2cEnd: true}}
	var scores []float64
	if len(data) < 4 {
		return nil, fmt.Errorf("it has %d bytes", len(data))
	}
	for rest := data[4:]; len(rest) > 0; {
		if len(rest) < 8 {
			return nil, fmt.Errorf("token %d is cut off", len(t.tokens))
		}
		score, size := math.Float32frombits(binary.LittleEndian.Uint32(rest)), int64(binary.LittleEndian.Uint32(rest[4:]))
		rest = rest[8:]
		if size > int64(len(rest)) || size > 1<<10 || score != score || len(t.tokens) >= maxTokens {
			return nil, fmt.Errorf("token %d is wrong or cut off", len(t.tokens))
		}
		token := string(rest[:size])
		if _, ok := t.ids[token]; !ok {
			t.ids[token] = len(t.tokens)
		}
		t.tokens, scores, rest = append(t.tokens, token), append(scores, float64(score)), rest[size:]
	}
	if len(t.tokens) < llama2cBytes {
		return nil, fmt.Errorf("it has %d tokens", len(t.tokens))
	}
	t.model = &bpe{ids: t.ids, merges: llama2cMerges(t.tokens, t.ids, scores), unknown: -1, byteFallback: true}
	t.ends = []int{llama2cBegin, llama2cEnd}
	t.split = []splitter{rewritten(func(text string) string { return " " + text })}
	t.template.before = []int{llama2cBegin}
	t.decoders = []decoder{decodeFallback, decodeStripFirst}
	return t, nil
}

// llama2cMerges lists all ways in which a token is two others.
func llama2cMerges(tokens []string, ids map[string]int, scores []float64) map[pair]merge {
	all := map[pair]merge{}
	for id, token := range tokens {
		if ids[token] != id {
			continue
		}
		for cut := 1; cut < len(token); cut++ {
			left, ok := ids[token[:cut]]
			right, ok2 := ids[token[cut:]]
			if ok && ok2 {
				all[pair{left, right}] = merge{-scores[id], id}
			}
		}
	}
	return all
}

// decodeStripFirst takes the space from before the text that encoding set there.
func decodeStripFirst(tokens []string) []string {
	if len(tokens) > 0 && len(tokens[0]) > 0 && tokens[0][0] == ' ' {
		tokens[0] = tokens[0][1:]
	}
	return tokens
}
