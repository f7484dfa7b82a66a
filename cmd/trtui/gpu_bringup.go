package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/kernels/cuda"
)

// bringupOptions are the flags of trtui gpu bringup.
type bringupOptions struct {
	gpuOptions
	steps []string
}

func bringupCommand() *cobra.Command { return (&bringupOptions{}).command() }

func (o *bringupOptions) command() *cobra.Command {
	c := &cobra.Command{
		Use:   "bringup",
		Short: "Find out what a GPU is and reaches, and what its driver makes of the kernels; exit code 1 where something fails",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, s := range o.steps {
				if !slices.Contains(cuda.BringupSteps(), s) {
					return usageError{fmt.Errorf("--steps %q: there are %s", s, strings.Join(cuda.BringupSteps(), ", "))}
				}
			}
			return o.bringup(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	o.register(c)
	c.Flags().StringSliceVar(&o.steps, "steps", nil, "only these of "+strings.Join(cuda.BringupSteps(), ", "))
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
		text += "; the time ended before all was seen"
	}
	return text
}

func (o *bringupOptions) bringup(ctx context.Context, stdout, stderr io.Writer) error {
	begin := time.Now()
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	sum := bringupSummary{Summary: "bringup"}
	step := ""
	var failure error // of printing
	err := cuda.Bringup(ctx, o.openGPU, o.steps, func(f cuda.Finding) {
		sum.Findings++
		sum.Estimated = f.Estimated
		if !f.OK {
			sum.Failed++
			fmt.Fprintf(stderr, "trtui: %s %s: %s\n", f.Check, f.Name, f.Error)
		} else if f.Check != step {
			step = f.Check
			fmt.Fprintf(stderr, "%s, after %.0f s\n", step, time.Since(begin).Seconds())
		}
		failure = errors.Join(failure, o.print(stdout, f, findingText(f)))
	})
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
		return errReported
	}
	return nil
}

// openGPU opens the backend, which must be one of CUDA's.
func (o *bringupOptions) openGPU() (*cuda.Backend, error) {
	b, err := o.openBackend(o.backend)
	if err != nil {
		return nil, err
	}
	gpu, ok := b.(*cuda.Backend)
	if !ok {
		b.Close()
		return nil, usageError{fmt.Errorf("--backend %s: want an NVIDIA GPU or its simulator", o.backend)}
	}
	return gpu, nil
}

// findingText is a finding on one line.
func findingText(f cuda.Finding) string {
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
	add(f.TFLOPs > 0, "%s%.1f TFLOP/s", mark, f.TFLOPs)
	add(f.JITms > 0, "JIT %.1f ms", f.JITms)
	add(f.Registers > 0, "%d registers, %d bytes local, %d bytes shared", f.Registers, f.LocalBytes, f.SharedBytes)
	add(f.Log != "", "log: %s", f.Log)
	add(!f.OK, "FAILED: %s", f.Error)
	return fmt.Sprintf("%-7s %s: %s", f.Check, f.Name, strings.Join(parts, ", "))
}
