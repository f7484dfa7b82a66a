package graph

// NonZero has the indices of the elements of x that are not 0, in order: y I64 [rank, count], a row for each axis. How many they
// are must follow from constants.
var NonZero = &Op{
	Name:  "NonZero",
	Onnx:  []string{"NonZero"},
	Class: ClassReduction, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: elementFLOPs(1),
	Infer: func(l *Layer) error {
		v, err := l.determined(0)
		if err != nil {
			return err
		}
		l.Outputs[0].Type, l.Outputs[0].Dims = I64, Shape(len(v.Dims), len(nonZeros(v)))
		return nil
	},
	Eval: func(l *Layer, in, out []Value) error {
		places := nonZeros(in[0])
		if err := sameCount(out[0].Dims[1], len(places)); err != nil {
			return err
		}
		for k, at := range places {
			for axis, p := range unravel(at, in[0].Dims) {
				out[0].I64()[axis*len(places)+k] = int64(p)
			}
		}
		return nil
	},
}

// nonZeros returns the places of the elements that are not 0.
func nonZeros(v Value) (places []int) {
	size := v.Type.Size()
	if v.Type.IsFloat() {
		for i, f := range v.Float64s() {
			if f != 0 {
				places = append(places, i)
			}
		}
		return places
	}
	for i := range v.Len() {
		for _, b := range v.Data[i*size : (i+1)*size] {
			if b != 0 {
				places = append(places, i)
				break
			}
		}
	}
	return places
}
