package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInspectKernel shows a layer's code, by a part of its name and by a source layer, of the chosen tactic and of another.
func TestInspectKernel(t *testing.T) {
	t.Setenv("TRTUI_PTXAS", "none")
	for _, c := range []struct {
		args []string
		exit int
		want []string
	}{
		{[]string{"softmax"}, 0, []string{"tactic softmax_linear", "predicted:", "blocks per SM", "live registers", ".visible .entry softmax", ".reg .b32 %r<"}},
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
		out, errs := command(t, c.exit, args...)
		for _, w := range c.want {
			if !strings.Contains(out+errs, w) {
				t.Errorf("%v: no %q in\n%.600s%s", c.args, w, out, errs)
			}
		}
	}
}

// TestInspectKernelAssembled shows what an assembler says of a simulated device's code, one that stands in for NVIDIA's; and
// its error.
func TestInspectKernelAssembled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ptxas")
	says := `#!/bin/sh
[ "$1" = --version ] && echo "Cuda compilation tools, release 13.0, V13.0.88" && exit
echo "ptxas info    : Compiling entry function '$(sed -n 's/^.visible .entry \([a-z0-9_]*\)(.*/\1/p')' for 'sm_80'"
echo "    24 bytes stack frame, 20 bytes spill stores, 24 bytes spill loads"
echo "ptxas info    : Used 168 registers, used 1 barriers"
`
	for _, c := range []struct {
		script string
		exit   int
		want   []string
	}{
		{says, 0, []string{"according to ptxas 13.0.88 for sm_80\n", "registers  ", " 168 ", " 24 "}},
		{"#!/bin/sh\necho V1\n", exitFailure, []string{path + " --version tells no release"}},
	} {
		if err := os.WriteFile(path, []byte(c.script), 0o777); err != nil {
			t.Fatal(err)
		}
		t.Setenv("TRTUI_PTXAS", path)
		out, errs := command(t, c.exit, "inspect", "kernel", "softmax", "--backend", "cudasim")
		for _, w := range c.want {
			if !strings.Contains(out+errs, w) {
				t.Errorf("no %q in\n%.700s%s", w, out, errs)
			}
		}
	}
}
