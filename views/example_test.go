package views_test

import (
	"fmt"
	"log"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/views"
)

// The workbench on a network that is defined in Go. A session builds and measures it, and the workbench stands in front of that.
func ExampleNewWorkbench() {
	d := graph.Define("mixer")
	x := d.Input("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(32))
	weights := make([]float32, 32*32)
	for i := range weights {
		weights[i] = float32(i*i%17)/17 - 0.5
	}
	x = d.Named("mix").FullyConnected(x, d.Weights("w", weights, 32, 32), nil)
	d.Output("y", d.Named("scores").Softmax(d.Relu(x), 1))
	net, err := d.Network()
	if err != nil {
		log.Fatal(err)
	}
	set, err := dataset.Random(net.Inputs, nil, 4, 1) // or data of its own: dataset.Open
	if err != nil {
		log.Fatal(err)
	}
	data, err := set.Bind(net.Inputs)
	if err != nil {
		log.Fatal(err)
	}

	device := cpu.Open(1)
	defer device.Close()
	session := sessions.Open(model.Defined(net), stages.Workplace{
		Backend: device, Cache: build.NewTimingCache(), Data: data, CalData: data,
	}, config.Config{Precision: config.FP32, Calibrator: "minmax", Batch: 1})
	defer session.Close()
	for snap := range session.Events() { // a person need not wait: the panes follow
		if snap.Err != "" {
			log.Fatal(snap.Err)
		}
		if snap.Settled() && snap.Busy == nil {
			break
		}
	}
	workbench, err := views.NewWorkbench(session, views.Options{})
	if err != nil {
		log.Fatal(err)
	}

	// In a terminal: tea.NewProgram(workbench).Run(). Here it is drawn once, on the screen of the graph.
	workbench.Update(tea.WindowSizeMsg{Width: 120, Height: 30})
	workbench.Update(tea.KeyPressMsg{Code: '2', Text: "2"})
	for _, name := range []string{"mixer", "mix"} {
		fmt.Println(name, strings.Contains(workbench.Content(), name))
	}
	// Output:
	// mixer true
	// mix true
}
