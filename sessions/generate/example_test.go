package generate_test

import (
	"context"
	"fmt"
	"log"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions/generate"
)

// A model with a state continues a text; its engines are made by whoever calls.
func Example() {
	file, err := onnx.Open(graph.Ops(), "testdata/gpt2.onnx")
	if err != nil {
		log.Fatal(err)
	}
	device := cpu.Open(1)
	defer device.Close()
	engine := func(ctx context.Context, n *graph.Network, shapes map[string][]int) (*run.Engine, error) {
		env, err := n.BindShapes(shapes)
		if err != nil {
			return nil, err
		}
		passes := pass.Config{Shapes: env}
		o, err := build.Optimize(ctx, n, passes)
		if err != nil {
			return nil, err
		}
		l, err := build.Lower(ctx, o, build.LowerConfig{Precision: numeric.F32, Pass: passes}, run.Supports(device, env))
		if err != nil {
			return nil, err
		}
		p, err := build.Plan(ctx, l.Network, env, device, build.PlanConfig{Untimed: true})
		return &run.Engine{Plans: []*run.Plan{p}}, err
	}
	m, err := generate.New(file.Network, "", 3, 8, device, engine)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	var text []int
	times, err := m.Generate(context.Background(), generate.Request{Prompt: []int{1, 2, 3}, Most: 4}, func(token int) error {
		text = append(text, token)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(text, times.Ended, m.Cached())
	// Output:
	// [14 76 76 48] length true
}
