package passes

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph/pass"
)

// TestPassOff: a pass that is switched off changes nothing, and says of places where it did something that it is switched off.
func TestPassOff(t *testing.T) {
	for _, of := range []struct {
		quantised bool
		table     []pass.Pass
	}{{false, Standard()}, {true, Lowering()}} {
		seen := 0
		for seed := range uint64(40) {
			n := buildRandom(t, seed, of.quantised)
			_, steps := runPass(t, n, of.table, pass.Config{})
			for i, on := range steps {
				if len(on.Fired) == 0 || slices.ContainsFunc(steps[:i], func(s pass.Step) bool { return s.Pass == on.Pass }) {
					continue
				}
				_, less := runPass(t, n, of.table, pass.Config{DisableRules: []string{on.Pass}})
				off := less[i]
				if off.Pass != on.Pass || off.Before.String() != off.After.String() || len(off.Fired) > 0 {
					t.Errorf("seed %d: %s is off and fires %v", seed, on.Pass, off.Fired)
				}
				ruled := slices.ContainsFunc(of.table, func(p pass.Pass) bool { return p.Name == on.Pass && len(p.Rules) > 0 })
				if !ruled || on.Pass == "common-subexpressions" { // layers are alike once equal constants are one
					continue
				}
				seen++
				if !slices.ContainsFunc(off.Missed, func(m pass.Missed) bool { return m.Reason == pass.Disabled }) {
					t.Errorf("seed %d: %s is off and says so nowhere: %v", seed, on.Pass, off.Missed)
				}
			}
		}
		if seen < 20 {
			t.Errorf("%d passes were switched off", seen)
		}
	}
}
