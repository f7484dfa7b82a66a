package suite_test

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels/cpu"
)

// TestSaturate: a sweep goes on with layers whose outputs saturate, each tactic on one of a kind; few of them have one tactic of
// a family. All of the CPU's are right on those that round and move.
func TestSaturate(t *testing.T) {
	b := cpu.Open(2)
	defer b.Close()
	saturated := func(tactic string, few bool) (list []suite.Row) {
		s := suite.NewSweep(b, nil, nil)
		s.Saturate(func(layer, name string) bool { return strings.Contains(name, tactic) }, few)
		for i := range s.Len() {
			r := s.Pair(i)
			if !strings.HasPrefix(r.Layer, "saturated_") {
				t.Errorf("%s is no layer that saturates", r.Layer)
			}
			list = append(list, r)
		}
		return list
	}
	all, few := saturated("", false), saturated("", true)
	if len(few) == 0 || len(few) > 150 || len(all) < len(few) {
		t.Errorf("%d pairs, %d where few are wanted", len(all), len(few))
	}
	s := suite.NewSweep(b, nil, nil)
	s.Saturate(func(_, name string) bool {
		return strings.Contains(name, "quantize") || strings.Contains(name, "pointwise")
	}, false)
	if s.Len() == 0 || s.Tactics() == 0 {
		t.Fatalf("%d pairs of %d tactics", s.Len(), s.Tactics())
	}
	for _, r := range rowsOf(t, s, 2) {
		if !r.OK {
			t.Errorf("%s on %s: %s", r.Tactic, r.Layer, r.Error)
		}
	}
}
