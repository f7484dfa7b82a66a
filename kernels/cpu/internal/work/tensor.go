package work

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
)

// Lanes is the channel block of the NCHWc16 format: [N][ceil(C/16)][H][W][16].
const Lanes = 16

// BlocksOf returns how many channel blocks hold the channels.
func BlocksOf(channels int) int { return (channels + Lanes - 1) / Lanes }

// Tensor4 is a view of an activation: float32 elements of one image after another, planes within. A plane
// is dense: H*W*16 elements in NCHWc16, H*W in NCHW. Strides larger than dense make it a slice of the
// channels of a wider tensor.
type Tensor4 struct {
	Data  []float32
	Image int // elements between images
	Plane int // elements between channel blocks (NCHWc16) or channels (NCHW)
}

// Blocked returns the dense NCHWc16 view of data.
func Blocked(data []float32, channels, h, w int) Tensor4 {
	return Tensor4{Data: data, Image: BlocksOf(channels) * h * w * Lanes, Plane: h * w * Lanes}
}

// Planar returns the dense NCHW view of data.
func Planar(data []float32, channels, h, w int) Tensor4 {
	return Tensor4{Data: data, Image: channels * h * w, Plane: h * w}
}

// Bytes4 is a view of a quantised activation, as Tensor4 is of float32. Bytes are unsigned: the byte of a
// signed q is q+128 and its zero point z becomes z+128 (asm.Requant).
type Bytes4 struct {
	Data  []byte
	Image int // elements between images
	Plane int // elements between channel blocks (NCHWc16) or channels (NCHW)
}

// BlockedBytes returns the dense NCHWc16 view of data.
func BlockedBytes(data []byte, channels, h, w int) Bytes4 {
	return Bytes4{Data: data, Image: BlocksOf(channels) * h * w * Lanes, Plane: h * w * Lanes}
}

// Planes returns the extents of an activation [N,C,H,W] as kernels of two spatial axes see it: rank 2 has one pixel,
// rank 3 one row.
func Planes(d kernels.Desc) (n, c, h, w int, err error) {
	switch len(d.Dims) {
	case 2:
		return d.Dims[0], d.Dims[1], 1, 1, nil
	case 3:
		return d.Dims[0], d.Dims[1], 1, d.Dims[2], nil
	case 4:
		return d.Dims[0], d.Dims[1], d.Dims[2], d.Dims[3], nil
	}
	return 0, 0, 0, 0, fmt.Errorf("%d axes, the kernel takes 2 to 4", len(d.Dims))
}

// Floats views memory as a tensor of float32.
func Floats(d kernels.Desc, m kernels.Mem) Tensor4 {
	t := Tensor4{Data: numeric.View[float32](m.Host), Image: d.BatchStride()}
	t.Plane = numeric.Count(d.Dims[2:]) * d.Block()
	return t
}

// Bytes views memory as a tensor of bytes.
func Bytes(d kernels.Desc, m kernels.Mem) Bytes4 {
	return Bytes4{Data: m.Host, Image: d.BatchStride(), Plane: numeric.Count(d.Dims[2:]) * d.Block()}
}

// RealConst returns a constant's elements as float32.
func RealConst(b kernels.Binding, i int) []float32 {
	if i >= len(b.Layer.OpInputs()) {
		return nil
	}
	v, ok := b.Const(i)
	if !ok {
		return nil
	}
	return numeric.ToReal(v, b.Layer.Inputs[i].Range).Floats()
}
