package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Transitions tells where tensors change their type or format, and what for: from which type to which, what launches that do nothing else
// cost, and which choice or rule each of them is there for (trtui inspect transitions).
type Transitions struct {
	Types       []string         // that tensors have, in the order of the matrix
	Cells       []TransitionCell // that occur, by From and To in the order of Types
	Conversions []Conversion     // launches that only convert, what takes longest first
	Causes      []CauseTotal     // what they come to, what takes longest first
	Time        time.Duration    // of the conversions
	Share       float64          // of the layers' time
	Estimated   bool
}

// TransitionCell is what goes from one type to another: into a layer whose first tensor has one, and out of it with the other.
type TransitionCell struct {
	From, To string
	Tensors  int           // that layers write
	Bytes    int64         // of these
	Launches int           `json:",omitempty"` // that do nothing else; the other tensors are written so by the kernels that compute them
	Time     time.Duration `json:",omitempty"` // of these launches
}

// Conversion is a launch that only changes a tensor's type or format.
type Conversion struct {
	Layer    string
	Op       string
	From, To string // types
	Format   string `json:",omitempty"` // of a reformat: the one that is written
	Bytes    int64  // read and written
	Time     time.Duration
	Share    float64 // of the layers' time
	Cause    string  // one of the causes
	Why      string  // with the names of layer and rule
}

// CauseTotal sums up the conversions that are there for one cause.
type CauseTotal struct {
	Cause string
	Count int
	Bytes int64
	Time  time.Duration
}

// The causes of conversions.
const (
	CauseModel     = "the model's own"
	CausePin       = "pinned tactic"
	CauseForbidden = "forbidden tactic"
	CauseRule      = "precision set for a layer"
	CauseKept      = "layer left in its precision"
	CauseEnds      = "inputs and outputs of the network"
	CausePrecision = "precision of the configuration"
	CauseFormats   = "formats of the fastest kernels"
)

// theCaller is for whom a plan brings the network's outputs into their format.
const theCaller = "the caller"

// converts are the operators that do nothing but convert.
var converts = []string{"QuantizeLinear", "DequantizeLinear", "Cast"}

// TransitionsOf finds the transitions of a snapshot; nil where it has no passes. Without timings no launch has a time, and there are no
// reformats, which are of the plan.
func TransitionsOf(s *Snapshot) *Transitions {
	if s.Passes == nil {
		return nil
	}
	f := newTransitionFinder(s)
	for i := range s.Passes.Engine {
		f.layer(&s.Passes.Engine[i])
	}
	if s.Timings != nil {
		f.out.Estimated = s.Timings.Estimated
		for i := range s.Timings.Layers {
			if l := &s.Timings.Layers[i]; l.Reformat {
				f.reformat(l)
			}
		}
	}
	return f.done()
}

// transitionFinder finds transitions from layer to layer.
type transitionFinder struct {
	snap     *Snapshot
	out      *Transitions
	types    map[string]string // by tensor
	bytes    map[string]int64  // by tensor
	producer map[string]*Layer // by tensor
	readers  map[string][]*Layer
	byName   map[string]*Layer
	timed    map[string]*LayerTiming
	left     map[string]UnloweredLayer
	own      map[string]bool // converting layers of the source
}

func newTransitionFinder(s *Snapshot) *transitionFinder {
	f := &transitionFinder{snap: s, out: &Transitions{}, types: map[string]string{}, bytes: map[string]int64{}, producer: map[string]*Layer{},
		readers: map[string][]*Layer{}, byName: map[string]*Layer{}, timed: map[string]*LayerTiming{}, left: map[string]UnloweredLayer{}, own: map[string]bool{}}
	add := func(t *Tensor) { f.types[t.Name], f.bytes[t.Name] = t.Type, t.bytes() }
	if s.Model != nil {
		for i := range s.Model.Inputs {
			add(&s.Model.Inputs[i])
		}
	}
	for i := range s.Passes.Engine {
		l := &s.Passes.Engine[i]
		f.byName[l.Name] = l
		for k := range l.Outputs {
			add(&l.Outputs[k])
			f.producer[l.Outputs[k].Name] = l
		}
		for _, t := range l.Inputs {
			f.readers[t] = append(f.readers[t], l)
		}
	}
	for _, u := range s.Passes.Unlowered {
		f.left[u.Layer] = u
	}
	for _, l := range s.Passes.Source {
		f.own[l.Name] = slices.Contains(converts, l.Op)
	}
	if s.Timings != nil {
		for i := range s.Timings.Layers {
			f.timed[s.Timings.Layers[i].Name] = &s.Timings.Layers[i]
		}
	}
	return f
}

// cell returns the cell of two types.
func (f *transitionFinder) cell(from, to string) *TransitionCell {
	at := slices.IndexFunc(f.out.Cells, func(c TransitionCell) bool { return c.From == from && c.To == to })
	if at < 0 {
		at, f.out.Cells = len(f.out.Cells), append(f.out.Cells, TransitionCell{From: from, To: to})
	}
	return &f.out.Cells[at]
}

// layer adds what a layer of the engine writes, and the launch where it only converts.
func (f *transitionFinder) layer(l *Layer) {
	at := slices.IndexFunc(l.Inputs, func(t string) bool { return f.types[t] != "" })
	if at < 0 {
		return
	}
	from := f.types[l.Inputs[at]]
	for i := range l.Outputs {
		c := f.cell(from, l.Outputs[i].Type)
		c.Tensors, c.Bytes = c.Tensors+1, c.Bytes+l.Outputs[i].bytes()
	}
	if !slices.Contains(converts, l.Op) || len(l.Outputs) == 0 {
		return
	}
	k := Conversion{Layer: l.Name, Op: l.Op, From: from, To: l.Outputs[0].Type, Bytes: f.bytes[l.Inputs[at]] + l.Outputs[0].bytes()}
	k.Cause, k.Why = f.why(l, l.Inputs[at])
	f.add(k, f.timed[l.Name])
}

// reformat adds a launch that the plan put between two layers.
func (f *transitionFinder) reformat(l *LayerTiming) {
	tensor, _, _ := strings.Cut(strings.TrimPrefix(l.Name, "Reformat "), " to ")
	format, reader, _ := strings.Cut(l.Origin, " for ")
	typ := cmp.Or(f.types[tensor], l.Precision)
	k := Conversion{Layer: l.Name, Op: l.Op, From: typ, To: typ, Format: format, Bytes: l.Bytes}
	c := f.cell(typ, typ)
	c.Tensors, c.Bytes = c.Tensors+1, c.Bytes+f.bytes[tensor]
	k.Cause, k.Why = f.whyFormat(tensor, format, reader)
	f.add(k, l)
}

// add adds a conversion, with its time where that is known.
func (f *transitionFinder) add(k Conversion, l *LayerTiming) {
	c := f.cell(k.From, k.To)
	c.Launches++
	if l != nil {
		k.Time, k.Share = l.Median, l.Share
		c.Time += l.Median
		f.out.Time += l.Median
		f.out.Share += l.Share
	}
	f.out.Conversions = append(f.out.Conversions, k)
}

// why says which choice a change of type is there for: a conversion comes of what makes its tensor, or of who reads it.
func (f *transitionFinder) why(l *Layer, in string) (cause, why string) {
	for _, source := range l.From {
		if f.own[source] {
			return CauseModel, source + " of the model"
		}
	}
	var beside []*Layer
	if p := f.producer[in]; p != nil {
		beside = append(beside, p)
	}
	ends := f.producer[in] == nil
	for _, t := range l.Outputs {
		beside = append(beside, f.readers[t.Name]...)
		ends = ends || len(f.readers[t.Name]) == 0
	}
	for _, o := range beside {
		if set, rule := f.snap.Config.LayerPrecision(o.Name, o.From); set != "" {
			return CauseRule, fmt.Sprintf("%s is %s by %s", o.Name, set, rule)
		}
	}
	for _, o := range beside {
		if u, ok := f.left[o.Name]; ok {
			return CauseKept, fmt.Sprintf("%s stays %s: %s", u.Layer, u.Precision, u.Reason)
		}
	}
	if f.producer[in] == nil {
		return CauseEnds, "the network's input " + in + " is " + f.types[in]
	}
	if ends {
		return CauseEnds, "the network's output " + l.Outputs[0].Name + " is " + l.Outputs[0].Type
	}
	return CausePrecision, "the engine is built in " + string(f.snap.Config.Precision)
}

// whyFormat says which choice a change of format is there for.
func (f *transitionFinder) whyFormat(tensor, format, reader string) (cause, why string) {
	cfg := &f.snap.Config
	sides := []string{reader}
	if p := f.producer[tensor]; p != nil {
		sides = append(sides, p.Name)
	}
	for _, name := range sides {
		if tactic := cfg.Pin[name]; tactic != "" {
			return CausePin, name + " is pinned to " + tactic
		}
	}
	for _, name := range sides {
		if len(cfg.Forbid[name]) > 0 {
			return CauseForbidden, name + " may not have " + strings.Join(cfg.Forbid[name], ", ")
		}
	}
	if reader == theCaller {
		return CauseEnds, "the network's output " + tensor + " is " + format
	}
	if f.byName[reader] == nil { // older recordings do not say who
		return CauseFormats, "who reads it takes " + cmp.Or(format, "another format")
	}
	what := reader + " reads " + format
	switch l := f.timed[reader]; {
	case l == nil:
	case l.Tactic == InMemory:
		what = reader + " is a view, of " + format
	default:
		what = fmt.Sprintf("%s of %s reads %s", l.Tactic, reader, format)
	}
	if f.producer[tensor] == nil {
		return CauseEnds, "the network's input " + tensor + " is linear, and " + what
	}
	return CauseFormats, what
}

// done orders what was found and sums it up.
func (f *transitionFinder) done() *Transitions {
	t := f.out
	for _, c := range t.Cells {
		for _, name := range []string{c.From, c.To} {
			if !slices.Contains(t.Types, name) {
				t.Types = append(t.Types, name)
			}
		}
	}
	order := func(name string) int { return slices.Index(t.Types, name) }
	slices.SortStableFunc(t.Cells, func(a, b TransitionCell) int {
		return cmp.Or(cmp.Compare(order(a.From), order(b.From)), cmp.Compare(order(a.To), order(b.To)))
	})
	slices.SortStableFunc(t.Conversions, func(a, b Conversion) int { return cmp.Compare(b.Time, a.Time) })
	for _, k := range t.Conversions {
		at := slices.IndexFunc(t.Causes, func(c CauseTotal) bool { return c.Cause == k.Cause })
		if at < 0 {
			at, t.Causes = len(t.Causes), append(t.Causes, CauseTotal{Cause: k.Cause})
		}
		c := &t.Causes[at]
		c.Count, c.Bytes, c.Time = c.Count+1, c.Bytes+k.Bytes, c.Time+k.Time
	}
	slices.SortStableFunc(t.Causes, func(a, b CauseTotal) int { return cmp.Compare(b.Time, a.Time) })
	return t
}

// bits are those of an element, by type.
var bits = map[string]int64{"f64": 64, "i64": 64, "u64": 64, "f32": 32, "i32": 32, "u32": 32, "f16": 16, "bf16": 16, "i16": 16, "u16": 16, "i4": 4, "u4": 4, "f4": 4}

// bytes returns what the tensor takes at the session's shapes: types that are not among bits have elements of a byte.
func (t *Tensor) bytes() int64 {
	n := cmp.Or(bits[t.Type], 8)
	for _, d := range t.Shape {
		n *= int64(d)
	}
	return (n + 7) / 8
}
