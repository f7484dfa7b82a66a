package cmd

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/config"
)

// TestWithoutRows names the flags by which an export and other commands agree.
func TestWithoutRows(t *testing.T) {
	q := config.DefaultQuantization()
	q.Activations = q.WithRows(false)
	if text := withoutRows(q); !strings.Contains(text, "--activations asymmetric has") || !strings.Contains(text, "--activations asymmetric:token writes") {
		t.Error(text)
	}
}

// TestExportByToken: what ONNX has no product for is written by nodes of its own, and said; by one range nothing is.
func TestExportByToken(t *testing.T) {
	for activations, warned := range map[string]bool{"symmetric:token": true, "symmetric": false} {
		file := filepath.Join(t.TempDir(), "rows.onnx")
		args := append([]string{"export", "--qdq", "-q", "--activations", activations, "--rounding", "nearest", "--equalization", "off", "-o", file}, few(t)...)
		_, errs := command(t, 0, args...)
		if got := strings.Contains(errs, "rounds rows by nodes in front of products of real numbers"); got != warned {
			t.Errorf("%s: %s", activations, errs)
		}
		if named := strings.Contains(errs, "That is so of 1 layer: head/classify/Gemm"); named != warned {
			t.Errorf("%s names no layer: %s", activations, errs)
		}
		out, _ := command(t, 0, "inspect", "model", file)
		if got := strings.Contains(out, "ReduceMax"); got != warned {
			t.Errorf("%s: %s", activations, out)
		}
	}
}
