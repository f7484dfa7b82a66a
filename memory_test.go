package trtui_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui"
	"github.com/trtui/trtui/kernels/cpu"
)

// TestMemory: an engine that needs more than it may take is neither built nor opened, and the error says what it needs.
func TestMemory(t *testing.T) {
	n := digits(t)
	e := built(t, n, trtui.Options{Memory: 1 << 30})
	path := filepath.Join(t.TempDir(), "m.engine")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = e.WriteTo(f); errors.Join(err, f.Close()) != nil {
		t.Fatal(err)
	}
	backend := cpu.Open(1)
	defer backend.Close()
	refused := func(what string, err error) {
		t.Helper()
		var none *trtui.NoRoom
		if !errors.As(err, &none) || none.Limit != 1000 || none.Need() <= 1000 {
			t.Errorf("%s: %v, want that 1000 bytes are too few", what, err)
		}
	}
	_, err = trtui.Build(t.Context(), n, trtui.Options{Untimed: true, Memory: 1000})
	refused("built", err)
	_, err = trtui.OpenEngine(t.Context(), path, trtui.OpenOptions{Memory: 1000})
	refused("opened", err)
	_, err = trtui.Build(t.Context(), n, trtui.Options{Untimed: true, Memory: 1000, Backend: backend})
	refused("built for a backend", err)
	if got := backend.MemoryLimit(); got != 1000 {
		t.Errorf("the backend is limited to %d bytes, want 1000", got)
	}
	for _, o := range []trtui.Options{{Memory: -1}, {Memory: 1, Backend: unlimited{backend}}} {
		if _, err := trtui.Build(t.Context(), n, o); err == nil || !strings.Contains(err.Error(), "memory") {
			t.Errorf("%d bytes: %v", o.Memory, err)
		}
	}
}

// unlimited is a device whose memory cannot be limited.
type unlimited struct{ trtui.Backend }
