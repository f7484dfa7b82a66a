package ui

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Names shortens the names of a column so that they differ as the whole ones do: what they have in common goes first, then, where
// more than half do not fit, all are abbreviated alike, a few are by themselves, as [Name] does it, and those that would
// read alike are told by the part in which they differ.
type Names struct {
	all        []string                  // without those that words stand around
	within     map[string]*Names         // those, by the words: the paths alone
	head, tail string                    // what all paths begin with, and more than half of the names end in
	short      map[int]map[string]string // by width
	w          int                       // at hand
	mark       rune
}

// mostNames is how many names are looked at together: more would cost too much.
const mostNames = 1000

// NewNames returns names that are shown in one column. Of more than 1000 each is shortened by itself.
func NewNames(all []string) *Names {
	if len(all) > mostNames {
		return namesOf(nil, "", "")
	}
	plain, within := []string(nil), make(map[string][]string)
	for _, name := range all {
		if before, path, after := wordsAround(name); before != "" {
			within[before+after] = append(within[before+after], path)
		} else {
			plain = append(plain, name)
		}
	}
	head, tail := "", ""
	paths := slices.Concat(append(slices.Collect(maps.Values(within)), plain)...)
	if paths = slices.Compact(slices.Sorted(slices.Values(paths))); len(paths) > 1 { // what is said of one name alone tells nothing apart
		tail = commonTail(paths)
	}
	if paths = slices.DeleteFunc(paths, isWord); len(paths) > 1 { // words among paths, such as the names of inputs, have no part in it
		head = commonHead(paths)
	}
	n := namesOf(plain, head, tail)
	for words, paths := range within {
		n.within[words] = namesOf(paths, head, tail)
	}
	return n
}

func namesOf(all []string, head, tail string) *Names {
	return &Names{all: slices.Compact(slices.Sorted(slices.Values(all))), within: make(map[string]*Names), head: head, tail: tail, short: make(map[int]map[string]string)}
}

// Short returns a name in at most w cells, cut with mark.
func (n *Names) Short(name string, w int, mark rune) string {
	if before, path, after := wordsAround(name); before != "" && n.within[before+after] != nil {
		return withinWords(before, path, after, w, mark, func(w int) string { return n.within[before+after].Short(path, w, mark) })
	}
	if n.short[w] == nil || n.mark != mark {
		const widths = 8 // enough for lines that are indented
		if len(n.short) >= widths || n.mark != mark {
			clear(n.short)
		}
		n.w, n.mark = w, mark
		n.short[w] = n.fit()
	}
	if s, ok := n.short[w][name]; ok {
		return s
	}
	return Name(name, w, mark)
}

// The steps in which names are shortened: each does what those before do, and more.
const (
	whole   = iota
	bare    // without what others have, too
	once    // without parts that the next one repeats
	leading // three letters of the parts but the last two
	threeLetters
	headless
	oneLetter
	steps
)

// fit shortens all names to the width at hand.
func (n *Names) fit() map[string]string {
	out := make(map[string]string, len(n.all))
	step := whole
	for step+1 < steps && n.mostLong(step) {
		step++
	}
	by := make(map[string][]string) // names by what is left of them
	for _, name := range n.all {
		s := n.step(name, step)
		for own := step + 1; own <= once && Width(s) > n.w; own++ {
			s = n.step(name, own)
		}
		s = Name(s, n.w, n.mark)
		out[name] = s
		by[s] = append(by[s], name)
	}
	for _, alike := range by {
		if len(alike) > 1 {
			n.tell(alike, out)
		}
	}
	return out
}

// mostLong reports whether more than half of the names do not fit after a step.
func (n *Names) mostLong(step int) bool {
	long := 0
	for i, name := range n.all {
		if len(name) > n.w && Width(n.step(name, step)) > n.w {
			long++
		}
		if rest := len(n.all) - 1 - i; 2*(long+rest) <= len(n.all) {
			return false
		}
	}
	return true
}

// step returns a name after a step.
func (n *Names) step(name string, step int) string {
	if step == whole {
		return name
	}
	several := strings.Split(name, NamesJoint)
	for i, one := range several {
		if s := strings.TrimSuffix(strings.TrimPrefix(one, n.head), n.tail); s != "" {
			one = s
		}
		separator := separatorOf(one)
		parts := strings.Split(one, separator)
		if step >= once {
			parts = withoutRepeats(parts)
		}
		if step >= leading {
			letters, kept := 3, 1
			if step == leading {
				kept = 2
			}
			if step >= oneLetter {
				letters = 1
			}
			for k := range max(len(parts)-kept, 0) {
				parts[k] = abbreviate(parts[k], letters)
			}
		}
		several[i] = strings.Join(parts, separator)
		if step >= headless && len(several) == 1 && n.mark != 0 {
			if tail := numberedTail(parts); len(tail) < len(parts) {
				several[i] = string(n.mark) + strings.Join(tail, separator)
			}
		}
	}
	return strings.Join(several, NamesJoint)
}

// numberedTail leaves out the parts of a path before the first that has a number, but not its last two.
func numberedTail(parts []string) []string {
	for i, p := range parts {
		if strings.ContainsAny(p, "0123456789") {
			return parts[min(i, max(len(parts)-2, 0)):]
		}
	}
	return parts
}

// tell shortens names that read alike otherwise: all but the part in which they differ goes first, and if that is the last one, all
// but the words in which they do.
func (n *Names) tell(alike []string, out map[string]string) {
	head := len(alike[0])
	for _, name := range alike[1:] {
		head = min(head, sharedBytes(alike[0], name))
	}
	separator, mark := separatorOf(alike[0]), ""
	at := strings.Count(alike[0][:head], separator)
	if n.mark != 0 {
		mark = string(n.mark)
	}
	word := strings.LastIndexFunc(alike[0][:head], isBetween) + 1
	letters := threeLettersTell(alike, separator, at)
	for _, name := range alike {
		parts := strings.Split(name, separator)
		if at+1 >= len(parts) {
			out[name] = n.around(name, word, head)
			continue
		}
		for k := range len(parts) - 1 {
			if k != at {
				parts[k] = abbreviate(parts[k], 1)
			}
		}
		s, part := strings.Join(parts, separator), parts[at]
		if letters && Width(s) > n.w {
			parts[at] = abbreviate(part, 3)
			s = strings.Join(parts, separator)
			parts[at] = part
		}
		if Width(s) > n.w {
			s = strings.Join(parts[:at+1], separator) + mark
		}
		if Width(s) > n.w {
			s = mark + parts[at] + mark
		}
		out[name] = Middle(s, n.w, n.mark)
	}
	by := make(map[string][]string) // that differ further on
	for _, name := range alike {
		by[out[name]] = append(by[out[name]], name)
	}
	for _, still := range by {
		switch {
		case len(still) == 1:
		case len(still) < len(alike):
			n.tell(still, out)
		default: // what is cut out of the middle of that part is where they differ
			for _, name := range still {
				out[name] = n.pointed(name[strings.LastIndex(name[:head], separator)+1:], word-len(name[:strings.LastIndex(name[:head], separator)+1]))
			}
		}
	}
}

// pointed returns what a part has from a word on, behind the numbers that are before it and a letter of each word: "…0.b.3.p_expansion/…"
// of "stages.0.blocks.3.pointwise_expansion/Conv".
func (n *Names) pointed(part string, word int) string {
	before := strings.Split(part[:max(word, 0)], ".")
	for i, s := range before {
		if i+1 < len(before) {
			before[i] = abbreviate(s, 1)
		} else if s != "" {
			before[i] = abbreviate(s[:len(s)-1], 1) + s[len(s)-1:]
		}
	}
	s := strings.Join(numberedTail(before), ".") + part[max(word, 0):]
	if n.mark != 0 {
		s = string(n.mark) + s
	}
	return Truncate(s, n.w, n.mark)
}

// around returns as many words of a name as have room: the one that begins at word and differs from others at head, those behind it,
// and those before.
func (n *Names) around(name string, word, head int) string {
	text := func(from, to int) string {
		s := name[from:to]
		if from > 0 && n.mark != 0 {
			s = string(n.mark) + s
		}
		if to < len(name) && n.mark != 0 {
			s += string(n.mark)
		}
		return s
	}
	endOf := func(at int) int {
		if at = min(at, len(name)); strings.IndexFunc(name[at:], isBetween) >= 0 {
			return at + strings.IndexFunc(name[at:], isBetween)
		}
		return len(name)
	}
	from, to := word, endOf(head+1)
	for to < len(name) && Width(text(from, endOf(to+1))) <= n.w {
		to = endOf(to + 1)
	}
	for from > 0 {
		before := strings.LastIndexFunc(name[:from-1], isBetween) + 1
		if Width(text(before, to)) > n.w {
			break
		}
		from = before
	}
	return Middle(text(from, to), n.w, n.mark)
}

// threeLettersTell reports whether names differ in three letters of a part that is not their last.
func threeLettersTell(names []string, separator string, at int) bool {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if parts := strings.Split(name, separator); at+1 < len(parts) {
			seen[abbreviate(parts[at], 3)] = true
		}
	}
	return len(seen) == len(names)
}

// isBetween reports whether a rune separates the words of names.
func isBetween(r rune) bool { return strings.ContainsRune("/._:- ", r) }

// sharedBytes returns how many bytes two strings begin with together.
func sharedBytes(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// isWord reports whether a name is no path.
func isWord(name string) bool { return !strings.Contains(name, separatorOf(name)) }

// commonHead returns what all names begin with, up to the end of a part.
func commonHead(all []string) string {
	n := len(all[0])
	for _, name := range all {
		n = min(n, sharedBytes(all[0], name))
	}
	if n = strings.LastIndex(all[0][:n], separatorOf(all[0])) + 1; n == 1 { // a slash alone takes no room
		n = 0
	}
	return all[0][:n]
}

// commonTail returns what more than half of the names end in, from between two words on and in their last part, such as
// "_output_tensor:0". Numbers alone are no such thing: they tell names apart.
func commonTail(all []string) string {
	count := make(map[string]int)
	for _, name := range all {
		last := strings.LastIndexByte(name, '/') + 1
		for i := last + 1; i < len(name); i++ {
			if (name[i] == '_' || name[i] == ':') && strings.ContainsFunc(name[i:], unicode.IsLetter) {
				count[name[i:]]++
			}
		}
	}
	best := ""
	for tail, c := range count {
		if 2*c > len(all) && len(tail) > len(best) {
			best = tail
		}
	}
	return best
}
