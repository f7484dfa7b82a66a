package cmd

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/stages"
)

func TestErrorText(t *testing.T) {
	evil := errors.New("layer a\nb\t\x1b[31m is odd")
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"plain", errors.New("no such file"), "no such file"},
		{"a name that ends a line", evil, `layer a\nb\t\x1b[31m is odd`},
		{"wrapped", fmt.Errorf("model\n.onnx: %w; this goes on", evil), `model\n.onnx: layer a\nb\t\x1b[31m is odd; this goes on`},
		{"wrapped twice", fmt.Errorf("tactic c\nd: %w: %w", evil, errors.New("stale")), `tactic c\nd: layer a\nb\t\x1b[31m is odd: stale`},
		{"several", errors.Join(evil, errors.New("second")), `layer a\nb\t\x1b[31m is odd` + "\nsecond"},
		{"several, wrapped", fmt.Errorf("keys: %w", errors.Join(errors.New("first"), evil)), "keys: first\n" + `layer a\nb\t\x1b[31m is odd`},
		{"a crash", fmt.Errorf("cpu: %w", &stages.Crash{Value: "a\nb", Stack: []byte("goroutine 1:\nmain.go:1")}), "cpu: " + `internal error: a\nb` + "\ngoroutine 1:\nmain.go:1"},
		{"a name without an end", fmt.Errorf("array %s: not a .npy array, by %s", strings.Repeat("é", 300_000), strings.Repeat("a", 1024)),
			"array " + strings.Repeat("é", 256) + "...(299489 characters)..." + strings.Repeat("é", 255) + ": not a .npy array, by " + strings.Repeat("a", 1024)},
	} {
		if got := errorText(tt.err); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
