package cpu

import "github.com/trtui/trtui/kernels/cpu/asm"

// layoutKernel returns the first layout kernel that features allow.
func layoutKernel(features asm.Features) asm.LayoutKernel {
	for _, k := range asm.LayoutKernels() {
		if features.Has(k.Needs) {
			return k
		}
	}
	panic("cpu: no layout kernel without features")
}

// LayoutF32 converts activations of pixels elements a channel between NCHW and NCHWc16.
type LayoutF32 struct {
	Batch, Channels, Pixels int
	kernel                  asm.LayoutKernel
}

// NewLayoutF32 returns the conversion for a shape, with kernels that features allow.
func NewLayoutF32(batch, channels, pixels int, features asm.Features) *LayoutF32 {
	return &LayoutF32{Batch: batch, Channels: channels, Pixels: pixels, kernel: layoutKernel(features)}
}

// Units returns the number of pieces that Block and Unblock divide into: one for each image and channel block.
func (l *LayoutF32) Units() int { return l.Batch * blocksOf(l.Channels) }

// Block converts unit u from NCHW src to NCHWc16 dst; lanes beyond the channels become zero.
func (l *LayoutF32) Block(dst, src Tensor4, u int) {
	image, block, rows := l.unit(u)
	l.kernel.Interleave(dst.Data[image*dst.Image+block*dst.Plane:], lanes,
		src.Data[image*src.Image+block*lanes*src.Plane:], src.Plane, rows, l.Pixels)
}

// Unblock converts unit u from NCHWc16 src to NCHW dst.
func (l *LayoutF32) Unblock(dst, src Tensor4, u int) {
	image, block, rows := l.unit(u)
	l.kernel.Deinterleave(dst.Data[image*dst.Image+block*lanes*dst.Plane:], dst.Plane,
		src.Data[image*src.Image+block*src.Plane:], lanes, rows, l.Pixels)
}

func (l *LayoutF32) unit(u int) (image, block, rows int) {
	blocks := blocksOf(l.Channels)
	image, block = u/blocks, u%blocks
	return image, block, min(lanes, l.Channels-block*lanes)
}
