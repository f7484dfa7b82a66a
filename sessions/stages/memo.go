package stages

import (
	"slices"
)

// MemoSize is how many results of a stage are kept: enough to toggle to and fro among precisions and calibrators.
const MemoSize = 12

// memo keeps the results of one stage by key, the newest few.
type memo[T any] struct {
	keys   []string
	values map[string]T
	drop   func(T) // is given what is kept no longer
}

// get returns the result for a key, from memory or made.
func (m *memo[T]) get(key string, make func() (T, error)) (T, error) {
	if v, ok := m.values[key]; ok {
		return v, nil
	}
	v, err := make()
	if err == nil {
		m.keep(key, v)
	}
	return v, err
}

// keep remembers a result; the oldest one goes where there are too many.
func (m *memo[T]) keep(key string, v T) {
	if m.values == nil {
		m.values = map[string]T{}
	}
	m.shrink(MemoSize - 1)
	m.keys = append(m.keys, key)
	m.values[key] = v
}

// shrink drops the oldest results until there are no more than that; it reports whether it dropped any.
func (m *memo[T]) shrink(most int) bool {
	n := len(m.keys) - most
	for range n {
		if m.drop != nil {
			m.drop(m.values[m.keys[0]])
		}
		delete(m.values, m.keys[0])
		m.keys = m.keys[1:]
	}
	return n > 0
}

// forget drops a result.
func (m *memo[T]) forget(key string) {
	if i := slices.Index(m.keys, key); i >= 0 {
		m.keys = slices.Delete(m.keys, i, i+1)
		delete(m.values, key)
	}
}
