package run

import (
	"context"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// packs are what kernels make of the constants of layers, for all extents, and all plans of one network.
type packs struct {
	lock sync.Mutex
	made map[packed]*kernels.Packs
}

// packed is what constants are packed for.
type packed struct {
	layer  *graph.Layer
	tactic string
}

// newPacks returns nil for a plan whose kernels are bound to one set of extents alone.
func newPacks(p *Plan) *packs {
	if !p.Ranged() {
		return nil
	}
	return &packs{made: map[packed]*kernels.Packs{}}
}

// of returns where a layer's kernels keep what they make of its constants; nil for nowhere.
func (p *packs) of(l *graph.Layer, tactic string) *kernels.Packs {
	if p == nil {
		return nil
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	k := p.made[packed{l, tactic}]
	if k == nil {
		k = &kernels.Packs{}
		p.made[packed{l, tactic}] = k
	}
	return k
}

// LoadProfiles is [LoadTelling] for several plans: what kernels of the host make of constants, those of one network have once.
func LoadProfiles(ctx context.Context, plans []*Plan, backend Backend, tell func(done, total int, layer string)) (list []*Loaded, err error) {
	total, done := 0, 0
	for _, p := range plans {
		total += len(p.Steps)
	}
	of := map[*graph.Network]*packs{}
	for _, p := range plans {
		constants := int64(0)
		shared := of[p.Network]
		if shared == nil {
			shared, constants = &packs{made: map[packed]*kernels.Packs{}}, unpacked
			of[p.Network] = shared
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
