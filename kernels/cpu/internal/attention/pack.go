package attention

import (
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// packKeys stores n keys from j on as the right side of a product: panels of columns, each a key.
func (a *Attention) packKeys(s *scratch, k *source, j, n int) {
	for at := 0; at < n; at += a.panel {
		panel, width := s.keys[at*a.Size:], a.width(n-at)
		for lane := 0; lane < width; lane += work.Lanes {
			rows := min(work.Lanes, n-at-lane)
			data, stride, have := k.at(j+at+lane, rows)
			if have < rows { // of the past some, of the present some
				data, stride = a.join(s, k, j+at+lane, rows), a.Size
			}
			a.layout.Interleave(panel[lane:], width, data, stride, rows, a.Size)
		}
	}
}

// join copies up to 16 keys that lie in two pieces.
func (a *Attention) join(s *scratch, k *source, j, rows int) []float32 {
	for i := range rows {
		data, _, _ := k.at(j+i, 1)
		copy(s.straddle[i*a.Size:][:a.Size], data)
	}
	return s.straddle
}

// packValues stores n values from j on as the right side of a product: panels of columns, each an element of a head.
func (a *Attention) packValues(s *scratch, v *source, j, n int) {
	for i := 0; i < n; {
		data, stride, have := v.at(j+i, n-i)
		for at := 0; at < a.ValueSize; at += a.panel {
			width, columns := a.width(a.ValueSize-at), min(a.panel, a.ValueSize-at)
			panel := s.values[at*n+i*width:]
			if columns == width {
				a.layout.Gather(asm.GatherCall{Dst: panel, DstRow: width, Src: data[at:], SrcRow: stride, Rows: have,
					N: width / work.Lanes, Step: work.Lanes})
				continue
			}
			for r := range have {
				row := panel[r*width:][:width]
				copy(row, data[r*stride+at:][:columns])
				clear(row[columns:])
			}
		}
		i += have
	}
}
