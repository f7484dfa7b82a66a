package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/kernels/cuda"
	"github.com/trtui/trtui/kernels/cuda/bringup"
	"github.com/trtui/trtui/kernels/cuda/supervisor"
	"github.com/trtui/trtui/ui"
)

// bringupFlags are the flags of trtui gpu bringup.
type bringupFlags struct {
	gpuFlags
	steps []string
}

func bringupCommand(t tables) *cobra.Command {
	return (&bringupFlags{gpuFlags: onGPU(t)}).command()
}

func (o *bringupFlags) command() *cobra.Command {
	c := &cobra.Command{
		Use:   "bringup",
		Short: "Measure what a GPU is and reaches, and compile the kernels with its driver",
		Example: examples("all of a GPU, for a script", "trtui gpu bringup --format json",
			"two steps, on a simulated one", "trtui gpu bringup --backend cudasim --steps device,graph"),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, s := range o.steps {
				if !slices.Contains(bringup.Steps(), s) {
					return usageError{fmt.Errorf("--steps %q: there are %s", s, strings.Join(bringup.Steps(), ", "))}
				}
			}
			return o.bringup(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	o.register(c)
	c.Flags().StringSliceVar(&o.steps, "steps", nil, "only these `STEPS` of "+strings.Join(bringup.Steps(), ", "))
	under(c, "Run", "steps")
	return c
}

// bringupSummary is the last row of a bring-up.
type bringupSummary struct {
	Summary   string  `json:"summary"`  // "bringup"
	Complete  bool    `json:"complete"` // nothing was cut off
	Estimated bool    `json:"estimated,omitempty"`
	Findings  int     `json:"findings"`
	Failed    int     `json:"failed"`
	Seconds   float64 `json:"seconds"`
}

func (s bringupSummary) String() string {
	text := fmt.Sprintf("%d findings, %d failed", s.Findings, s.Failed)
	if !s.Complete {
		text += "; the time was up before everything was seen"
	}
	return text
}

func (o *bringupFlags) bringup(ctx context.Context, stdout, stderr io.Writer) error {
	begin := time.Now()
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	sum := bringupSummary{Summary: "bringup"}
	step := ""
	var failure error // of printing
	headed := false
	head := func(line json.RawMessage) {
		if o.output.json() && !headed {
			headed = true
			failure = errors.Join(failure, o.print(stdout, line, ""))
		}
	}
	err := o.findings(ctx, stderr, head, func(f bringup.Finding) {
		sum.Findings++
		sum.Estimated = f.Estimated
		if o.worker {
			failure = errors.Join(failure, o.print(stdout, f, ""))
			return
		}
		if !f.OK {
			sum.Failed++
			fmt.Fprintf(stderr, "trtui: %s %s: %s\n", f.Check, f.Name, f.Error)
		} else if f.Check != step {
			if step = f.Check; !o.output.quiet {
				fmt.Fprintf(stderr, "%s, after %.0f s\n", step, time.Since(begin).Seconds())
			}
		}
		failure = errors.Join(failure, o.print(stdout, f, findingText(f)))
	})
	if o.worker {
		if err = errors.Join(err, failure); err != nil {
			err = toldError{err}
		}
		return err
	}
	if sum.Complete = err == nil; errors.Is(err, context.DeadlineExceeded) {
		err = nil // the budget's end
	}
	sum.Seconds = time.Since(begin).Seconds()
	if err = errors.Join(err, failure); err != nil {
		return err
	}
	if err := o.print(stdout, sum, sum.String()); err != nil {
		return err
	}
	if sum.Failed > 0 {
		fmt.Fprintf(stderr, "trtui: %s\n", sum)
		return errNo
	}
	return nil
}

// findings brings the device up: in this process or, a step at a time, in others, so that a step that hangs, or ends its
// process, is a finding like others. head is given the head of all documents whenever a device is opened.
func (o *bringupFlags) findings(ctx context.Context, stderr io.Writer, head func(json.RawMessage), report func(bringup.Finding)) error {
	if o.worker || !o.isolated() {
		open := func() (*cuda.Backend, error) {
			b, err := o.openGPU()
			if err != nil {
				return nil, err
			}
			line, err := o.head(b)
			if err != nil {
				b.Close()
				return nil, err
			}
			head(line)
			return b, nil
		}
		return bringup.Run(ctx, open, o.steps, report)
	}
	steps := slices.DeleteFunc(bringup.Steps(), func(step string) bool { return len(o.steps) > 0 && !slices.Contains(o.steps, step) })
	err := supervisor.Steps(ctx, steps, exitTold, func(step string) supervisor.Worker {
		return o.workerFor(stderr, "bringup", "--format", "json", "--steps", step)
	}, head, report)
	if errors.Is(err, supervisor.ErrNoDevice) {
		err = errReported // by the worker
	}
	return err
}

// openGPU opens the backend, which must be one of CUDA's.
func (o *bringupFlags) openGPU() (*cuda.Backend, error) {
	b, err := o.device.open(o.device.backend)
	if err != nil {
		return nil, err
	}
	gpu, ok := b.(*cuda.Backend)
	if !ok {
		b.Close()
		return nil, usageError{fmt.Errorf("--backend %s: want an NVIDIA GPU or its simulator", o.device.backend)}
	}
	return gpu, nil
}

// findingText is a finding on one line.
func findingText(f bringup.Finding) string {
	var parts []string
	add := func(use bool, format string, args ...any) {
		if use {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	mark := estimatedMark(f.Estimated)
	add(f.Value != "", "%s", f.Value)
	add(f.Count > 0, "%d", f.Count)
	add(f.US > 0, "%s%.2f us", mark, f.US)
	add(f.EachUS != 0, "%.3f us each", f.EachUS)
	add(f.HostUS > 0, "host %.2f us", f.HostUS)
	add(f.Bytes > 0, "%d bytes", f.Bytes)
	add(f.GBs > 0, "%s%.1f GB/s", mark, f.GBs)
	add(f.TFLOPs > 0, "%s%s", mark, ui.Quantity(f.TFLOPs*1e12, "FLOP/s"))
	if f.Estimated { // nothing was compiled
		add(f.JITms > 0, "read by the host in %.1f ms", f.JITms)
		add(f.Registers > 0, "%d live registers, spills not known, %d bytes shared", f.Registers, f.SharedBytes)
	} else {
		add(f.JITms > 0, "JIT %.1f ms", f.JITms)
		add(f.Registers > 0, "%d registers, %s bytes local, %d bytes shared", f.Registers, known(f.LocalBytes, strconv.Itoa), f.SharedBytes)
	}
	add(f.Log != "", "log: %s", f.Log)
	add(!f.OK, "FAILED: %s", f.Error)
	return fmt.Sprintf("%-10s %s: %s", f.Check, f.Name, strings.Join(parts, ", "))
}
