package ui

import (
	"slices"
	"strings"
	"unicode"
)

// Name shortens a name to at most w cells so that names which differ still do. Names of layers and tensors are paths: what the
// next part repeats goes first ("/layer4/layer4.2/conv/Conv" is "/layer4.2/Conv"), then parts from the left are abbreviated, but
// not their numbers ("/bert/encoder/layer.11/attention/query/MatMul" is "/ber/enc/lay.11/att/query/MatMul"), then those at the left
// that have no number are left out ("…lay.11/att/query/MatMul") and a letter of the others stays ("…l.11/att/que/MatMul"), then a
// letter of each ("/b/e/l.11/a/query/MatMul"), and where that is not enough mark stands for the middle, too ("…l.11/a/…/MatMul").
//
// Several names with [NamesJoint] between them are shortened each on its own.
func Name(s string, w int, mark rune) string {
	if len(s) <= w || Width(s) <= w {
		return s
	}
	if names := strings.Split(s, NamesJoint); len(names) > 1 {
		return Middle(abbreviateAll(names, w), w, mark)
	}
	if before, path, after := wordsAround(s); before != "" {
		return withinWords(before, path, after, w, mark, func(w int) string { return Name(path, w, mark) })
	}
	separator := separatorOf(s)
	whole := withoutRepeats(strings.Split(s, separator))
	s = strings.Join(whole, separator)
	tail := ""
	for _, letters := range []int{3, 1} {
		parts := slices.Clone(whole)
		for i := 0; i+1 < len(parts) && Width(s) > w; i++ {
			parts[i] = abbreviate(parts[i], letters)
			s = strings.Join(parts, separator)
		}
		if letters > 1 && Width(s) > w && mark != 0 {
			if tail = withoutHead(parts, separator, w-Width(string(mark))); tail != "" && Width(tail) < w {
				return string(mark) + tail
			}
		}
	}
	if Width(s) > w && tail != "" { // cut in the middle, s would lose the number
		return string(mark) + Middle(tail, w-Width(string(mark)), mark)
	}
	return Middle(s, w, mark)
}

// wordsAround takes a name apart that is a path with words before it, and perhaps behind it: "Reformat stem/Conv to nhwc". before is
// empty where there are none, or several names are written in one.
func wordsAround(s string) (before, path, after string) {
	separator := separatorOf(s)
	first, last := strings.Index(s, separator), strings.LastIndex(s, separator)
	if first < 0 || strings.Contains(s, NamesJoint) {
		return "", s, ""
	}
	from, to := strings.LastIndexByte(s[:first], ' ')+1, len(s)
	if i := strings.IndexByte(s[last:], ' '); i >= 0 {
		to = last + i
	}
	if from == 0 || from >= to {
		return "", s, ""
	}
	return s[:from], s[from:to], s[to:]
}

// withinWords shortens a path with words around it to w cells in all: short does the path. Of the words before it three letters stay,
// where the path is not whole otherwise, and mark stands for the middle of all where little of the path would be left.
func withinWords(before, path, after string, w int, mark rune, short func(w int) string) string {
	const least = 8 // cells of a path that say something
	room := w - Width(after)
	if Width(before)+Width(path) > room {
		words := strings.Fields(before)
		for i, word := range words {
			words[i] = abbreviate(word, 3)
		}
		before = strings.Join(words, " ") + " "
	}
	if room -= Width(before); room < min(least, Width(path)) {
		return Middle(before+path+after, w, mark)
	}
	return before + short(room) + after
}

// NamesJoint stands between names that are written in one.
const NamesJoint = " + "

// abbreviateAll abbreviates the parts of several names, those of the first name first and none that is the last of its name, until
// all take w cells or there are no more.
func abbreviateAll(names []string, w int) string {
	parts := make([][]string, len(names))
	for i, name := range names {
		parts[i] = withoutRepeats(strings.Split(name, separatorOf(name)))
	}
	joined := func() string {
		for i := range names {
			names[i] = strings.Join(parts[i], separatorOf(names[i]))
		}
		return strings.Join(names, NamesJoint)
	}
	s := joined()
	for _, letters := range []int{3, 1} {
		for i := range parts {
			for k := 0; k+1 < len(parts[i]) && Width(s) > w; k++ {
				parts[i][k] = abbreviate(parts[i][k], letters)
				s = joined()
			}
		}
	}
	return s
}

// withoutHead leaves out parts of a path from the left on, none that has a number and not the last two, until the others take w
// cells, and then all but a letter of those from the left on, not the last two; "" where there is nothing to leave out, or that
// does not do and no number is left. What stands at the left most names have in common.
func withoutHead(parts []string, separator string, w int) string {
	numbered := func() bool { return strings.ContainsFunc(parts[0], unicode.IsDigit) }
	all := len(parts)
	for len(parts) > 2 && !numbered() {
		parts = parts[1:]
		if s := strings.Join(parts, separator); Width(s) <= w {
			return s
		}
	}
	if len(parts) == all || !numbered() {
		return ""
	}
	s := ""
	for i := range max(len(parts)-2, 0) {
		parts[i] = abbreviate(parts[i], 1)
		if s = strings.Join(parts, separator); Width(s) <= w {
			break
		}
	}
	return s
}

// separatorOf returns what stands between the parts of a path.
func separatorOf(s string) string {
	if strings.Contains(s, "/") {
		return "/"
	}
	return "."
}

// withoutRepeats leaves out parts with which the next one begins, as exporters write modules inside of modules.
func withoutRepeats(parts []string) []string {
	var out []string
	for i, p := range parts {
		if i+1 < len(parts) && p != "" {
			next, _, _ := strings.Cut(parts[i+1], " ")
			if strings.EqualFold(p, next) || strings.HasPrefix(next, p+".") {
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

// abbreviate returns the first letters of a part and its numbers: "layer.11" is "lay.11", "down_blocks.0" "dow.0". What is not
// a word with a number behind it stays. Where dots join several words each is abbreviated: "stages.0.blocks.11.mixer" is
// "sta.0.blo.11.mix".
func abbreviate(part string, letters int) string {
	if list := strings.Split(part, "."); len(list) > 2 {
		for i, word := range list {
			list[i] = abbreviate(word, letters)
		}
		return strings.Join(list, ".")
	}
	word := strings.TrimRightFunc(part, func(r rune) bool { return unicode.IsDigit(r) || r == '.' })
	number := part[len(word):]
	if strings.ContainsFunc(word, unicode.IsDigit) {
		return part
	}
	for i := range word {
		if letters--; letters < 0 {
			return word[:i] + number
		}
	}
	return part
}
