//go:build amd64 && !noasm

package asm

import (
	"fmt"
	"unsafe"
)

// QColumnKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func QColumnKernels() (kernels []QColumnKernel) {
	for _, s := range qcolumnShapes {
		kernels = append(kernels, QColumnKernel{fmt.Sprintf("qcolumn_u8s8_vnni_%dx%d_s%d", s[0], 4*s[1], s[2]),
			AVX512 | AVX512VNNI, s[0], s[1], s[2], 8, avx512})
	}
	return append(kernels, qcolumnGenericKernels()...)
}

// Run computes a band.
func (k QColumnKernel) Run(c *QColumnCall) {
	if k.level == pureGo {
		k.generic(c)
		return
	}
	_ = c.In[((c.Rows-1)*k.StrideRows+k.KernelRows-1)*c.InRow+(c.Columns-1)*c.InColumn+64*k.Chunks-1]
	_, _ = c.Weights[64*k.KernelRows*k.Chunks-1], c.Start[15]
	r := c.Requant
	wide := (c.Columns - 1) * 16
	if r.Float != nil {
		_ = r.Float[(c.Rows-1)*r.OutPixel+wide+15]
	} else {
		_ = r.Out[(c.Rows-1)*r.OutPixel+wide+15]
	}
	if r.Residual != nil {
		_ = r.Residual[(c.Rows-1)*r.ResidualPixel+wide+15]
	}
	requant := r.args(c.Rows, 1)
	p := (*byte)(unsafe.Pointer(&requant))
	switch in, w, start := &c.In[0], &c.Weights[0], &c.Start[0]; [2]int{k.KernelRows, k.StrideRows} {
	case [2]int{3, 1}:
		qcolumn3x4S1VNNI(c.Rows, c.Columns, in, c.InRow, c.InColumn, w, start, p)
	case [2]int{3, 2}:
		qcolumn3x4S2VNNI(c.Rows, c.Columns, in, c.InRow, c.InColumn, w, start, p)
	case [2]int{5, 1}:
		qcolumn5x8S1VNNI(c.Rows, c.Columns, in, c.InRow, c.InColumn, w, start, p)
	case [2]int{5, 2}:
		qcolumn5x8S2VNNI(c.Rows, c.Columns, in, c.InRow, c.InColumn, w, start, p)
	}
}
