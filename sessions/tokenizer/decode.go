package tokenizer

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// decoder rewrites tokens on their way to text.
type decoder func([]string) []string

// decodersOf returns the decoders as the file describes them.
func decodersOf(s *section) []decoder {
	switch kind := s.kind(); kind {
	case "":
		return nil
	case "Sequence":
		var all []decoder
		for _, part := range s.list("decoders") {
			all = append(all, decodersOf(part)...)
		}
		return all
	case "ByteLevel":
		return []decoder{decodeBytes}
	case "ByteFallback":
		return []decoder{decodeFallback}
	case "Fuse":
		return []decoder{func(tokens []string) []string { return []string{strings.Join(tokens, "")} }}
	case "WordPiece":
		return []decoder{decodeWordPiece(s.textOr("prefix", "##"), s.flag("cleanup", true))}
	case "Metaspace":
		return []decoder{decodeMetaspace(s.mark(), s.scheme() != "never")}
	case "BPEDecoder":
		suffix := s.textOr("suffix", "</w>")
		return []decoder{func(tokens []string) []string {
			for i := range tokens {
				space := " "
				if i == len(tokens)-1 {
					space = ""
				}
				tokens[i] = strings.ReplaceAll(tokens[i], suffix, space)
			}
			return tokens
		}}
	case "Strip":
		return []decoder{decodeStrip(s.text("content"), s.number("start", 0), s.number("stop", 0))}
	case "Replace":
		match, content := s.pattern("pattern"), s.text("content")
		return []decoder{eachToken(func(_ int, token string) string {
			if text, err := match.replace(token, content); err == nil {
				return text
			}
			return token
		})}
	default:
		s.unknown("decoder")
		return nil
	}
}

func eachToken(f func(i int, token string) string) decoder {
	return func(tokens []string) []string {
		for i, token := range tokens {
			tokens[i] = f(i, token)
		}
		return tokens
	}
}

// decodeBytes makes bytes of the letters that stand for them; a token with another letter is text as it is.
func decodeBytes(tokens []string) []string {
	var b []byte
	for _, token := range tokens {
		start := len(b)
		for _, r := range token {
			one, ok := runeBytes[r]
			if !ok {
				b = append(b[:start], token...)
				break
			}
			b = append(b, one)
		}
	}
	return []string{string(b)}
}

// byteOf returns the byte that a token such as <0x0A> stands for.
func byteOf(token string) (byte, bool) {
	if len(token) != 6 || !strings.HasPrefix(token, "<0x") || token[5] != '>' {
		return 0, false
	}
	n, err := strconv.ParseUint(token[3:5], 16, 8)
	return byte(n), err == nil
}

// decodeFallback joins tokens that stand for bytes to text; bytes that are no UTF-8 become U+FFFD, each of them.
func decodeFallback(tokens []string) []string {
	var all []string
	var held []byte
	flush := func() {
		switch {
		case len(held) == 0:
		case utf8.Valid(held):
			all = append(all, string(held))
		default:
			all = append(all, strings.Repeat("\ufffd", len(held)))
		}
		held = held[:0]
	}
	for _, token := range tokens {
		if b, ok := byteOf(token); ok {
			held = append(held, b)
			continue
		}
		flush()
		all = append(all, token)
	}
	flush()
	return all
}

var cleanup = strings.NewReplacer(" .", ".", " ?", "?", " !", "!", " ,", ",", " ' ", "'", " n't", "n't", " 'm", "'m", " do not", " don't", " 's", "'s", " 've", "'ve", " 're", "'re")

// decodeWordPiece sets spaces before tokens that begin a word.
func decodeWordPiece(prefix string, clean bool) decoder {
	return eachToken(func(i int, token string) string {
		if i > 0 {
			if rest, ok := strings.CutPrefix(token, prefix); ok {
				token = rest
			} else {
				token = " " + token
			}
		}
		if clean {
			token = cleanup.Replace(token)
		}
		return token
	})
}

// decodeMetaspace makes spaces of marks, but of the one that was set before the text.
func decodeMetaspace(mark string, prepended bool) decoder {
	return eachToken(func(i int, token string) string {
		if i == 0 && prepended {
			return strings.ReplaceAll(token, mark, "")
		}
		return strings.ReplaceAll(token, mark, " ")
	})
}

// decodeStrip takes up to so many of a character from the start and the end of each token.
func decodeStrip(content string, start, stop int) decoder {
	return eachToken(func(_ int, token string) string {
		for range start {
			token = strings.TrimPrefix(token, content)
		}
		for range stop {
			token = strings.TrimSuffix(token, content)
		}
		return token
	})
}
