package memory

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/sessions/report"
)

// TestColours: each slot has the first series from its own on that none beside it has, in whatever order slots come.
func TestColours(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		m := &report.Memory{}
		for i := range 60 {
			first := i
			if random.IntN(4) == 0 {
				first = random.IntN(60)
			}
			s := report.Slot{Tensor: fmt.Sprint(i), First: first, Last: first + random.IntN(6), IO: random.IntN(10) == 0}
			if i > 0 && random.IntN(6) == 0 {
				s.Of = fmt.Sprint(random.IntN(i))
			}
			m.Slots = append(m.Slots, s)
		}
		slots := colours(m)
		for i, s := range slots {
			if s.Of != "" {
				continue
			}
			taken, want := besides(slots[:i], s.Slot), i%series
			for k := range series {
				if c := (i + k) % series; !taken[c] {
					want = c
					break
				}
			}
			if s.series != want {
				t.Fatalf("slot %d of %+v is in series %d, want %d", i, m.Slots, s.series, want)
			}
		}
	}
}
