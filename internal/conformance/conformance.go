// Package conformance runs ONNX's backend test cases: models with the outputs that are expected for some inputs. Find finds
// them in folders and archives; Run runs them, by the layers' own definition (Evaluate) or by engines for a backend (Engine),
// and says of each whether it passed.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
)

// Report is the outcome of all cases.
type Report struct {
	Passed, Failed, Unsupported int
	Cases                       []Result
}

// Result is the outcome of one case.
type Result struct {
	Case   string
	Status Status
	Reason string `json:",omitempty"`
}

// Status says what became of a case.
type Status string

const (
	Passed      Status = "passed"
	Failed      Status = "failed"
	Unsupported Status = "unsupported" // the model or a type in its data is refused
)

func (r *Report) add(c Result) {
	switch c.Status {
	case Passed:
		r.Passed++
	case Failed:
		r.Failed++
	default:
		r.Unsupported++
	}
	r.Cases = append(r.Cases, c)
}

// Run runs cases, each for as long as timeout, and tells, unless begin is nil, which begins. It ends with ctx, within a case.
func Run(ctx context.Context, cases []Case, execute Executor, timeout time.Duration, begin func(i int, c Case)) (all Report, err error) {
	for i, c := range cases {
		if begin != nil {
			begin(i, c)
		}
		result := c.run(ctx, execute, timeout)
		if err := ctx.Err(); err != nil {
			return all, err
		}
		all.add(result)
	}
	return all, nil
}

// endPatience is how long a case is waited for that was told to end: as long as a layer may take.
const endPatience = 2 * time.Second

// run imports the case's model and compares what it computes with what is expected, for all data sets.
func (c Case) run(ctx context.Context, execute Executor, timeout time.Duration) Result {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	done := make(chan Result, 1)
	go func() {
		status, reason := c.check(ctx, execute)
		done <- Result{c.Name, status, reason}
	}()
	select {
	case result := <-done:
		return result
	case <-ctx.Done(): // the evaluation ends with its present layer, a simulated launch at once
		select {
		case <-done:
		case <-time.After(endPatience):
		}
		return Result{c.Name, Failed, fmt.Sprintf("no result after %v", timeout)}
	}
}

// check returns the case's status and the reason for one other than passed.
func (c Case) check(ctx context.Context, execute Executor) (status Status, reason string) {
	defer func() {
		if r := recover(); r != nil {
			status, reason = Failed, fmt.Sprintf("panic: %v", r)
		}
	}()
	if len(c.sets) == 0 {
		return Failed, "no test_data_set"
	}
	for _, set := range c.sets {
		if status, reason := c.checkSet(ctx, execute, set); status != Passed {
			return status, reason
		}
	}
	return Passed, ""
}

// checkSet compares what the model computes for one data set. A model that is refused, or of which the executor computes no layer
// with such inputs, is taken again with all inputs but the first fixed: node cases give as inputs what models have as constants,
// such as axes and scales. One that is refused even so is taken with all fixed.
func (c Case) checkSet(ctx context.Context, execute Executor, set dataSet) (Status, string) {
	status, reason := c.checkFixed(ctx, execute, set, nil)
	if status != Unsupported {
		return status, reason
	}
	if again, why := c.checkFixed(ctx, execute, set, set.fixed(1)); again != Unsupported {
		return again, why
	}
	if network, err := c.network(set, set.fixed(1)); err == nil && set.serves(network) {
		return status, reason // the executor's
	}
	return c.checkFixed(ctx, execute, set, set.fixed(0))
}

// network imports the model for a data set. A file of an optional tensor is like one of a sequence.
func (c Case) network(set dataSet, fixed map[string]numeric.Value) (*graph.Network, error) {
	im := set.importer(fixed)
	network, err := c.open(im)
	var refused *onnx.ImportError
	if errors.As(err, &refused) && slices.ContainsFunc(refused.Problems, func(p onnx.Problem) bool { return p.Length }) {
		im.Lengths = nil
		if optional, err := c.open(im); err == nil {
			return optional, nil
		}
	}
	return network, err
}

// checkFixed is checkSet with some inputs as constants.
func (c Case) checkFixed(ctx context.Context, execute Executor, set dataSet, fixed map[string]numeric.Value) (Status, string) {
	network, err := c.network(set, fixed)
	if errors.As(err, new(*onnx.ImportError)) {
		return Unsupported, err.Error()
	} else if err != nil {
		return Failed, err.Error()
	}
	if fixed == nil && !set.serves(network) {
		return Unsupported, "shapes depend on elements that no run can have"
	}
	inputs, err := set.values(set.given(), network.Inputs, fixed)
	if err != nil {
		return Failed, err.Error()
	}
	expected, err := set.values(set.outputs, network.Outputs, nil)
	if err != nil {
		return Failed, err.Error()
	}
	outputs, err := execute(ctx, network, inputs)
	if err != nil {
		return statusOf(err), fmt.Sprintf("%s: %v", set.name, err)
	}
	for _, t := range network.Outputs {
		want, ok := expected[t.Name]
		if !ok {
			return Failed, fmt.Sprintf("%s: output %s: no file says what is expected of it", set.name, t.Name)
		}
		compare := compareValues
		if network.IsRandom(t) { // no two runtimes have the same numbers
			compare = compareForms
		}
		if err := compare(outputs[t.Name], want); err != nil {
			return Failed, fmt.Sprintf("%s: output %s: %v", set.name, t.Name, err)
		}
	}
	return Passed, ""
}
