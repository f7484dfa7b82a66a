package trtui_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/trtui/trtui"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/testdata"
)

// A model is built in 8 bits, calibrated on pictures like those that it will get, and run.
func Example() {
	ctx := context.Background()
	net, err := trtui.Parse("digits", testdata.Model()) // Open reads a file
	if err != nil {
		log.Fatal(err)
	}
	pixels := testdata.CalibrationImages().Batch(0, 100)
	eng, err := trtui.Build(ctx, net, trtui.Options{
		Precision:   trtui.INT8,
		Calibration: trtui.Batches(trtui.Inputs{"image": trtui.ValueOf(pixels, 100, 1, 32, 32)}),
		Untimed:     true, // tactics are not timed, so that the example takes no time
	})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close()
	s, err := eng.NewSession(trtui.SessionOptions{Threads: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(ctx, trtui.Inputs{"image": trtui.ValueOf(testdata.TestImages().Batch(7, 8), 1, 1, 32, 32)})
	if err != nil {
		log.Fatal(err)
	}
	best, scores := 0, out["probabilities"].F32()
	for i := range scores {
		if scores[i] > scores[best] {
			best = i
		}
	}
	fmt.Printf("it is a %d; the label says %d\n", best, testdata.TestImages().Labels[7])
	// Output:
	// it is a 3; the label says 3
}

// INT8 without data to find ranges on is an error.
func ExampleBuild_noRanges() {
	net, err := trtui.Parse("digits", testdata.Model())
	if err != nil {
		log.Fatal(err)
	}
	_, err = trtui.Build(context.Background(), net, trtui.Options{Precision: trtui.INT8})
	fmt.Println(err)
	// Output:
	// network digits: INT8 needs ranges: give Options.Calibration, inputs to find them on, or Options.Ranges
}

// An engine is written once and opened in other programs without being built again.
func ExampleEngine_WriteTo() {
	ctx := context.Background()
	d := trtui.Define("double")
	x := d.Input("x", trtui.F32, trtui.Symbol("n"))
	d.Output("y", d.Scale(x, d.Weights("two", []float32{2}, 1), nil, nil))
	net, err := d.Network()
	if err != nil {
		log.Fatal(err)
	}
	built, err := trtui.Build(ctx, net, trtui.Options{Shapes: map[string][]int{"x": {3}}, Untimed: true})
	if err != nil {
		log.Fatal(err)
	}
	defer built.Close()
	var file bytes.Buffer
	if _, err := built.WriteTo(&file); err != nil {
		log.Fatal(err)
	}

	eng, err := trtui.ReadEngine(ctx, &file, trtui.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close()
	s, err := eng.NewSession(trtui.SessionOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(ctx, trtui.Inputs{"x": trtui.ValueOf([]float32{1, 2, 3})})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(eng.Inputs(), "to", eng.Outputs())
	fmt.Println(out["y"].F32())
	// Output:
	// [x f32[3]] to [y f32[3]]
	// [2 4 6]
}

// Inputs and outputs in memory of the caller's that NewValue made are read and written in place.
func ExampleSession_RunInto() {
	ctx := context.Background()
	d := trtui.Define("sum")
	a, b := d.Input("a", trtui.F32, trtui.Const(2)), d.Input("b", trtui.F32, trtui.Const(2))
	d.Output("sum", d.Add(a, b))
	net, err := d.Network()
	if err != nil {
		log.Fatal(err)
	}
	eng, err := trtui.Build(ctx, net, trtui.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close()
	s, err := eng.NewSession(trtui.SessionOptions{Threads: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	in := trtui.Inputs{"a": trtui.NewValue(trtui.F32, 2), "b": trtui.NewValue(trtui.F32, 2)}
	out := s.NewOutputs()
	copy(in["b"].F32(), []float32{0.5, 0.25})
	for i := range 3 {
		in["a"].F32()[0] = float32(i)
		if err := s.RunInto(ctx, in, out); err != nil {
			log.Fatal(err)
		}
		fmt.Println(out["sum"].F32())
	}
	// Output:
	// [0.5 0.25]
	// [1.5 0.25]
	// [2.5 0.25]
}

// A network that is defined in Go is written as ONNX.
func ExampleExport() {
	d := trtui.Define("classifier")
	x := d.Input("x", trtui.F32, trtui.Symbol("batch"), trtui.Const(2))
	d.Output("y", d.Softmax(d.FullyConnected(x, d.Weights("w", []float32{1, 0, 0, 1}, 2, 2), nil), 1))
	net, err := d.Network()
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := trtui.Export(&file, net); err != nil {
		log.Fatal(err)
	}
	back, err := trtui.Parse("classifier.onnx", file.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(back)
	// Output:
	// network classifier
	// input  x f32[batch,2]
	// Gemm: Gemm f32[batch,2] = Gemm(x, w f32[2,2]) alpha=1 beta=1 transB=true
	// Softmax: y f32[batch,2] = Softmax(Gemm) axis=1
	// output y
}

// A model whose data decide how much it gives needs to be told how much that may be.
func ExampleImporter() {
	ctx := context.Background()
	d := trtui.Define("count")
	most := d.Reduce(graph.ReduceMax, d.Input("x", trtui.I64, trtui.Const(3)), false)
	d.Output("numbers", d.Places(most, graph.PlacesAttrs{Most: 10, Count: "n"}))
	net, err := d.Network()
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := trtui.Export(&file, net); err != nil {
		log.Fatal(err)
	}
	if _, err := trtui.Parse("count.onnx", file.Bytes()); err != nil {
		fmt.Println("without a limit it is refused")
	}
	net, err = trtui.Importer{MaxExtent: 100}.Parse("count.onnx", file.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	eng, err := trtui.Build(ctx, net, trtui.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close()
	s, err := eng.NewSession(trtui.SessionOptions{Threads: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for _, x := range [][]int64{{1, 4, 2}, {3, 0, 1}, {1, 101, 2}} {
		out, err := s.Run(ctx, trtui.Inputs{"x": trtui.ValueOf(x, 3)})
		if err != nil {
			fmt.Println("a run of 101 is refused")
			continue
		}
		fmt.Println(out["numbers"].I64())
	}
	// Output:
	// without a limit it is refused
	// [0 1 2 3]
	// [0 1 2]
	// a run of 101 is refused
}
