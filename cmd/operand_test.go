package cmd

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestRecordedConfiguration: a configuration of a recording is named behind @ wherever a recording may stand, and what is not there is
// refused with what is.
func TestRecordedConfiguration(t *testing.T) {
	dir := t.TempDir()
	unzip(t, filepath.Join("..", "sessions", "recording", "testdata", "recording-1.trtui.gz"), filepath.Join(dir, "s.trtui"))
	t.Chdir(dir)
	for _, c := range []struct{ args, says string }{
		{"eval s.trtui@fp32", "as recorded in s.trtui: "}, {"eval s.trtui", "int8 "},
		{"bench s.trtui@fp32 --per-layer", "fp32, batch 1"}, {"bench s.trtui@int8", "int8, batch 1"},
		{"inspect passes s.trtui@fp32", "as recorded in s.trtui, state "}, {"inspect memory s.trtui@int8", "arena: peak"},
		{"inspect engine s.trtui@fp32", "latency ms"}, {"inspect tactics s.trtui@fp32", "tactic"}, {"inspect transitions s.trtui@int8", "that only convert"},
		{"lint s.trtui@fp32 --fail-on none", "findings by "}, {"export trace s.trtui@fp32 -o -", "traceEvents"}, {"replay s.trtui@int8 --format text", "int8"},
		{"s.trtui@fp32", "fp32"}, {"pareto s.trtui@fp32", "fp32"}, {"diff s.trtui@fp32 s.trtui@int8", "s.trtui@int8"},
	} {
		if out, _ := command(t, 0, strings.Fields(c.args)...); !strings.Contains(out, c.says) {
			t.Errorf("trtui %s says\n%s", c.args, out)
		}
	}
	for _, name := range []string{"eval", "bench", "inspect passes", "lint", "replay", "export trace -o -", "pareto"} {
		if _, errs := command(t, 2, append(strings.Fields(name), "s.trtui@fp64")...); !strings.Contains(errs, "fp32; int8") {
			t.Errorf("trtui %s says of a configuration that there is not\n%s", name, errs)
		}
	}
	for _, c := range []struct{ args, says string }{
		{"bench s.trtui@fp32 --precision int8", "--precision changes nothing: name one of its configurations behind @"},
		{"inspect recording s.trtui@fp32", "sums up all of s.trtui"}, {"replay s.trtui@fp32 --at 1", "--at and what is behind @"},
		{"build s.trtui@fp32 -o x", "s.trtui is a recording"}, {"bench x.onnx@int8", "no such file"},
	} {
		if _, errs := command(t, 2, strings.Fields(c.args)...); !strings.Contains(errs, c.says) {
			t.Errorf("trtui %s says\n%s", c.args, errs)
		}
	}
}
