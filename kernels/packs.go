package kernels

import (
	"slices"
	"sync"
)

// Packs keeps what one tactic makes of one layer's constants, such as weights in the order in which it reads them, for the
// kernels that it binds to several shapes of that layer, and what else these have in common.
type Packs struct {
	lock sync.Mutex
	made map[any]any // by form
	kept []any       // values of Kept, each of a type of its own, and slices of Shared, each unlike the others
}

// Packed returns what pack makes of the binding's constants. Kernels that are bound with the same [Packs] share it, where
// nothing of the shapes that they are bound to has a say but form: a comparable value, nil if there is none.
func Packed[T any](b Binding, form any, pack func() (T, error)) (T, error) {
	p := b.Packs
	if p == nil || b.takesExtents() {
		return pack()
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if v, ok := p.made[form]; ok {
		return v.(T), nil
	}
	v, err := pack()
	if err != nil {
		return v, err
	}
	if p.made == nil {
		p.made = map[any]any{}
	}
	p.made[form] = v
	return v, nil
}

// takesExtents reports whether a constant of the binding is made of extents: it is another one at other shapes.
func (b Binding) takesExtents() bool {
	for i, t := range b.Layer.Inputs {
		if t != nil && b.Consts[i] != nil && !t.IsConst() {
			return true
		}
	}
	return false
}

// Kept returns what a tactic keeps for all shapes to which it binds the layer, made by the first binding; the zero value
// where the layer is bound once.
func Kept[T any](b Binding, first func() T) (kept T) {
	p := b.Packs
	if p == nil {
		return kept
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, v := range p.kept {
		if have, ok := v.(T); ok {
			return have
		}
	}
	kept = first()
	p.kept = append(p.kept, kept)
	return kept
}

// Shared returns the data of a kernel that was bound before with the same [Packs] to another shape, where that is equal, so that
// what both have packed is in memory once.
func Shared[E comparable](b Binding, data []E) []E {
	p := b.Packs
	if p == nil || len(data) == 0 {
		return data
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, v := range p.kept {
		if have, ok := v.([]E); ok && slices.Equal(have, data) {
			return have
		}
	}
	p.kept = append(p.kept, data)
	return data
}
