package tokenizer

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/rivo/uniseg"
)

// charsMap is sentencepiece's compiled table of replacements: a double array in the form of the Darts library, in which the
// beginnings of a text are looked up, and the texts that it leads to, each ended by a zero byte.
type charsMap struct {
	units []uint32
	texts []byte
}

// charsMap reads a table; its text is base64 of the array's size in bytes, the array and the texts.
func (s *section) charsMap(name string) func(string) string {
	raw, err := base64.StdEncoding.DecodeString(s.textOr(name, ""))
	if err != nil {
		s.fail("%s: %v", name, err)
	}
	if len(raw) == 0 {
		return func(text string) string { return text }
	}
	size := 0
	if len(raw) >= 4 {
		size = int(binary.LittleEndian.Uint32(raw))
	}
	if len(raw) < 4 || size%4 != 0 || size > len(raw)-4 {
		s.fail("%s is cut off", name)
		return nil
	}
	m := charsMap{units: make([]uint32, size/4), texts: raw[4+size:]}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(raw[4+4*i:])
	}
	return m.normalize
}

// The bits of a unit: whether it has a leaf, what byte leads to it, and where its children begin.
func hasLeaf(u uint32) bool  { return u>>8&1 == 1 }
func label(u uint32) uint32  { return u & (1<<31 | 0xff) }
func value(u uint32) int     { return int(u & (1<<31 - 1)) }
func offset(u uint32) uint32 { return u >> 10 << (u & (1 << 9) >> 6) }

// lookup returns what the shortest beginning of a text becomes that the table has; ok is false if it has none.
func (m charsMap) lookup(text string) (to string, ok bool) {
	if len(m.units) == 0 {
		return "", false
	}
	at := offset(m.units[0])
	for i := range len(text) {
		at ^= uint32(text[i])
		if int(at) >= len(m.units) || label(m.units[at]) != uint32(text[i]) {
			break
		}
		u := m.units[at]
		at ^= offset(u)
		if !hasLeaf(u) {
			continue
		}
		if int(at) >= len(m.units) || value(m.units[at]) > len(m.texts) {
			break
		}
		to, _, _ := bytes.Cut(m.texts[value(m.units[at]):], []byte{0})
		return string(to), true
	}
	return "", false
}

// normalize replaces letter by letter. A letter that is written as several runes is looked up as a whole first, if it is short;
// as in the library that files come from, what its beginning becomes then stands for all of it.
func (m charsMap) normalize(text string) string {
	var b strings.Builder
	for text != "" {
		letter, rest, _, _ := uniseg.FirstGraphemeClusterInString(text, -1)
		text = rest
		if to, ok := m.lookup(letter); ok && len(letter) < 6 {
			b.WriteString(to)
			continue
		}
		for _, r := range letter {
			if to, ok := m.lookup(string(r)); ok {
				b.WriteString(to)
			} else {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}
