package tokenizer

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// normalizer rewrites text. Only one with a regular expression of the file's can fail.
type normalizer func(string) (string, error)

// plain makes a normaliser of what cannot fail.
func plain(f func(string) string) normalizer {
	return func(text string) (string, error) { return f(text), nil }
}

// normalizers are those without parameters.
var normalizers = map[string]func(string) string{
	"NFC": norm.NFC.String, "NFD": norm.NFD.String, "NFKC": norm.NFKC.String, "NFKD": norm.NFKD.String,
	"Lowercase": lower, "StripAccents": stripAccents, "Nmt": normalizeNmt, "ByteLevel": byteLevel,
}

// normalizerOf returns a normaliser as the file describes it; nil stands for none.
func normalizerOf(s *section) []normalizer {
	switch kind := s.kind(); kind {
	case "":
		return nil
	case "Sequence":
		var all []normalizer
		for _, part := range s.list("normalizers") {
			all = append(all, normalizerOf(part)...)
		}
		return all
	case "BertNormalizer":
		return []normalizer{plain(bertNormalizer(s))}
	case "Replace":
		match, content := s.pattern("pattern"), s.text("content")
		return []normalizer{func(text string) (string, error) { return match.replace(text, content) }}
	case "Prepend":
		prefix := s.text("prepend")
		return []normalizer{plain(func(text string) string {
			if text == "" {
				return text
			}
			return prefix + text
		})}
	case "Strip":
		left, right := s.flag("strip_left", true), s.flag("strip_right", true)
		return []normalizer{plain(func(text string) string {
			if left {
				text = strings.TrimLeftFunc(text, unicode.IsSpace)
			}
			if right {
				text = strings.TrimRightFunc(text, unicode.IsSpace)
			}
			return text
		})}
	case "Precompiled":
		return []normalizer{plain(s.charsMap("precompiled_charsmap"))}
	default:
		n, ok := normalizers[kind]
		if !ok {
			s.unknown("normalizer")
		}
		return []normalizer{plain(n)}
	}
}

// lower is Unicode's full mapping letter by letter, which may lengthen: U+0130 becomes two.
func lower(text string) string {
	return strings.ToLower(strings.ReplaceAll(text, "\u0130", "i\u0307"))
}

func stripAccents(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.M, r) {
			return -1
		}
		return r
	}, text)
}

// normalizeNmt is what neural machine translation's scripts did: control characters go, other kinds of space become one.
func normalizeNmt(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 1 && r <= 8, r == 11, r >= 14 && r <= 31, r == 127, r == 0x8f, r == 0x9f:
			return -1
		case r == 9, r == 10, r == 12, r == 13, r == 0x1680, r >= 0x200b && r <= 0x200f, r == 0x2028, r == 0x2029, r == 0x2581, r == 0xfeff, r == 0xfffd:
			return ' '
		}
		return r
	}, text)
}

// normalized applies all.
func normalized(all []normalizer, text string) (string, error) {
	for _, n := range all {
		var err error
		if text, err = n(text); err != nil {
			return "", err
		}
	}
	return text, nil
}

// bertNormalizer is that of BERT's published code: control characters go, spaces become one kind, Chinese characters stand
// alone, accents and capitals go if they are to.
func bertNormalizer(s *section) func(string) string {
	clean, chinese, lowercase := s.flag("clean_text", true), s.flag("handle_chinese_chars", true), s.flag("lowercase", true)
	accents := s.flag("strip_accents", lowercase)
	return func(text string) string {
		if clean {
			text = strings.Map(cleanRune, text)
		}
		if chinese {
			var b strings.Builder
			for _, r := range text {
				if isChinese(r) {
					b.WriteString(" " + string(r) + " ")
				} else {
					b.WriteRune(r)
				}
			}
			text = b.String()
		}
		if accents {
			text = strings.Map(func(r rune) rune {
				if unicode.Is(unicode.Mn, r) {
					return -1
				}
				return r
			}, norm.NFD.String(text))
		}
		if lowercase {
			text = lower(text)
		}
		return text
	}
}

func cleanRune(r rune) rune {
	switch {
	case r == 0 || r == 0xfffd:
		return -1
	case r == '\t' || r == '\n' || r == '\r':
		return ' '
	case unicode.Is(unicode.C, r):
		return -1
	case unicode.IsSpace(r):
		return ' '
	}
	return r
}

// isChinese reports whether r is in one of the blocks of CJK unified and compatibility ideographs.
func isChinese(r rune) bool {
	return r >= 0x4e00 && r <= 0x9fff || r >= 0x3400 && r <= 0x4dbf || r >= 0x20000 && r <= 0x2a6df || r >= 0x2a700 && r <= 0x2b73f ||
		r >= 0x2b740 && r <= 0x2b81f || r >= 0x2b920 && r <= 0x2ceaf || r >= 0xf900 && r <= 0xfaff || r >= 0x2f800 && r <= 0x2fa1f
}
