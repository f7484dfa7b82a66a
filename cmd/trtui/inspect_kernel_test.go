package main

import (
	"strings"
	"testing"
)

// TestInspectKernel shows a layer's code, by a part of its name and by a source layer, of the chosen tactic and of another.
func TestInspectKernel(t *testing.T) {
	for _, c := range []struct {
		args []string
		exit int
		want []string
	}{
		{[]string{"softmax"}, 0, []string{"tactic softmax_linear", "predicted:", "blocks an SM", "registers, at least", ".visible .entry softmax", ".reg .b32 %r<"}},
		{[]string{"softmax", "--format", "json"}, 0, []string{`"spill_bytes": null`}},
		{[]string{"block2/shortcut/norm/BatchNormalization", "--of-tactic", "conv_f32_simt_64x64x64_s3"}, 0, []string{"conv_f32_simt_64x64x64_s3", "cp.async"}},
		{[]string{"block2"}, exitFailure, []string{`"block2" names no one layer of the engine, which has`, "softmax/Softmax"}},
		{[]string{"softmax", "--of-tactic", "conv_f32_simt_64x64x64_s3"}, exitFailure, []string{"conv_f32_simt_64x64x64_s3"}},
		{[]string{"softmax", "--backend", "cpu"}, exitFailure, []string{"has no code of its own to show"}},
	} {
		args := append([]string{"inspect", "kernel"}, c.args...)
		if !strings.Contains(strings.Join(args, " "), "--backend") {
			args = append(args, "--backend", "cudasim")
		}
		out, errs := command(t, c.exit, append(args, "--timing-cache", "none")...)
		for _, w := range c.want {
			if !strings.Contains(out+errs, w) {
				t.Errorf("%v: no %q in\n%.600s%s", c.args, w, out, errs)
			}
		}
	}
}
