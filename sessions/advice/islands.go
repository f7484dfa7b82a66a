package advice

import (
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// islands finds groups of connected layers in FP32 whose inputs all were, and whose outputs all are to be, of lower precision.
// What they cost is the conversions at their shores.
func islands(f *facts) (list []report.Finding) {
	seen := map[*report.Layer]bool{}
	for i := range f.Passes.Engine {
		l := &f.Passes.Engine[i]
		if seen[l] || !isHigh(l) {
			continue
		}
		island := island{f: f, all: true, shore: map[string]bool{}}
		island.walk(l, seen)
		if found, ok := island.finding(); ok {
			list = append(list, found)
		}
	}
	byTime(list)
	return list
}

// isHigh reports whether a layer computes in FP32, and is no conversion.
func isHigh(l *report.Layer) bool { return l.Precision == "f32" && !isConversion(l.Op) && l.Depth == 0 }

// island is a group of layers in FP32.
type island struct {
	f      *facts
	layers []*report.Layer
	before int             // conversions or layers of lower precision that it reads from
	after  int             // that read from it
	all    bool            // it neither reads the network's inputs nor makes its outputs
	shore  map[string]bool // the conversions
}

// walk adds a layer and those it is connected with.
func (d *island) walk(l *report.Layer, seen map[*report.Layer]bool) {
	work := []*report.Layer{l}
	for len(work) > 0 {
		l, work = work[len(work)-1], work[:len(work)-1]
		if seen[l] {
			continue
		}
		seen[l] = true
		d.layers = append(d.layers, l)
		for _, name := range l.Inputs {
			work = append(work, d.reads(d.f.makers[name])...)
		}
		for _, t := range l.Outputs {
			next := d.f.consumers[t.Name]
			if len(next) == 0 {
				d.all = false
			}
			for _, to := range next {
				if isHigh(to) {
					work = append(work, to)
					continue
				}
				d.after++
				d.touch(to)
			}
		}
	}
}

// reads notes what a layer of the island reads from, and returns that if it is part of it.
func (d *island) reads(from *report.Layer) []*report.Layer {
	switch {
	case from == nil:
		d.all = false
	case isHigh(from):
		return []*report.Layer{from}
	default:
		d.before++
		d.touch(from)
	}
	return nil
}

func (d *island) touch(l *report.Layer) {
	if isConversion(l.Op) {
		d.shore[l.Name] = true
	}
}

func (d *island) finding() (found report.Finding, ok bool) {
	if !d.all || d.before == 0 || d.after == 0 {
		return found, false
	}
	var conversions, own time.Duration
	for name := range d.shore {
		_, spent := d.f.share(name)
		conversions += spent
	}
	most := d.layers[0]
	for _, l := range d.layers {
		_, spent := d.f.share(l.Name)
		if _, before := d.f.share(most.Name); spent > before {
			most = l
		}
		own += spent
	}
	if conversions == 0 && d.formless() {
		return found, false
	}
	if d.f.Timings.SumMedian > 0 && float64(own+conversions) < noticeable*float64(d.f.Timings.SumMedian) {
		return found, false
	}
	text := fmt.Sprintf("%s in f32 between layers of lower precision, from %s on", plural(len(d.layers), "layer"), short(most.Name))
	if len(d.layers) == 1 {
		text = fmt.Sprintf("%s (%s) is in f32 between layers of lower precision", short(most.Name), most.Op)
	}
	text += fmt.Sprintf(": takes %s, with %s around taking %s", took(own), plural(len(d.shore), "conversion"), took(conversions))
	for _, u := range d.f.Passes.Unlowered {
		if u.Layer == most.Name && u.Reason != "" {
			text += "; " + u.Reason
		}
	}
	return report.Finding{Severity: report.Suggestion, Remedy: report.RemedyPrecision, Layer: most.Name, Time: own + conversions, Text: text,
		Evidence: []report.Evidence{number("layers", float64(len(d.layers))), number("conversions", float64(len(d.shore))),
			duration("layers", own), duration("conversions_time", conversions)}}, true
}

// formless reports whether all layers of the island are where they are since their ops have no lower precision.
func (d *island) formless() bool {
	return !slices.ContainsFunc(d.layers, func(l *report.Layer) bool {
		return !slices.ContainsFunc(d.f.Passes.Unlowered, func(u report.UnloweredLayer) bool { return u.Layer == l.Name && u.Formless })
	})
}

// noticeable is the part of the time under which nothing is worth a line.
const noticeable = 0.02
