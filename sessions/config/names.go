package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes"
	"github.com/trtui/trtui/core/graph/passes/quantise"
)

// lastPass returns how many passes there are.
func lastPass() int { return len(passes.Standard()) + len(passes.Lowering()) }

// RuleNames returns what Config.Disable can name as a whole: passes, the rules of each behind it, and what plans do by rule; own are
// a program's passes beside the standard ones.
func RuleNames(own ...pass.Pass) []string {
	names := []string{pass.SideBySide}
	for _, p := range slices.Concat(passes.Standard(), quantise.Calibrated(), passes.Lowering(), own) {
		for _, name := range append([]string{p.Name}, p.Rules...) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// DidYouMean returns "; did you mean A, B or C?" with the names that are closest to one that does not exist; "" where none
// is close.
func DidYouMean(name string, names []string) string {
	type candidate struct {
		name     string
		distance int
	}
	var list []candidate
	for _, n := range names {
		typed, there := start(strings.ToLower(name)), start(strings.ToLower(n))
		d := levenshtein.ComputeDistance(typed, there)
		if len(there) > len(typed) { // a longer name may be meant by its beginning
			d = min(d, 1+levenshtein.ComputeDistance(typed, there[:len(typed)]))
		}
		if d <= max(2, len(typed)/3) && d < max(len(typed), 2) { // otherwise they share no letter
			list = append(list, candidate{n, d})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var words []string
	for _, c := range list[:min(3, len(list))] {
		words = append(words, fmt.Sprintf("%q", c.name))
	}
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return "; did you mean " + words[0] + "?"
	default:
		return "; did you mean " + strings.Join(words[:n-1], ", ") + " or " + words[n-1] + "?"
	}
}

// Quoted returns a name that does not exist in quotes, its beginning if it is long.
func Quoted(name string) string {
	if s := start(name); s != name {
		return strconv.Quote(s) + "..."
	}
	return strconv.Quote(name)
}

// start returns what counts of a name, whose length a model's file decides.
func start(name string) string { return name[:min(len(name), 200)] }
