package pass

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
)

// Ledger says what became of every source layer, in the order of the source network. Each has exactly one entry, so
// the fates sum to all layers.
type Ledger []Entry

// Entry is what became of one source layer.
type Entry struct {
	Layer string // source layer
	Op    string // its op in the source network
	Class graph.Class
	Fate  Fate
	// Into is the layer of the present network that stands for it; if it was eliminated as a duplicate, the layer that
	// computes its result; else empty.
	Into string
	Pass string // the pass that decided its fate; empty for a layer that is kept
}

// Fate is what became of a source layer.
type Fate uint8

// The fates.
const (
	Kept       Fate = iota // it is still a layer of its own
	Fused                  // it is a part of a layer that stands for several
	Folded                 // its result is a constant, or went into one
	Eliminated             // it did nothing, nothing needed it, or another layer computes the same
)

var fates = [...]string{"kept", "fused", "folded", "eliminated"}

func (f Fate) String() string {
	if int(f) < len(fates) {
		return fates[f]
	}
	return fmt.Sprintf("fate(%d)", uint8(f))
}

// MarshalText writes the fate's name.
func (f Fate) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads a fate's name.
func (f *Fate) UnmarshalText(b []byte) error {
	for i, name := range fates {
		if name == string(b) {
			*f = Fate(i)
			return nil
		}
	}
	return fmt.Errorf("unknown fate %q", b)
}

// Counts are numbers of source layers by fate.
type Counts struct{ Kept, Fused, Folded, Eliminated int }

// Total is the number of source layers.
func (c Counts) Total() int { return c.Kept + c.Fused + c.Folded + c.Eliminated }

// Counts returns how many source layers have each fate.
func (l Ledger) Counts() Counts {
	var n [len(fates)]int
	for _, e := range l {
		n[e.Fate]++
	}
	return Counts{n[Kept], n[Fused], n[Folded], n[Eliminated]}
}

// Of returns the entry of a source layer.
func (l Ledger) Of(layer string) (Entry, bool) {
	for _, e := range l {
		if e.Layer == layer {
			return e, true
		}
	}
	return Entry{}, false
}

// newLedger returns the ledger of a network that nothing was done to yet: every name in a From is a source layer.
func newLedger(n *graph.Network) Ledger {
	var list Ledger
	seen := map[string]bool{}
	for _, l := range n.AllLayers() {
		for _, name := range l.From {
			if seen[name] {
				continue
			}
			seen[name] = true
			e := Entry{Layer: name, Op: graph.OpName(l), Class: l.Op.Class, Into: l.Name}
			if len(l.From) > 1 {
				e.Fate = Fused
			}
			list = append(list, e)
		}
	}
	return list
}

// drop is how a source layer left the network.
type drop struct {
	fate Fate
	into string // the source layer that computes its result; empty if there is none
}

// after returns the ledger of the network as a pass left it, and an error if the pass lost a source layer.
func (l Ledger) after(pass string, n *graph.Network, drops map[string]drop) (Ledger, error) {
	holder := map[string]*graph.Layer{}
	for _, layer := range n.AllLayers() {
		for _, name := range layer.From {
			if holder[name] == nil {
				holder[name] = layer
			}
		}
	}
	list := make(Ledger, len(l))
	for i, e := range l {
		was := e.Fate
		d, dropped := drops[e.Layer]
		switch layer := holder[e.Layer]; {
		case layer != nil:
			e.Fate, e.Into = Kept, layer.Name
			if len(layer.From) > 1 {
				e.Fate = Fused
			}
		case dropped:
			e.Fate, e.Into = d.fate, ""
			if layer := holder[d.into]; layer != nil {
				e.Into = layer.Name
			}
		default:
			return nil, fmt.Errorf("source layer %s is lost", e.Layer)
		}
		if e.Fate != was {
			e.Pass = pass
		}
		if e.Fate == Kept {
			e.Pass = ""
		}
		list[i] = e
	}
	return list, nil
}
