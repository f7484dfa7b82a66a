package quant

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// Attention is linear in its values, channel by channel: what a head gives in channel j are sums of channel j of the values that it
// reads. So the product that gives values can divide, and those that read what attention gives multiply:
//
//	a = softmax(q kT) v, z = w a      ->      a/s = softmax(q kT) (v/s), z = (w s)(a/s)
//
// Heads are cut and joined on the way, by layers that move elements; spots follow the channels through them. Heads of queries that
// share a head of values have the same scales. A product that gives queries and keys as well divides its channels of values alone.

// attendedLink returns the link through an attention, from the product that gives its values to those that read its result; see
// [NewLink].
func attendedLink(n *graph.Network, l *graph.Layer) (*Link, error) {
	if l.Op == graph.Attention {
		return linkThrough(n, l, graph.AttentionV)
	}
	for _, input := range []int{1, 0} { // of a product of two tensors
		if k, err := linkThrough(n, l, input); k != nil || err != nil {
			return k, err
		}
	}
	return nil, nil
}

// chainTo returns the tensors from the result of a layer that computes to t, which others move it to.
func chainTo(t *graph.Tensor) []*graph.Tensor {
	chain := []*graph.Tensor{t}
	for p := t.Producer; p != nil && movesChannels(p); p = p.Inputs[0].Producer {
		chain = slices.Insert(chain, 0, p.Inputs[0])
	}
	return chain
}

// LinkTensors returns the names of the tensors whose channels the link of a layer would scale, where [NewLink] says why there is none.
func LinkTensors(l *graph.Layer) (names []string) {
	if l.Op == graph.Attention {
		for _, t := range chainTo(l.Inputs[graph.AttentionV]) {
			if p := t.Producer; p != nil && len(p.Outputs) == 1 || t == l.Inputs[graph.AttentionV] {
				names = append(names, t.Name)
			}
		}
	}
	return append(names, l.Outputs[0].Name)
}

// Seen returns how far the channels of the link's tensor reach at most, given that of one of those of [Link.Tensors]; ok is false where
// it does not tell.
func (k *Link) Seen(tensor string, of ChannelSpread) (seen ChannelSpread, ok bool) {
	if k.of == nil {
		return of, true
	}
	for _, p := range k.spots {
		if p.tensor.Name != tensor {
			continue
		}
		if of.Axis != p.axis() || len(of.Low) != len(p.of) {
			return seen, false
		}
		seen.Axis = k.axis
		for _, c := range k.of {
			i := slices.Index(p.of, c)
			if i < 0 {
				return seen, false
			}
			seen.Low, seen.High, seen.Square = append(seen.Low, of.Low[i]), append(seen.High, of.High[i]), append(seen.Square, of.Square[i])
		}
		return seen, true
	}
	return seen, false
}

func linkThrough(n *graph.Network, l *graph.Layer, input int) (*Link, error) {
	chain, isOp := chainTo(l.Inputs[input]), l.Op == graph.Attention
	maker := chain[0].Producer // nil for an input of the network
	switch {
	case maker == nil && isOp:
		return nil, fmt.Errorf("its values, %s, are not given by a product", chain[0].Name)
	case maker == nil || !isOp && (kindOf(maker) != weighted || !plainProduct(maker)):
		return nil, nil
	case kindOf(maker) != weighted || !plainProduct(maker):
		return nil, fmt.Errorf("its values come from %s, not from a product with constant weights alone", maker.Name)
	case isOp && l.Input(graph.AttentionPastV) != nil:
		return nil, fmt.Errorf("past values, %s, are in front of those that %s gives", l.Inputs[graph.AttentionPastV].Name, maker.Name)
	case isOp && len(l.Outputs) > 2 && (len(l.Outputs[2].Users) > 0 || n.IsOutput(l.Outputs[2])):
		return nil, fmt.Errorf("its values are also given as %s", l.Outputs[2].Name)
	}
	k := &Link{maker: maker}
	at, ok := spotsAt(chain[0], outputAxis(maker))
	for _, t := range chain[1:] {
		if ok {
			k.spots = append(k.spots, at)
			at, ok = at.moved(t.Producer, t)
		}
	}
	var after spots
	if ok {
		k.spots = append(k.spots, at)
		after, ok = at.attended(l, input)
	}
	switch {
	case !ok && !isOp:
		return nil, nil
	case !ok:
		return nil, fmt.Errorf("between %s and %s channels cannot be followed", maker.Name, l.Name)
	}
	if err := k.alone(n, l); err != nil {
		return nil, err
	}
	for {
		k.spots = append(k.spots, after)
		t := after.tensor
		if n.IsOutput(t) {
			return nil, fmt.Errorf("%s is an output of the network", t.Name)
		}
		k.users = nil
		for _, u := range t.Users {
			if after.weighedBy(u) {
				k.users = append(k.users, u)
			}
		}
		if len(t.Users) > 0 && len(k.users) == len(t.Users) {
			break
		}
		if len(t.Users) != 1 || !movesChannels(t.Users[0]) || len(t.Users[0].Outputs) != 1 {
			if len(k.users) == 0 && !isOp {
				return nil, nil
			}
			for _, u := range t.Users {
				if !slices.Contains(k.users, u) {
					return nil, fmt.Errorf("%s is read by %s, which does not multiply its channels by constant weights alone", t.Name, u.Name)
				}
			}
			return nil, nil
		}
		u := t.Users[0]
		if after, ok = after.moved(u, u.Outputs[0]); !ok {
			return nil, fmt.Errorf("behind %s channels cannot be followed", u.Name)
		}
	}
	k.Tensor, k.axis, k.Channels, k.of = after.tensor, after.axis(), len(after.of), after.of
	k.absorbs = k.takes()
	return k, nil
}

// alone returns an error where something else than the attention l reads values, or a part of them; that of which they are cut may be
// read where it has no values.
func (k *Link) alone(n *graph.Network, l *graph.Layer) error {
	last := len(k.spots) - 1
	mine := map[int]bool{}
	for _, c := range k.spots[last].of {
		mine[c] = true
	}
	for i, p := range k.spots {
		if n.IsOutput(p.tensor) {
			return fmt.Errorf("%s is an output of the network", p.tensor.Name)
		}
		next, met := l, 0
		if i < last {
			next = k.spots[i+1].tensor.Producer
		}
		for _, u := range p.tensor.Users {
			if u == next {
				met++
			}
			if u == next && i == last && met == 1 {
				continue
			}
			if i == last || u == next && met > 1 {
				return fmt.Errorf("%s is also used by %s", p.tensor.Name, u.Name)
			}
			for _, out := range u.Outputs {
				if out == k.spots[i+1].tensor {
					continue
				}
				other, ok := p.moved(u, out)
				if !ok || slices.ContainsFunc(other.of, func(c int) bool { return mine[c] }) {
					return fmt.Errorf("%s is also used by %s", p.tensor.Name, u.Name)
				}
			}
		}
	}
	return nil
}

// weighedBy reports whether a layer multiplies the channels by constant weights of its own, and reads them once.
func (p spots) weighedBy(l *graph.Layer) bool {
	if kindOf(l) != weighted || l.Inputs[0] != p.tensor || !plainProduct(l) || ChannelAxis(l) != p.axis() || slices.Contains(l.Inputs[1:], p.tensor) {
		return false
	}
	v, _ := l.Inputs[1].Const()
	at := channelsOf(l, v.Dims)
	return at.inputs == len(p.of)
}

// plainProduct reports whether a layer is a product with plain weights.
func plainProduct(l *graph.Layer) bool {
	return len(l.Inputs) > 1 && l.Inputs[1] != nil && plainWeights(l)
}

// outputAxis returns the axis of the channels that a layer gives.
func outputAxis(l *graph.Layer) int {
	if l.Op.Class == graph.ClassConvolution {
		return 1
	}
	return len(l.Outputs[0].Dims) - 1
}
