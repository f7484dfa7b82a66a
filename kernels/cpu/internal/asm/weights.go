package asm

// Weights is a panel of 16*blocks columns of a matrix of small integers, eight of its rows (of k) an octet, and what they
// stand for: (q + Base - Zero) * Scale, of the column and its group of octets. In 8 bits row k of column j is the signed
// byte B[k*16*blocks + j]. In 4 bits B has a little-endian uint32 for each octet and column, whose bits 4*i to 4*i+3 are the
// unsigned q of the octet's row i.
type Weights struct {
	B      []byte
	Octets int
	Group  int       // octets with the same scales and zeros
	Scale  []float32 // [groups][16*blocks]
	Zero   []float32 // [groups][16*blocks]; nil for none
	Base   float32   // 0 in 8 bits
}

// WeightsKernel is one implementation of what is done with Weights of so many bits.
type WeightsKernel struct {
	Name  string
	Needs Features
	Bits  int
	Rows  int // the most rows that Multiply takes
	// Unpack stores the panel as float32, as GemmCall has it.
	Unpack func(blocks int, w Weights, out []float32)
	// Multiply is GemmCall with the panel for its B, for one tile and without Residual and Limits. K is 8*Octets.
	Multiply func(rows, blocks int, w Weights, c GemmCall)
}

// at returns the real number that row k of column j is.
func (w *Weights) at(bits, blocks, k, j int) float32 {
	n := 16 * blocks
	var q float32
	if bits == 8 {
		q = float32(int8(w.B[k*n+j]))
	} else {
		q = float32(w.B[(k/8*n+j)*4+k%8/2]>>(k%2*4)&15) + w.Base
	}
	g := k/8/w.Group*n + j
	if w.Zero != nil {
		q -= w.Zero[g]
	}
	return q * w.Scale[g]
}

// weightsGeneric makes the pure Go kernel of so many bits.
func weightsGeneric(name string, bits int) WeightsKernel {
	return WeightsKernel{Name: name, Bits: bits, Rows: 2,
		Unpack: func(blocks int, w Weights, out []float32) {
			for k := range 8 * w.Octets {
				row := out[k*16*blocks:][:16*blocks]
				for j := range row {
					row[j] = w.at(bits, blocks, k, j)
				}
			}
		},
		Multiply: func(rows, blocks int, w Weights, c GemmCall) {
			for i := range rows {
				var acc [2 * 16]float32
				copy(acc[:], c.Bias[:16*blocks])
				for k, v := range c.A[i*c.AStride:][:8*w.Octets] {
					for j := range c.Columns {
						acc[j] += v * w.at(bits, blocks, k, j)
					}
				}
				copy(c.Out[i*c.OutStride:][:c.Columns], acc[:])
			}
		}}
}

// weightsGenericKernels lists the pure Go kernels.
func weightsGenericKernels() []WeightsKernel {
	return []WeightsKernel{weightsGeneric("weights8_generic", 8), weightsGeneric("weights4_generic", 4)}
}
