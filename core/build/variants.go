package build

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"maps"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Variants runs networks that have much in common, as one quantised in several ways has, on the same items. A tensor is known by
// what it is computed from, the constants and inputs before it and the layers between; of a network that is held no tensor is
// computed again in another one. So a variant runs from the first layer on that differs, and gives what running it all gives.
type Variants struct {
	replay *Replay
	items  []map[string]numeric.Value
	envs   []map[string]int           // the extents of each
	held   map[digest][]numeric.Value // by item
	ran    int                        // layers, by the variant that was run last
	apart  uint64                     // layers that nothing else is like
}

// digest tells what a tensor is computed from.
type digest [sha256.Size]byte

// mostVariantItems bounds the items of variants: errors of outputs are means over many elements, and need fewer than means of
// channels do.
const mostVariantItems = 32

// NewVariants returns items of r to run variants of n on: from all over the data, as many as so many networks of n's size can be
// held of; where none is to be held, as many as a run by stages takes.
func NewVariants(ctx context.Context, r *Replay, n *graph.Network, networks int) (*Variants, error) {
	size := 0
	for _, l := range n.Layers {
		for _, t := range l.Outputs {
			size += 4 * numeric.Count(symbolic.Eval(t.Dims, r.Env))
		}
	}
	most := max(fewestHeld, min(heldBytes/max(1, size*networks), mostVariantItems))
	if networks == 0 {
		most = heldItems(n, r.Env)
	}
	s, err := r.stage(ctx, n, most)
	if err != nil {
		return nil, err
	}
	return &Variants{replay: r, items: s.held, envs: s.envs, held: map[digest][]numeric.Value{}}, nil
}

// Items returns how many items there are.
func (v *Variants) Items() int { return len(v.items) }

// Hold runs networks and holds their tensors, so that variants of them do not compute them again. What was held before, and none
// of them has, is let go.
func (v *Variants) Hold(ctx context.Context, networks ...*graph.Network) error {
	kept := map[digest]bool{}
	for _, n := range networks {
		if _, err := v.run(ctx, n, true); err != nil {
			return err
		}
		of, err := v.digests(n)
		if err != nil {
			return err
		}
		for _, d := range of {
			kept[d] = true
		}
	}
	maps.DeleteFunc(v.held, func(d digest, _ []numeric.Value) bool { return !kept[d] })
	return nil
}

// Outputs are what a variant gives, by output and item. A classifier's are what it makes probabilities of.
type Outputs [][]numeric.Value

// Run runs a variant and returns its outputs.
func (v *Variants) Run(ctx context.Context, n *graph.Network) (Outputs, error) {
	return v.run(ctx, n, false)
}

// Noise returns the squared error of outputs by the square of what is wanted, the sum over the outputs.
func (want Outputs) Noise(got Outputs) float64 {
	if len(want) == 0 {
		return 0
	}
	return noise(len(want), len(want[0]), func(o, i int) (numeric.Value, numeric.Value) { return want[o][i], got[o][i] })
}

func (v *Variants) run(ctx context.Context, n *graph.Network, hold bool) (Outputs, error) {
	of, err := v.digests(n)
	if err != nil {
		return nil, err
	}
	outputs := logits(n)
	wanted := map[*graph.Layer]bool{}
	var want func(t *graph.Tensor)
	want = func(t *graph.Tensor) {
		if t == nil || t.Producer == nil || wanted[t.Producer] || v.held[of[t]] != nil {
			return
		}
		wanted[t.Producer] = true
		for _, in := range t.Producer.Inputs {
			want(in)
		}
	}
	for _, t := range outputs {
		want(t)
	}
	v.ran = len(wanted)
	part, copies := cut(n, wanted)
	var made []*graph.Tensor
	for _, l := range n.Layers {
		for _, t := range l.Outputs {
			if c := copies[t]; wanted[l] && c != nil && c.Producer != nil && (slices.Contains(outputs, t) || hold && keepable(t)) {
				part.MarkOutput(c)
				made = append(made, t)
			}
		}
	}
	values, err := v.runPart(ctx, part, n, of)
	if err != nil {
		return nil, err
	}
	if hold {
		for _, t := range made {
			if keepable(t) {
				v.held[of[t]] = values[t.Name]
			}
		}
	}
	list := make(Outputs, len(outputs))
	for o, t := range outputs {
		if list[o] = values[t.Name]; list[o] == nil {
			list[o] = v.known(t, of)
		}
	}
	return list, nil
}

// known returns a tensor that nothing computes: one that is held, an input or a constant.
func (v *Variants) known(t *graph.Tensor, of map[*graph.Tensor]digest) []numeric.Value {
	if held := v.held[of[t]]; held != nil {
		return held
	}
	list := make([]numeric.Value, len(v.items))
	for i, in := range v.items {
		list[i] = in[t.Name]
		if c, ok := t.Const(); ok {
			list[i] = c
		}
	}
	return list
}

// runPart runs a part of n on each item and returns its outputs by name.
func (v *Variants) runPart(ctx context.Context, part, n *graph.Network, of map[*graph.Tensor]digest) (map[string][]numeric.Value, error) {
	values := map[string][]numeric.Value{}
	if len(part.Outputs) == 0 {
		return values, nil
	}
	for _, t := range part.Outputs {
		values[t.Name] = make([]numeric.Value, len(v.items))
	}
	ran := make([]bool, len(v.items))
	for first, env := range v.envs {
		if ran[first] {
			continue
		}
		var alike []int
		for i := first; i < len(v.items); i++ {
			if maps.Equal(v.envs[i], env) {
				alike, ran[i] = append(alike, i), true
			}
		}
		if err := v.runAlike(ctx, part, n, env, alike, of, values); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// runAlike runs a part of n on some items, which have the same extents, and adds its outputs to values.
func (v *Variants) runAlike(ctx context.Context, part, n *graph.Network, env map[string]int, items []int, of map[*graph.Tensor]digest, values map[string][]numeric.Value) error {
	c, l, err := unfused(ctx, part, env, v.replay.Backend)
	if err != nil {
		return err
	}
	defer l.Close()
	defer c.Close()
	for _, i := range items {
		if err := ctx.Err(); err != nil {
			return err
		}
		in := map[string]numeric.Value{}
		for _, t := range part.Inputs {
			in[t.Name] = v.known(n.Tensor(t.Name), of)[i]
		}
		if err := c.SetInputs(in); err != nil {
			return err
		}
		if err := c.Execute(); err != nil {
			return err
		}
		for _, t := range part.Outputs {
			if values[t.Name][i], err = c.Output(t.Name); err != nil {
				return fmt.Errorf("tensor %s: %w", t.Name, err)
			}
		}
	}
	return nil
}

// keepable reports whether a tensor is held: what Dequantize makes is four times as large as what it is made of, and made at once.
func keepable(t *graph.Tensor) bool { return holdable(t) && t.Producer.Op != graph.Dequantize }

// digests returns what each tensor of a network is computed from.
func (v *Variants) digests(n *graph.Network) (map[*graph.Tensor]digest, error) {
	of := map[*graph.Tensor]digest{}
	sum := func(t *graph.Tensor) (d digest, err error) {
		if t == nil {
			return d, nil
		}
		if d, ok := of[t]; ok {
			return d, nil
		}
		switch c, ok := t.Const(); {
		case ok:
			d = ofConstant(t, c)
		case t.Producer == nil:
			d = sha256.Sum256([]byte("input " + t.Name))
		default:
			err = fmt.Errorf("tensor %s is read before it is computed", t.Name)
		}
		of[t] = d
		return d, err
	}
	for _, l := range n.Layers {
		h := sha256.New()
		if len(l.Bodies()) > 0 {
			v.apart++
			fmt.Fprintln(h, v.apart)
		} else if err := describe(h, l); err != nil {
			return nil, fmt.Errorf("layer %s: %w", l.Name, err)
		}
		for _, t := range l.Inputs {
			d, err := sum(t)
			if err != nil {
				return nil, err
			}
			h.Write(d[:])
		}
		for k, t := range l.Outputs {
			if t != nil {
				of[t] = output(h, k, t)
			}
		}
	}
	return of, nil
}

// describe writes what a layer does.
func describe(h hash.Hash, l *graph.Layer) error {
	fmt.Fprintf(h, "%s %d\n", l.Op.Name, len(l.Inputs))
	for _, part := range []any{l.Attrs, l.Epilogue} {
		if part == nil {
			continue
		}
		text, err := graph.MarshalStored(part)
		if err != nil {
			return err
		}
		h.Write(append(text, '\n'))
	}
	return nil
}

// output returns the digest of an output of the layer that h describes.
func output(h hash.Hash, k int, t *graph.Tensor) (d digest) {
	mine := sha256.New()
	mine.Write(h.Sum(nil))
	fmt.Fprintln(mine, k, t.Type, t.Range.Axis, t.Range.Scale, t.Range.Zero)
	mine.Sum(d[:0])
	return d
}

// ofConstant returns the digest of a constant.
func ofConstant(t *graph.Tensor, c numeric.Value) (d digest) {
	h := sha256.New()
	fmt.Fprintln(h, c.Type, c.Dims, t.Range.Axis, t.Range.Scale, t.Range.Zero)
	h.Write(c.Data)
	h.Sum(d[:0])
	return d
}
