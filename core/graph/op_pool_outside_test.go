package graph

import "testing"

// TestWindowOutside compares which windows have no tap on the input with a look at every tap.
func TestWindowOutside(t *testing.T) {
	for n := 1; n <= 5; n++ {
		for kernel := 1; kernel <= 3; kernel++ {
			for stride := 1; stride <= 3; stride++ {
				for dilation := 1; dilation <= 7; dilation++ {
					for pads := range 25 {
						w := Window{Kernel: kernel, Stride: stride, Dilation: dilation, PadBegin: pads % 5, PadEnd: pads / 5}
						if n+w.PadBegin+w.PadEnd < w.Span() {
							continue
						}
						checkOutside(t, w, n, (n+w.PadBegin+w.PadEnd-w.Span())/stride+1)
					}
				}
			}
		}
	}
}

func checkOutside(t *testing.T, w Window, n, places int) {
	t.Helper()
	want := false
	for o := range places {
		inside := false
		for k := range w.Kernel {
			at := o*w.Stride - w.PadBegin + k*w.Dilation
			inside = inside || at >= 0 && at < n
		}
		want = want || !inside
	}
	if _, got := w.outside(n, places); got != want {
		t.Errorf("%+v over %d elements: %t, want %t", w, n, got, want)
	}
}
