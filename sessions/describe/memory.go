package describe

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// Memory describes the arena.
func Memory(p *run.Plan) *report.Memory {
	m := p.Memory
	r := &report.Memory{
		MemoryNumbers: report.MemoryNumbers{Peak: m.Peak, Naive: m.Naive, LowerBound: m.LowerBound, IO: m.IO, Workspace: m.Workspace, Weights: m.Weights},
		PeakStep:      m.PeakStep, Live: make([]int, len(p.Steps)),
	}
	for _, st := range p.Steps {
		r.Steps = append(r.Steps, st.Name)
	}
	for _, sl := range p.Slots {
		info := report.Slot{Offset: sl.Offset, Bytes: sl.Size, First: sl.First, Last: sl.Last, IO: sl.Region == run.IO, Kind: "own"}
		if sl.Tensor == nil {
			info.Tensor, info.Kind = "workspace", "workspace"
		} else {
			info.Tensor, info.Desc = sl.Tensor.Name, sl.Desc.String()
		}
		if sl.Of >= 0 {
			of := p.Slots[sl.Of]
			info.Of, info.Kind = of.Tensor.Name, sharing(sl, of)
		}
		r.Slots = append(r.Slots, info)
		if sl.Of < 0 && sl.Region == run.Arena {
			for i := max(0, sl.First); i <= min(sl.Last, len(p.Steps)-1); i++ {
				r.Live[i] += sl.Size
			}
		}
	}
	for _, way := range p.Planners() {
		r.Planners = append(r.Planners, report.Planner{Name: way.Name, Peak: way.Peak, Chosen: way.Chosen, Offsets: way.Offsets})
	}
	return r
}

// sharing names the way in which one slot lies in another's memory.
func sharing(s, of run.Slot) string {
	switch {
	case s.Tensor.Producer != nil && of.Tensor.Producer != nil && of.Tensor.Producer.Op.Memory == graph.Joined && usedBy(s.Tensor, of.Tensor.Producer):
		return "slice"
	case s.Tensor.Producer != nil && s.Tensor.Producer.Op.Memory == graph.Parted && usedBy(of.Tensor, s.Tensor.Producer):
		return "slice"
	case s.Tensor.Producer != nil && s.Tensor.Producer.Op.Memory == graph.Viewed:
		return "view"
	}
	return "in place"
}

func usedBy(t *graph.Tensor, l *graph.Layer) bool {
	for _, u := range t.Users {
		if u == l {
			return true
		}
	}
	return false
}
