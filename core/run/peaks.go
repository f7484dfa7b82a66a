package run

import (
	"context"
	"fmt"
	"math"
	"time"
)

// Peaks are what a device reaches at most with so many threads, by short kernels that do nothing else: the ceilings of a roofline
// (Williams, Waterman, Patterson: Roofline, CACM 52, 2009).
type Peaks struct {
	Threads int    `json:",omitempty"` // of the host that compute; 0 where they are not the host's
	Compute []Peak // arithmetic, one a type of numbers
	Memory  []Peak // reading, nearest first; the last one holds everything
}

// Peak is one ceiling.
type Peak struct {
	Name   string  // of a type, as in "f32" and "i8", or of a level of memory, as in "L2" and "DRAM"
	By     string  // what it was measured by
	Rate   float64 // operations or bytes in a second; a multiply-add is two operations
	Holds  int64   `json:",omitempty"` // bytes of a level, of all its parts that the threads have; 0: no end
	Spread float64 // by what share of the best of all occasions the second best was less
}

// Disturbed reports whether the machine did something else while the peak was measured: it may be higher than it says.
func (p Peak) Disturbed() bool { return p.Spread > 0.05 }

// Peaked is implemented by backends that measure what their device reaches at most.
type Peaked interface {
	// Peaks measures, within a second or so, and with nothing else at work: with one thread, and with all that the backend has.
	Peaks(context.Context) ([]Peaks, error)
}

// Check refuses what cannot have been measured.
func (p *Peaks) Check() error {
	if p.Threads < 0 || len(p.Compute) == 0 || len(p.Memory) == 0 || len(p.Compute)+len(p.Memory) > 64 {
		return fmt.Errorf("peaks of %d threads, %d types and %d levels of memory", p.Threads, len(p.Compute), len(p.Memory))
	}
	for i, list := range [][]Peak{p.Compute, p.Memory} {
		for j, k := range list {
			end := i == 1 && j == len(list)-1
			if k.Name == "" || !(k.Rate > 0) || math.IsInf(k.Rate, 0) || !(k.Spread >= 0) || k.Holds < 0 || i == 1 && (k.Holds == 0) != end {
				return fmt.Errorf("%q reaches %g and holds %d bytes", k.Name, k.Rate, k.Holds)
			}
			if i == 1 && j > 0 && !end && k.Holds <= list[j-1].Holds {
				return fmt.Errorf("%s holds %d bytes, %s before it %d", k.Name, k.Holds, list[j-1].Name, list[j-1].Holds)
			}
		}
	}
	return nil
}

// Raise takes the rates of other peaks of the same device where they are higher: what disturbs a measurement only lowers them.
func (p *Peaks) Raise(other Peaks) {
	for _, pair := range [][2][]Peak{{p.Compute, other.Compute}, {p.Memory, other.Memory}} {
		for i, own := range pair[0] {
			for _, k := range pair[1] {
				if k.Name == own.Name && k.Rate > own.Rate {
					pair[0][i].Rate, pair[0][i].By, pair[0][i].Spread = k.Rate, k.By, k.Spread
				}
			}
		}
	}
}

// Level returns the nearest memory that holds so many bytes, which are read again and again.
func (p *Peaks) Level(bytes int64) Peak {
	last := len(p.Memory) - 1
	for _, m := range p.Memory[:last] {
		if bytes <= m.Holds {
			return m
		}
	}
	return p.Memory[last]
}

// arithmetic returns the ceiling of a type of numbers; of one that the device computes in f32, that one.
func (p *Peaks) arithmetic(name string) Peak {
	for _, k := range p.Compute {
		if k.Name == name {
			return k
		}
	}
	return p.Compute[0]
}

// Floor is the least time that a step can take under some peaks.
type Floor struct {
	Time    time.Duration // the longer one of both below: a device may do both at once
	Compute time.Duration // all arithmetic at the type's peak
	Memory  time.Duration // all bytes, each from the nearest level that can have kept it
	Bound   string        // the peak that makes it so: a type or a level of memory
}

// Floor returns the least time of a step's work. What was touched Since bytes ago is in a level that holds so many; of a smaller one
// no policy keeps more than the part that fits, whatever it replaces.
func (p *Peaks) Floor(w *Work) Floor {
	var f Floor
	peak := p.arithmetic(w.Type.String())
	compute := float64(w.Operations) / peak.Rate
	sum, most, level := 0.0, 0.0, ""
	spent := make([]float64, len(p.Memory))
	for _, t := range w.Traffic {
		left := float64(t.Bytes)
		for i, m := range p.Memory {
			here := left
			if m.Holds > 0 && t.Since > m.Holds {
				here = max(0, float64(t.Bytes)*float64(m.Holds)/float64(t.Since)-(float64(t.Bytes)-left))
			}
			spent[i] += here / m.Rate
			left -= here
		}
	}
	for i, s := range spent {
		if sum += s; s > most {
			most, level = s, p.Memory[i].Name
		}
	}
	f.Compute, f.Memory = seconds(compute), seconds(sum)
	f.Time, f.Bound = f.Compute, peak.Name
	if sum > compute {
		f.Time, f.Bound = f.Memory, level
	}
	if f.Time == 0 {
		f.Bound = ""
	}
	return f
}

// seconds is the duration of at most 30 years, rounded up.
func seconds(s float64) time.Duration { return time.Duration(math.Ceil(min(s, 1e9) * 1e9)) }
