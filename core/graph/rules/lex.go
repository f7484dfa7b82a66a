package rules

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is what is wrong in a file of rules, and where.
type Error struct {
	File string
	At   Position
	Text string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.At.Line, e.At.Column, e.Text)
}

// token is a word, number or sign of a line; kind is 'a' for words, '0' for numbers, '$' for variables, 's' for signs and 'e' for
// the end of the line.
type token struct {
	kind   byte
	text   string
	column int
	space  bool // there is space before it
}

// Bounds of what a file may have.
const (
	MaxBytes      = 1 << 20
	MaxRules      = 256
	MaxStatements = 64 // of a section
	MaxLayers     = 64 // of a pattern, and of a replacement
	MaxNesting    = 32
	MaxList       = 64
	MaxName       = 128
)

func letter(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func digit(c byte) bool  { return '0' <= c && c <= '9' }

// signs are those of more than one byte, before those of one.
var signs = []string{"...", "==", "!=", "<=", ">=", "=", "(", ")", "[", "]", ",", "<", ">", "+", "-", "*", "/", "%", "|", "?"}

// lex takes a line apart.
func lex(line string) ([]token, int, error) {
	var list []token
	space := false
	for at := 0; at < len(line); {
		c := line[at]
		begin := at
		switch {
		case c == '#':
			at = len(line)
			continue
		case c == ' ' || c == '\t' || c == '\r':
			at, space = at+1, true
			continue
		case letter(c):
			for at < len(line) && (letter(line[at]) || digit(line[at]) || line[at] == '.' && !strings.HasPrefix(line[at:], "...")) {
				at++
			}
			list = append(list, token{'a', line[begin:at], begin + 1, space})
		case c == '$':
			at++
			for at < len(line) && (letter(line[at]) || digit(line[at])) {
				at++
			}
			if at == begin+1 {
				return nil, begin + 1, fmt.Errorf("a name is missing behind $")
			}
			list = append(list, token{'$', line[begin+1 : at], begin + 1, space})
		case digit(c) || c == '.' && at+1 < len(line) && digit(line[at+1]):
			at = number(line, at)
			if _, err := strconv.ParseFloat(line[begin:at], 64); err != nil {
				return nil, begin + 1, fmt.Errorf("%q is no number", clip(line[begin:at]))
			}
			list = append(list, token{'0', line[begin:at], begin + 1, space})
		default:
			sign := ""
			for _, s := range signs {
				if strings.HasPrefix(line[at:], s) {
					sign = s
					break
				}
			}
			if sign == "" {
				_, size := utf8.DecodeRuneInString(line[at:])
				return nil, begin + 1, fmt.Errorf("%q means nothing here", line[at:at+size])
			}
			at += len(sign)
			list = append(list, token{'s', sign, begin + 1, space})
		}
		if at-begin > MaxName {
			return nil, begin + 1, fmt.Errorf("%q... is longer than %d bytes", line[begin:begin+20], MaxName)
		}
		space = false
	}
	return append(list, token{'e', "", len(line) + 1, true}), 0, nil
}

// number returns the end of the number that begins at a place.
func number(line string, at int) int {
	for at < len(line) && (digit(line[at]) || line[at] == '.') {
		at++
	}
	if at < len(line) && (line[at] == 'e' || line[at] == 'E') {
		end := at + 1
		if end < len(line) && (line[end] == '+' || line[end] == '-') {
			end++
		}
		if end < len(line) && digit(line[end]) {
			for at = end; at < len(line) && digit(line[at]); {
				at++
			}
		}
	}
	return at
}

// clip shortens what a message quotes.
func clip(s string) string { return s[:min(len(s), 60)] }
