package cpu

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/internal/runtest"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
)

// TestLimited runs the conformance suite as processors with fewer instructions would: networks on each, single layers,
// whose tactics TestTactics has already met, with AVX2 alone. Threads share the work in one way whatever the instructions:
// the race detector need not see it again.
func TestLimited(t *testing.T) {
	if cputest.RaceEnabled {
		t.Skip("TestNetworks and TestTactics are the same under the race detector")
	}
	for _, features := range cputest.FeatureSets()[1:] {
		t.Run(features.String(), func(t *testing.T) {
			b, err := OpenLimited(2, features.String())
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			info := b.Info()
			if !strings.HasSuffix(info.Device, "limited to "+features.String()) || !strings.Contains(info.Fingerprint, " "+features.String()+" ") {
				t.Errorf("device %q with fingerprint %q does not say %v", info.Device, info.Fingerprint, features)
			}
			if features == asm.AVX2 {
				runtest.Tactics(t, b, suite.Layers(), func(_, _ string) bool { return true })
			}
			runtest.Networks(t, b)
		})
	}
}

func TestOpenLimitedRefuses(t *testing.T) {
	for text, want := range map[string]string{"avx3": `"avx3" is not a CPU feature`, "": `"" is not a CPU feature`} {
		if _, err := OpenLimited(1, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("OpenLimited(%q): %v, want %s", text, err, want)
		}
	}
	all := asm.AVX512 | asm.AVX512VNNI | asm.AVX2 | asm.AVXVNNI
	if asm.HostFeatures().Has(all) {
		return
	}
	if _, err := OpenLimited(1, "avx512+vnni+avxvnni"); err == nil || !strings.Contains(err.Error(), "this processor has") {
		t.Errorf("features beyond the processor's: %v", err)
	}
}
