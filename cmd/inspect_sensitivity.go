package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

func inspectSensitivity(t tables) *cobra.Command {
	o := onBackends(t)
	var to string
	c := &cobra.Command{
		Use:   "sensitivity [MODEL]",
		Short: "Show what each INT8 layer takes from the first output, and what raising it to FP32 wins and costs",
		Long: "Show what each INT8 layer takes from the first output, and what raising it to FP32 wins and costs: which layers to raise.\n\n" +
			"Errors are those of the first output, on a few items of the calibration data, with one layer quantised alone or one raised\n" +
			"alone, or all that read one scale. Times are the tuner's, of all steps, with what fuses in either case. The layers that\n" +
			"take half of the error in the least time are then built and measured on the data. Stopped by ctrl+c it shows what is known.",
		Example: examples("which layers to raise", "trtui inspect sensitivity model.onnx --data images/",
			"to FP16, for a script", "trtui inspect sensitivity model.onnx --raise-to fp16 --format json"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return showSensitivity(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr(), modelArg(args), config.Precision(to))
		},
	}
	o.register(c, takeAll)
	c.Flags().StringVar(&to, "raise-to", string(config.FP32), "the `PRECISION` that layers are raised to: fp32, fp16, or int8:token, by which products have a range for each row")
	under(c, configHeading, "raise-to")
	return c
}

func showSensitivity(ctx context.Context, o *modelFlags, stdout, stderr io.Writer, path string, to config.Precision) error {
	if err := o.check(); err != nil {
		return err
	}
	return o.with(path, stderr, func(p *place, r *sessions.Runner) error {
		cfg, err := o.quantised(p.model)
		if err != nil {
			return err
		}
		var known *report.Sensitivity
		_, err = r.Sensitivity(ctx, cfg, to, func(s *report.Sensitivity) { known = s })
		if err != nil && !(errors.Is(err, context.Canceled) && known != nil && len(known.Layers) > 0) {
			return err
		}
		if o.output.json() {
			return errors.Join(writeReport(stdout, r.Head(&cfg), known), err)
		}
		writeSensitivity(stdout, p.model.Name(), known)
		return err
	})
}

// quantised returns the configuration for a model, in INT8 where no precision was asked for.
func (f *modelFlags) quantised(m *model.Model) (config.Config, error) {
	cfg, err := f.configFor(m)
	if err == nil && f.config.file == nil && m.Engine == nil && !f.config.changed("precision") {
		cfg.Precision = config.INT8
	}
	return cfg, err
}

// writeSensitivity prints the layers, that whose raising wins most first.
func writeSensitivity(w io.Writer, model string, s *report.Sensitivity) {
	of := "output"
	if s.Output != "" {
		of = firstOutput(s.Output)
	}
	fmt.Fprintf(w, "%s in %s: %s at %s on %s of %s\n", model, s.Config.Precision, of, ratio(s.SQNR), count(s.Items, "item"), s.Data)
	if s.Random {
		writeNote(w, "random input: what layers take from its outputs says nothing about real ones")
	}
	if len(s.Layers) < s.Total {
		writeNote(w, "stopped: %d of %d layers and groups are known", len(s.Layers), s.Total)
	}
	fmt.Fprintln(w)
	most := 0.0
	for _, l := range s.Layers {
		most = max(most, math.Abs(l.Gain))
	}
	var rows [][]string
	for _, l := range s.Layers {
		mark := ""
		if s.Raise != nil && slices.Contains(s.Raise.Names, l.Name) {
			mark = "raise"
		}
		rows = append(rows, []string{
			groupName(l), decibels(l.Alone), decibels(l.Raised), fmt.Sprintf("%+.2f", l.Gain), diverging(l.Gain, most, 10),
			signedUS(l.Time), moreBytes(l.Weights), moreBytes(l.Arena), mark,
		})
	}
	writeTable(w, []string{"@layer", ">alone dB", ">raised dB", ">gain dB", "~", ">more µs", "~>weights", "~>arena", ""}, rows)
	writeRaise(w, s)
}

// writeRaise prints which layers to raise and what comes of it.
func writeRaise(w io.Writer, s *report.Sensitivity) {
	r := s.Raise
	if r == nil {
		if len(s.Layers) == s.Total {
			fmt.Fprintf(w, "\nraising layers to %s wins nothing\n", s.To)
		}
		return
	}
	rules := make([]string, len(r.Layers))
	for i, name := range r.Layers {
		rules[i] = name + ":" + s.To
	}
	fmt.Fprintf(w, "\nraise these: --layer-precisions %s\n", strconv.Quote(strings.Join(rules, ",")))
	var rows [][]string
	add := func(what string, e report.Effect, on string) {
		rows = append(rows, []string{what, decibels(e.SQNR), decibels(e.RaisedSQNR), fmt.Sprintf("%+.2f", e.Gain()), us(e.Time), us(e.RaisedTime), on})
	}
	add("predicted", r.Predicted, "on "+count(s.Items, "item")+" of calibration, tuner's times")
	if r.Measured != nil {
		remark := "on " + count(r.Items, "item") + ", engines built"
		if r.Speed != nil {
			speed, why := speedText(*r.Speed, r.Measured.Time, r.Measured.RaisedTime)
			remark += "; " + strings.TrimSuffix("speed "+speed+" "+why, " ")
		}
		add("measured", *r.Measured, remark)
	}
	writeTable(w, []string{"", ">SQNR dB", ">raised", ">gain", ">µs", ">raised µs", ""}, rows)
}

// firstOutput names the first of several outputs, which errors are of.
func firstOutput(name string) string {
	return "the first output, " + ui.VisibleName(name) + ","
}

// groupName names a layer, or a group by its first one and how many others there are.
func groupName(l report.Sensitive) string {
	if !l.Group {
		return short(l.Name)
	}
	return fmt.Sprintf("one scale: %s", strings.Join(shortAll(l.Layers), ui.NamesJoint))
}

func shortAll(names []string) []string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = short(n)
	}
	return list
}

// diverging draws a number as a bar to the left or to the right of a middle line, of so many cells each.
func diverging(v, most float64, cells int) string {
	n := 0
	if most > 0 {
		n = int(math.Abs(v)/most*float64(cells) + 0.5)
	}
	if v < 0 {
		return strings.Repeat(" ", cells-n) + strings.Repeat("█", n) + "│" + strings.Repeat(" ", cells)
	}
	return strings.Repeat(" ", cells) + "│" + strings.Repeat("█", n) + strings.Repeat(" ", cells-n)
}

// signedUS prints a difference of times in microseconds.
func signedUS(d time.Duration) string { return fmt.Sprintf("%+.1f", float64(d)/1e3) }
