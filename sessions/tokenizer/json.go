package tokenizer

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// maxTokens bounds the ids of a vocabulary: the largest that are in use have some 260,000.
const maxTokens = 1 << 22

// parseJSON reads a tokenizer.json.
func parseJSON(data []byte) (*Tokenizer, error) {
	var err error
	root := (&section{err: &err}).child("tokenizer", data)
	t := &Tokenizer{ids: map[string]int{}, special: map[int]bool{}}
	t.normalize = normalizerOf(root.inner("normalizer"))
	t.split = splittersOf(root.inner("pre_tokenizer"))
	t.template = templateOf(root.inner("post_processor"))
	t.joins = !root.has("decoder")
	t.decoders = decodersOf(root.inner("decoder"))
	t.readModel(root.inner("model"))
	for _, a := range root.list("added_tokens") {
		t.readAdded(a)
	}
	if err == nil {
		err = t.check()
	}
	if err != nil {
		return nil, err
	}
	for _, name := range ends {
		if id, ok := t.ids[name]; ok {
			t.ends = append(t.ends, id)
		}
	}
	return t, t.prepareAdded()
}

// ends are the names that tokens have which end a text.
var ends = []string{"</s>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|im_end|>", "<eos>", "<end_of_turn>", "<|end|>", "<|return|>", "[EOS]"}

// check looks whether what was read fits together.
func (t *Tokenizer) check() error {
	for _, id := range append(append([]int{}, t.template.before...), t.template.behind...) {
		if t.Token(id) == "" {
			return fmt.Errorf("tokenizer.post_processor: there is no token %d", id)
		}
	}
	return nil
}

// add gives a token its id.
func (t *Tokenizer) add(s *section, token string, id int) {
	if id < 0 || id >= maxTokens {
		s.fail("token %q has the id %d", token, id)
		return
	}
	for len(t.tokens) <= id {
		t.tokens = append(t.tokens, make([]string, max(id+1-len(t.tokens), len(t.tokens)/8))...)
	}
	t.tokens[id], t.ids[token] = token, id
}

func (t *Tokenizer) readAdded(s *section) {
	a := addedToken{id: -1, content: s.text("content"), single: s.flag("single_word", false), left: s.flag("lstrip", false),
		right: s.flag("rstrip", false), normalized: s.flag("normalized", !s.flag("special", false))}
	if s.decode("id", &a.id); a.content == "" {
		return
	}
	if t.add(s, a.content, a.id); s.flag("special", false) {
		t.special[a.id] = true
	}
	t.added = append(t.added, a)
}

func (t *Tokenizer) readModel(s *section) {
	kind := s.kind()
	if kind == "" { // older files do not name it
		for name, field := range map[string]string{"BPE": "merges", "WordPiece": "max_input_chars_per_word", "Unigram": "unk_id"} {
			if s.has(field) {
				kind = name
			}
		}
	}
	if kind == "Unigram" {
		t.readUnigram(s)
	} else {
		t.readVocabulary(s)
	}
	switch kind {
	case "Unigram":
	case "BPE":
		t.readBPE(s)
	case "WordPiece":
		t.model = &wordPiece{ids: t.ids, unknown: t.unknown(s), prefix: s.textOr("continuing_subword_prefix", "##"), longest: s.number("max_input_chars_per_word", 100)}
	case "WordLevel":
		t.model = &wordPiece{ids: t.ids, unknown: t.unknown(s), whole: true}
	default:
		s.unknown("model")
	}
}

func (t *Tokenizer) readVocabulary(s *section) {
	var vocabulary map[string]int
	s.decode("vocab", &vocabulary)
	largest := -1
	for token, id := range vocabulary {
		if largest = max(largest, id); id < 0 || id >= maxTokens {
			s.fail("token %q has the id %d", token, id)
			return
		}
	}
	t.tokens = make([]string, largest+1)
	for token, id := range vocabulary {
		t.tokens[id], t.ids[token] = token, id
	}
}

// unknown returns the id of the token for what is unknown, -1 if there is none.
func (t *Tokenizer) unknown(s *section) int {
	id, ok := t.ids[s.textOr("unk_token", "")]
	if !ok {
		return -1
	}
	return id
}

func (t *Tokenizer) readBPE(s *section) {
	m := &bpe{ids: t.ids, unknown: t.unknown(s), fuseUnknown: s.flag("fuse_unk", false), byteFallback: s.flag("byte_fallback", false),
		prefix: s.textOr("continuing_subword_prefix", ""), suffix: s.textOr("end_of_word_suffix", ""), whole: s.flag("ignore_merges", false)}
	var merges []json.RawMessage
	s.decode("merges", &merges)
	m.merges = make(map[pair]merge, len(merges))
	for rank, raw := range merges {
		left, right, ok := mergeOf(raw)
		a, ok1 := t.ids[left]
		b, ok2 := t.ids[right]
		to, ok3 := t.ids[left+strings.TrimPrefix(right, m.prefix)]
		if !ok || !ok1 || !ok2 || !ok3 {
			s.fail("merge %d, %s, is not of two tokens into a third", rank, raw)
			return
		}
		m.merges[pair{a, b}] = merge{float64(rank), to}
	}
	t.model = m
}

// mergeOf reads a merge: ["a", "b"], or "a b" in older files.
func mergeOf(raw json.RawMessage) (left, right string, ok bool) {
	var two []string
	if json.Unmarshal(raw, &two) == nil {
		if len(two) != 2 {
			return "", "", false
		}
		return two[0], two[1], true
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return "", "", false
	}
	return strings.Cut(text, " ")
}

func (t *Tokenizer) readUnigram(s *section) {
	var pairs [][]json.RawMessage
	s.decode("vocab", &pairs)
	m := &unigram{ids: t.ids, unknown: -1, byteFallback: s.flag("byte_fallback", false), lowest: math.Inf(1)}
	for id, p := range pairs {
		var token string
		var score float64
		if len(p) != 2 || json.Unmarshal(p[0], &token) != nil || json.Unmarshal(p[1], &score) != nil {
			s.fail("vocab: entry %d is no pair of a token and its score", id)
			return
		}
		t.tokens = append(t.tokens, token)
		t.ids[token] = id
		m.scores, m.longest, m.lowest = append(m.scores, score), max(m.longest, len(token)), min(m.lowest, score)
	}
	if s.has("unk_id") {
		m.unknown = s.number("unk_id", 0)
		if m.unknown >= len(t.tokens) {
			s.fail("unk_id is %d of %d tokens", m.unknown, len(t.tokens))
		}
	}
	m.lowest -= unknownPenalty
	m.ids = make(map[string]int, len(t.ids)) // added tokens are no part of it
	for token, id := range t.ids {
		m.ids[token] = id
	}
	t.model = m
}
