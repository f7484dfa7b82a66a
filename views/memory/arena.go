package memory

import (
	"math"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/words"
)

// arena returns the map, a block for each place in the arena; views and parts of other tensors lie in those tensors' blocks.
func arena(m *report.Memory, places []slotInfo) ui.Map {
	out := ui.Map{Steps: len(m.Steps), Size: int64(max(m.Peak, 1)), Selected: -1}
	for i := range places {
		if s := &places[i]; s.inArena() {
			out.Blocks = append(out.Blocks, ui.Block{
				Name: words.TensorName(s.Tensor), First: max(s.First, 0), Last: min(s.Last, len(m.Steps)-1),
				From: int64(s.Offset), To: int64(s.Offset + s.Bytes), Series: s.series,
			})
		}
	}
	return out
}

// Arena returns the arena of a report to draw, with the cursor on its first step.
func Arena(m *report.Memory) ui.Map { return arena(m, colours(m)) }

// slotInfo is a place in memory with the series that it is drawn in.
type slotInfo struct {
	report.Slot
	series int
	mark   rune // its letter, if it lives at the cursor's step; else 0
}

// inArena reports whether the slot has memory of its own in the arena.
func (s *slotInfo) inArena() bool { return !s.IO && s.Of == "" && s.Bytes > 0 }

// colours gives each slot the first of seven series that no slot living at the same time, or just before, is drawn in;
// what lies in another's memory has the other's.
func colours(m *report.Memory) []slotInfo {
	slots := make([]slotInfo, len(m.Slots))
	owner := map[string]int{}
	latest := math.MinInt // first step of those before
	var last [series]int  // step of those before in a series
	for k := range last {
		last[k] = math.MinInt
	}
	for i, s := range m.Slots {
		slots[i].Slot = s
		if s.Of != "" {
			continue
		}
		taken := func(k int) bool { return last[k] >= s.First-1 } // of those that begin no later
		if s.First < latest {
			beside := besides(slots[:i], s)
			taken = func(k int) bool { return beside[k] }
		}
		slots[i].series = i % series
		for k := range series {
			if c := (i + k) % series; !taken(c) {
				slots[i].series = c
				break
			}
		}
		owner[s.Tensor] = slots[i].series
		if !s.IO {
			latest, last[slots[i].series] = max(latest, s.First), max(last[slots[i].series], s.Last)
		}
	}
	for i := range slots {
		if of := slots[i].Of; of != "" {
			slots[i].series = owner[of]
		}
	}
	return slots
}

// series is how many colours there are for slots.
const series = 7

// besides returns the series of slots that live at the same time as another, or just before or after.
func besides(slots []slotInfo, s report.Slot) (taken [series]bool) {
	for i := range slots {
		if o := &slots[i]; o.Of == "" && !o.IO && o.First <= s.Last+1 && s.First <= o.Last+1 {
			taken[o.series] = true
		}
	}
	return taken
}

// mapGutter is where a map's plot begins.
const mapGutter = 10
