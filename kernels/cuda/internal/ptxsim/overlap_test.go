package ptxsim

import (
	"strings"
	"testing"
)

// TestOverlapFaults launches kernels that may overlap with the one before them: what they touch before they wait is found, by
// its line, and so is what lets the next kernel begin too early.
func TestOverlapFaults(t *testing.T) {
	const wait = "griddepcontrol.wait;\n"
	for _, c := range []struct {
		name, body, says string // says is empty where nothing is wrong
	}{
		{"waits first", wait + "ld.global.u32 %r4, [%rd1];\nst.global.u32 [%rd1], %r4;", ""},
		{"lets the next one begin", wait + "griddepcontrol.launch_dependents;\nld.global.u32 %r4, [%rd1];", ""},
		{"reads", "ld.global.u32 %r4, [%rd1];\n" + wait, "line 9: ld.global.u32 %r4, [%rd1]: overlap: reads global address"},
		{"writes", "st.global.u32 [%rd1], 1;\n" + wait, "line 9: st.global.u32 [%rd1], 1: overlap: writes global address"},
		{"counts", "red.global.add.u32 [%rd1], 1;\n" + wait, "line 9: red.global.add.u32 [%rd1], 1: overlap: updates global address"},
		{"copies", mySlot + "cp.async.ca.shared.global [%r2], [%rd1], 4;\n" + wait, "overlap: reads global address"},
		{"some lanes wait", "setp.lt.u32 %p1, %r1, 31;\n@%p1 griddepcontrol.wait;\nld.global.u32 %r4, [%rd1];", "lane 31: line 11: "},
		{"one path waits", "setp.lt.u32 %p1, %r1, 7;\n@!%p1 bra $L;\ngriddepcontrol.wait;\nld.global.u32 %r5, [%rd1];\n$L:\nld.global.u32 %r4, [%rd1];", "lane 7: line 14: "},
		{"never waits", "add.u32 %r4, %r1, 1;", "no thread executes griddepcontrol.wait"},
		{"reads through the cache", wait + "ld.global.nc.u32 %r4, [%rd1];", "line 10: ld.global.nc.u32 %r4, [%rd1]: overlap: it may read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.NewReplacer(".version 7.0", ".version 7.8", "sm_80", "sm_90").Replace(kernelText(sharedWords, c.body))
			for _, overlap := range []bool{false, true} {
				r := newRig(t, text)
				r.opt.Overlap = overlap
				_, err := r.try("k", line(1), line(32), 0, r.put(make([]uint32, 64)))
				switch {
				case !overlap || c.says == "":
					if err != nil {
						t.Errorf("overlap %v: %v", overlap, err)
					}
				case faultOf(err) != Overlap || !strings.Contains(err.Error(), c.says):
					t.Errorf("got %v, want %q", err, c.says)
				}
			}
		})
	}
}
