package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/config"
)

// Split is whether two profiles serve the range of an axis better than one. The tactics of a profile are timed at one extent; others may be
// faster far from it. So engines whose tactics are timed elsewhere are measured beside that of the whole range, in the same rounds, at
// extents along the axis (trtui bench --sweep --split, and the Runtime screen).
type Split struct {
	Base          config.Config `output:"-"` // with the one range; the head has it
	Axis          string
	Min, Opt, Max int             // the range; its tactics are timed at Opt
	Values        []int           // extents that are measured, the other axes at their best
	Medians       []time.Duration // of the engine of the whole range, by value; shorter than Values while it goes on
	Elsewhere     []TunedAt       // by the extents that their tactics are timed at
	Left          int             `json:",omitempty" output:"-"` // measurements that are still to come
	Found         *FoundSplit     // nil: one range is enough, as far as can be told from noise
}

// TunedAt is an engine of the whole range whose tactics are timed at another extent than its best one.
type TunedAt struct {
	At     int
	Differ int     // steps that have another tactic or format than those of the engine of the range; 0: it is the same engine, and not measured
	Speeds []Speed // by value, how many times as fast it is as the engine of the range
}

// FoundSplit is a range cut in two. One part keeps the best extent and with it the tactics; the tactics of the other are timed in it, and
// the engine of that part was measured once more, in rounds of its own: what chance made look fast before is not so again.
type FoundSplit struct {
	Profiles      [2]SplitProfile // the one that keeps the best extent of the range, and the faster one
	Values        []int           // of those in the faster one
	Medians       []time.Duration // there, of the faster one
	Speeds        []Speed         // there, how many times as fast it is as the engine of the range
	OtherTactics  int             // steps that have another tactic or format in the faster one
	RepackedBytes int             // of the constants of these: those of others both profiles share
	MemoryBytes   int             // that a context of each of the two takes over one of the whole range, and what is packed anew
	Config        config.Config   `output:"-"` // that has both
}

// SplitProfile is a part of a range.
type SplitProfile struct{ Min, Opt, Max int }

// Most returns the value at which the faster profile gains most, and how much.
func (f *FoundSplit) Most() (value int, s Speed) {
	for i, v := range f.Values {
		if ratio, _ := f.Speeds[i].Sure(); i == 0 || ratio > s.Ratio {
			value, s = v, f.Speeds[i]
		}
	}
	return value, s
}

// FasterPart returns the part of a range at one of its ends that an engine is faster in than that of the range: of values, which rise, those from
// one index to another, no slower anywhere, and faster at the one next to the rest of the range and at half of them at least. opt stays out
// of it. ok is false where there is none.
func FasterPart(values []int, opt int, of TunedAt) (from, to int, ok bool) {
	gain := 0.0
	try := func(first, last, inner int) {
		total, faster := 0.0, 0
		for i := first; i <= last; i++ {
			s := of.Speeds[i]
			if s.Significant && s.Ratio < 1 {
				return
			}
			if s.Significant {
				faster++
			}
			ratio, _ := s.Sure()
			total += math.Log(ratio)
		}
		if s := of.Speeds[inner]; s.Significant && 2*faster >= last-first+1 && total > gain {
			from, to, ok, gain = first, last, true, total
		}
	}
	for i, v := range values {
		switch {
		case len(of.Speeds) < len(values) || of.At == opt:
		case of.At < opt && v < opt:
			try(0, i, i)
		case of.At > opt && v > opt:
			try(i, len(values)-1, i)
		}
	}
	return from, to, ok
}

// WorthSplit reports whether speeds, measured anew, are those of a part that is faster: nowhere slower, and faster at half of it at least.
func WorthSplit(speeds []Speed) bool {
	faster := 0
	for _, s := range speeds {
		switch {
		case s.Significant && s.Ratio < 1:
			return false
		case s.Significant:
			faster++
		}
	}
	return faster > 0 && 2*faster >= len(speeds)
}

// Verdict says in words what was found, but for memory.
func (s *Split) Verdict() string {
	f := s.Found
	switch {
	case f == nil && !s.differs():
		return "one range is enough: the same tactics are the fastest at " + s.tunedAt()
	case f == nil && s.Left == 0:
		return "one range is enough: no part of it is faster with tactics of its own, beyond noise"
	case f == nil:
		return s.Short()
	}
	low, high := f.parts()
	return fmt.Sprintf("split at %d: %s=%d..%d and %d..%d: %s", high.Min, s.Axis, low.Min, low.Max, high.Min, high.Max, f.gain())
}

// Short is Verdict in a few words.
func (s *Split) Short() string {
	switch f := s.Found; {
	case f != nil:
		_, high := f.parts()
		return fmt.Sprintf("split at %d: %s", high.Min, f.gain())
	case s.Left > 0:
		return "one range or two: being measured"
	}
	return "one range is enough"
}

// parts returns the two parts, the lower one first.
func (f *FoundSplit) parts() (low, high SplitProfile) {
	if f.Profiles[0].Min < f.Profiles[1].Min {
		return f.Profiles[0], f.Profiles[1]
	}
	return f.Profiles[1], f.Profiles[0]
}

// gain says how much less time it takes where it is most.
func (f *FoundSplit) gain() string {
	value, most := f.Most()
	return fmt.Sprintf("%s at %d, noise ±%.1f %%", most.Change(), value, 100*(most.High-most.Low)/2/most.Ratio)
}

// differs reports whether tactics that are timed elsewhere are others.
func (s *Split) differs() bool {
	return slices.ContainsFunc(s.Elsewhere, func(t TunedAt) bool { return t.Differ > 0 })
}

// tunedAt names the extents at which tactics were timed.
func (s *Split) tunedAt() string {
	list := []string{fmt.Sprint(s.Opt)}
	for _, t := range s.Elsewhere {
		list = append(list, fmt.Sprint(t.At))
	}
	return s.Axis + " " + strings.Join(list, ", ")
}

// Change writes how much less time it takes, as in "-18.2 %"; of noise that it is noise.
func (s Speed) Change() string {
	ratio, loose := s.Sure()
	switch {
	case !s.Significant:
		return "noise"
	case loose && ratio > 1:
		return fmt.Sprintf("%.1f %% or less", 100*(1/ratio-1))
	case loose:
		return fmt.Sprintf("%+.1f %% or more", 100*(1/ratio-1))
	}
	return fmt.Sprintf("%+.1f %%", 100*(1/ratio-1))
}
