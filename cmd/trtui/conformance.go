package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/report"
)

// conformanceReport is the outcome of all cases.
type conformanceReport struct {
	Passed, Failed, Unsupported int
	Cases                       []conformanceResult
}

// conformanceResult is the outcome of one case.
type conformanceResult struct {
	Case   string
	Status conformanceStatus
	Reason string `json:",omitempty"`
}

type conformanceStatus string

const (
	statusPassed      conformanceStatus = "passed"
	statusFailed      conformanceStatus = "failed"
	statusUnsupported conformanceStatus = "unsupported" // the model or a type in its data is refused
)

func conformanceCommand(table []backend) *cobra.Command {
	d, o := deviceFlags{table: table, others: []string{evaluation}, backend: evaluation}, outputFlags{}
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "conformance PATH...",
		Short: "Run ONNX backend test cases",
		Long: `Run ONNX backend test cases: each PATH is the folder of a case (model.onnx, or the only
model there, beside test_data_set_0, ...),
a folder of such folders, the model itself, or a .tar.gz of folders.

Outputs are computed by the layers' own definition, with --backend by an engine for that backend, in
FP32 with all fusions.

A case is unsupported if its model is refused when it is imported, even with its inputs fixed as
constants, or if the backend does not compute one of its layers. It fails if an output has another type
or shape than the expected one, or differs from it by more than 1e-7 + 1e-3 * |expected| (f16: 1e-3 +
1e-2 * |expected|, bf16: 1e-2 + 2e-2 * |expected|), which is what ONNX's own tests allow, or at all where
it is of integers or booleans. Where the expected output is large, 1e-5 of its RMS (f16: 1e-3, bf16:
1e-2) takes the place of the first part, since elements near zero have the rounding of the others.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("conformance needs the path of at least one case")
			}
			return o.check()
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := d.check(); err != nil {
				return err
			}
			execute, head := executor(evaluate), sessions.BackendHead(evaluation, nil)
			if d.backend != evaluation {
				b, err := d.open(d.backend)
				if err != nil {
					return err
				}
				defer b.Close()
				execute, head = engineOn(b), sessions.BackendHead(d.backend, b)
			}
			tell, stop := o.reporter(cmd.ErrOrStderr())
			report, err := runCases(cmd.Context(), args, execute, timeout, tell)
			stop()
			if err != nil {
				return err
			}
			if err := report.write(cmd.OutOrStdout(), &o, head); err != nil {
				return err
			}
			if report.Failed > 0 {
				return errNo
			}
			return nil
		},
	}
	d.define()
	d.addTo(cmd, takeBackend|takeThreads|takeCode)
	d.lookup("backend").Usage = evaluation + " (the layers' own definition), " + backendUsage(table)
	o.define()
	o.addTo(cmd, takeFormat|takeQuiet)
	cmd.Flags().DurationVar(&timeout, "timeout", time.Minute, "time after which a case has failed")
	cmd.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "list the cases that passed, too")
	under(cmd, outputHeading, "verbose")
	return cmd
}

func (r *conformanceReport) add(c conformanceResult) {
	switch c.Status {
	case statusPassed:
		r.Passed++
	case statusFailed:
		r.Failed++
	default:
		r.Unsupported++
	}
	r.Cases = append(r.Cases, c)
}

func (r *conformanceReport) write(w io.Writer, o *outputFlags, head report.Head) error {
	if o.json() {
		return writeReport(w, head, r)
	}
	for _, c := range r.Cases {
		var err error
		switch {
		case c.Status == statusPassed && o.verbose:
			_, err = fmt.Fprintf(w, "%-11s  %s\n", c.Status, c.Case)
		case c.Status != statusPassed:
			_, err = fmt.Fprintf(w, "%-11s  %s: %s\n", c.Status, c.Case, c.Reason)
		}
		if err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d passed, %d failed, %d unsupported\n", r.Passed, r.Failed, r.Unsupported)
	return err
}

// runCases runs the cases of all paths, and tells which is at hand. It ends with ctx, within a case.
func runCases(ctx context.Context, paths []string, execute executor, timeout time.Duration, tell func(report.Progress)) (all conformanceReport, err error) {
	var cases []conformanceCase
	for _, path := range paths {
		found, err := findCases(path)
		if err != nil {
			return all, err
		}
		cases = append(cases, found...)
	}
	for i, c := range cases {
		if tell != nil {
			tell(report.Progress{Phase: "running cases", Item: c.name, Done: i, Total: len(cases)})
		}
		c.execute = execute
		result := c.run(ctx, timeout)
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
func (c conformanceCase) run(ctx context.Context, timeout time.Duration) conformanceResult {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	done := make(chan conformanceResult, 1)
	go func() {
		status, reason := c.check(ctx)
		done <- conformanceResult{c.name, status, reason}
	}()
	select {
	case result := <-done:
		return result
	case <-ctx.Done(): // the evaluation ends with its present layer, a simulated launch at once
		select {
		case <-done:
		case <-time.After(endPatience):
		}
		return conformanceResult{c.name, statusFailed, fmt.Sprintf("no result after %v", timeout)}
	}
}

// check returns the case's status and the reason for one other than passed.
func (c conformanceCase) check(ctx context.Context) (status conformanceStatus, reason string) {
	defer func() {
		if r := recover(); r != nil {
			status, reason = statusFailed, fmt.Sprintf("panic: %v", r)
		}
	}()
	if len(c.sets) == 0 {
		return statusFailed, "no test_data_set"
	}
	for _, set := range c.sets {
		if status, reason := c.checkSet(ctx, set); status != statusPassed {
			return status, reason
		}
	}
	return statusPassed, ""
}

// checkSet imports the model and compares what it computes for one data set. A model that is refused is imported again
// with all inputs but the first fixed, then with all fixed: node cases give as inputs what models have as constants,
// such as axes and scales.
func (c conformanceCase) checkSet(ctx context.Context, set conformanceSet) (conformanceStatus, string) {
	network, err := c.open(onnx.Importer{Ops: graph.Ops()})
	unsupported := new(onnx.ImportError)
	var fixed map[string]graph.Value
	for from := 1; from >= 0 && errors.As(err, &unsupported); from-- {
		fixed = set.fixed(from)
		network, err = c.open(onnx.Importer{Ops: graph.Ops(), Fixed: fixed})
	}
	if errors.As(err, &unsupported) {
		return statusUnsupported, err.Error()
	} else if err != nil {
		return statusFailed, err.Error()
	}
	inputs, err := set.values(set.inputs, network.Inputs, fixed)
	if err != nil {
		return statusFailed, err.Error()
	}
	expected, err := set.values(set.outputs, network.Outputs, nil)
	if err != nil {
		return statusFailed, err.Error()
	}
	outputs, err := c.execute(ctx, network, inputs)
	if err != nil {
		return statusOf(err), fmt.Sprintf("%s: %v", set.name, err)
	}
	for _, t := range network.Outputs {
		want, ok := expected[t.Name]
		if !ok {
			continue
		}
		if err := compareValues(outputs[t.Name], want); err != nil {
			return statusFailed, fmt.Sprintf("%s: output %s: %v", set.name, t.Name, err)
		}
	}
	return statusPassed, ""
}
