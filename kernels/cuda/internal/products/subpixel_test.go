package products

import (
	"fmt"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// TestPhases: every tap of every output pixel is in its phase once, with the input pixel that the transposed convolution
// reads there; and no phase has another one.
func TestPhases(t *testing.T) {
	for _, c := range suite.Layers() {
		if c.Layer.Op != graph.ConvTranspose {
			continue
		}
		b, ok := emittest.BindingOf(c.Layer, OnTile("", graph.ConvTranspose, kernels.NHWC, Tiles(emit.SimtF32)[0]))
		p, err := subpixelOf(b)
		if !ok || err != nil {
			continue
		}
		whole := p.subpixel.whole
		seen := map[[2]int]bool{}
		for _, f := range p.subpixel.phases {
			for y := f.first[0]; y < whole.p; y += whole.stride[0] {
				for x := f.first[1]; x < whole.q; x += whole.stride[1] {
					if seen[[2]int{y, x}] {
						t.Fatalf("%s: pixel %d,%d is in two phases", c.Name, y, x)
					}
					seen[[2]int{y, x}] = true
					if got, want := f.reads(whole, y, x), whole.reads(y, x); !slices.Equal(got, want) {
						t.Fatalf("%s: pixel %d,%d reads %v, want %v", c.Name, y, x, got, want)
					}
				}
			}
		}
		if len(seen) != whole.p*whole.q {
			t.Errorf("%s: %d pixels of %d are in a phase", c.Name, len(seen), whole.p*whole.q)
		}
	}
}

// reads returns the taps and input pixels of an output pixel of a phase that are in the image.
func (f phase) reads(p *product, y, x int) (list []phaseTap) {
	for _, t := range f.taps {
		t.y, t.x = t.y+y/p.stride[0], t.x+x/p.stride[1]
		if t.y >= 0 && t.y < p.h && t.x >= 0 && t.x < p.w {
			list = append(list, t)
		}
	}
	return list
}

// reads returns the taps that meet an input pixel for an output pixel of a transposed convolution, found from the input's
// side: pixel (i, j) is written by tap (r, s) to row i*stride + r*dilation - pad.
func (p *product) reads(y, x int) (list []phaseTap) {
	for tap := range p.r * p.s {
		for i := range p.h {
			for j := range p.w {
				if i*p.stride[0]+tap/p.s*p.dilation[0]-p.pad[0] == y && j*p.stride[1]+tap%p.s*p.dilation[1]-p.pad[1] == x {
					list = append(list, phaseTap{tap, i, j})
				}
			}
		}
	}
	return list
}

// TestSubpixelAccess: phases copy and write whole lines, though they write every other pixel only, and blocks of the phases
// with fewer taps wait for all that they copied.
func TestSubpixelAccess(t *testing.T) {
	attrs := graph.ConvTransposeAttrs{Strides: []int{2, 2}, Pads: []int{1, 1, 1, 1}, OutputPadding: []int{1, 1}, Group: 1}
	for _, u := range []emit.Unit{emit.SimtF32, emit.TensorF16, emit.TensorI8} {
		tl := Tiles(u)[len(Tiles(u))-1]
		tl.Split = 1
		t.Run(tl.String(), func(t *testing.T) {
			e := OnTile("", graph.ConvTranspose, kernels.NHWC, tl)
			tr := emittest.ConvTrialWith(t, e, graph.ConvTranspose, attrs, u.Type(), [4]int{1, 128, 8, 8}, [4]int{128, 64, 3, 3}, 0)
			for _, async := range []ptxsim.Async{ptxsim.Late, ptxsim.Early} {
				stats, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Lints: ptxsim.LintAll, Races: true, Async: async})
				if err != nil || !right {
					t.Fatal(right, err)
				}
				if s := stats[0]; s.Abandoned != 0 {
					t.Errorf("nobody waits for %d copies", s.Abandoned)
				}
				for _, op := range []string{"cp.async", "st.global"} {
					if w := stats[0].Worst(op); w == nil || w.Efficiency() < 1 {
						t.Errorf("%s is not coalesced: %+v", op, w)
					}
				}
			}
		})
	}
}

// TestSubpixelRefusals: what the table of phases does not reach is refused, and says why.
func TestSubpixelRefusals(t *testing.T) {
	for _, c := range []struct {
		x, w [4]int
		a    graph.ConvTransposeAttrs
		want string
	}{
		{[4]int{1, 16, 40, 2}, [4]int{16, 4, 3, 3}, graph.ConvTransposeAttrs{Strides: []int{33, 32}}, "strides of [33 32] make 33 x 32 phases, the kernel takes 1024"},
		{[4]int{1, 16, 3, 3}, [4]int{16, 4, 3, 3}, graph.ConvTransposeAttrs{Group: 2}, "2 groups, the kernel takes one"},
		{[4]int{1, 16, 1, farAway}, [4]int{16, 4, 1, 1}, graph.ConvTransposeAttrs{}, fmt.Sprintf("the input has rows or columns of %d pixels, the kernel reaches %d", farAway, farAway-1)},
		{[4]int{1, 16, 1, 2}, [4]int{16, 4, 1, 2}, graph.ConvTransposeAttrs{Dilations: []int{1, farAway}}, "the taps reach over more than 16384 pixels"},
	} {
		c.a.Group = max(1, c.a.Group)
		l := &graph.Layer{Name: "conv", Op: graph.ConvTranspose, From: []string{"conv"}, Attrs: c.a}
		l.AddInput(&graph.Tensor{Name: "x", Type: numeric.F16, Dims: symbolic.Shape(c.x[:]...)})
		l.AddInput(&graph.Tensor{Name: "w", Type: numeric.F16, Dims: symbolic.Shape(c.w[:]...), Weights: make([]byte, 2*numeric.Count(c.w[:]))})
		l.Outputs = []*graph.Tensor{{Name: "y", Producer: l}}
		if err := l.Infer(); err != nil {
			t.Fatal(err)
		}
		e := OnTile("", graph.ConvTranspose, kernels.NHWC, Tiles(emit.TensorF16)[0])
		b, _ := emittest.BindingOf(l, e)
		if err := e.Matches(b); err == nil || err.Error() != c.want {
			t.Errorf("%v by %v: %v, want %s", c.x, c.w, err, c.want)
		}
	}
}
