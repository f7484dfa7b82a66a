package simulator

import (
	"cmp"
	"slices"

	"github.com/trtui/trtui/kernels/cuda/driver"
)

// Capture keeps what record enqueues.
func (s *Context) Capture(st driver.Stream, record func() error) (driver.Graph, error) {
	const begin = "cuStreamBeginCapture_v2"
	unlock, err := s.enter(begin)
	if err != nil {
		return 0, err
	}
	q, err := lookup[*stream](s, begin, uintptr(st))
	if err == nil && q.capture != nil {
		err = fail(begin, illegalState, "the stream is being captured")
	}
	if err != nil {
		unlock()
		return 0, err
	}
	g := &graph{}
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

func (s *Context) CapturedNode(st driver.Stream) (driver.GraphNode, error) {
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
func (s *Context) graph(call string, h driver.Graph) (g *graph, unlock func(), err error) {
	if unlock, err = s.enter(call); err != nil {
		return nil, nil, err
	}
	if g, err = lookup[*graph](s, call, uintptr(h)); err != nil {
		unlock()
	}
	return g, unlock, err
}

// exec looks a graph that is ready up; the simulator is locked until unlock is called.
func (s *Context) exec(call string, h driver.GraphExec) (x *exec, unlock func(), err error) {
	if unlock, err = s.enter(call); err != nil {
		return nil, nil, err
	}
	if x, err = lookup[*exec](s, call, uintptr(h)); err != nil {
		unlock()
	}
	return x, unlock, err
}

func (s *Context) GraphKernelNodes(h driver.Graph) ([]driver.KernelNode, error) {
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

func (s *Context) GraphDestroy(g driver.Graph) error {
	return destroy[*graph](s, "cuGraphDestroy", uintptr(g))
}

func (s *Context) GraphInstantiate(h driver.Graph) (driver.GraphExec, error) {
	g, unlock, err := s.graph("cuGraphInstantiateWithFlags", h)
	if err != nil {
		return 0, err
	}
	defer unlock()
	return driver.GraphExec(s.create(&exec{graph: graph{slices.Clone(g.nodes)}})), nil
}

func (s *Context) GraphUpload(h driver.GraphExec, _ driver.Stream) error {
	_, unlock, err := s.exec("cuGraphUpload", h)
	if err == nil {
		unlock()
	}
	return err
}

// GraphLaunch enqueues the nodes as they are now, behind those of the graph's last launch.
func (s *Context) GraphLaunch(h driver.GraphExec, st driver.Stream) error {
	const call = "cuGraphLaunch"
	x, unlock, err := s.exec(call, h)
	if err != nil {
		return err
	}
	defer unlock()
	q := &s.defaultStream
	if st != 0 {
		if q, err = lookup[*stream](s, call, uintptr(st)); err != nil {
			return err
		}
	}
	nodes := slices.Clone(x.nodes)
	if q.capture != nil {
		for _, n := range nodes {
			s.keep(q.capture, n)
		}
		return nil
	}
	for _, n := range nodes {
		if err := s.usable(call, n); err != nil {
			return err
		}
	}
	return s.submitAll(call, q, x, nodes)
}

// submitAll enqueues the nodes of a graph: one after another where each is waited for, else at once.
func (s *Context) submitAll(call string, q *stream, x *exec, nodes []node) error {
	for i, n := range nodes {
		t, err := s.push(call, q, n)
		if err == nil {
			if i == 0 {
				s.follow(t, x.last)
			}
			if x.last = t; s.eager(q) {
				err = cmp.Or(s.await(call, t), t.err)
			}
		}
		if err != nil {
			return err
		}
	}
	if len(nodes) > 0 && !s.eager(q) {
		s.stir()
	}
	return s.gone(call)
}

// GraphExecUpdate takes the launches of a graph of the same shape; the nodes keep their names.
func (s *Context) GraphExecUpdate(h driver.GraphExec, from driver.Graph) error {
	const call = "cuGraphExecUpdate_v2"
	x, unlock, err := s.exec(call, h)
	if err != nil {
		return err
	}
	defer unlock()
	g, err := lookup[*graph](s, call, uintptr(from))
	if err != nil {
		return err
	}
	same := func(a, b node) bool { return a.kernel == b.kernel && a.launch.Function == b.launch.Function }
	if !slices.EqualFunc(x.nodes, g.nodes, same) {
		return fail(call, driver.GraphUpdateFailure, "%d nodes, %d now", len(x.nodes), len(g.nodes))
	}
	for i, n := range g.nodes {
		n.launch.Node = x.nodes[i].launch.Node
		x.nodes[i] = n
	}
	return nil
}

func (s *Context) GraphExecKernelNodeSetParams(h driver.GraphExec, launch driver.KernelNode) error {
	const call = "cuGraphExecKernelNodeSetParams_v2"
	x, unlock, err := s.exec(call, h)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(x.nodes, func(n node) bool { return n.kernel && n.launch.Node == launch.Node })
	overlap := at >= 0 && x.nodes[at].overlap
	unlock()
	if at < 0 {
		return fail(call, driver.InvalidValue, "the graph has no such kernel node")
	}
	n, err := s.node(call, launch, overlap)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x.nodes[at] = n
	return nil
}

// GraphExecDestroy does not wait: launches that are pending will still be done.
func (s *Context) GraphExecDestroy(x driver.GraphExec) error {
	return destroy[*exec](s, "cuGraphExecDestroy", uintptr(x))
}
