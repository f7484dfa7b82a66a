package diff

import (
	"fmt"
	"strings"
	"testing"
)

// steps reads steps: source layers joined by "+", steps apart by spaces, "~" before a reformat, "@" before its name.
func steps(text string) (list []Step) {
	for _, word := range strings.Fields(text) {
		from, reformat := strings.CutPrefix(word, "~")
		from, name, _ := strings.Cut(from, "@")
		s := Step{Reformat: reformat, Name: name}
		if from != "." { // a step of nothing
			s.From = strings.Split(from, "+")
		}
		list = append(list, s)
	}
	return list
}

func TestAlign(t *testing.T) {
	for _, c := range []struct{ name, a, b, want string }{
		{"equal", "a b+c d", "a b+c d", "0=0 a; 1=1 b c; 2=2 d"},
		{"another order", "a b c", "c a b", "2=0 c; 0=1 a; 1=2 b"},
		{"split", "a+b c", "a b c", "0=0,1 a b; 1=2 c"},
		{"merged", "a b c", "a b+c", "0=0 a; 1,2=1 b c"},
		{"fused otherwise", "a+b c+d e", "a b+c d e", "0,1=0,1,2 a b c d; 2=3 e"},
		{"one source in two steps", "a+x b+x", "a b+x", "0,1=0,1 a x b"},
		{"added", "a b", "q a b", "=0 q; 0=1 a; 1=2 b"},
		{"removed", "a r b", "a b", "0=0 a; 1= r; 2=1 b"},
		{"removed at both ends", "r a b s", "a b", "0= r; 1=0 a; 2=1 b; 3= s"},
		{"a reformat is not its layer", "a ~a b", "a b", "0=0 a; 1= a; 2=1 b"},
		{"reformats with each other", "a ~a b", "~a a b", "1=0 a; 0=1 a; 2=2 b"},
		{"one reformat that serves others", "a ~a@r b", "a q ~q@r b", "0=0 a; =1 q; 1=2 a q; 2=3 b"},
		{"nothing in common", "a b", "c", "0= a; 1= b; =0 c"},
		{"of no source", ". a", "a .", "0= ; 1=0 a; =1 "},
		{"nothing", "", "", ""},
		{"only one side", "", "a b", "=0 a; =1 b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, g := range Align(steps(c.a), steps(c.b)) {
				join := func(list []int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]") }
				got = append(got, join(g.A)+"="+join(g.B)+" "+strings.Join(g.From, " "))
			}
			if text := strings.Join(got, "; "); text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
		})
	}
}
