package cuda

import (
	"context"
	"slices"
	"time"

	"github.com/trtui/trtui/kernels/cuda/driver"
)

// Results that the simulator alone names.
const (
	illegalState       driver.Result = 401
	captureUnsupported driver.Result = 900
)

// queue looks a stream up; the simulator is locked until unlock is called.
func (s *simulator) queue(call string, st driver.Stream) (q *simStream, unlock func(), err error) {
	if unlock, err = s.enter(call); err != nil {
		return nil, nil, err
	}
	if st == 0 {
		return &s.defaultStream, unlock, nil
	}
	if q, err = simulatedHandle[*simStream](s, call, uintptr(st)); err != nil {
		unlock()
	}
	return q, unlock, err
}

// enqueue runs a node at once, or keeps it where the stream is captured.
func (s *simulator) enqueue(call string, st driver.Stream, n simNode) error {
	q, unlock, err := s.queue(call, st)
	if err != nil {
		return err
	}
	if q.capture != nil {
		s.serial += 16
		n.launch.Node = driver.GraphNode(s.serial)
		q.capture.nodes = append(q.capture.nodes, n)
		unlock()
		return nil
	}
	unlock()
	return n.run(q)
}

// work is enqueue for what is no kernel.
func (s *simulator) work(call string, st driver.Stream, run func() error) error {
	return s.enqueue(call, st, simNode{run: func(*simStream) error { return run() }})
}

func (s *simulator) StreamCreate(int) (driver.Stream, error) {
	return created[driver.Stream](s, "cuStreamCreateWithPriority", &simStream{})
}

func (s *simulator) StreamDestroy(st driver.Stream) error {
	return destroy[*simStream](s, "cuStreamDestroy_v2", uintptr(st))
}

// watch ends the stream's launches with ctx and tells how far each is.
func (s *simulator) watch(st driver.Stream, ctx context.Context, tell func(done, total int)) error {
	q, unlock, err := s.queue("watch", st)
	if err != nil {
		return err
	}
	defer unlock()
	q.ctx, q.tell = ctx, tell
	return nil
}

// idle finds that a stream has nothing to do, or that it is captured and cannot be waited for.
func (s *simulator) idle(call string, st driver.Stream) error {
	q, unlock, err := s.queue(call, st)
	if err != nil {
		return err
	}
	defer unlock()
	if q.capture != nil {
		return fail(call, captureUnsupported, "the stream is being captured")
	}
	return nil
}

func (s *simulator) StreamSynchronize(st driver.Stream) error {
	return s.idle("cuStreamSynchronize", st)
}

func (s *simulator) StreamQuery(st driver.Stream) (bool, error) {
	err := s.idle("cuStreamQuery", st)
	return err == nil, err
}

// StreamWaitEvent brings the stream's clock up to the event's.
func (s *simulator) StreamWaitEvent(st driver.Stream, h driver.Event) error {
	const call = "cuStreamWaitEvent"
	e, err := s.event(call, h)
	if err != nil {
		return err
	}
	return s.enqueue(call, st, simNode{run: func(q *simStream) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		q.clock = max(q.clock, e.at)
		return nil
	}})
}

// event looks an event up.
func (s *simulator) event(call string, h driver.Event) (*simEvent, error) {
	unlock, err := s.enter(call)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return simulatedHandle[*simEvent](s, call, uintptr(h))
}

func (s *simulator) EventCreate(bool) (driver.Event, error) {
	return created[driver.Event](s, "cuEventCreate", &simEvent{})
}

func (s *simulator) EventDestroy(e driver.Event) error {
	return destroy[*simEvent](s, "cuEventDestroy_v2", uintptr(e))
}

func (s *simulator) EventRecord(h driver.Event, st driver.Stream) error {
	return s.record("cuEventRecord", h, st)
}

// EventRecordExternal is EventRecord within a capture, and nowhere else.
func (s *simulator) EventRecordExternal(h driver.Event, st driver.Stream) error {
	const call = "cuEventRecordWithFlags"
	q, unlock, err := s.queue(call, st)
	if err != nil {
		return err
	}
	captured := q.capture != nil
	unlock()
	if !captured {
		return fail(call, driver.InvalidValue, "an external event outside a capture")
	}
	return s.record(call, h, st)
}

func (s *simulator) record(call string, h driver.Event, st driver.Stream) error {
	e, err := s.event(call, h)
	if err != nil {
		return err
	}
	return s.enqueue(call, st, simNode{run: func(q *simStream) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		e.recorded, e.at = true, q.clock
		return nil
	}})
}

func (s *simulator) EventSynchronize(e driver.Event) error {
	_, err := s.event("cuEventSynchronize", e)
	return err
}

func (s *simulator) EventQuery(e driver.Event) (bool, error) {
	_, err := s.event("cuEventQuery", e)
	return err == nil, err
}

func (s *simulator) EventElapsed(start, end driver.Event) (time.Duration, error) {
	const call = "cuEventElapsedTime"
	a, err := s.event(call, start)
	if err != nil {
		return 0, err
	}
	b, err := s.event(call, end)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !a.recorded || !b.recorded {
		return 0, fail(call, driver.InvalidHandle, "an event was never recorded")
	}
	return b.at - a.at, nil
}

// Capture keeps what record enqueues.
func (s *simulator) Capture(st driver.Stream, record func() error) (driver.Graph, error) {
	const begin = "cuStreamBeginCapture_v2"
	unlock, err := s.enter(begin)
	if err != nil {
		return 0, err
	}
	q, err := simulatedHandle[*simStream](s, begin, uintptr(st))
	if err == nil && q.capture != nil {
		err = fail(begin, illegalState, "the stream is being captured")
	}
	if err != nil {
		unlock()
		return 0, err
	}
	g := &simGraph{}
	q.capture = g
	unlock()
	err = record()
	s.mu.Lock()
	q.capture = nil
	s.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return created[driver.Graph](s, "cuStreamEndCapture", g)
}

func (s *simulator) CapturedNode(st driver.Stream) (driver.GraphNode, error) {
	const call = "cuStreamGetCaptureInfo_v2"
	q, unlock, err := s.queue(call, st)
	if err != nil {
		return 0, err
	}
	defer unlock()
	if q.capture == nil || len(q.capture.nodes) == 0 {
		return 0, fail(call, driver.InvalidValue, "nothing is being captured in the stream")
	}
	return q.capture.nodes[len(q.capture.nodes)-1].launch.Node, nil
}

// graph looks a graph up; the simulator is locked until unlock is called.
func (s *simulator) graph(call string, h driver.Graph) (g *simGraph, unlock func(), err error) {
	if unlock, err = s.enter(call); err != nil {
		return nil, nil, err
	}
	if g, err = simulatedHandle[*simGraph](s, call, uintptr(h)); err != nil {
		unlock()
	}
	return g, unlock, err
}

// exec looks a graph that is ready up; the simulator is locked until unlock is called.
func (s *simulator) exec(call string, h driver.GraphExec) (x *simExec, unlock func(), err error) {
	if unlock, err = s.enter(call); err != nil {
		return nil, nil, err
	}
	if x, err = simulatedHandle[*simExec](s, call, uintptr(h)); err != nil {
		unlock()
	}
	return x, unlock, err
}

func (s *simulator) GraphKernelNodes(h driver.Graph) ([]driver.KernelNode, error) {
	g, unlock, err := s.graph("cuGraphGetNodes", h)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var list []driver.KernelNode
	for _, n := range g.nodes {
		if n.kernel {
			l := n.launch
			l.Params = nil
			list = append(list, l)
		}
	}
	return list, nil
}

func (s *simulator) GraphDestroy(g driver.Graph) error {
	return destroy[*simGraph](s, "cuGraphDestroy", uintptr(g))
}

func (s *simulator) GraphInstantiate(h driver.Graph) (driver.GraphExec, error) {
	g, unlock, err := s.graph("cuGraphInstantiateWithFlags", h)
	if err != nil {
		return 0, err
	}
	defer unlock()
	return driver.GraphExec(s.create(&simExec{simGraph{slices.Clone(g.nodes)}})), nil
}

func (s *simulator) GraphUpload(h driver.GraphExec, _ driver.Stream) error {
	_, unlock, err := s.exec("cuGraphUpload", h)
	if err == nil {
		unlock()
	}
	return err
}

func (s *simulator) GraphLaunch(h driver.GraphExec, st driver.Stream) error {
	const call = "cuGraphLaunch"
	x, unlock, err := s.exec(call, h)
	if err != nil {
		return err
	}
	nodes := slices.Clone(x.nodes)
	unlock()
	for _, n := range nodes {
		if err := s.enqueue(call, st, n); err != nil {
			return err
		}
	}
	return nil
}

// GraphExecUpdate takes the launches of a graph of the same shape; the nodes keep their names.
func (s *simulator) GraphExecUpdate(h driver.GraphExec, from driver.Graph) error {
	const call = "cuGraphExecUpdate_v2"
	x, unlock, err := s.exec(call, h)
	if err != nil {
		return err
	}
	defer unlock()
	g, err := simulatedHandle[*simGraph](s, call, uintptr(from))
	if err != nil {
		return err
	}
	same := func(a, b simNode) bool { return a.kernel == b.kernel && a.launch.Function == b.launch.Function }
	if !slices.EqualFunc(x.nodes, g.nodes, same) {
		return fail(call, driver.GraphUpdateFailure, "%d nodes, %d now", len(x.nodes), len(g.nodes))
	}
	for i, n := range g.nodes {
		n.launch.Node = x.nodes[i].launch.Node
		x.nodes[i] = n
	}
	return nil
}

func (s *simulator) GraphExecKernelNodeSetParams(h driver.GraphExec, launch driver.KernelNode) error {
	const call = "cuGraphExecKernelNodeSetParams_v2"
	n, err := s.node(call, launch)
	if err != nil {
		return err
	}
	x, unlock, err := s.exec(call, h)
	if err != nil {
		return err
	}
	defer unlock()
	for i, old := range x.nodes {
		if old.kernel && old.launch.Node == launch.Node {
			x.nodes[i] = n
			return nil
		}
	}
	return fail(call, driver.InvalidValue, "the graph has no such kernel node")
}

func (s *simulator) GraphExecDestroy(x driver.GraphExec) error {
	return destroy[*simExec](s, "cuGraphExecDestroy", uintptr(x))
}
