package ptx

import "strings"

// tokenKind is what a token is.
type tokenKind uint8

const (
	tokenEnd       tokenKind = iota
	tokenWord                // identifier, opcode with its modifiers, special register: "ld.global.f32", "%tid.x"
	tokenDirective           // ".reg"
	tokenNumber              // as written
	tokenString              // with its quotes
	tokenPunct               // one byte
)

// token is a word of the text.
type token struct {
	kind tokenKind
	text string
	line int
	at   int // offset in the text
}

// is reports whether the token is the punctuation mark or directive s.
func (t token) is(s string) bool {
	return (t.kind == tokenPunct || t.kind == tokenDirective) && t.text == s
}

// String is the token as an error shows it.
func (t token) String() string {
	if t.kind == tokenEnd {
		return "end of text"
	}
	return clip(t.text)
}

// clip shortens a piece of the text for an error: runs of spaces become one, and 100 bytes are enough.
func clip(text string) string {
	const most = 100
	if len(text) > 4*most {
		text = text[:4*most]
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// lexer cuts a text into tokens.
type lexer struct {
	text string
	at   int
	line int
}

// skip passes blanks and comments.
func (l *lexer) skip() {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch {
		case rest[0] == '\n':
			l.line++
			l.at++
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r':
			l.at++
		case strings.HasPrefix(rest, "//"):
			l.skipLine()
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				end = len(rest) - 4
			}
			l.line += strings.Count(rest[:end+4], "\n")
			l.at += end + 4
		default:
			return
		}
	}
}

// skipLine passes the rest of the line, but not its end.
func (l *lexer) skipLine() {
	if n := strings.IndexByte(l.text[l.at:], '\n'); n >= 0 {
		l.at += n
		return
	}
	l.at = len(l.text)
}

// next is the next token.
func (l *lexer) next() token {
	l.skip()
	t := token{line: l.line, at: l.at}
	if l.at == len(l.text) {
		return t
	}
	switch c := l.text[l.at]; {
	case c == '.' && l.at+1 < len(l.text) && nameByte(l.text[l.at+1]):
		t.kind = tokenDirective
		l.at++
		for l.at < len(l.text) && nameByte(l.text[l.at]) {
			l.at++
		}
	case '0' <= c && c <= '9':
		t.kind = tokenNumber
		l.number()
	case nameByte(c):
		t.kind = tokenWord
		l.word()
	case c == '"':
		t.kind = tokenString
		l.at++
		for l.at < len(l.text) && l.text[l.at] != '"' && l.text[l.at] != '\n' {
			l.at++
		}
		if l.at < len(l.text) && l.text[l.at] == '"' {
			l.at++
		}
	default:
		t.kind = tokenPunct
		l.at++
	}
	t.text = l.text[t.at:l.at]
	return t
}

// word passes a name with what follows it after dots and double colons.
func (l *lexer) word() {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch {
		case nameByte(rest[0]):
			l.at++
		case rest[0] == '.' && len(rest) > 1 && nameByte(rest[1]):
			l.at++
		case strings.HasPrefix(rest, "::") && len(rest) > 2 && nameByte(rest[2]):
			l.at += 2
		default:
			return
		}
	}
}

// number passes a number: decimal, hexadecimal, octal, binary, the bits of a float, or a decimal float.
func (l *lexer) number() {
	start := l.at
	for l.at < len(l.text) {
		c := l.text[l.at]
		prefixed := l.at > start+1 && strings.IndexByte("xXfFdDbB", l.text[start+1]) >= 0
		sign := (c == '+' || c == '-') && !prefixed && (l.text[l.at-1]|0x20) == 'e'
		if !nameByte(c) && c != '.' && (!sign || l.at == start) {
			return
		}
		l.at++
	}
}

// nameByte reports whether c may be part of a name.
func nameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c == '%'
}
