package products

import (
	"slices"

	"github.com/trtui/trtui/kernels"
)

// asMatrices makes matrices of vectors: a row of the left side, a column of the right one, input second. The axis that the
// output lacks is put there, and in what is read along with it.
func asMatrices(b kernels.Binding, second int) kernels.Binding {
	row, column := len(b.In[0].Dims) == 1, len(b.In[second].Dims) == 1
	if !row && !column {
		return b
	}
	in, out := slices.Clone(b.In), slices.Clone(b.Out)
	widened := func(d kernels.Desc) kernels.Desc {
		switch {
		case len(d.Dims) == 0:
		case row:
			d.Dims = slices.Insert(slices.Clone(d.Dims), len(d.Dims)-1, 1)
		default:
			d.Dims = append(slices.Clone(d.Dims), 1)
		}
		return d
	}
	for i := len(b.Layer.OpInputs()); i < len(in); i++ {
		in[i] = widened(in[i])
	}
	if out[0] = widened(out[0]); row && column {
		out[0].Dims = []int{1, 1}
	}
	if row {
		in[0].Dims = []int{1, in[0].Dims[0]}
	}
	if column {
		in[second].Dims = []int{in[second].Dims[0], 1}
	}
	b.In, b.Out = in, out
	return b
}
