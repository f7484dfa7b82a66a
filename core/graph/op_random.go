package graph

import (
	"fmt"
	"hash/fnv"
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
)

// RandomAttrs are the attributes of RandomUniform and RandomNormal.
type RandomAttrs struct {
	Type numeric.DataType // F32, F64, F16 or BF16
	// RandomUniform's least number and bound, or RandomNormal's mean and standard deviation.
	A, B float32

	// Layers of one seed have the same numbers, and a layer has the same ones each time it is run.
	Seed float32
}

// RandomUniform gives numbers between A and B, each as likely as another, in the shape that its input, an I64 list, says; it must be
// known from constants and the inputs' shapes. They follow from seed and place alone, on every device.
var RandomUniform = randomOp("RandomUniform", "low", "high", func(a RandomAttrs, i uint64) float64 {
	low, high := float64(a.A), float64(a.B)
	bits := 23 // of which the halves between are exact, so that no number is rounded to an end
	if a.Type == numeric.F64 {
		bits = 52
	}
	return low + (high-low)*a.fraction(i, bits)
})

// RandomNormal gives numbers of a normal distribution, in the same way.
var RandomNormal = randomOp("RandomNormal", "mean", "scale", func(a RandomAttrs, i uint64) float64 {
	radius := math.Sqrt(-2 * math.Log(a.fraction(2*i, 52))) // Box and Muller, 1958
	return float64(a.A) + float64(a.B)*radius*math.Cos(2*math.Pi*a.fraction(2*i+1, 52))
})

// fraction returns number i of a sequence, between 0 and 1 without either: SplitMix64 (Steele, Lea and Flood, 2014), whose state is
// a counter.
func (a RandomAttrs) fraction(i uint64, bits int) float64 {
	return (float64(mix64(mix64(uint64(math.Float32bits(a.Seed)))+i*0x9e3779b97f4a7c15)>>(64-bits)) + 0.5) / float64(uint64(1)<<bits)
}

func mix64(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// seedOf returns the seed of a node that states none: a whole number that follows from its name, so that nodes differ and a model has
// the same numbers each time it is run.
func seedOf(node string) float32 {
	h := fnv.New32a()
	h.Write([]byte(node))
	return float32(h.Sum32() >> 8)
}

// randomOp returns an op of numbers at random: number returns the one at a place. first and second are ONNX's names of A and B.
func randomOp(name, first, second string, number func(a RandomAttrs, i uint64) float64) *Op {
	return &Op{
		Name:  name,
		Attrs: RandomAttrs{},
		Class: ClassSource, Inputs: []Role{Parameter}, Memory: Written,
		Moves: computed,
		FLOPs: noFLOPs,
		Infer: func(l *Layer) error {
			a, out := l.Attrs.(RandomAttrs), l.Outputs[0]
			if !a.Type.IsFloat() {
				return fmt.Errorf("numbers of type %s; they are of floating point", a.Type)
			}
			dims, err := l.knownInput(0, "shape")
			out.Type, out.Dims = a.Type, dims
			return err
		},
		Eval: func(l *Layer, _, out []numeric.Value) error {
			a, x := l.Attrs.(RandomAttrs), make([]float64, out[0].Len())
			for i := range x {
				x[i] = number(a, uint64(i))
			}
			out[0].SetFloats(x)
			return nil
		},
		Export: func(e *Exporter) error {
			a := e.Layer.Attrs.(RandomAttrs)
			like := e.Step("ConstantOfShape", nil, e.Input(0))
			return e.Node(name+"Like", Attributes{"dtype": a.Type, first: a.A, second: a.B, "seed": a.Seed}, like)
		},
	}
}

// randomComposite returns how to import a node that makes numbers at random: in the shape of its input, or that an attribute says.
func randomComposite(op *Op, like bool, first, second string) func(*Definition, *Node) ([]*Tensor, error) {
	return func(d *Definition, n *Node) ([]*Tensor, error) {
		a := n.random(numeric.F32)
		a.A, a.B = n.Float(first, 0), n.Float(second, 1)
		if !like {
			dims := n.Ints("shape")
			if !n.Has("shape") {
				return nil, fmt.Errorf("attribute shape is missing")
			}
			err := n.elementType(&a.Type)
			return []*Tensor{d.Layer(op, a, d.list(op.Name, "shape", dims))}, err
		}
		if err := n.needs(0); err != nil {
			return nil, err
		}
		a.Type = n.Input(0).Type
		err := n.elementType(&a.Type)
		return []*Tensor{d.Layer(op, a, d.ShapeOf(n.Input(0)))}, err
	}
}

// elementType sets t to the type that the attribute dtype states, where there is one.
func (n *Node) elementType(t *numeric.DataType) (err error) {
	if v := n.Int("dtype", 0); v != 0 {
		*t, err = onnxDataType(v)
	}
	return err
}

// importBernoulli is 1 with the probability that x has, else 0.
func importBernoulli(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0); err != nil {
		return nil, err
	}
	x := n.Input(0)
	to := x.Type
	if err := n.elementType(&to); err != nil {
		return nil, err
	}
	return []*Tensor{d.Cast(d.Less(d.RandomUniform(d.ShapeOf(x), n.random(x.Type)), x), to)}, nil
}

// importMultinomial draws classes by their log probabilities x [B,C], each independently: the place of the largest one when to each is
// added what a Gumbel distribution gives (Gumbel, 1954).
func importMultinomial(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.ranked(axes{0, []int{2}}); err != nil {
		return nil, err
	}
	to, draws := numeric.I32, n.Int("sample_size", 1)
	if err := n.elementType(&to); err != nil {
		return nil, err
	}
	if draws < 1 || draws > maxExtent || to != numeric.I32 && to != numeric.I64 {
		return nil, fmt.Errorf("%d draws of type %s, want 1 or more, of i32 or i64", draws, to)
	}
	x := d.Unsqueeze(n.Input(0), 1)
	if draws > 1 {
		x = d.Expand(x, 1, draws, 1)
	}
	gumbel := d.Neg(d.Log(d.Neg(d.Log(d.RandomUniform(d.ShapeOf(x), n.random(x.Type))))))
	return []*Tensor{d.as(d.ArgMax(d.Add(x, gumbel), ArgAttrs{Axis: 2}), to)}, nil
}

// TrainingDropout is the Dropout whose training_mode, input 2, is true, or may be: of the elements of x as many as the ratio says, input 1,
// are 0 then, and the others are larger by as much. Output 1 is which are left. So are models whose answers are drawn several times.
var TrainingDropout = &Composite{Onnx: "Dropout", Import: func(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 2); err != nil {
		return nil, err
	}
	x, training := n.Input(0), n.Input(2)
	ratio := d.Constant(d.fresh("ratio"), numeric.Values(numeric.F32, []float32{0.5}))
	if t := n.Input(1); t != nil {
		ratio = d.as(t, numeric.F32)
	}
	left := d.GreaterOrEqual(d.RandomUniform(d.ShapeOf(x), n.random(numeric.F32)), ratio)
	one := d.as(d.number(1), numeric.F32)
	scale := d.Div(one, d.Sub(one, ratio))
	if on, known := training.Truth(); !known || !on {
		left, scale = d.Or(left, d.Not(training)), d.Where(training, scale, one)
	}
	return []*Tensor{d.Mul(d.Mul(x, d.as(left, x.Type)), d.as(scale, x.Type)), left}, nil
}}

// random returns the attributes of the numbers that a node is computed from.
func (n *Node) random(t numeric.DataType) RandomAttrs {
	a := RandomAttrs{Type: t, B: 1}
	switch {
	case !n.Has("seed"):
		a.Seed = seedOf(n.Name)
	case n.Attrs["seed"].Kind == AttrInt: // Dropout's
		a.Seed = float32(n.Int("seed", 0))
	default:
		a.Seed = n.Float("seed", 0)
	}
	return a
}

// IsRandom reports whether t is computed from numbers at random.
func (n *Network) IsRandom(t *Tensor) bool {
	seen := map[*Tensor]bool{}
	var look func(t *Tensor) bool
	look = func(t *Tensor) bool {
		if t == nil || seen[t] || t.Producer == nil {
			return false
		}
		seen[t] = true
		l := t.Producer
		if _, ok := l.Attrs.(RandomAttrs); ok {
			return true
		}
		for _, b := range l.Bodies() {
			for _, l := range b.Network.AllLayers() {
				if _, ok := l.Attrs.(RandomAttrs); ok {
					return true
				}
			}
		}
		for i, in := range l.Inputs {
			if l.Role(i) != Extents && look(in) {
				return true
			}
		}
		return false
	}
	return look(t)
}
