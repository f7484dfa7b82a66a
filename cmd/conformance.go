package cmd

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/internal/conformance"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/report"
)

func conformanceCommand(t tables) *cobra.Command {
	d, o := deviceFlags{table: t.backends, others: []string{evaluation}, backend: evaluation}, outputFlags{}
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:        "conformance PATH...",
		SuggestFor: []string{"tests", "onnx-tests"},
		Short:      "Run ONNX backend test cases",
		Long: `Run ONNX backend test cases: each PATH is the folder of a case (model.onnx, or the only
model there, beside test_data_set_0, ...), a folder of such folders, the model itself, or a .tar.gz of folders.

Outputs are computed by the layers' own definition, or with --backend by an engine for that backend, in
FP32 with all fusions.

A case is unsupported if its model is refused when it is imported, even with its inputs fixed as
constants, or if the backend does not compute one of its layers. It fails if no file tells what is
expected of an output, or an output has another type or shape than the expected one, or differs from it
by more than 1e-7 + 1e-3 * |expected| (f16: 1e-3 + 1e-2 * |expected|, bf16: 1e-2 + 2e-2 * |expected|),
which is what ONNX's own tests allow, or at all where it is of integers, booleans or floats of up to 8
bits. Where the expected output is large, 1e-5 of its RMS (f16: 1e-3, bf16:
1e-2) takes the place of the first part, since elements near zero have the rounding of the others. Of an output that is
computed from random numbers type and shape count.`,
		Example: examples("the cases of a folder, by the definition of the layers", "trtui conformance onnx/backend/test/data/node",
			"an archive, on a simulated GPU", "trtui conformance cases.tar.gz --backend cudasim -v"),
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
			execute, head := conformance.Executor(conformance.Evaluate), describe.Backend(evaluation, nil)
			if d.backend != evaluation {
				b, err := d.open(d.backend)
				if err != nil {
					return err
				}
				defer b.Close()
				execute, head = conformance.Engine(b), describe.Backend(d.backend, b)
			}
			cases, err := conformance.Find(args...)
			if err != nil {
				return err
			}
			tell, stop := o.reporter(cmd.ErrOrStderr())
			all, err := conformance.Run(cmd.Context(), cases, execute, timeout, func(i int, c conformance.Case) {
				if tell != nil {
					tell(report.Progress{Phase: "running cases", Item: c.Name, Done: i, Total: len(cases)})
				}
			})
			stop()
			if err != nil {
				return err
			}
			if err := writeConformance(cmd.OutOrStdout(), &all, &o, head); err != nil {
				return err
			}
			if all.Failed > 0 {
				return errNo
			}
			return nil
		},
	}
	d.define()
	d.addTo(cmd, takeBackend|takeThreads|takeCode)
	d.lookup("backend").Usage = evaluation + " (the layers' own definition), " + backendUsage(t.backends)
	o.define()
	o.addTo(cmd, takeFormat|takeQuiet)
	cmd.Flags().DurationVar(&timeout, "timeout", time.Minute, "`TIME` after which a case has failed")
	cmd.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "list the cases that passed as well")
	under(cmd, "Cases", "timeout")
	under(cmd, outputHeading, "verbose")
	return cmd
}

// writeConformance prints what became of the cases.
func writeConformance(w io.Writer, r *conformance.Report, o *outputFlags, head report.Head) error {
	if o.json() {
		return writeReport(w, head, r)
	}
	for _, c := range r.Cases {
		var err error
		switch {
		case c.Status == conformance.Passed && o.verbose:
			_, err = fmt.Fprintf(w, "%-11s  %s\n", c.Status, c.Case)
		case c.Status != conformance.Passed:
			_, err = fmt.Fprintf(w, "%-11s  %s: %s\n", c.Status, c.Case, c.Reason)
		}
		if err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d passed, %d failed, %d unsupported\n", r.Passed, r.Failed, r.Unsupported)
	return err
}
