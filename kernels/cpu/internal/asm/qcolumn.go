package asm

// QColumnCall is a band of a depthwise convolution of one block of 16 channels: Rows output rows of Columns
// pixels, computed column by column. For output pixel (y, x) and channel o the exact sum is
//
//	Start[o] + sum over kernel rows t < KernelRows, chunks h < Chunks and j < 4 of
//	        In[(y*StrideRows+t)*InRow + x*InColumn + 64*h + 16*j + o] * Weights[(t*Chunks+h)*64 + 4*o + j]
//
// KernelRows, Chunks and StrideRows being the kernel's; it reads whole chunks of four pixels even where weights
// are zero. In Requant, OutPixel and ResidualPixel are the distances of rows; columns are 16 elements apart.
type QColumnCall struct {
	In              []byte
	InRow, InColumn int
	Rows, Columns   int
	Weights         []int8
	Start           []int32
	Requant         *Requant
}

// QColumnKernel is one implementation of QColumnCall.
type QColumnKernel struct {
	Name       string
	Needs      Features
	KernelRows int
	Chunks     int // of four kernel columns
	StrideRows int
	Rows       int // the most rows of a call
	level      level
}

// qcolumnShapes are the kernel rows, chunks and strides that there are kernels for.
var qcolumnShapes = [][3]int{{3, 1, 1}, {3, 1, 2}, {5, 2, 1}, {5, 2, 2}}

func (k *QColumnKernel) generic(c *QColumnCall) {
	for y := range c.Rows {
		for x := range c.Columns {
			acc := [16]int32(c.Start)
			w := c.Weights
			for t := range k.KernelRows {
				in := c.In[(y*k.StrideRows+t)*c.InRow+x*c.InColumn:][:64*k.Chunks]
				for ; len(in) > 0; in, w = in[64:], w[64:] {
					for o := range acc {
						acc[o] += int32(in[o])*int32(w[4*o]) + int32(in[16+o])*int32(w[4*o+1]) +
							int32(in[32+o])*int32(w[4*o+2]) + int32(in[48+o])*int32(w[4*o+3])
					}
				}
			}
			r := *c.Requant
			if r.Residual != nil {
				r.Residual = r.Residual[16*x:]
			}
			if r.Float != nil {
				r.Float = r.Float[16*x:]
			} else {
				r.Out = r.Out[16*x:]
			}
			r.store(acc[:], y, 0)
		}
	}
}

// qcolumnGenericKernels lists the pure Go kernels.
func qcolumnGenericKernels() (kernels []QColumnKernel) {
	for _, s := range qcolumnShapes {
		kernels = append(kernels, QColumnKernel{Name: "qcolumn_u8s8_generic", KernelRows: s[0], Chunks: s[1], StrideRows: s[2], Rows: 8})
	}
	return kernels
}
