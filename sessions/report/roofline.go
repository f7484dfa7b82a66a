package report

import (
	"slices"
	"strings"
	"time"
)

// Roofline is what the device reaches at most: the ceilings under which layers stand (Williams, Waterman, Patterson: Roofline, CACM
// 52, 2009).
type Roofline struct {
	Peaks      []Peaks  // of one thread, and last of those that compute; none where nothing is known
	Unmeasured string   `json:",omitempty"` // why there are none
	Above      []string // layers that stand above their ceiling: a peak was measured too low, or they leave work out
	Again      bool     `json:",omitempty"` // the peaks were measured once more, since layers stood above them
	Disturbed  []string // peaks that the machine's other work may have lowered
}

// Peaks are the ceilings of so many threads.
type Peaks struct {
	Threads int    `json:",omitempty"`
	Compute []Peak // of arithmetic, one a type of numbers
	Memory  []Peak // of reading, nearest first; the last one holds everything
}

// Peak is one ceiling.
type Peak struct {
	Name   string  // a type, as "f32", or a level of memory, as "L2" and "DRAM"
	By     string  // what it was measured by
	Rate   float64 `output:"per_s"`                         // operations or bytes, a multiply-add being two operations
	Holds  int64   `json:",omitempty" output:"holds_bytes"` // of a level, what the threads have of it; 0: no end
	Spread float64 `output:"spread_share"`                  // by what share of the best of all occasions the second best was less
}

// Roof is where a layer stands under the ceilings.
type Roof struct {
	Operations int64         // all arithmetic, where FLOPs are those of products
	Intensity  float64       `output:"op_per_byte"`
	Reached    float64       `output:"gop_per_s"`
	Ceiling    float64       `output:"ceiling_gop_per_s"` // that holds there; 0 for what has no arithmetic
	Floor      time.Duration // the least time that the ceilings allow
	Bound      string        // the ceiling: a type of arithmetic or a level of memory
	OfPeak     float64       `output:"of_peak_share"` // Floor over the median
}

// aboveBy is what a share may be above 1 before that is worth a word: clocks and medians are no more exact.
const aboveBy = 0.02

// Above reports whether the layer is quicker than the ceilings allow.
func (r *Roof) Above() bool { return r.OfPeak > 1+aboveBy }

// Last returns the peaks of the threads that compute; nil where nothing is known.
func (r *Roofline) Last() *Peaks {
	if r == nil || len(r.Peaks) == 0 {
		return nil
	}
	return &r.Peaks[len(r.Peaks)-1]
}

// typeJoint stands between the names of types that are computed alike.
const typeJoint = ", "

// Ceilings returns the peaks of arithmetic, those of one rate as one under all their names.
func (p *Peaks) Ceilings() (list []Peak) {
	for _, k := range p.Compute {
		if i := slices.IndexFunc(list, func(o Peak) bool { return o.Rate == k.Rate }); i >= 0 {
			list[i].Name += typeJoint + k.Name
			continue
		}
		list = append(list, k)
	}
	return list
}

// Is reports whether it is the ceiling of that name, or one of several.
func (k Peak) Is(name string) bool { return slices.Contains(strings.Split(k.Name, typeJoint), name) }

// Bounds returns a ceiling by its name, and whether it is a level of memory.
func (p *Peaks) Bounds(name string) (peak Peak, memory, ok bool) {
	for _, k := range p.Compute {
		if k.Name == name {
			return k, false, true
		}
	}
	for _, k := range p.Memory {
		if k.Name == name {
			return k, true, true
		}
	}
	return Peak{}, false, false
}
