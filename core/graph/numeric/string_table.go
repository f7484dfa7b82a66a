package numeric

import (
	"fmt"
	"sync"
)

// StringTable gives strings numbers, equal ones the same; the empty string is 0. So they lie in memory that has a place of one size for
// each element. It is safe for concurrent use.
type StringTable struct {
	lock    sync.RWMutex
	list    []string
	numbers map[string]int64
	bytes   int
}

// Numbers returns the elements of a value of strings as I64 numbers. The error says that the table would have more than [MaxText]
// bytes.
func (t *StringTable) Numbers(v Value) (Value, error) {
	n := NewValue(I64, v.Dims...)
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.numbers == nil {
		t.clear()
	}
	for i, s := range v.Strings() {
		at, ok := t.numbers[s]
		if !ok {
			if t.bytes += len(s) + stringHead; t.bytes > MaxText {
				return n, fmt.Errorf("the strings that differ take more than %d MiB", MaxText>>20)
			}
			at = int64(len(t.list))
			t.list, t.numbers[s] = append(t.list, s), at
		}
		n.I64()[i] = at
	}
	return n, nil
}

// stringHead is what a table takes for a string beside its bytes, twice its header and its number.
const stringHead = 40

// Strings returns the strings that I64 numbers stand for. The error names a number that the table has not given.
func (t *StringTable) Strings(v Value) (Value, error) {
	t.lock.RLock()
	defer t.lock.RUnlock()
	list := make([]string, v.Len())
	for i, at := range v.I64() {
		if at < 0 || at >= int64(max(1, len(t.list))) {
			return Value{}, fmt.Errorf("element %d is the number %d of a string, and there are %d", i, at, len(t.list))
		}
		if at > 0 {
			list[i] = t.list[at]
		}
	}
	return Strings(list, v.Dims...), nil
}

// Keep forgets all strings and returns the numbers of some values anew.
func (t *StringTable) Keep(values ...Value) ([]Value, error) {
	t.lock.Lock()
	t.clear()
	t.lock.Unlock()
	list := make([]Value, len(values))
	for i, v := range values {
		var err error
		if list[i], err = t.Numbers(v); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (t *StringTable) clear() {
	t.list, t.numbers, t.bytes = []string{""}, map[string]int64{"": 0}, 0
}
