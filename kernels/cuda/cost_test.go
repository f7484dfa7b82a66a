package cuda

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/internal/products"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// board is a GPU with the peak rates that its maker publishes, dense, in units of 1e12 operations a second, and the clock for
// which they are published.
type board struct {
	name                 string
	sm, sms              int
	floatMHz, tensorMHz  int
	floats, halves, ints float64
	memoryMHz, bus       int
	gigabytes            float64 // a second
}

// boards is one of each capability in the table of rates, from NVIDIA's data sheets and whitepapers.
var boards = []board{
	{"A100 SXM4 40GB", 80, 108, 1410, 1410, 19.5, 312, 624, 1215, 5120, 1555},
	{"A40", 86, 84, 1740, 1740, 37.4, 149.7, 299.3, 7250, 384, 696},
	{"Jetson AGX Orin 64GB", 87, 16, 1300, 1300, 5.3, 42.5, 85, 3200, 256, 204.8},
	{"RTX 6000 Ada", 89, 142, 2505, 2505, 91.1, 364.2, 728.5, 10000, 384, 960},
	{"H100 SXM5", 90, 132, 1980, 1830, 66.9, 989.4, 1978.9, 2619, 5120, 3352},
	{"RTX PRO 6000 Blackwell", 120, 188, 2617, 2617, 126, 503.8, 1007.6, 14000, 512, 1792},
}

// machine is the cost model's view of the board, at the clock of a unit's peak.
func (b board) machine(u emit.Unit) machine {
	mhz := b.tensorMHz
	if u == emit.SimtF32 {
		mhz = b.floatMHz
	}
	return newMachine(driver.Device{
		SM: b.sm, Multiprocessors: b.sms, ClockKHz: mhz * 1000, MemoryClockKHz: b.memoryMHz * 1000, MemoryBusBits: b.bus, SharedPerSM: 100 << 10,
	})
}

// peak is the published rate of a unit in multiply-adds a second.
func (b board) peak(u emit.Unit) float64 {
	return [...]float64{emit.SimtF32: b.floats, emit.TensorF16: b.halves, emit.TensorI8: b.ints}[u] * 1e12 / 2
}

// near reports whether a time is what is wanted within a part in a hundred.
func near(got time.Duration, seconds float64) bool {
	return math.Abs((got-launchOverhead).Seconds()/seconds-1) < 0.01
}

// TestRates: on every board of the table launches that only multiply, or only move bytes, run at the published rates, by
// either estimate; on Hopper mma.sync reaches its share of them.
func TestRates(t *testing.T) {
	if len(boards) != len(smRates) {
		t.Fatalf("%d boards for %d capabilities", len(boards), len(smRates))
	}
	const blocks = 1 << 20
	for i, b := range boards {
		if smRates[i].sm != b.sm {
			t.Errorf("sm_%d stands where sm_%d is", smRates[i].sm, b.sm)
		}
		for u := range emit.UnitCount {
			m, n := b.machine(u), 1e15
			seconds := n / b.peak(u)
			if b.sm == 90 && u != emit.SimtF32 {
				seconds /= 0.62
			}
			if got := m.time(emit.Job{Blocks: blocks, Resident: 1, Unit: u, Multiplied: n / blocks}); !near(got, seconds) {
				t.Errorf("%s: %s takes %v by the cost model, %v s at the published rate", b.name, u.String(), got, seconds)
			}
			s := &ptxsim.Stats{Blocks: blocks, Occupancy: 8}
			switch u {
			case emit.SimtF32:
				s.Floats = int64(n)
			case emit.TensorF16:
				s.MACs = int64(n)
			case emit.TensorI8:
				s.ByteMACs = int64(n)
			}
			if got := m.estimate(s); !near(got, seconds) {
				t.Errorf("%s: %s takes %v on the simulator, %v s at the published rate", b.name, u.String(), got, seconds)
			}
		}
		m, n := b.machine(emit.SimtF32), 1e12
		for what, s := range map[string]*ptxsim.Stats{"reading": {GlobalRead: int64(n)}, "writing": {GlobalWrite: int64(n)}} {
			s.Blocks, s.Occupancy = blocks, 8
			if got, seconds := m.estimate(s), n/(b.gigabytes*1e9*memoryEfficiency); !near(got, seconds) {
				t.Errorf("%s: %s takes %v, %v s at the published bandwidth", b.name, what, got, seconds)
			}
		}
		perSecond := float64(b.sms*b.floatMHz) * 1e6 // cycles of SMs
		for what, c := range map[string]struct {
			stats ptxsim.Stats
			rate  float64
		}{
			"instructions":        {ptxsim.Stats{Instructions: int64(n)}, 4},
			"reading shared":      {ptxsim.Stats{SharedRead: int64(n)}, 128},
			"writing shared":      {ptxsim.Stats{SharedWrite: int64(n)}, 128},
			"halves beside bytes": {ptxsim.Stats{MACs: int64(n), ByteMACs: 2 * int64(n)}, m.rates.of[emit.TensorF16] / 2},
		} {
			c.stats.Blocks, c.stats.Occupancy = blocks, 8
			if got, seconds := m.estimate(&c.stats), n/c.rate/perSecond; !near(got, seconds) {
				t.Errorf("%s: %s takes %v, want %v s", b.name, what, got, seconds)
			}
		}
	}
}

// TestNextCapability: what the table does not have is estimated as the capability before it.
func TestNextCapability(t *testing.T) {
	for sm, want := range map[int]int{75: 80, 80: 80, 88: 87, 90: 90, 100: 90, 121: 120} {
		if got := ratesOf(sm).sm; got != want {
			t.Errorf("sm_%d is estimated as sm_%d, want sm_%d", sm, got, want)
		}
	}
}

// sweep is layers whose multiply-adds and bytes are known, from a few blocks to many waves.
func sweep() (list []kernels.Binding) {
	for _, typ := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8} {
		for _, s := range []struct{ n, c, k, h, r, stride, group int }{
			{1, 64, 64, 56, 1, 1, 1}, {1, 64, 64, 56, 3, 1, 1}, {32, 256, 1024, 14, 1, 1, 1}, {8, 512, 512, 7, 3, 1, 1},
			{16, 256, 512, 28, 3, 2, 1}, {1, 4, 64, 224, 7, 2, 1}, {4, 2048, 2048, 7, 1, 1, 1}, {1, 384, 384, 14, 3, 1, 384},
			{8, 96, 96, 112, 3, 2, 96}, {64, 384, 384, 56, 7, 1, 384}, {64, 384, 384, 56, 11, 1, 384}, {4, 256, 256, 28, 3, 1, 32}, {256, 64, 64, 56, 3, 1, 1},
		} {
			p := s.r / 2
			q := (s.h+2*p-s.r)/s.stride + 1
			pads, strides := []int{p, p, p, p}, []int{s.stride, s.stride}
			x, y := []int{s.n, s.c, s.h, s.h}, []int{s.n, s.k, q, q}
			list = append(list, large(graph.Conv, graph.ConvAttrs{Strides: strides, Pads: pads, Group: s.group}, kernels.NHWC, typ, x, []int{s.k, s.c / s.group, s.r, s.r}, y))
			if s.group == 1 {
				back := s.stride*(q-1) + s.r - 2*p
				list = append(list, large(graph.ConvTranspose, graph.ConvTransposeAttrs{Strides: strides, Pads: pads, Group: 1}, kernels.NHWC, typ, y,
					[]int{s.k, s.c, s.r, s.r}, []int{s.n, s.c, back, back}))
			}
		}
		for _, s := range [][3]int{{1, 1000, 2048}, {128, 768, 768}, {4096, 4096, 4096}, {512, 512, 8192}, {100000, 64, 64}} {
			list = append(list, large(graph.MatMul, nil, kernels.Linear, typ, []int{s[0], s[2]}, []int{s[2], s[1]}, []int{s[0], s[1]}))
		}
	}
	for i := range list {
		if l := list[i].Layer; l.Inputs[0].Type == numeric.I8 {
			l.Inputs[0].Range, l.Inputs[1].Range, l.Outputs[0].Range = numeric.PerTensor(0.03, 0), numeric.PerTensor(0.01, 0), numeric.PerTensor(0.4, 0)
		}
	}
	return list
}

// multiplyAdds counts what a layer of the sweep multiplies at least: with padding too in a convolution, and without the borders
// in a transposed one.
func multiplyAdds(b kernels.Binding) float64 {
	w, x, y := b.In[1].Dims, b.In[0].Dims, b.Out[0].Dims
	switch b.Layer.Op {
	case graph.Conv:
		return float64(numeric.Count(y) * numeric.Count(w[1:]))
	case graph.ConvTranspose: // each input pixel with all taps, those aside that may fall on padding
		return float64(x[0] * (x[2] - 2*w[2]) * (x[3] - 2*w[3]) * numeric.Count(w))
	}
	return float64(x[0] * numeric.Count(w))
}

// TestPeak: no tactic on any layer of the sweep is said to multiply less than the layer has to, or estimated to be faster than
// the board multiplies or moves the layer's tensors, by the published figures. Kernels whose products are few of their
// instructions state none.
func TestPeak(t *testing.T) {
	table := Tactics()
	met := map[string]int{}
	for _, b := range sweep() {
		macs, bytes := multiplyAdds(b), emit.Traffic(b)
		for _, e := range table {
			b.In[0].Format, b.Out[0].Format = e.In, e.Out
			if e.Op != b.Layer.Op || e.Matches(b) != nil {
				continue
			}
			u := emit.SimtF32
			switch {
			case strings.Contains(e.Name, "mma"):
				u = map[numeric.DataType]emit.Unit{numeric.F16: emit.TensorF16, numeric.I8: emit.TensorI8}[b.In[0].Type]
			case b.In[0].Type == numeric.I8: // four products in an instruction
				u = emit.TensorI8
			}
			met[strings.SplitN(e.Name, "_", 3)[0]+" "+u.String()]++
			multiplied := 0.0
			for _, j := range e.Jobs(b) {
				multiplied += float64(j.Blocks) * j.Multiplied
			}
			if stated := multiplied > 0; multiplied < macs && (stated || u != emit.TensorI8 && !strings.HasPrefix(e.Name, "conv_plain")) {
				t.Errorf("%s of %v by %v multiplies %g times, the layer has %g products", e.Name, b.In[0], b.In[1], multiplied, macs)
			}
			for _, g := range boards {
				m := g.machine(u)
				var got time.Duration
				for _, j := range e.Jobs(b) {
					got += m.time(j)
				}
				if least := max(macs/g.peak(u), bytes/(g.gigabytes*1e9)); got.Seconds() < least {
					t.Errorf("%s of %v by %v on %s: %v, and the board needs %v", e.Name, b.In[0], b.In[1], g.name, got, time.Duration(least*1e9))
				}
			}
		}
	}
	for _, want := range []string{"conv f32_simt", "conv f16_mma", "conv i8_mma", "gemm f32_simt", "gemm f16_mma", "gemm i8_mma"} {
		if met[want] == 0 {
			t.Errorf("no tactic is %s: %v", want, met)
		}
	}
}

// TestSimulatedPeak: a launch that the simulator counted is estimated no faster than the published rates allow for the
// layer's products, and no faster than the multiply-adds that it executed.
func TestSimulatedPeak(t *testing.T) {
	for u := range emit.UnitCount {
		for _, tl := range slices.DeleteFunc(products.Tiles(u), func(t products.Tile) bool { return t.Stages > 3 || t.Split > 1 })[:3] {
			tr := emittest.ConvTrial(t, products.OnTile("", graph.Conv, kernels.NHWC, tl), tl.Unit.Type(), [4]int{1, 128, 12, 12}, [4]int{256, 128, 1, 1}, 0, 1, 0)
			stats, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{})
			if err != nil || !right {
				t.Fatal(tl, right, err)
			}
			products, bytes := float64(12*12*256*128), emit.Traffic(tr.Binding)
			executed := []int64{emit.SimtF32: stats[0].FMA, emit.TensorF16: stats[0].MACs, emit.TensorI8: stats[0].ByteMACs}
			for i, n := range executed {
				if emit.Unit(i) != u && emit.Unit(i) != emit.SimtF32 && n > 0 || emit.Unit(i) == u && float64(n) < products {
					t.Errorf("%s: %d products of %s, the layer has %.0f", tl, n, emit.Unit(i), products)
				}
			}
			if s := stats[0]; s.Floats < s.FMA {
				t.Errorf("%s: %d floating-point operations, %d of them multiply-adds", tl, s.Floats, s.FMA)
			}
			for _, g := range boards {
				many := *stats[0] // as if the batch were 10000
				const times = 10000
				many.Blocks *= times
				for _, n := range []*int64{&many.Instructions, &many.FMA, &many.Floats, &many.MACs, &many.ByteMACs, &many.GlobalRead, &many.GlobalWrite, &many.SharedRead, &many.SharedWrite} {
					*n *= times
				}
				least := times * max(products/g.peak(u), bytes/2/(g.gigabytes*1e9)) // half: weights are read once
				if got := g.machine(u).estimate(&many); got.Seconds() < least {
					t.Errorf("%s on %s: %v, and the board needs %v", tl, g.name, got, time.Duration(least*1e9))
				}
			}
		}
	}
}

// TestTransposeChoice: on every board transpositions of whole tiles are estimated to be faster through tiles than element by
// element, and reformats cost little more than their bytes.
func TestTransposeChoice(t *testing.T) {
	estimate := func(m machine, name string, op *graph.Op, attrs any, typ numeric.DataType, dims ...int) (all time.Duration) {
		x := &graph.Tensor{Name: "x", Type: typ, Dims: symbolic.Shape(dims...)}
		l := emittest.LayerOf(t, op, attrs, x)
		for _, e := range Tactics() {
			if e.Name != name || e.Op != op {
				continue
			}
			b, _ := emittest.BindingOf(l, e)
			for _, j := range e.Jobs(b) {
				all += m.time(j)
			}
		}
		return all
	}
	for _, board := range boards {
		m := board.machine(emit.SimtF32)
		for _, typ := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8} {
			for _, dims := range [][]int{{192, 128, 64}, {16, 512, 1024}, {64, 3136, 64}} {
				swap := graph.TransposeAttrs{Perm: []int{0, 2, 1}}
				tiled := estimate(m, "transpose_tiled_linear", graph.Transpose, swap, typ, dims...)
				plain := estimate(m, "transpose_linear", graph.Transpose, swap, typ, dims...)
				if tiled == 0 || plain == 0 || tiled > plain+plain/20 {
					t.Errorf("%s, %s %v: %v through tiles, %v without", board.name, typ, dims, tiled, plain)
				}
			}
			const n = 64 * 256 * 56 * 56
			got := estimate(m, "reformat_linear_nhwc", graph.Reformat, nil, typ, 64, 256, 56, 56)
			bytes := time.Duration(2 * float64(n*typ.Size()) / m.bandwidth * 1e9)
			if got < bytes || got > 2*bytes {
				t.Errorf("%s, %s: a reformat takes %v, its bytes %v", board.name, typ, got, bytes)
			}
		}
	}
}
