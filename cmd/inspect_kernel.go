package cmd

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// inspectKernelCommand shows the code of one layer.
func inspectKernelCommand(t tables) *cobra.Command {
	o := onBackends(t)
	var tactic string
	c := &cobra.Command{
		Use:   "kernel LAYER [MODEL|ENGINE]",
		Short: "Show the code that computes a layer, and the resources it takes",
		Long: "Show the code that computes a layer of the engine on a GPU, real or simulated: registers, shared memory and spills as\n" +
			"the device's driver reports them, blocks and threads, the time measured or predicted, and the PTX text. LAYER is a layer's\n" +
			"name, a part of it that no other layer has, or a source layer of the model.\n\n" +
			"On a simulated GPU NVIDIA's assembler is asked, if TRTUI_PTXAS or PATH has it or make ptxas installed it in the checkout\n" +
			"that the command runs in. Without it registers are the most that are live at a time in the order of the text, of which a\n" +
			"compiler makes fewer or up to twice as many, seldom more; spills are not known.",
		Example: examples("the kernel of a layer on a simulated H100", "trtui inspect kernel conv1 model.onnx --backend cudasim --device h100",
			"the code of another tactic for it", "trtui inspect kernel conv1 model.onnx --backend cuda --of-tactic eval"),
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			return inspectKernel(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr(), modelArg(args[1:]), args[0], tactic)
		},
	}
	o.register(c, takeAll&^takeLabels)
	c.Flags().StringVar(&tactic, "of-tactic", "", "show the code of this tactic instead of the chosen one")
	under(c, "Report", "of-tactic")
	return c
}

func inspectKernel(ctx context.Context, o *modelFlags, stdout, stderr io.Writer, path, layer, tactic string) error {
	if err := o.check(); err != nil {
		return err
	}
	var kernel *report.Kernel
	var snap *report.Snapshot
	err := o.with(path, stderr, func(p *place, r *sessions.Runner) error {
		cfg, err := o.configFor(p.model)
		if err != nil {
			return err
		}
		if snap, err = r.Report(ctx, cfg, report.PartModel, run.Profiling{}); err != nil {
			return err
		}
		kernel, err = r.Kernel(ctx, cfg, layer, tactic)
		return err
	})
	if err != nil {
		return err
	}
	if o.output.json() {
		return writeReport(stdout, snap.Head(), kernel)
	}
	writeKernel(stdout, kernel)
	return nil
}

// writeKernel prints the code behind what is known of it.
func writeKernel(w io.Writer, r *report.Kernel) {
	fmt.Fprintf(w, "%s (%s), tactic %s\n", ui.VisibleName(r.Layer), r.Op, r.Tactic)
	fmt.Fprintf(w, "%s, %s of tensors read and written\n", ui.Quantity(float64(r.FLOPs), "FLOP"), bytesText(int(r.Bytes)))
	if r.Time > 0 {
		how := "predicted"
		if r.Timed {
			how = "measured"
		}
		fmt.Fprintf(w, "%s: %s µs\n", how, us(r.Time))
	}
	if r.Compiler != "" {
		fmt.Fprintf(w, "registers, spills and blocks per SM according to %s\n", r.Compiler)
	}
	fmt.Fprintln(w)
	var rows [][]string
	registers := ">registers"
	for _, l := range r.Launches {
		spill := known(l.Spill, strconv.Itoa)
		if l.Spill == nil {
			registers = ">live registers"
		}
		rows = append(rows, []string{l.Function, extents(l.Grid), extents(l.Block), fmt.Sprint(l.Registers), fmt.Sprint(l.Shared), spill, fmt.Sprint(l.ResidentBlocks)})
	}
	writeTable(w, []string{"function", "blocks", "threads", registers, ">shared bytes", ">spill bytes", ">blocks per SM"}, rows)
	fmt.Fprintf(w, "\n%s", r.Text)
}

// extents prints the three extents of a grid or a block.
func extents(d []int) string { return fmt.Sprintf("%dx%dx%d", d[0], d[1], d[2]) }
