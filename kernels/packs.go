package kernels

import (
	"slices"
	"sync"
)

// Packs keeps what one tactic makes of one layer's constants, such as weights in the order in which it reads them, for the
// kernels that it binds to several shapes of that layer.
type Packs struct {
	lock sync.Mutex
	made map[any]any // by form
	kept []any       // slices, each unlike the others
}

// Packed returns what pack makes of the binding's constants. Kernels that are bound with the same [Packs] share it, where
// nothing of the shapes that they are bound to has a say but form: a comparable value, nil if there is none.
func Packed[T any](b Binding, form any, pack func() (T, error)) (T, error) {
	p := b.Packs
	if p == nil {
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
