package ptx

import (
	"math"
	"strconv"
	"strings"
)

// tokenKind is the kind of a token of PTX text.
type tokenKind uint8

const (
	eof       tokenKind = iota
	word                // identifier, register, dotted opcode
	directive           // one dotted word: ".reg"
	number
	text // in quotes
	mark // one character
)

// token is one token and where it stands.
type token struct {
	kind tokenKind
	text string
	line int
}

// lexer cuts text into tokens. Comments and white space separate them.
type lexer struct {
	src  string
	at   int
	line int
}

// next is the next token; eof at the end, and ever after.
func (l *lexer) next() token {
	l.skipSpace()
	t := token{line: l.line}
	if l.at >= len(l.src) {
		return t
	}
	start, c := l.at, l.src[l.at]
	switch {
	case c == '.':
		t.kind = directive
		l.at++
		l.take(isWord)
	case isWord(c) && (c < '0' || c > '9'):
		t.kind = word
		for l.take(isWord); l.at+1 < len(l.src); l.take(isWord) {
			if l.src[l.at] == '.' && isWord(l.src[l.at+1]) {
				l.at++
			} else if strings.HasPrefix(l.src[l.at:], "::") && l.at+2 < len(l.src) && isWord(l.src[l.at+2]) {
				l.at += 2
			} else {
				break
			}
		}
	case '0' <= c && c <= '9':
		t.kind = number
		l.take(func(c byte) bool { return isWord(c) || c == '.' })
		if e := l.src[l.at-1]; (e == 'e' || e == 'E') && !strings.ContainsAny(l.src[start:start+min(2, l.at-start)], "xXfFdD") && l.at < len(l.src) && (l.src[l.at] == '+' || l.src[l.at] == '-') {
			l.at++
			l.take(isWord)
		}
	case c == '"':
		t.kind = text
		l.at++
		for l.at < len(l.src) && l.src[l.at] != '"' && l.src[l.at] != '\n' {
			l.at++
		}
		l.at = min(l.at+1, len(l.src))
	default:
		t.kind = mark
		l.at++
	}
	t.text = l.src[start:l.at]
	return t
}

// take passes over characters of a kind.
func (l *lexer) take(is func(byte) bool) {
	for l.at < len(l.src) && is(l.src[l.at]) {
		l.at++
	}
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c == '%'
}

// skipSpace passes over white space and comments.
func (l *lexer) skipSpace() {
	for l.at < len(l.src) {
		rest := l.src[l.at:]
		switch {
		case rest[0] == '\n':
			l.line++
			l.at++
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r':
			l.at++
		case strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			l.at += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest, "*/")
			if n < 0 {
				n = len(rest) - 2
			}
			l.line += strings.Count(rest[:n+2], "\n")
			l.at += n + 2
		default:
			return
		}
	}
}

// parseNumber reads a constant (PTX ISA 4.5): decimal, 0x, octal and 0b integers with an optional U; 0f and 0d bits of
// floats; decimal floats, which are of 64 bits.
func parseNumber(s string) (o Operand, ok bool) {
	o.Kind = ImmOperand
	if len(s) > 2 && s[0] == '0' && (s[1]|0x20 == 'f' || s[1]|0x20 == 'd') {
		o.Float = 32
		if s[1]|0x20 == 'd' {
			o.Float = 64
		}
		n, err := strconv.ParseUint(s[2:], 16, o.Float)
		o.Imm = int64(n)
		return o, err == nil && len(s) == 2+o.Float/4
	}
	digits := strings.TrimSuffix(s, "U")
	if n, err := strconv.ParseUint(digits, 0, 64); err == nil && !strings.Contains(s, "_") && !strings.HasPrefix(s, "0o") {
		o.Imm = int64(n)
		return o, true
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && !strings.ContainsAny(s, "_xX") {
		o.Imm, o.Float = int64(math.Float64bits(f)), 64
		return o, true
	}
	return o, false
}
