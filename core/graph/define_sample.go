package graph

// Det adds the determinant of each matrix of x [...,n,n].
func (d *Definition) Det(x *Tensor) *Tensor { return d.Layer(Det, nil, x) }

// GridSample adds x [N,C,D1,...] at the points of a grid [N,E1,...,k]. What the attributes leave open is ONNX's default: linear, and
// zeros outside.
func (d *Definition) GridSample(x, grid *Tensor, a GridSampleAttrs) *Tensor {
	if a.Mode == "" {
		a.Mode = "linear"
	}
	if a.Padding == "" {
		a.Padding = "zeros"
	}
	return d.Layer(GridSample, a, x, grid)
}

// RoiAlign adds the regions [R,4] of x [N,C,H,W], each of the item of the batch that items [R] names. A Scale of 0 counts as 1.
func (d *Definition) RoiAlign(x, regions, items *Tensor, a RoiAlignAttrs) *Tensor {
	if a.Scale == 0 {
		a.Scale = 1
	}
	return d.Layer(RoiAlign, a, x, regions, items)
}

// MaxRoiPool adds the largest elements of the bins of regions [R,5] of x [N,C,H,W]. A Scale of 0 counts as 1.
func (d *Definition) MaxRoiPool(x, regions *Tensor, a MaxRoiPoolAttrs) *Tensor {
	if a.Scale == 0 {
		a.Scale = 1
	}
	return d.Layer(MaxRoiPool, a, x, regions)
}

// MaxUnpool adds what has x's elements at the indices that a MaxPool gave, and 0 elsewhere; shape, an I64 list, may be nil.
func (d *Definition) MaxUnpool(x, indices, shape *Tensor, a UnpoolAttrs) *Tensor {
	return d.Layer(MaxUnpool, a, x, indices, shape)
}

// Col2Im adds images of the given extents, made of the blocks that are the columns of x [N,C*k,L].
func (d *Definition) Col2Im(x *Tensor, image []int, a Col2ImAttrs) *Tensor {
	return d.Layer(Col2Im, a, x, d.list("Col2Im", "image", image))
}

// DeformColumns adds the elements that a deformable convolution multiplies with its weights; mask may be nil, and groups of 0
// count as 1.
func (d *Definition) DeformColumns(x, offset, mask *Tensor, a DeformAttrs) *Tensor {
	a.Group, a.Offsets = max(1, a.Group), max(1, a.Offsets)
	return d.Layer(DeformColumns, a, x, offset, mask)
}

// NonZero adds the indices of the elements of x that are not 0, unless there are any: see [Network.NonZeros].
func (d *Definition) NonZero(x *Tensor) *Tensor {
	if y := d.net.NonZeros(x); y != nil {
		return y
	}
	return d.Layer(NonZero, NonZeroAttrs{d.countOf(NonZero)}, x)
}

// countOf returns the symbol of what the next layer counts.
func (d *Definition) countOf(op *Op) string {
	return countSymbol(d.layerName(op))
}

// Unique adds the elements of x that differ, or slices along an axis: with where each first occurs, which of them each of x is, and
// how often each occurs.
func (d *Definition) Unique(x *Tensor, a UniqueAttrs) (y, first, inverse, counts *Tensor) {
	if a.Count == "" {
		a.Count = d.countOf(Unique)
	}
	list := d.Layers(Unique, a, 4, x)
	return list[0], list[1], list[2], list[3]
}

// NonMaxSuppression adds item, class and box of what is selected of boxes [N,B,4] by scores [N,C,B]: at most so many for a class, that
// overlap by no more than a share and have more than a score, which may be nil.
func (d *Definition) NonMaxSuppression(boxes, scores, most, overlap, score *Tensor, a NonMaxSuppressionAttrs) *Tensor {
	if a.Count == "" {
		a.Count = d.countOf(NonMaxSuppression)
	}
	return d.Layer(NonMaxSuppression, a, boxes, scores, most, overlap, score)
}
