package tokenizer

import (
	"encoding/json"
	"fmt"
)

// section is an object of the file with its place in it. The first mistake that a reader of it finds is kept for all.
type section struct {
	path   string
	fields map[string]json.RawMessage
	err    *error
}

// fail keeps a mistake, unless there is one already.
func (s *section) fail(format string, args ...any) {
	if *s.err == nil {
		*s.err = fmt.Errorf("%s: %w", s.path, fmt.Errorf(format, args...))
	}
}

// unknown says that this kind of thing is not supported.
func (s *section) unknown(what string) {
	s.fail("%s of type %q is not supported", what, s.kind())
}

// decode reads a field into what v points to, if it is there and not null.
func (s *section) decode(name string, v any) (ok bool) {
	raw, ok := s.fields[name]
	if !ok || string(raw) == "null" {
		return false
	}
	if err := json.Unmarshal(raw, v); err != nil {
		s.fail("%s: %v", name, err)
		return false
	}
	return true
}

func (s *section) has(name string) bool {
	raw, ok := s.fields[name]
	return ok && string(raw) != "null"
}

func (s *section) kind() string { return s.textOr("type", "") }

func (s *section) text(name string) string {
	if !s.has(name) {
		s.fail("%s is missing", name)
	}
	return s.textOr(name, "")
}

func (s *section) textOr(name, otherwise string) string {
	s.decode(name, &otherwise)
	return otherwise
}

func (s *section) flag(name string, otherwise bool) bool {
	s.decode(name, &otherwise)
	return otherwise
}

func (s *section) number(name string, otherwise int) int {
	if s.decode(name, &otherwise); otherwise < 0 || otherwise > 1<<20 {
		s.fail("%s is %d", name, otherwise)
		return 0
	}
	return otherwise
}

func (s *section) numbers(name string) []int {
	var list []int
	s.decode(name, &list)
	return list
}

// inner returns an object in this one; an empty one if it is null or missing.
func (s *section) inner(name string) *section {
	return s.child(s.path+"."+name, s.fields[name])
}

func (s *section) child(path string, raw json.RawMessage) *section {
	c := &section{path: path, err: s.err}
	if len(raw) > 0 && string(raw) != "null" {
		if err := json.Unmarshal(raw, &c.fields); err != nil {
			c.fail("%v", err)
		}
	}
	return c
}

// maxNesting bounds how deep sequences lie in each other.
const maxNesting = 16

func (s *section) list(name string) []*section {
	var raws []json.RawMessage
	s.decode(name, &raws)
	var all []*section
	if depth(s.path) > maxNesting {
		s.fail("%s lie in each other more than %d deep", name, maxNesting)
		return nil
	}
	for i, raw := range raws {
		all = append(all, s.child(fmt.Sprintf("%s.%s[%d]", s.path, name, i), raw))
	}
	return all
}

func depth(path string) (n int) {
	for _, c := range path {
		if c == '[' {
			n++
		}
	}
	return n
}

func (s *section) table(name string) map[string]*section {
	var raws map[string]json.RawMessage
	s.decode(name, &raws)
	all := map[string]*section{}
	for key, raw := range raws {
		all[key] = s.child(s.path+"."+name, raw)
	}
	return all
}

// pattern reads {"String": text} or {"Regex": expression}.
func (s *section) pattern(name string) *pattern {
	in := s.inner(name)
	if in.has("Regex") {
		p, err := compile(in.text("Regex"))
		if err != nil {
			s.fail("%v", err)
			return &pattern{}
		}
		return p
	}
	return &pattern{text: in.text("String")}
}

// behavior is what becomes of matches.
func (s *section) behavior(otherwise string) string {
	b := s.textOr("behavior", otherwise)
	switch b {
	case removed, isolated, contiguous, withBefore, withBehind:
		return b
	}
	s.fail("behavior %q is not supported", b)
	return isolated
}

// mark is the character that stands for a space.
func (s *section) mark() string { return s.textOr("replacement", "\u2581") }

// scheme says where a mark is set before text: always, first or never. Older files have a flag.
func (s *section) scheme() string {
	scheme := "always"
	if !s.flag("add_prefix_space", true) {
		scheme = "never"
	}
	switch scheme = s.textOr("prepend_scheme", scheme); scheme {
	case "always", "first", "never":
		return scheme
	}
	s.fail("prepend_scheme %q is not supported", scheme)
	return "always"
}

// tokenPair reads ["[CLS]", 101], of which it returns the number.
func (s *section) tokenPair(name string) int {
	var two []json.RawMessage
	id := -1
	if s.decode(name, &two); len(two) != 2 || json.Unmarshal(two[1], &id) != nil {
		s.fail("%s is no pair of a token and its number", name)
	}
	return id
}
