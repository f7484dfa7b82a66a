package trtui

import (
	"errors"
	"iter"
)

// firstOf returns the batches with the values of the network's symbols that the first of them has. The sequence is read
// once; stop ends it.
func firstOf(n *Network, batches BatchSeq) (all BatchSeq, env map[string]int, stop func(), err error) {
	next, stop := iter.Pull2(batches)
	first, err, ok := next()
	if !ok {
		stop()
		return nil, nil, nil, errors.New("there is no batch of data")
	}
	if err == nil {
		shapes := map[string][]int{}
		for _, t := range n.Inputs {
			if v, ok := first[t.Name]; ok && err == nil {
				shapes[t.Name], err = t.ShapeOf(v)
			}
		}
		if err == nil {
			env, err = n.BindShapes(shapes)
		}
		if err == nil {
			err = n.CheckShapes(env)
		}
	}
	if err != nil {
		stop()
		return nil, nil, nil, err
	}
	return func(yield func(Inputs, error) bool) {
		for in, err, ok := first, error(nil), true; ok; in, err, ok = next() {
			if !yield(in, err) {
				return
			}
		}
	}, env, stop, nil
}
