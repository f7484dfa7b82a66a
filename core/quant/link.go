package quant

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

// Link is a tensor of a float network whose channels may be scaled without a change of what the network computes, since who gives
// them can divide and who reads them can multiply:
//
//	y = relu(w x + b), z = v y      ->      y/s = relu((w/s) x + b/s), z = (v s)(y/s)
//
// The first layer is a product with constant weights or a normalisation with constant coefficients; those that read its result, if
// need be through poolings, are products with constant weights. Where what follows the sums of the first does not scale with them, as
// a clamp at 6 does not, it divides when all else is done. Who reads the result of a normalisation without weights, as a residual
// sum does, gets it multiplied again. Between two products there may be an attention as well, of whose values the first gives the
// channels (link_attention.go).
type Link struct {
	Tensor   *graph.Tensor // that maker gives, or behind an attention users read
	Channels int

	maker   *graph.Layer
	passing []*graph.Layer // poolings on the way
	users   []*graph.Layer
	others  []*graph.Layer // that read the tensor as it was
	twice   *graph.Layer   // a product that reads the tensor, and reads it elsewhere as well
	axis    int            // of the channels
	absorbs bool           // the maker's constants take the scales

	spots []spots // of the channels in the tensors from the maker's result to Tensor; nil where no attention lies between
	of    []int   // the maker's channel of each; nil where spots are
}

// NewLink returns the link behind a layer. The error says why its channels cannot be scaled; both are nil where no product reads
// them.
func NewLink(n *graph.Network, l *graph.Layer) (*Link, error) {
	norm := l.Op == graph.LayerNorm || l.Op == graph.RMSNorm
	if l.Op == graph.Attention {
		return attendedLink(n, l)
	}
	if len(l.Outputs) != 1 || l.Outputs[0].Type != numeric.F32 || !norm && kindOf(l) != weighted {
		return nil, nil
	}
	var through error
	if l.Op == graph.MatMul && !l.Inputs[1].IsConst() {
		k, err := attendedLink(n, l)
		if k != nil {
			return k, nil
		}
		through = err
	}
	t := l.Outputs[0]
	k := &Link{Tensor: t, maker: l, axis: outputAxis(l)}
	if k.axis < 0 || k.axis >= len(t.Dims) {
		return nil, nil
	}
	err := k.follow(n, t)
	if len(k.users) == 0 && k.twice != nil {
		return nil, fmt.Errorf("%s multiplies %s and reads it elsewhere too, as in a sum", k.twice.Name, t.Name)
	}
	if len(k.users) == 0 {
		return nil, through
	}
	if err != nil {
		return nil, err
	}
	if len(k.others) > 0 && !norm {
		return nil, fmt.Errorf("%s is also used by %s", t.Name, k.others[0].Name)
	}
	var known bool
	if k.Channels, known = t.Dims[k.axis].IsConst(); !known || k.Channels < 2 || k.Channels > maxChannels {
		return nil, errors.New("how many channels it has is not known, or they are too few")
	}
	for _, u := range k.users {
		v, _ := u.Inputs[1].Const()
		if at := channelsOf(u, v.Dims); at.inputs != k.Channels {
			return nil, fmt.Errorf("%s reads %d channels of %d", u.Name, at.inputs, k.Channels)
		}
	}
	k.absorbs = k.takes()
	return k, nil
}

// Users returns the products that read the channels and would take their scales.
func (k *Link) Users() []*graph.Layer { return k.users }

// follow finds who reads a tensor of the link.
func (k *Link) follow(n *graph.Network, t *graph.Tensor) error {
	err := k.readers(n, t)
	if err == nil && n.IsOutput(t) {
		err = fmt.Errorf("%s is an output of the network", t.Name)
	}
	return err
}

func (k *Link) readers(n *graph.Network, t *graph.Tensor) error {
	for _, u := range t.Users {
		reads := 0
		for _, in := range u.Inputs {
			if in == t {
				reads++
			}
		}
		switch {
		case slices.Contains(k.users, u) || slices.Contains(k.others, u):
		case reads == 1 && u.Inputs[0] == t && k.weighs(u):
			k.users = append(k.users, u)
		case reads == 1 && u.Op.Class == graph.ClassPooling && k.axis == 1 && len(u.Outputs) == 1 && u.Epilogue.IsIdentity() && u.Outputs[0].Type == numeric.F32:
			k.passing = append(k.passing, u)
			if err := k.follow(n, u.Outputs[0]); err != nil {
				return err
			}
		case len(k.passing) > 0:
			return fmt.Errorf("%s is also used by %s", t.Name, u.Name)
		default:
			if reads > 1 && u.Inputs[0] == t && k.weighs(u) {
				k.twice = u
			}
			k.others = append(k.others, u)
		}
	}
	return nil
}

// weighs reports whether a layer multiplies the channels by constant weights of its own.
func (k *Link) weighs(l *graph.Layer) bool {
	if kindOf(l) != weighted || len(l.Inputs) < 2 || ChannelAxis(l) != k.axis {
		return false
	}
	return plainWeights(l)
}

// plainWeights reports whether the weights of a product are constants of F32, with an axis of output and of input channels.
func plainWeights(l *graph.Layer) bool {
	v, ok := l.Inputs[1].Const()
	if !ok || v.Type != numeric.F32 || v.Len() == 0 || l.Op.Class == graph.ClassMatrix && len(v.Dims) != 2 {
		return false
	}
	out, in := l.Op.Product.Axes(l)
	return out >= 0 && in >= 0
}

// coefficients returns the maker's inputs that are divided with its result; nil where some of them are not constants.
func (k *Link) coefficients() []int {
	l := k.maker
	var list []int
	if l.Op.IsProduct() {
		if !plainWeights(l) {
			return nil
		}
		list = append(list, 1)
		if b := l.Op.Input(graph.Bias); b >= 0 && l.Input(b) != nil {
			list = append(list, b)
		}
	} else {
		if a := l.Attrs.(graph.LayerNormAttrs); a.Axis != -1 && a.Axis != len(k.Tensor.Dims)-1 || l.Input(1) == nil {
			return nil
		}
		list = append(list, 1)
		if l.Input(2) != nil {
			list = append(list, 2)
		}
	}
	for _, i := range list {
		if v, ok := l.Inputs[i].Const(); !ok || v.Type != numeric.F32 {
			return nil
		}
	}
	return list
}

// takes reports whether the maker's constants can take the scales: all of its epilogue scales with what it is given.
func (k *Link) takes() bool {
	if k.coefficients() == nil {
		return false
	}
	_, ok := k.scaledArguments()
	return ok
}

// scaledArguments returns the arguments of the maker's epilogue that are divided as its sums are, for the result to be: what is
// added, not what is multiplied by. ok is false where that cannot be.
func (k *Link) scaledArguments() (scaled []int, ok bool) {
	p := k.maker.Epilogue
	if p.Args == 0 {
		return nil, true
	}
	const (
		open   = iota // a constant that may be either
		fixed         // stays as it is
		scales        // is divided
	)
	state := make([]int, p.Args+len(p.Code))
	state[0] = scales
	for i, t := range k.maker.EpilogueInputs() {
		if v, isConst := t.Const(); !isConst || v.Type != numeric.F32 {
			state[i+1] = fixed
		}
	}
	be := func(v, what int) bool {
		if state[v] == open && v < p.Args {
			state[v] = what
		}
		return state[v] == what
	}
	for i, in := range p.Code {
		a, b := in.Arg[0], in.Arg[1]
		to := &state[p.Args+i]
		switch in.Op {
		case elementwise.Add, elementwise.Sub, elementwise.Max, elementwise.Min:
			if *to = fixed; state[a] == scales || state[b] == scales {
				if *to = scales; !be(a, scales) || !be(b, scales) {
					return nil, false
				}
				continue
			}
		case elementwise.Mul:
			if state[a] != scales {
				a, b = b, a
			}
			if *to = fixed; state[a] == scales {
				if *to = scales; !be(b, fixed) {
					return nil, false
				}
				continue
			}
		case elementwise.Div, elementwise.PRelu:
			if *to = fixed; state[a] == scales {
				if *to = scales; !be(b, fixed) {
					return nil, false
				}
				continue
			}
		case elementwise.Relu, elementwise.LeakyRelu, elementwise.Neg, elementwise.Abs:
			*to = state[a]
			if state[a] == open {
				be(a, fixed)
				*to = fixed
			}
			continue
		case elementwise.Clamp:
			*to = fixed
			if state[a] == scales {
				if in.Imm[0] != 0 || !math.IsInf(float64(in.Imm[1]), 1) {
					return nil, false
				}
				*to = scales
				continue
			}
		default:
			*to = fixed
		}
		for _, arg := range in.Arg[:in.Op.Info().Arity] { // what is computed of what stays as it is does
			if !be(arg, fixed) {
				return nil, false
			}
		}
	}
	if state[p.Result()] != scales {
		return nil, false
	}
	for i := 1; i < p.Args; i++ {
		if state[i] == scales {
			scaled = append(scaled, i)
		}
	}
	return scaled, true
}
