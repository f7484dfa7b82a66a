//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"fmt"
	"runtime"
	"unsafe"
)

// kernelNodeParams is CUDA_KERNEL_NODE_PARAMS_v2.
type kernelNodeParams struct {
	function    uintptr
	grid, block [3]uint32
	shared      uint32
	params      uintptr // void **kernelParams
	extra       uintptr // void **extra
	kernel      uintptr
	context     uintptr
}

// graphUpdate is CUgraphExecUpdateResultInfo.
type graphUpdate struct {
	result    int32
	node      GraphNode // of the new graph
	nodeOfOld GraphNode
}

// updateReasons are the values of CUgraphExecUpdateResult.
var updateReasons = [...]string{
	1: "the update itself failed", 2: "the order of the work differs", 3: "a node is of another kind",
	4: "another kernel", 5: "parameters that cannot be changed differ", 6: "a node that cannot be updated",
	7: "another kernel of an unlike kind", 8: "a node's attributes differ",
}

// Capture holds the goroutine on its thread, since the driver wants begin and end on one, and in the mode in which
// other threads are not restricted. Also when record panics, the capture ends.
func (g *gpu) Capture(s Stream, record func() error) (graph Graph, err error) {
	const threadLocal = 1
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := g.do(cuStreamBeginCapture, uintptr(s), threadLocal); err != nil {
		return 0, err
	}
	finished := false
	defer func() {
		var made Graph
		end := g.doPointers(cuStreamEndCapture, uintptr(s), uintptr(unsafe.Pointer(&made)))
		if err == nil {
			err = end
		}
		switch {
		case finished && err == nil:
			graph = made
		case made != 0:
			_ = g.GraphDestroy(made) // the first error is the one that counts
		}
	}()
	err = record()
	finished = true
	return 0, err
}

func (g *gpu) CapturedNode(s Stream) (GraphNode, error) {
	const active = 1
	var status int32
	var id, n uint64
	var graph Graph
	var nodes *GraphNode
	err := g.doPointers(cuStreamGetCaptureInfo, uintptr(s), uintptr(unsafe.Pointer(&status)), uintptr(unsafe.Pointer(&id)),
		uintptr(unsafe.Pointer(&graph)), uintptr(unsafe.Pointer(&nodes)), uintptr(unsafe.Pointer(&n)))
	if err != nil {
		return 0, err
	}
	// What later work of the stream will depend on: after one launch, that launch alone.
	if status != active || n != 1 || nodes == nil {
		return 0, g.invalid(cuStreamGetCaptureInfo, "capture status %d, %d last nodes; one is needed", status, n)
	}
	return *nodes, nil
}

func (g *gpu) GraphKernelNodes(graph Graph) ([]KernelNode, error) {
	const kernelNode = 0 // CU_GRAPH_NODE_TYPE_KERNEL
	var n uint64
	if err := g.doPointers(cuGraphGetNodes, uintptr(graph), 0, uintptr(unsafe.Pointer(&n))); err != nil || n == 0 {
		return nil, err
	}
	nodes := make([]GraphNode, n)
	err := g.doPointers(cuGraphGetNodes, uintptr(graph), uintptr(unsafe.Pointer(&nodes[0])), uintptr(unsafe.Pointer(&n)))
	if err != nil {
		return nil, err
	}
	var kernels []KernelNode
	for _, node := range nodes[:min(n, uint64(len(nodes)))] {
		var kind int32
		if err := g.doPointers(cuGraphNodeGetType, uintptr(node), uintptr(unsafe.Pointer(&kind))); err != nil {
			return nil, err
		}
		if kind != kernelNode {
			continue
		}
		var p kernelNodeParams
		if err := g.doPointers(cuGraphKernelNodeGetParams, uintptr(node), uintptr(unsafe.Pointer(&p))); err != nil {
			return nil, err
		}
		kernels = append(kernels, KernelNode{Node: node, Function: Function(p.function),
			Grid: ints(p.grid), Block: ints(p.block), Shared: int(p.shared)})
	}
	return kernels, nil
}

func ints(v [3]uint32) [3]int                 { return [3]int{int(v[0]), int(v[1]), int(v[2])} }
func uint32s(v [3]int) [3]uint32              { return [3]uint32{uint32(v[0]), uint32(v[1]), uint32(v[2])} }
func (g *gpu) GraphDestroy(graph Graph) error { return g.do(cuGraphDestroy, uintptr(graph)) }

func (g *gpu) GraphInstantiate(graph Graph) (GraphExec, error) {
	var x GraphExec
	err := g.doPointers(cuGraphInstantiate, uintptr(unsafe.Pointer(&x)), uintptr(graph), 0)
	return x, err
}

func (g *gpu) GraphUpload(x GraphExec, s Stream) error {
	return g.do(cuGraphUpload, uintptr(x), uintptr(s))
}
func (g *gpu) GraphLaunch(x GraphExec, s Stream) error {
	return g.do(cuGraphLaunch, uintptr(x), uintptr(s))
}
func (g *gpu) GraphExecDestroy(x GraphExec) error { return g.do(cuGraphExecDestroy, uintptr(x)) }

func (g *gpu) GraphExecUpdate(x GraphExec, graph Graph) error {
	var info graphUpdate
	err := g.doPointers(cuGraphExecUpdate, uintptr(x), uintptr(graph), uintptr(unsafe.Pointer(&info)))
	if err == nil {
		return nil
	}
	reason := fmt.Sprintf("reason %d", info.result)
	if info.result > 0 && int(info.result) < len(updateReasons) {
		reason = updateReasons[info.result]
	}
	return detail(err, "%s", reason)
}

func (g *gpu) GraphExecKernelNodeSetParams(x GraphExec, n KernelNode) error {
	if err := g.checkLaunch(cuGraphExecKernelNodeSetParams, n.Config(), len(n.Params)); err != nil {
		return err
	}
	b, err := g.launchBuffer(n.Params)
	if err != nil {
		return err
	}
	defer g.putLaunchBuffer(b)
	p := kernelNodeParams{function: uintptr(n.Function), grid: uint32s(n.Grid), block: uint32s(n.Block),
		shared: uint32(n.Shared), extra: b.address()}
	return g.doPointers(cuGraphExecKernelNodeSetParams, uintptr(x), uintptr(n.Node), uintptr(unsafe.Pointer(&p)))
}
