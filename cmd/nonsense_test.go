package cmd

import (
	"path/filepath"
	"strings"
	"testing"
)

// Command lines that mean nothing are refused, and the message says what would mean something.
func TestNonsense(t *testing.T) {
	engine := filepath.Join(t.TempDir(), "digits.engine")
	command(t, 0, "build", "-q", "-o", engine)
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"a shell that is none", []string{"completion", "tcsh"}, `"tcsh" is none of bash, fish, powershell, zsh`},
		{"sequences of an engine", []string{"run", engine, "--sequences", "x:3"}, "the engine digits.engine has what it was built with"},
		{"a limit of an engine's extents", []string{"run", engine, "--max-extent", "3"}, "the engine digits.engine has what it was built with"},
		{"optionals of an engine", []string{"run", engine, "--without", "x"}, "the engine digits.engine has what it was built with"},
		{"optionals of the built-in model", []string{"eval", "--without", "x"}, "--without is for a model whose inputs are optionals"},
		{"sequences of what is looked at", []string{"inspect", "model", engine, "--sequences", "x:3"}, "--sequences is for a model"},
		{"the quantisation of a model that has none", []string{"eval", "--requantize"}, "--requantize: digits brings no quantisation that could be dropped"},
		{"the quantisation of an engine", []string{"eval", engine, "--requantize"}, "--requantize: digits.engine is an engine, which is quantised as it was built"},
	} {
		if out, text := command(t, exitFailure, tt.args...); !strings.Contains(text, tt.want) || out != "" {
			t.Errorf("%s: %q, %q; want %q", tt.name, out, text, tt.want)
		}
	}
}
