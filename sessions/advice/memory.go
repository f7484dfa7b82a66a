package advice

import (
	"fmt"

	"github.com/trtui/trtui/sessions/report"
)

// Memory is worth a word from leastArena on: where one tensor has more than half of the peak, or where more than a tenth is lost
// between tensors.
const (
	leastArena   = 1 << 20
	mostOfPeak   = 0.5
	fewAtPeak    = 3
	fragmentLoss = 1.1
)

// peakTensor finds an arena whose size one tensor decides.
func peakTensor(f *facts) []report.Finding {
	m := f.Memory
	var largest *report.Slot
	at := 0
	for i := range m.Slots {
		s := &m.Slots[i]
		if s.IO || s.Of != "" || s.First > m.PeakStep || s.Last < m.PeakStep {
			continue
		}
		if at++; largest == nil || s.Bytes > largest.Bytes {
			largest = s
		}
	}
	if m.Peak < leastArena || at < fewAtPeak || largest == nil || float64(largest.Bytes) < mostOfPeak*float64(m.Peak) {
		return nil
	}
	layer := ""
	if largest.First >= 0 && largest.First < len(m.Steps) {
		layer = m.Steps[largest.First]
	}
	part := float64(largest.Bytes) / float64(m.Peak)
	return []report.Finding{{Severity: report.Suggestion, Remedy: report.RemedyMemory, Layer: layer, Tensor: largest.Tensor, Bytes: int64(largest.Bytes),
		Text:     fmt.Sprintf("%s (%s) is %s of the arena's %s", largest.Tensor, largest.Desc, percent(part), size(int64(m.Peak))),
		Evidence: []report.Evidence{share("peak", part), bytes("tensor", largest.Bytes), bytes("arena", m.Peak)}}}
}

// fragmented finds an arena that is larger than what is live at once.
func fragmented(f *facts) []report.Finding {
	m := f.Memory
	if m.Peak < leastArena || float64(m.Peak) < fragmentLoss*float64(m.LowerBound) {
		return nil
	}
	return []report.Finding{{Severity: report.Suggestion, Remedy: report.RemedyMemory, Bytes: int64(m.Peak - m.LowerBound),
		Text:     fmt.Sprintf("the arena has %s and no more than %s are live at once: %s lie between tensors", size(int64(m.Peak)), size(int64(m.LowerBound)), size(int64(m.Peak-m.LowerBound))),
		Evidence: []report.Evidence{bytes("arena", m.Peak), bytes("lower_bound", m.LowerBound)}}}
}
