//go:build linux

package soak

import (
	"context"
	"testing"

	"github.com/trtui/trtui/internal/torture"
	"github.com/trtui/trtui/internal/torture/networks"
)

// TestLeak: arenas that are not freed are found, and nothing else is.
func TestLeak(t *testing.T) {
	for _, tt := range []struct {
		planted string
		found   int
	}{{"", 0}, {networks.Leak, 1}} {
		h := &hunter{place: torture.Place{Planted: tt.planted}, engines: 120, count: map[string]int{}}
		if got := h.build(context.Background(), 3); len(got) != tt.found {
			t.Errorf("planted %q: found %v", tt.planted, got)
		}
		t.Log(h.count)
	}
}
