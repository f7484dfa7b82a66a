package run

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
)

// packs are what kernels make of the constants of layers: once for all extents, and for the same layer of several plans.
type packs struct {
	lock  sync.Mutex
	made  map[packed]*kernels.Packs
	of    map[*graph.Layer]*graph.Layer // the first of those alike
	first map[string][]*graph.Layer     // those, by what is quickly told
}

// packed is what constants are packed for.
type packed struct {
	layer  *graph.Layer
	tactic string
}

func newPacks() *packs {
	return &packs{made: map[packed]*kernels.Packs{}, of: map[*graph.Layer]*graph.Layer{}, first: map[string][]*graph.Layer{}}
}

// packsOf returns nil for a plan whose kernels are bound to one set of extents alone.
func packsOf(p *Plan) *packs {
	if !p.Ranged() {
		return nil
	}
	return newPacks()
}

// at returns where a layer's kernels keep what they make of its constants; nil for nowhere.
func (p *packs) at(l *graph.Layer, tactic string) *kernels.Packs {
	if p == nil {
		return nil
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	key := packed{p.alike(l), tactic}
	k := p.made[key]
	if k == nil {
		k = &kernels.Packs{}
		p.made[key] = k
	}
	return k
}

// alike returns the first layer that was asked for whose constants are packed as those of l are.
func (p *packs) alike(l *graph.Layer) *graph.Layer {
	if first, ok := p.of[l]; ok {
		return first
	}
	key := l.Op.Name
	for _, t := range l.Inputs {
		if t != nil && t.IsConst() {
			key += " " + t.TypeString()
		}
	}
	first := l
	if i := slices.IndexFunc(p.first[key], func(o *graph.Layer) bool { return packedAlike(o, l) }); i >= 0 {
		first = p.first[key][i]
	} else {
		p.first[key] = append(p.first[key], l)
	}
	p.of[l] = first
	return first
}

// packedAlike reports whether two layers differ in nothing but extents and names: a tactic makes the same of their constants.
func packedAlike(a, b *graph.Layer) bool {
	if a.Op != b.Op || len(a.Inputs) != len(b.Inputs) || len(a.Outputs) != len(b.Outputs) || !reflect.DeepEqual(a.Attrs, b.Attrs) || !reflect.DeepEqual(a.Epilogue, b.Epilogue) {
		return false
	}
	for i, t := range a.Inputs {
		u := b.Inputs[i]
		if t == nil || u == nil {
			if t != u {
				return false
			}
			continue
		}
		if !sameForm(t, u) || t.IsConst() != u.IsConst() || t.IsConst() && (!symbolic.Equal(t.Dims, u.Dims) || !bytes.Equal(t.Weights, u.Weights)) {
			return false
		}
	}
	for i, t := range a.Outputs {
		if !sameForm(t, b.Outputs[i]) {
			return false
		}
	}
	return true
}

func sameForm(t, u *graph.Tensor) bool {
	return t.Type == u.Type && len(t.Dims) == len(u.Dims) && t.Range.Equal(u.Range)
}

// LoadProfiles is [LoadTelling] for several plans: what kernels of the host make of the constants of a layer, the same layer
// of all of them has once.
func LoadProfiles(ctx context.Context, plans []*Plan, backend Backend, tell func(done, total int, layer string)) (list []*Loaded, err error) {
	total, done := 0, 0
	for _, p := range plans {
		total += len(p.Steps)
	}
	for i, p := range plans {
		shared, constants := newPacks(), int64(unpacked)
		if i > 0 {
			shared, constants = list[0].packs, 0
		}
		l, err := load(ctx, p, backend, shared, constants, func(n, _ int, layer string) {
			if tell != nil {
				tell(done+n, total, layer)
			}
		})
		if err != nil {
			for _, l := range list {
				l.Close()
			}
			return nil, err
		}
		list, done = append(list, l), done+len(p.Steps)
	}
	return list, nil
}

// LoadBeside loads a plan beside one that [LoadProfiles] has loaded, as that does for several at once.
func LoadBeside(ctx context.Context, p *Plan, beside *Loaded) (*Loaded, error) {
	return load(ctx, p, beside.backend, beside.packs, 0, nil)
}
