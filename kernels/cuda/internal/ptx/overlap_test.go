package ptx

import (
	"strings"
	"testing"
)

// TestOverlap makes kernels wait: behind what computes indices alone, and before loops, ends of threads and memory.
func TestOverlap(t *testing.T) {
	const waits = "\tgriddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;\n"
	for _, c := range []struct {
		name  string
		body  func(k *K, p GlobalPtr)
		after string // what the wait stands before
	}{
		{"load", func(k *K, p GlobalPtr) { k.Store(p, k.LoadConst(k.Offset(p, k.Thread(), 4), 1)...) }, "\tld.global.b32"},
		{"end of a thread", func(k *K, p GlobalPtr) { k.Exit(k.Ge(k.Thread(), U(7))); k.Store(p, W(1)) }, "\t@%p0 ret;"},
		{"loop", func(k *K, p GlobalPtr) { k.For(k.Thread(), U(9), U(1), func(Uint) { k.Store(p, W(1)) }) }, "\t@%p0 bra"},
		{"barrier", func(k *K, p GlobalPtr) { k.Barrier(); k.Store(p, W(1)) }, "\tbar.sync"},
	} {
		m := New(SM80)
		k := m.Kernel("k", 32)
		c.body(k, k.Pointer("p"))
		k.End()
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		before := m.String()
		m.Retarget(SM90)
		m.Kernels[0].Overlap()
		m.Kernels[0].Overlap() // no more than once
		if err := m.Check(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		text := m.String()
		if strings.Count(text, waits+c.after) != 1 || strings.Count(text, "griddepcontrol") != 2 || strings.Contains(text, ".nc") {
			t.Errorf("%s: it waits elsewhere:\n%s", c.name, text)
		}
		if again, err := Parse(text); err != nil || again.String() != text {
			t.Errorf("%s: parsed: %v", c.name, err)
		}
		if without := strings.Replace(text, waits, "", 1); len(without) != len(strings.NewReplacer("7.0", "7.8", "sm_80", "sm_90", ".nc", "").Replace(before)) {
			t.Errorf("%s: more has changed:\n%s", c.name, text)
		}
	}
}
