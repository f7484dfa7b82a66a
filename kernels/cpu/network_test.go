package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/convolutions"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/poolings"
	"github.com/trtui/trtui/kernels/cpu/internal/products"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// chain is a network written out as a list of kernel runs on buffers that are reused once their last reader
// has run: the memory traffic of a real one.
type chain struct {
	b         testing.TB
	workers   int
	parallel  work.Parallel
	steps     []func()
	flops     int
	free      map[int][][]float32
	workspace []float32
	random    *rand.Rand
}

// activation is a tensor of the chain, NCHWc16, or NCHW for the input.
type activation struct {
	data    []float32
	c, h, w int
	planar  bool
}

func newChain(b testing.TB, workers int, parallel work.Parallel) *chain {
	return &chain{b: b, workers: workers, parallel: parallel, free: map[int][][]float32{}, workspace: work.AlignedFloats(4 << 20),
		random: rand.New(rand.NewPCG(1, 1))}
}

func (n *chain) input(c, h, w int) activation {
	return activation{cputest.Normals(n.random, c*h*w), c, h, w, true}
}

func (n *chain) make(c, h, w int) activation {
	size := work.BlocksOf(c) * work.Lanes * h * w
	if list := n.free[size]; len(list) > 0 {
		n.free[size] = list[:len(list)-1]
		return activation{list[len(list)-1], c, h, w, false}
	}
	return activation{work.AlignedFloats(size), c, h, w, false}
}

// release lets later layers overwrite a.
func (n *chain) release(a activation) { n.free[len(a.data)] = append(n.free[len(a.data)], a.data) }

func (a activation) view() work.Tensor4 {
	if a.planar {
		return work.Planar(a.data, a.c, a.h, a.w)
	}
	return work.Blocked(a.data, a.c, a.h, a.w)
}

// conv adds a convolution, depthwise where groups is more than one; residual may be empty.
func (n *chain) conv(x activation, filters, kernel, stride, groups int, high float64, residual activation) activation {
	s := cputest.Square(x.c, x.h, x.w, filters, kernel, stride, kernel/2)
	s.Groups = groups
	out := n.make(filters, s.OutHeight(), s.OutWidth())
	depth := x.c / groups * kernel * kernel
	w := cputest.Normals(n.random, filters*depth)
	for i := range w {
		w[i] *= float32(math.Sqrt(1 / float64(depth)))
	}
	call := &convolutions.CallF32{In: x.view(), Out: out.view(), Workspace: n.workspace, Limits: [2]float32{0, float32(high)}}
	if high == 0 {
		call.Limits = programs.NoLimits()
	}
	if residual.data != nil {
		call.Residual = residual.view()
	}
	n.flops += 2 * len(w) * out.h * out.w
	if groups > 1 {
		d, err := convolutions.NewDepthwiseF32(s, windows.Depth{}, w, nil, asm.HostFeatures(), n.workers)
		if err != nil {
			n.b.Fatal(err)
		}
		n.steps = append(n.steps, func() { d.Run(n.parallel, call) })
		return out
	}
	c, err := convolutions.NewDirectF32(s, w, nil, convolutions.ConfigF32{Planar: x.planar, Features: asm.HostFeatures(), Workers: n.workers})
	if err != nil {
		n.b.Fatal(err)
	}
	n.steps = append(n.steps, func() { c.Run(n.parallel, call) })
	return out
}

func (n *chain) maxPool(x activation) activation {
	p, err := poolings.NewPoolF32(poolings.PoolShape{Batch: 1, Channels: x.c, Height: x.h, Width: x.w, KernelH: 3, KernelW: 3, StrideH: 2, StrideW: 2,
		DilationH: 1, DilationW: 1, PadTop: 1, PadLeft: 1, PadBottom: 1, PadRight: 1}, poolings.MaxPool, asm.HostFeatures(), n.workers)
	if err != nil {
		n.b.Fatal(err)
	}
	out := n.make(x.c, x.h/2, x.w/2)
	n.steps = append(n.steps, func() {
		p.Run(n.parallel, &poolings.PoolF32Call{In: x.view(), Out: out.view(), Workspace: n.workspace})
	})
	n.release(x)
	return out
}

// head adds the global average and the classifier; blocked channels are a multiple of 16, so that the vector of
// averages is the row of a matrix.
func (n *chain) head(x activation, classes int) {
	g := poolings.NewGlobalAverageF32(1, x.c, x.h*x.w, asm.HostFeatures())
	average := n.make(x.c, 1, 1)
	b, err := products.NewPackedB(x.c, classes, asm.HostFeatures())
	if err != nil {
		n.b.Fatal(err)
	}
	b.Pack(cputest.Normals(n.random, x.c*classes), classes, false)
	call := &products.GemmF32Call{M: 1, A: average.data, AStride: x.c, B: b, Out: make([]float32, classes), OutStride: classes,
		Limits: programs.NoLimits(), Workers: n.workers}
	n.steps = append(n.steps, func() {
		for u := range g.Units() {
			g.Run(average.view(), x.view(), u)
		}
		products.Gemm(n.parallel, call)
	})
	n.flops += 2 * x.c * classes
}

func (n *chain) run() {
	for _, step := range n.steps {
		step()
	}
}

const relu = math.MaxFloat32

func resnet50(n *chain) {
	input := n.input(3, 224, 224)
	x := n.maxPool(n.conv(input, 64, 7, 2, 1, relu, activation{}))
	for stage, blocks := range []int{3, 4, 6, 3} {
		width := 64 << stage
		for i := range blocks {
			stride, shortcut := 1, x
			if i == 0 {
				stride = min(stage+1, 2)
				shortcut = n.conv(x, 4*width, 1, stride, 1, 0, activation{})
			}
			a := n.conv(x, width, 1, 1, 1, relu, activation{})
			b := n.conv(a, width, 3, stride, 1, relu, activation{})
			n.release(a)
			y := n.conv(b, 4*width, 1, 1, 1, relu, shortcut)
			n.release(b)
			n.release(x)
			if i == 0 {
				n.release(shortcut)
			}
			x = y
		}
	}
	n.head(x, 1000)
}

func mobilenetV2(n *chain) {
	x := n.conv(n.input(3, 224, 224), 32, 3, 2, 1, 6, activation{})
	for _, l := range [][4]int{{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}} {
		for i := range l[2] {
			stride, y := 1, x
			if i == 0 {
				stride = l[3]
			}
			if l[0] > 1 {
				y = n.conv(x, x.c*l[0], 1, 1, 1, 6, activation{})
			}
			d := n.conv(y, y.c, 3, stride, y.c, 6, activation{})
			if l[0] > 1 {
				n.release(y)
			}
			var residual activation
			if stride == 1 && x.c == l[1] {
				residual = x
			}
			z := n.conv(d, l[1], 1, 1, 1, 0, residual)
			n.release(d)
			n.release(x)
			x = z
		}
	}
	n.head(n.conv(x, 1280, 1, 1, 1, 6, activation{}), 1000)
}

func resnet8(n *chain) {
	x := n.conv(n.input(3, 32, 32), 16, 3, 1, 1, relu, activation{})
	for stage := range 3 {
		width, stride, shortcut := 16<<stage, min(stage+1, 2), x
		y := n.conv(x, width, 3, stride, 1, relu, activation{})
		if stride > 1 {
			shortcut = n.conv(x, width, 1, stride, 1, 0, activation{})
		}
		x = n.conv(y, width, 3, 1, 1, relu, shortcut)
		n.release(y)
		n.release(shortcut)
	}
	n.head(x, 10)
}

func BenchmarkNetworksF32(b *testing.B) {
	for _, network := range []struct {
		name  string
		build func(*chain)
	}{{"resnet50", resnet50}, {"mobilenet_v2", mobilenetV2}, {"resnet8", resnet8}} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/w%d", network.name, workers), func(b *testing.B) {
				parallel, stop := cputest.Workers(workers)
				defer stop()
				n := newChain(b, workers, parallel)
				network.build(n)
				cputest.Time(b, n.flops, workers, n.run)
			})
		}
	}
}
