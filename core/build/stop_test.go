package build

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestStopWhileTiming: nothing more is launched when the context has ended, in whatever launch it did: of the warm-up, in a round,
// or between rounds.
func TestStopWhileTiming(t *testing.T) {
	for _, at := range []int{1, 2, 50, 210, 350} {
		d := &cachedDevice{cache: 1 << 20, room: 1 << 30, held: map[uint64][]byte{}}
		ctx, stop := context.WithCancel(t.Context())
		u := &tuner{ctx: ctx, backend: d, stream: d}
		launches := 0
		_, _, err := u.clock(func() error {
			d.clock += time.Microsecond
			if launches++; launches == at {
				stop()
			}
			return nil
		}, nil)
		if !errors.Is(err, context.Canceled) || launches != at {
			t.Errorf("stopped in launch %d: %d launches, %v", at, launches, err)
		}
		stop()
	}
}
