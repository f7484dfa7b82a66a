package trtui_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/trtui/trtui"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/testdata"
)

// digits returns the embedded model and some of its pictures as one input.
func digits(t testing.TB) *trtui.Network {
	t.Helper()
	n, err := trtui.Parse("digits", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func pictures(first, count int) trtui.Inputs {
	x := testdata.CalibrationImages().Batch(first, first+count)
	return trtui.Inputs{"image": trtui.ValueOf(x, count, 1, testdata.Padded, testdata.Padded)}
}

// built builds a network without timing, and closes it with the test.
func built(t testing.TB, n *trtui.Network, o trtui.Options) *trtui.Engine {
	t.Helper()
	o.Untimed = true
	e, err := trtui.Build(t.Context(), n, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func session(t testing.TB, e *trtui.Engine, o trtui.SessionOptions) *trtui.Session {
	t.Helper()
	s, err := e.NewSession(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// reference computes a network by its own Eval.
func reference(t testing.TB, n *trtui.Network, in trtui.Inputs) trtui.Outputs {
	t.Helper()
	out, err := n.Eval(context.Background(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// near reports whether values of real numbers differ by at most tolerance.
func near(a, b trtui.Value, tolerance float64) bool {
	return slices.Equal(a.Dims, b.Dims) && slices.EqualFunc(a.Floats(), b.Floats(), func(x, y float32) bool {
		return math.Abs(float64(x-y)) <= tolerance
	})
}

func TestPrecisions(t *testing.T) {
	n := digits(t)
	in := pictures(0, 4)
	want := reference(t, n, in)["probabilities"]
	for _, c := range []struct {
		precision trtui.Precision
		tolerance float64
	}{{trtui.FP32, 1e-5}, {trtui.FP16, 1e-2}, {trtui.INT8, 0.2}} {
		e := built(t, n, trtui.Options{
			Precision: c.precision, Shapes: map[string][]int{"image": {4, 1, testdata.Padded, testdata.Padded}},
			Calibration: trtui.Batches(pictures(0, 10), pictures(10, 10)), // another batch than the engine's
		})
		out, err := session(t, e, trtui.SessionOptions{}).Run(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if !near(out["probabilities"], want, c.tolerance) {
			t.Errorf("%s: %v, want %v", c.precision, out["probabilities"].F32(), want.F32())
		}
		eight := false
		for _, s := range e.Plan().Steps {
			eight = eight || s.Layer.Op == graph.Conv && s.Layer.Inputs[0].Type == numeric.I8
		}
		if eight != (c.precision == trtui.INT8) {
			t.Errorf("%s: convolutions in 8 bits: %v", c.precision, eight)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	n := digits(t)
	d := trtui.Define("text")
	d.Output("y", d.Relu(d.Input("x", trtui.F32, trtui.Symbol("batch"), trtui.Symbol("length"))))
	open, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	batch := func(dims ...int) trtui.BatchSeq {
		return trtui.Batches(trtui.Inputs{"image": trtui.NewValue(trtui.F32, dims...)})
	}
	compensated, err := quant.ParseRounding("compensated")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		n    *trtui.Network
		o    trtui.Options
		says string
	}{
		{nil, trtui.Options{}, "there is no network"},
		{n, trtui.Options{Precision: 9}, "use FP32, FP16 or INT8"},
		{n, trtui.Options{Precision: trtui.INT8}, "INT8 needs ranges"},
		{n, trtui.Options{Precision: trtui.INT8, Calibration: trtui.Batches()}, "no batch of data"},
		{n, trtui.Options{Precision: trtui.INT8, Calibration: batch(1, 3, 32, 32)}, "image"},
		{n, trtui.Options{Precision: trtui.INT8, Ranges: map[string]trtui.Range{"nothing": {}}}, "no tensor nothing"},
		{n, trtui.Options{Precision: trtui.INT8, Ranges: map[string]trtui.Range{"probabilities": numeric.PerTensor(1, 0)}}, "no layer can compute in 8 bits"},
		{n, trtui.Options{Precision: trtui.INT8, Calibration: batch(1, 1, 32, 32), Rounding: compensated, BiasCorrection: quant.CorrectOff}, "exact bias correction, which is off"},
		{n, trtui.Options{Shapes: map[string][]int{"picture": {1}}}, "no input picture"},
		{n, trtui.Options{Shapes: map[string][]int{"image": {2, 1, 31, 32}}}, "axis 2 must be 32"},
		{open, trtui.Options{}, "length is open"},
		{n, trtui.Options{Threads: -1}, "-1 threads"},
		{n, trtui.Options{Disable: []string{"fuse-everything"}}, "fuse-everything"},
	} {
		e, err := trtui.Build(t.Context(), c.n, c.o)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
		if e != nil {
			e.Close()
		}
	}
}

func TestEngineFile(t *testing.T) {
	n := digits(t)
	e := built(t, n, trtui.Options{Precision: trtui.INT8, Ranges: nil, Calibration: trtui.Batches(pictures(0, 20)), Calibrator: quant.MinMax{}})
	path := filepath.Join(t.TempDir(), "digits.engine")
	var file bytes.Buffer
	if _, err := e.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := trtui.OpenEngine(t.Context(), path, trtui.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.Replanned() != "" || !slices.EqualFunc(again.Inputs(), e.Inputs(), func(a, b trtui.Port) bool { return a.String() == b.String() }) {
		t.Errorf("opened as %v (%s), was %v", again.Inputs(), again.Replanned(), e.Inputs())
	}
	in := pictures(3, 1)
	want, err := session(t, e, trtui.SessionOptions{}).Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	got, err := session(t, again, trtui.SessionOptions{Threads: 2}).Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got["probabilities"].Data, want["probabilities"].Data) {
		t.Error("the opened engine computes something else")
	}
	for _, c := range []struct {
		data []byte
		says string
	}{{testdata.Model(), "not an engine"}, {file.Bytes()[:100], ""}, {nil, "not an engine"}} {
		if _, err := trtui.ReadEngine(t.Context(), bytes.NewReader(c.data), trtui.OpenOptions{}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%d bytes: %v", len(c.data), err)
		}
	}
}

// TestSessionMemory runs in the caller's memory, aligned and not, in all mixtures: the results are the same, and what is
// aligned is not copied.
func TestSessionMemory(t *testing.T) {
	e := built(t, digits(t), trtui.Options{})
	s := session(t, e, trtui.SessionOptions{Threads: 1})
	x := pictures(7, 1)["image"]
	want := reference(t, digits(t), trtui.Inputs{"image": x})["probabilities"]
	place := func(p trtui.Port, odd bool) trtui.Value {
		v := trtui.NewValue(p.Type, append([]int{2}, p.Dims...)...)
		from := 0
		if odd {
			from = 4
		}
		n := len(v.Data) / 2
		return trtui.Value{Type: p.Type, Dims: p.Dims, Data: v.Data[from : from+n : from+n]}
	}
	for _, odd := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
		in, out := place(e.Inputs()[0], odd[0]), place(e.Outputs()[0], odd[1])
		copy(in.Data, x.Data)
		if err := s.RunInto(t.Context(), trtui.Inputs{"image": in}, trtui.Outputs{"probabilities": out}); err != nil {
			t.Fatal(err)
		}
		if !near(out, want, 1e-5) {
			t.Errorf("%v: %v, want %v", odd, out.F32(), want.F32())
		}
		if !bytes.Equal(in.Data, x.Data) {
			t.Errorf("%v: the input was written", odd)
		}
	}
	in, out := trtui.Inputs{"image": place(e.Inputs()[0], false)}, s.NewOutputs()
	if n := testing.AllocsPerRun(3, func() {
		if err := s.RunInto(context.Background(), in, out); err != nil {
			t.Fatal(err)
		}
	}); n > 8 {
		t.Errorf("%v allocations of a run in the caller's memory", n)
	}
}

func TestSessionRefuses(t *testing.T) {
	e := built(t, digits(t), trtui.Options{})
	s := session(t, e, trtui.SessionOptions{})
	image := pictures(0, 1)["image"]
	short := image
	short.Data = short.Data[:8]
	for _, c := range []struct {
		in   trtui.Inputs
		out  trtui.Outputs
		says string
	}{
		{nil, nil, "no data"},
		{trtui.Inputs{"image": trtui.NewValue(trtui.F32, 2, 1, 32, 32)}, nil, "the engine is built for f32[1 1 32 32]"},
		{trtui.Inputs{"image": short}, nil, "8 bytes of data"},
		{trtui.Inputs{"image": image, "label": image}, nil, "input label"},
		{trtui.Inputs{"image": image}, trtui.Outputs{"classes": image}, "of which the engine has 0"},
		{trtui.Inputs{"image": image}, trtui.Outputs{"probabilities": image}, "output probabilities"},
	} {
		if err := s.RunInto(t.Context(), c.in, c.out); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Run(ctx, trtui.Inputs{"image": image}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := e.NewSession(trtui.SessionOptions{Threads: -1}); err == nil {
		t.Error("-1 threads were taken")
	}
}

// TestStart has a session refuse a second inference while one runs, and wait for it.
func TestStart(t *testing.T) {
	n := digits(t)
	s := session(t, built(t, n, trtui.Options{}), trtui.SessionOptions{Threads: 1})
	in, out := pictures(5, 1), s.NewOutputs()
	if err := s.Wait(); err != nil {
		t.Errorf("nothing was begun: %v", err)
	}
	for range 2 {
		if err := s.Start(t.Context(), in, out); err != nil {
			t.Fatal(err)
		}
		if err := s.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	if !near(out["probabilities"], reference(t, n, in)["probabilities"], 1e-5) {
		t.Errorf("%v", out)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := errors.Join(s.Start(ctx, in, out), s.Wait()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestSessionsSideBySide has sessions of one engine, with threads of their own and shared, run at the same time.
func TestSessionsSideBySide(t *testing.T) {
	n := digits(t)
	e := built(t, n, trtui.Options{Threads: 2})
	var wg sync.WaitGroup
	for i := range 6 {
		s := session(t, e, trtui.SessionOptions{Threads: i % 3})
		in := pictures(i, 1)
		want := reference(t, n, in)["probabilities"]
		wg.Go(func() {
			for range 5 {
				out, err := s.Run(context.Background(), in)
				if err != nil || !near(out["probabilities"], want, 1e-5) {
					t.Errorf("session %d: %v %v", i, out, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestCountedOutputs: an output that has as many elements as the data say is as long as they are, for each run.
func TestCountedOutputs(t *testing.T) {
	d := trtui.Define("counted")
	x := d.Input("x", numeric.F32, symbolic.Const(12))
	places := d.NonZero(d.Relu(x))
	d.Output("places", places)
	d.Output("values", d.Exp(d.Gather(x, d.Squeeze(places, 0), 0)))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	e := built(t, n, trtui.Options{})
	s := session(t, e, trtui.SessionOptions{})
	for count := range 13 {
		in := trtui.Inputs{"x": numeric.NewValue(numeric.F32, 12)}
		for i := range 12 {
			in["x"].F32()[i] = float32(i-12+count) + 0.5
		}
		out, err := s.Run(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		want := reference(t, n, in)
		if !slices.Equal(out["places"].Dims, []int{1, count}) || !slices.Equal(out["places"].I64(), want["places"].I64()) {
			t.Errorf("%d: places %v %v", count, out["places"].Dims, out["places"].I64())
		}
		if !slices.EqualFunc(out["values"].F32(), want["values"].F32(), func(a, b float32) bool { return math.Abs(float64(a-b)) <= 1e-5*float64(b) }) {
			t.Errorf("%d: values %v, want %v", count, out["values"].F32(), want["values"].F32())
		}
		most := s.NewOutputs()
		if err := s.RunInto(t.Context(), in, most); (err == nil) != (count == 12) {
			t.Errorf("%d: into memory for the most: %v", count, err)
		}
	}
}

// TestCountedProfiles: extents that are counted go with several profiles, and with a loop over what was selected.
func TestCountedProfiles(t *testing.T) {
	d := trtui.Define("counted")
	x := d.Input("x", numeric.F32, symbolic.Symbol("n"))
	values := d.Gather(x, d.Squeeze(d.NonZero(d.Relu(x)), 0), 0)
	// The number of iterations is not known beforehand: the loop stays one.
	trips := d.Cast(d.Add(d.Reduce(graph.ReduceSum, d.Mul(values, values), true, 0), d.Constant("one", numeric.Values(numeric.F32, []float32{1.25}, 1))), numeric.I64)
	y := d.Loop(trips, nil, []*graph.Tensor{values}, func(b *graph.Definition, _, _ *graph.Tensor, v []*graph.Tensor) (*graph.Tensor, []*graph.Tensor) {
		return nil, []*graph.Tensor{b.Tanh(v[0])}
	})
	d.Output("y", d.Sigmoid(y[0]))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	of := func(n int) map[string][]int { return map[string][]int{"x": {n}} }
	e := built(t, n, trtui.Options{Profiles: []trtui.Profile{{Min: of(1), Opt: of(4), Max: of(4)}, {Min: of(5), Opt: of(12), Max: of(40)}}})
	s := session(t, e, trtui.SessionOptions{})
	for round := range 2 {
		for _, length := range []int{3, 12, 4, 40, 1, 5} {
			for count := 0; count <= length; count += 1 + length/5 {
				in := trtui.Inputs{"x": numeric.NewValue(numeric.F32, length)}
				for i := range length {
					in["x"].F32()[i] = float32(count-i) / 16
				}
				out, err := s.Run(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				want := reference(t, n, in)["y"]
				near := func(a, b float32) bool { return math.Abs(float64(a-b)) <= 1e-5 }
				if got := out["y"]; !slices.Equal(got.Dims, want.Dims) || !slices.EqualFunc(got.F32(), want.F32(), near) {
					t.Errorf("round %d, %d of %d: %v %v, want %v %v", round, count, length, got.Dims, got.F32(), want.Dims, want.F32())
				}
				if most := s.NewOutputs()["y"].Dims; most[0] != length {
					t.Errorf("%d of %d: there is room for %v", count, length, most)
				}
			}
		}
	}
}
