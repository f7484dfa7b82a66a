package ui

import (
	"slices"
	"strings"
	"unicode"
)

// fileNames shortens the names of files in a column, of which a part is worth less than of a path of layers: whole words of them
// stay, the beginning and the word by which a name differs from those that are most like it. What stands behind a name in
// brackets is a mark of it, and stays.
type fileNames struct{ sorted []string }

func newFileNames(all []string) fileNames {
	var sorted []string
	for _, name := range all {
		file, _ := cutBrackets(name)
		sorted = append(sorted, file)
	}
	slices.Sort(sorted)
	return fileNames{slices.Compact(sorted)}
}

// cutBrackets parts a name and a mark behind it.
func cutBrackets(name string) (file, brackets string) {
	if i := strings.LastIndex(name, " ("); i > 0 && strings.HasSuffix(name, ")") {
		return name[:i], name[i:]
	}
	return name, ""
}

// Short returns a name in at most w cells, cut with mark.
func (n fileNames) Short(name string, w int, mark rune) string {
	if Width(name) <= w {
		return name
	}
	file, brackets := cutBrackets(name)
	if w -= Width(brackets); w < 4 || mark == 0 {
		return Truncate(name, max(w+Width(brackets), 0), mark)
	}
	from, to := n.word(file)
	if Width(file[:to]) < w || to == from {
		return Truncate(file, w, mark) + brackets
	}
	word := string(mark) + file[from:to]
	if to < len(file) {
		word += string(mark)
	}
	const least = 3 // of a beginning
	if head := w - Width(word); head >= least {
		word = file[:prefix(file, head)] + word
	}
	return Truncate(word, w, mark) + brackets
}

// word returns where the word stands by which a name differs from that which is most like it.
func (n fileNames) word(file string) (from, to int) {
	i, _ := slices.BinarySearch(n.sorted, file)
	at := 0
	for _, k := range []int{i - 1, i + 1} {
		if k >= 0 && k < len(n.sorted) {
			at = max(at, sharedBytes(file, n.sorted[k]))
		}
	}
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	at = min(at, len(file))
	from = strings.LastIndexFunc(file[:at], between) + 1
	to = len(file)
	if k := strings.IndexFunc(file[at:], between); k >= 0 {
		to = at + k
	}
	return from, to
}
