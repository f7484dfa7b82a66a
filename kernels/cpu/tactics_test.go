package cpu

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/internal/runtest"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
)

func TestTactics(t *testing.T) {
	b := Open(2)
	defer b.Close()
	b.tactics = everyTactic(b.features, 2)
	used := map[string]bool{}
	runtest.Tactics(t, b, suite.Layers(), func(_, tactic string) bool {
		used[tactic] = true
		return true
	})
	for _, tac := range b.tactics {
		if !tac.Reference && !used[tac.Name] {
			t.Errorf("no layer of the suite is computed by %s", tac.Name)
		}
	}
}

func TestNetworks(t *testing.T) {
	b := Open(2)
	defer b.Close()
	runtest.Networks(t, b)
}

// notUnderRace skips, under the race detector, a test of what is computed of other numbers: threads share the work as they do in
// TestTactics.
func notUnderRace(t *testing.T) {
	t.Helper()
	if cputest.RaceEnabled {
		t.Skip("TestTactics is the same under the race detector")
	}
}

func TestSaturation(t *testing.T) {
	notUnderRace(t)
	b := Open(2)
	defer b.Close()
	b.tactics = everyTactic(b.features, 2)
	runtest.Saturation(t, b, func(string) bool { return true })
}

// TestExtremeWindows: a tactic that matches a layer of a large window is bound to it and computes it, and poolings of every
// size and Fourier transforms have one in float32 that is not the definition.
func TestExtremeWindows(t *testing.T) {
	b := Open(2)
	defer b.Close()
	b.tactics = everyTactic(b.features, 2)
	used := map[string]bool{}
	runtest.Tactics(t, b, suite.Extreme(), func(layer, _ string) bool {
		used[layer] = true
		return true
	})
	for _, c := range suite.Extreme() {
		if !used[c.Name] && (strings.Contains(c.Name, "Pool_") || strings.HasPrefix(c.Name, "conv_i8") || strings.HasPrefix(c.Name, "conv_u8") || c.Name == "conv_f32_large_0") {
			t.Errorf("no kernel computes %s", c.Name)
		}
	}
}

// TestNotNumbers: NaN among numbers that are compared.
func TestNotNumbers(t *testing.T) {
	notUnderRace(t)
	b := Open(2)
	defer b.Close()
	b.tactics = everyTactic(b.features, 2)
	runtest.NotNumbers(t, b, func(string) bool { return true })
}

// TestTainted: NaN and infinities stay within what depends on them.
func TestTainted(t *testing.T) {
	notUnderRace(t)
	b := Open(2)
	defer b.Close()
	b.tactics = everyTactic(b.features, 2)
	runtest.Tainted(t, b, func(string, int) bool { return true })
}
