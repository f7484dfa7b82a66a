package cmd

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// TestWorkbenchRefuses checks what is said, and with which exit code, before a screen is opened.
func TestWorkbenchRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"conformanc"}, exitFailure, `did you mean "conformance"?`},
		{[]string{"a.onnx", "b.onnx"}, exitFailure, "a.onnx: no such file"},
		{[]string{"a.onnx", "b.onnx", "c.onnx"}, exitFailure, "open a.onnx: no such file"},
		{[]string{"@fp32", "@fp33"}, exitFailure, `"fp33" is neither fp32, fp16 nor int8`},
		{[]string{"--batch", "0"}, exitFailure, "--batch 0: want 1 to"},
		{[]string{"--random-items", "0"}, exitFailure, "--random-items 0: want 1 to 65536"},
		{[]string{"bench", "--random-items", "1000000000000"}, exitFailure, "--random-items 1000000000000: want 1 to 65536"},
		{[]string{"bench", "--shapes", "foo:1x1x32x32"}, exitFailure, `no input "foo"; it has image `},
		{[]string{"bench", "--shapes", "image:1x1x32"}, exitFailure, "image 1x1x32: 3 axes, but the input is"},
		{[]string{"bench", "--shapes", "image:1x1xwide"}, exitFailure, `"wide" is not an extent of 0 to`},
		{[]string{"--precision", "int3"}, exitFailure, `--precision "int3": want fp32, fp16 or int8`},
		{[]string{"--precision-constraints", "maybe"}, exitFailure, `--precision-constraints "maybe": want prefer, obey or none`},
		{[]string{"--calibrator", "guess"}, exitFailure, "--calibrator: "},
		{[]string{"--theme", "pink"}, exitFailure, `--theme "pink": want dark, light, contrast, colour-blind, colour-blind-light, or a file`},
		{[]string{"--theme", "./none.json"}, exitFailure, "none.json: no such file"},
		{[]string{"replay", "a.trtui", "--theme", "testdata/nothing/x.json"}, exitFailure, "no such file"},
		{[]string{"--passes-until", "-1"}, exitFailure, "--passes-until -1: want 1 to "},
		{[]string{"bench", "--passes-until", "1000"}, exitFailure, "--passes-until 1000: want 1 to "},
		{[]string{"bench", "--size", "0"}, exitFailure, "--size 0: want 1 to "},
		{[]string{"bench", "--size", "-3", "--data", "x"}, exitFailure, "--size -3: want 1 to "},
		{[]string{"bench", "--shape", "1,28,28"}, exitFailure, "--shape says how --data or --calib-data is read"},
		{[]string{"run", "--nhwc"}, exitFailure, "--nhwc says how"},
		{[]string{"eval", "--labels", "x"}, exitFailure, "--labels is for the items of --data"},
		{[]string{"eval", "--label-offset", "1"}, exitFailure, "--label-offset is for"},
		{[]string{"eval", "--precision", "fp32,"}, exitFailure, "empty item"},
		{[]string{"eval", "--calibrator", "mse,"}, exitFailure, "empty item"},
		{[]string{"inspect", "foo"}, exitFailure, `inspect has no subcommand "foo"; name one of cache, engine, kernel, keys, layers, memory, model`},
		{[]string{"bench", "--iterations", "0"}, exitFailure, "--iterations 0: want at least 1"},
		{[]string{"bench", "--duration", "-1s"}, exitFailure, "--duration -1s: want a time of 0 or more"},
		{[]string{"bench", "--warm-up", "-1s"}, exitFailure, "--warm-up -1s: want a time of 0 or more"},
		{[]string{"run", "--items", "5-2"}, exitFailure, `--items "5-2": want FIRST-LAST`},
		{[]string{"run", "--items", "5-2", "--data", "x"}, exitFailure, `--items "5-2": want FIRST-LAST`},
		{[]string{"eval", "--calib-items", "x", "--calib-data", "x"}, exitFailure, `--calib-items "x": want FIRST-LAST`},
		{[]string{"--backend", "tpu"}, exitFailure, `--backend "tpu"`},
		{[]string{filepath.Join(t.TempDir(), "none.onnx")}, exitFailure, "none.onnx: no such file"},
		{[]string{t.TempDir()}, exitFailure, "is a directory"},
	} {
		var errOut bytes.Buffer
		code := execute(t.Context(), c.args, io.Discard, &errOut)
		if code != c.code || !strings.Contains(errOut.String(), c.says) {
			t.Errorf("%v: exit code %d, want %d, and %q in\n%s", c.args, code, c.code, c.says, &errOut)
		}
	}
}

// What is interrupted says that it was stopped, and nothing of how.
func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"bench"}, {"run"}, {"eval"}, {"inspect", "memory"}, {"calibrate", "--compare"}, {}} {
		var errOut bytes.Buffer
		code := execute(ctx, append(withCache(args, "none"), "-q"), io.Discard, &errOut)
		if code != exitFailure || errOut.String() != "trtui: stopped\n" {
			t.Errorf("%v: exit code %d, %q", args, code, &errOut)
		}
	}
}
