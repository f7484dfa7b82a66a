package drivertest

import (
	"fmt"
	"strings"
	"sync"

	"github.com/trtui/trtui/kernels/cuda/driver"
)

// Recorder is a context that logs every call before it passes it on, and fails those it is told to fail.
type Recorder struct {
	driver.Context
	// Judge, if set, is asked of every call what it ends with, Success aside; it is called by one goroutine at a time.
	Judge func(method string) driver.Result

	mu     sync.Mutex
	calls  []Call
	faults []*fault
	broken driver.Result
}

// Call is one call of a method of [driver.Context], Device aside. EndCapture is logged where Capture's function returned.
type Call struct {
	Method string
	Args   string // separated by spaces; bytes by their number
	Err    error  // injected
}

func (c Call) String() string { return strings.TrimSpace(c.Method + " " + c.Args) }

type fault struct {
	method string
	after  int
	result driver.Result
}

// Record wraps c.
func Record(c driver.Context) *Recorder { return &Recorder{Context: c} }

// Fail makes the nth call of a method from now on (1 is the next one) end with result, without passing it on; the calls
// before and after it work, unless the result is sticky: then all later calls fail too. "*" is any method; "EndCapture"
// the end of a Capture.
func (r *Recorder) Fail(method string, nth int, result driver.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, &fault{method, nth, result})
}

// Calls returns the log so far.
func (r *Recorder) Calls() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Call(nil), r.calls...)
}

// Count returns how many calls of a method there were.
func (r *Recorder) Count(method string) int {
	n := 0
	for _, c := range r.Calls() {
		if c.Method == method {
			n++
		}
	}
	return n
}

// String is the log, a call a line, with injected failures.
func (r *Recorder) String() string {
	var b strings.Builder
	for _, c := range r.Calls() {
		b.WriteString(c.String())
		if c.Err != nil {
			fmt.Fprintf(&b, " -> %v", c.Err)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Reset empties the log; faults stay.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = nil
}

// call logs a call and returns its injected failure, if any.
func (r *Recorder) call(method string, args ...any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := Call{Method: method, Args: render(args)}
	if r.broken != 0 && method != "Close" {
		c.Err = &driver.Error{Call: method, Result: r.broken}
	}
	inject := func(result driver.Result) {
		if c.Err != nil {
			return
		}
		e := &driver.Error{Call: method, Result: result, Detail: "injected"}
		if e.Sticky() {
			r.broken = result
		}
		c.Err = e
	}
	for _, f := range r.faults {
		if f.method != method && f.method != "*" {
			continue
		}
		if f.after--; f.after == 0 {
			inject(f.result)
		}
	}
	if r.Judge != nil {
		if result := r.Judge(method); result != driver.Success {
			inject(result)
		}
	}
	r.calls = append(r.calls, c)
	return c.Err
}

func render(args []any) string {
	var words []string
	for _, a := range args {
		switch a := a.(type) {
		case []byte:
			words = append(words, fmt.Sprintf("[%d bytes]", len(a)))
		case driver.Ptr:
			words = append(words, fmt.Sprintf("%#x", uint64(a)))
		case driver.LaunchConfig:
			words = append(words, fmt.Sprintf("%v %v %d", a.Grid, a.Block, a.Shared))
			if a.Cluster != [3]int{} {
				words = append(words, fmt.Sprintf("cluster %v", a.Cluster))
			}
			if a.Overlap {
				words = append(words, "overlap")
			}
		case driver.KernelNode:
			words = append(words, fmt.Sprintf("node %d %v %v %v %d [%d bytes]", a.Node, a.Function, a.Grid, a.Block, a.Shared, len(a.Params)))
		default:
			words = append(words, fmt.Sprintf("%+v", a))
		}
	}
	return strings.Join(words, " ")
}

// Capture logs its beginning and its end, either of which can be made to fail.
func (r *Recorder) Capture(s driver.Stream, record func() error) (driver.Graph, error) {
	if err := r.call("Capture", s); err != nil {
		return 0, err
	}
	g, err := r.Context.Capture(s, record)
	if fault := r.call("EndCapture", s); fault != nil {
		if err == nil {
			_ = r.Context.GraphDestroy(g) // the caller gets no graph to destroy
		}
		return 0, fault
	}
	return g, err
}
