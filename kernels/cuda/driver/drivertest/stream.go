package drivertest

import (
	"cmp"
	"slices"
	"time"

	"github.com/trtui/trtui/kernels/cuda/driver"
)

// on runs do while the context is locked, with what the handle stands for.
func on[T any](m *Memory, call string, h uintptr, do func(T) error) error {
	unlock, err := m.lock(call)
	if err != nil {
		return err
	}
	defer unlock()
	v, err := find[T](m, call, h)
	if err != nil {
		return err
	}
	return do(v)
}

func (m *Memory) create(call string, h any) (uintptr, error) {
	unlock, err := m.lock(call)
	if err != nil {
		return 0, err
	}
	defer unlock()
	return m.handle(h), nil
}

func (m *Memory) StreamCreate(int) (driver.Stream, error) {
	h, err := m.create("cuStreamCreateWithPriority", &stream{})
	return driver.Stream(h), err
}

func (m *Memory) StreamDestroy(s driver.Stream) error {
	return drop[*stream](m, "cuStreamDestroy_v2", uintptr(s))
}

// idle checks that s can be waited for: a stream that is being captured cannot.
func (m *Memory) idle(call string, s driver.Stream) error {
	if s == 0 {
		return m.Synchronize()
	}
	return on(m, call, uintptr(s), func(st *stream) error {
		if st.capture != nil {
			return fail(call, driver.Result(900), "the stream is being captured")
		}
		return nil
	})
}

func (m *Memory) StreamSynchronize(s driver.Stream) error { return m.idle("cuStreamSynchronize", s) }

func (m *Memory) StreamQuery(s driver.Stream) (bool, error) {
	err := m.idle("cuStreamQuery", s)
	return err == nil, err
}

func (m *Memory) StreamWaitEvent(s driver.Stream, e driver.Event) error {
	const call = "cuStreamWaitEvent"
	return on(m, call, uintptr(e), func(*event) error {
		return m.enqueue(call, s, work{run: func() error { return nil }})
	})
}

func (m *Memory) EventCreate(bool) (driver.Event, error) {
	h, err := m.create("cuEventCreate", &event{})
	return driver.Event(h), err
}

func (m *Memory) EventDestroy(e driver.Event) error {
	return drop[*event](m, "cuEventDestroy_v2", uintptr(e))
}

func (m *Memory) record(call string, e driver.Event, s driver.Stream) error {
	return on(m, call, uintptr(e), func(ev *event) error {
		return m.enqueue(call, s, work{run: func() error {
			ev.recorded, ev.at = true, m.clock
			return nil
		}})
	})
}

func (m *Memory) EventRecord(e driver.Event, s driver.Stream) error {
	return m.record("cuEventRecord", e, s)
}

func (m *Memory) EventRecordExternal(e driver.Event, s driver.Stream) error {
	return m.record("cuEventRecordWithFlags", e, s)
}

func (m *Memory) EventSynchronize(e driver.Event) error {
	return on(m, "cuEventSynchronize", uintptr(e), func(*event) error { return nil })
}

func (m *Memory) EventQuery(e driver.Event) (bool, error) {
	err := m.EventSynchronize(e)
	return err == nil, err
}

func (m *Memory) EventElapsed(start, end driver.Event) (d time.Duration, err error) {
	const call = "cuEventElapsedTime"
	err = on(m, call, uintptr(start), func(a *event) error {
		b, err := find[*event](m, call, uintptr(end))
		if err != nil {
			return err
		}
		if !a.recorded || !b.recorded {
			return fail(call, driver.InvalidHandle, "an event was never recorded")
		}
		d = b.at - a.at
		return nil
	})
	return d, err
}

func (m *Memory) Capture(s driver.Stream, record func() error) (driver.Graph, error) {
	const begin, end = "cuStreamBeginCapture_v2", "cuStreamEndCapture"
	g := &graph{}
	err := on(m, begin, uintptr(s), func(st *stream) error {
		if st.capture != nil {
			return fail(begin, driver.Result(401), "the stream is being captured")
		}
		st.capture = g
		return nil
	})
	if err != nil {
		return 0, err
	}
	recorded := record()
	err = on(m, end, uintptr(s), func(st *stream) error {
		st.capture = nil
		return nil
	})
	if err := cmp.Or(recorded, err); err != nil {
		return 0, err
	}
	h, err := m.create(end, g)
	return driver.Graph(h), err
}

func (m *Memory) CapturedNode(s driver.Stream) (n driver.GraphNode, err error) {
	const call = "cuStreamGetCaptureInfo_v2"
	err = on(m, call, uintptr(s), func(st *stream) error {
		if st.capture == nil || len(st.capture.work) == 0 {
			return fail(call, driver.InvalidValue, "nothing is being captured in the stream")
		}
		n = st.capture.work[len(st.capture.work)-1].node.Node
		return nil
	})
	return n, err
}

func (m *Memory) GraphKernelNodes(g driver.Graph) (nodes []driver.KernelNode, err error) {
	err = on(m, "cuGraphGetNodes", uintptr(g), func(g *graph) error {
		for _, w := range g.work {
			if w.kernel {
				n := w.node
				n.Params = nil
				nodes = append(nodes, n)
			}
		}
		return nil
	})
	return nodes, err
}

func (m *Memory) GraphDestroy(g driver.Graph) error {
	return drop[*graph](m, "cuGraphDestroy", uintptr(g))
}

func (m *Memory) GraphInstantiate(g driver.Graph) (x driver.GraphExec, err error) {
	err = on(m, "cuGraphInstantiateWithFlags", uintptr(g), func(g *graph) error {
		x = driver.GraphExec(m.handle(&exec{graph{slices.Clone(g.work)}}))
		return nil
	})
	return x, err
}

func (m *Memory) GraphUpload(x driver.GraphExec, s driver.Stream) error {
	return on(m, "cuGraphUpload", uintptr(x), func(*exec) error { return nil })
}

func (m *Memory) GraphLaunch(x driver.GraphExec, s driver.Stream) error {
	const call = "cuGraphLaunch"
	return on(m, call, uintptr(x), func(x *exec) error {
		for _, w := range x.work {
			if err := m.enqueue(call, s, w); err != nil {
				return err
			}
		}
		return nil
	})
}

func (m *Memory) GraphExecUpdate(x driver.GraphExec, g driver.Graph) error {
	const call = "cuGraphExecUpdate_v2"
	return on(m, call, uintptr(x), func(x *exec) error {
		g, err := find[*graph](m, call, uintptr(g))
		if err != nil {
			return err
		}
		same := func(a, b work) bool { return a.kernel == b.kernel && a.node.Function == b.node.Function }
		if !slices.EqualFunc(x.work, g.work, same) {
			return fail(call, driver.GraphUpdateFailure, "%d nodes, %d now", len(x.work), len(g.work))
		}
		for i := range x.work { // the nodes keep their names
			x.work[i].run, x.work[i].node.Params = g.work[i].run, g.work[i].node.Params
			x.work[i].node.Grid, x.work[i].node.Block = g.work[i].node.Grid, g.work[i].node.Block
		}
		return nil
	})
}

func (m *Memory) GraphExecKernelNodeSetParams(x driver.GraphExec, n driver.KernelNode) error {
	const call = "cuGraphExecKernelNodeSetParams_v2"
	return on(m, call, uintptr(x), func(x *exec) error {
		for i, w := range x.work {
			if w.kernel && w.node.Node == n.Node {
				if err := m.checkLaunch(call, n); err != nil {
					return err
				}
				n.Params = slices.Clone(n.Params)
				x.work[i].node = n
				return nil
			}
		}
		return fail(call, driver.InvalidValue, "the graph has no such kernel node")
	})
}

func (m *Memory) GraphExecDestroy(x driver.GraphExec) error {
	return drop[*exec](m, "cuGraphExecDestroy", uintptr(x))
}
