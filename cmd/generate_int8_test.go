package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGenerateInt8: a language model in floats is calibrated on a text, or has the ranges of a file, and each token may have a range of its own;
// by those it writes what it does in FP32.
func TestGenerateInt8(t *testing.T) {
	folder := filepath.Join(os.Getenv("TRTUI_DATA"), "models", "stories260K-llama")
	if os.Getenv("TRTUI_DATA") == "" || testing.Short() {
		t.Skip("needs TRTUI_DATA, and calibrates")
	}
	text, ranges := filepath.Join(t.TempDir(), "text.txt"), filepath.Join(t.TempDir(), "ranges.json")
	story := strings.Repeat("Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, she saw a big, red ball. "+
		"Tim was a boy who liked to run. He ran to the shop and got a toy car. ", 8)
	if err := os.WriteFile(text, []byte(story), 0o666); err != nil {
		t.Fatal(err)
	}
	model := []string{filepath.Join(folder, "stories260K_dyn.onnx"), "--tokenizer", filepath.Join(folder, "tok512.bin")}
	command(t, 0, append([]string{"calibrate", "--data", text, "-q", "-o", ranges}, model...)...)
	write := func(args ...string) (string, string) {
		args = append(append([]string{"generate", "--prompt", "The dog was", "--tokens", "24", "-v"}, model...), args...)
		out, log := command(t, 0, args...)
		written, _, _ := strings.Cut(out, "\n\nprompt")
		return written, log
	}
	real, _ := write()
	for _, c := range []struct {
		args []string
		same bool
	}{
		{[]string{"--calib-data", text}, false}, {[]string{"--ranges", ranges}, false},
		{[]string{"--calib-data", text, "--activations", "asymmetric:token"}, true},
	} {
		written, log := write(append(c.args, "--precision", "int8")...)
		if !strings.HasPrefix(written, "The dog was ") || !strings.Contains(log, "i8") || c.same && written != real {
			t.Errorf("%v: %q, in fp32 %q; %s", c.args, written, real, log)
		}
	}
	for want, args := range map[string][]string{
		"weights are the nearest integers":          {"--precision", "int8", "--calib-data", text, "--rounding", "gptq"},
		"name by --weights what to, or --precision": {"--calib-data", text},
	} {
		if _, errs := command(t, exitFailure, append(append([]string{"generate", "--ids", "1"}, model[0]), args...)...); !strings.Contains(errs, want) {
			t.Errorf("%v: %s", args, errs)
		}
	}
}
