package cpu_test

import (
	"encoding/binary"
	"fmt"
	"log"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
)

// A tactic is asked whether it can compute a layer, bound to it, and launched on memory of the device.
func Example() {
	d := graph.Define("sum")
	d.Output("y", d.Add(d.Input("a", numeric.F32, symbolic.Const(4)), d.Input("b", numeric.F32, symbolic.Const(4))))
	n, err := d.Network()
	if err != nil {
		log.Fatal(err)
	}
	device := cpu.Open(1)
	defer device.Close()
	layer, four := n.Layers[0], kernels.Desc{Type: numeric.F32, Dims: []int{4}}
	binding := kernels.Binding{Layer: layer, In: []kernels.Desc{four, four}, Out: []kernels.Desc{four}, Consts: make([][]byte, 2)}
	for _, t := range device.Tactics(layer.Op) {
		if t.Match(binding) != nil {
			continue
		}
		kernel, err := t.Bind(binding)
		if err != nil {
			log.Fatal(err)
		}
		defer kernels.Close(kernel)
		fmt.Println(sum(device, kernel))
		break
	}
	// Output:
	// [11 22 33 44] <nil>
}

// sum launches a kernel on two vectors of four.
func sum(device *cpu.Backend, kernel kernels.Kernel) ([]float32, error) {
	stream, err := device.NewStream()
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var mem [3]kernels.Mem
	for i := range mem {
		if mem[i], err = device.Alloc(16); err != nil {
			return nil, err
		}
		defer device.Free(mem[i])
	}
	for i, v := range [][]float32{{1, 2, 3, 4}, {10, 20, 30, 40}} {
		bytes, err := binary.Append(nil, binary.LittleEndian, v)
		if err != nil {
			return nil, err
		}
		if err := device.Upload(stream, mem[i], bytes); err != nil {
			return nil, err
		}
	}
	if err := kernel.Launch(stream, mem[:2], mem[2:], kernels.Mem{}); err != nil {
		return nil, err
	}
	out, bytes := make([]float32, 4), make([]byte, 16)
	if err := device.Download(stream, bytes, mem[2]); err != nil {
		return nil, err
	}
	_, err = binary.Decode(bytes, binary.LittleEndian, out)
	return out, err
}
