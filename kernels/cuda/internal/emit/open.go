package emit

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// Open is the code that one tactic has emitted for one layer at several shapes. As far as it differs in its numbers alone it is
// compiled once, and takes as parameters the numbers that follow from the shapes.
type Open struct {
	mu    sync.Mutex
	codes map[[32]byte]*openCode // by all but its numbers
}

// openCode is a module that stands for all that were seen, which differ in their numbers.
type openCode struct {
	seen   [][]int64 // numbers of modules: of the first, and of each that the code did not serve when it came
	group  []int     // see [ptx.Numbers.Open]; a group is called by the first of its numbers
	module *ptx.Module
	text   string
	read   [][]int
}

// OpenOf returns the open code of the binding's layer; nil where the layer is bound once.
func OpenOf(b kernels.Binding) *Open {
	return kernels.Kept(b, func() *Open { return &Open{codes: map[[32]byte]*openCode{}} })
}

// Bounds of what is open: how many parameters kernels have, all of whose bytes may be 4 KiB, and how many codes a layer keeps.
const (
	maxOpenNumbers = 256
	maxOpenCodes   = 32
)

// Work returns a work that does the same, by code that has served other shapes or will. The first of its kind is returned as it
// is: nothing is faster than code that knows its numbers.
func (o *Open) Work(w *Work) *Work {
	if o == nil || len(w.Launches) == 0 {
		return w
	}
	n := w.Module.Numbers()
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.codes[n.Rest]
	if c == nil {
		if len(o.codes) == maxOpenCodes {
			return w
		}
		c = &openCode{}
		o.codes[n.Rest] = c
	}
	if !c.serves(n) {
		c.learn(w.Module, n)
	}
	open := *w
	open.Module, open.text, open.Launches = c.module, c.text, slices.Clone(w.Launches)
	for i := range open.Launches {
		l := &open.Launches[i]
		k := slices.IndexFunc(open.Module.Kernels, func(k *ptx.Kernel) bool { return k.Name == l.Kernel })
		if k < 0 || len(c.read[k]) > maxOpenNumbers {
			return w
		}
		l.Args = slices.Clone(l.Args)
		for _, at := range c.read[k] {
			l.Args = append(l.Args, NumberArg(n.Type(at), n.Values[at]))
		}
	}
	return &open
}

// serves reports whether the code computes what a module with the numbers of n does.
func (c *openCode) serves(n ptx.Numbers) bool {
	for i, g := range c.group {
		if g < 0 && n.Values[i] != c.seen[0][i] || g >= 0 && n.Values[i] != n.Values[g] {
			return false
		}
	}
	return c.module != nil
}

// learn makes the code serve one module more: numbers that were the same in all that was seen stay, those that were equal to
// each other each time are one parameter.
func (c *openCode) learn(m *ptx.Module, n ptx.Numbers) {
	c.seen = append(c.seen, n.Values)
	c.group = make([]int, len(n.Values))
	first := map[string]int{}
	for i := range n.Values {
		history, moves := []byte(n.Type(i)), false
		for _, values := range c.seen {
			history = binary.AppendVarint(history, values[i])
			moves = moves || values[i] != c.seen[0][i]
		}
		if _, ok := first[string(history)]; !ok {
			first[string(history)] = i
		}
		if c.group[i] = -1; moves {
			c.group[i] = first[string(history)]
		}
	}
	c.module, c.read = n.Open(m, c.group)
	c.text = c.module.String()
}
