package diff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// Layers whose names say nothing are aligned by what they are, in their order; where names do say it, they are left alone.
func TestAlignAlike(t *testing.T) {
	// A step is a name, ":" and what it is.
	read := func(text string) (list []Step) {
		for _, word := range strings.Fields(text) {
			name, what, _ := strings.Cut(word, ":")
			list = append(list, steps(name)[0])
			list[len(list)-1].What = what
		}
		return list
	}
	for _, c := range []struct{ name, a, b, want string }{
		{"counted otherwise", "a1:c a2:c a3:p a4:g", "b1:c b2:c b3:p b4:g", "0~0 1~1 2~2 3~3"},
		{"one more, in between", "a1:c a2:q a3:c a4:g", "b1:c b2:c b3:g", "0~0 1= 2~1 3~2"},
		{"one less", "a1:c a2:p", "b1:c b2:r b3:p", "0~0 =1 1~2"},
		{"reformats between the same", "~q1 a1:c ~r1 a2:p", "~q2 b1:c ~r2 b2:p", "0~0 1~1 2~2 3~3"},
		{"more reformats on one side", "a1:c ~r1 ~r2 a2:p ~r3", "b1:c ~s1 b2:p", "0~0 1~1 2= 3~2 4="},
		{"reformats elsewhere", "a1:c ~r1 a2:p a3:g", "b1:c b2:p ~s1 b3:g", "0~0 1= 2~1 =2 3~3"},
		{"one name in common of four", "a1:c x:p a3:c a4:g", "b1:c x:p b3:c b4:g", "0~0 1=1 2~2 3~3"},
		{"half of the names in common", "x:c y:p a3:c a4:g", "x:c y:p b3:c b4:g", "0=0 1=1 2= 3= =2 =3"},
		{"another order", "a1:c a2:p", "b1:p b2:c", "0= 1~0 =1"},
		{"not known what", "a1 a2", "b1 b2", "0= 1= =0 =1"},
		{"nothing", "", "b1:c", "=0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := read(c.a), read(c.b)
			got := []string{}
			for _, g := range alignAlike(Align(a, b), a, b) {
				sign := map[bool]string{true: "~", false: "="}[g.Alike]
				got = append(got, strings.Trim(fmt.Sprint(g.A), "[]")+sign+strings.Trim(fmt.Sprint(g.B), "[]"))
			}
			want := strings.Fields(c.want)
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		})
	}
}

// No step is lost or twice there, whatever is aligned, and pairs are in the order of both sides.
func TestAlignAlikeKeepsSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var sides [2][]Step
		for i := range sides {
			for range r.IntN(12) {
				s := Step{From: []string{fmt.Sprintf("%c%d", 'a'+rune(i), r.IntN(20))}, Reformat: r.IntN(5) == 0}
				if r.IntN(6) == 0 {
					s.From[0] = fmt.Sprint("x", r.IntN(3))
				}
				if !s.Reformat {
					s.What = []string{"c", "p", "g", ""}[r.IntN(4)]
				}
				sides[i] = append(sides[i], s)
			}
		}
		a, b := sides[0], sides[1]
		var as, bs []int
		last := [2]int{-1, -1}
		groups := alignAlike(Align(a, b), a, b)
		slices.SortStableFunc(groups, func(x, y Group) int {
			return slices.Compare(x.A, y.A)
		})
		for _, g := range groups {
			as, bs = append(as, g.A...), append(bs, g.B...)
			if g.Alike {
				if a[g.A[0]].What != b[g.B[0]].What || g.A[0] <= last[0] || g.B[0] <= last[1] {
					t.Fatalf("%v and %v: %v", a, b, g)
				}
				last = [2]int{g.A[0], g.B[0]}
			}
		}
		slices.Sort(as)
		slices.Sort(bs)
		for side, list := range [][]int{as, bs} {
			if len(list) != len(sides[side]) || len(slices.Compact(list)) != len(sides[side]) {
				t.Fatalf("side %d of %v and %v has steps %v", side, a, b, list)
			}
		}
	}
}

// Two exports of one model whose layers are counted otherwise are compared layer by layer, and it is said how.
func TestOfAlike(t *testing.T) {
	file := func(prefix string) *report.Snapshot {
		var layers []report.LayerTiming
		engine := &report.Passes{}
		for i, shape := range [][]int{{1, 8, 4, 4}, {1, 8, 2, 2}, {1, 10}} {
			name := fmt.Sprint(prefix, i)
			layers = append(layers, layer(name, "f32", "t", us*10, name))
			engine.Engine = append(engine.Engine, report.Layer{Name: name, Op: "Conv", From: []string{name}, Outputs: []report.Tensor{{Shape: shape}}})
		}
		s := snapshot(config.FP32, 100*us, layers...)
		s.Passes = engine
		return s
	}
	d, err := Of(Side{Name: "a", Snapshot: file("Conv_")}, Side{Name: "b", Snapshot: file("conv/")})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Groups) != 3 || d.Alike() != 3 || !slices.Equal(d.Groups[0].From, []string{"Conv_0", "conv/0"}) {
		t.Errorf("groups %+v", d.Groups)
	}
	if want := "few layers have names in common: 3 of 3 groups are aligned by op, window and shape, in their order"; !slices.Contains(d.Notes, want) {
		t.Errorf("notes %q", d.Notes)
	}
	if len(d.AddedSources)+len(d.RemovedSources) > 0 {
		t.Errorf("what is called otherwise is added, %q, and removed, %q", d.AddedSources, d.RemovedSources)
	}
	if a, b := d.Groups[0].Names(); a != "Conv_0" || b != "conv/0" {
		t.Errorf("the first is %s in A and %s in B", a, b)
	}
}
