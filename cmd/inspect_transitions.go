package cmd

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

func inspectTransitions(o *modelFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "transitions [MODEL|ENGINE|RECORDING]",
		Short: "Show where tensors change type or format, what that costs, and which choice each conversion is there for",
		Example: examples("what leaving INT8 and coming back costs", "trtui inspect transitions model.onnx --precision int8",
			"what one layer in INT8 brings with it", "trtui inspect transitions model.onnx --layer-precisions head:int8"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			snap, err := o.report(c.Context(), c.ErrOrStderr(), modelArg(args), report.PartPasses|report.PartTimings, run.Profiling{WarmUp: warmUp, Iterations: 50, PerStep: true})
			if err != nil {
				return err
			}
			t := report.TransitionsOf(snap)
			if o.output.json() {
				return writeReport(c.OutOrStdout(), snap.Head(), t)
			}
			writeTransitions(c.OutOrStdout(), snap, t)
			return nil
		},
	}
	o.register(c, takeAll)
	o.usual = !o.lookOnly
	return c
}

// writeTransitions prints the matrix, and behind it the launches that only convert with what each is there for.
func writeTransitions(w io.Writer, s *report.Snapshot, t *report.Transitions) {
	writeHeading(w, s)
	if t.Estimated {
		fmt.Fprintln(w, "times are estimates, computed from what the simulator counted; nothing was measured")
	}
	fmt.Fprintf(w, "%s that only convert take %s µs, %.1f%% of the layers' time\n\n", count(len(t.Conversions), "launch"), us(t.Time), 100*t.Share)
	header := []string{"from", "to", ">tensors", ">bytes", ">launches", ">µs", "~"}
	most := max(1, t.Time)
	var rows [][]string
	for _, c := range t.Cells {
		row := []string{c.From, c.To, fmt.Sprint(c.Tensors), bytesText(int(c.Bytes)), "-", "-", ""}
		if c.Launches > 0 {
			row[4], row[5], row[6] = fmt.Sprint(c.Launches), us(c.Time), bar(float64(c.Time)/float64(most), 12)
		}
		rows = append(rows, row)
	}
	writeTable(w, header, rows)
	if len(t.Conversions) == 0 {
		return
	}
	fmt.Fprintln(w)
	rows = nil
	for _, c := range t.Causes {
		rows = append(rows, []string{c.Cause, fmt.Sprint(c.Count), bytesText(int(c.Bytes)), us(c.Time), bar(float64(c.Time)/float64(most), 12)})
	}
	writeTable(w, []string{"there for", ">launches", ">bytes", ">µs", "~"}, rows)
	fmt.Fprintln(w)
	rows = nil
	for _, k := range t.Conversions {
		to := k.To
		if k.Format != "" {
			to += " " + k.Format
		}
		rows = append(rows, []string{short(k.Layer), k.From + " to " + to, us(k.Time), fmt.Sprintf("%.1f", 100*k.Share), bytesText(int(k.Bytes)), ui.VisibleName(k.Why)})
	}
	writeTable(w, []string{"@conversion", "types", ">µs", ">%", ">bytes", "because"}, rows)
}
