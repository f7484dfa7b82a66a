package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/ui"
)

// tuneFlags are the flags of trtui tune-precision.
type tuneFlags struct {
	*modelFlags
	drop, sqnr, agreement float64
	latency               time.Duration
	to, state             string
	most                  int
	limit                 time.Duration
	raise                 []string
}

func tunePrecisionCommand(t tables) *cobra.Command {
	o := &tuneFlags{modelFlags: onBackends(t)}
	c := &cobra.Command{
		Use:        "tune-precision [MODEL]",
		SuggestFor: []string{"constraints", "mixed", "search", "sensitivity", "mixed-precision"},
		Short:      "Search for the precision and the range of each layer: least time within bounds of accuracy, or most accuracy within a time",
		Long: "Search for the precision and the range of each layer: the least time within bounds of accuracy, or the most accuracy\n" +
			"within a time.\n\n" +
			"It begins with all layers in INT8. The range of each tensor is chosen among those of all calibrators by the error of the\n" +
			"first output, and layers are raised to FP16 or FP32: which, a knapsack says over the error that raising each takes away and\n" +
			"the time that it costs; for --max-drop of boxes, which come of several outputs, it is the error of all. Errors are found on\n" +
			"items of the calibration data; engines are built, and measured on the data, of what is predicted to meet the goal alone.\n" +
			"Stopped by ctrl+c it leaves the best so far; with --resume it goes on from there.\n\n" +
			"With --raise-to none all layers stay in INT8. Engines are built of what the configuration leaves to trials, rounding and\n" +
			"equalization, in several ways, and of residual sums in floating point; ranges are chosen for that of the highest SQNR.\n\n" +
			"It ends with 1 where nothing that was found meets the goal.",
		Example: examples("top-1 within half a point of FP32's", "trtui tune-precision m.onnx --data test.npz --max-drop 0.5 -o best.config.json",
			"30 dB of SQNR, which can be stopped and gone on with", "trtui tune-precision m.onnx --data x/ --min-sqnr 30 --resume m.search.json",
			"the most accuracy in 2 ms", "trtui tune-precision m.onnx --data x/ --max-latency 2ms -o best.config.json",
			"an engine of what was found", "trtui build m.onnx --data x/ --config best.config.json -o m.engine"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			goal, err := o.goal(c.Flags().Changed)
			if err != nil {
				return usageError{err}
			}
			to, err := o.raisedTo()
			if err != nil {
				return usageError{err}
			}
			return tunePrecision(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr(), modelArg(args), stages.Tuning{Goal: goal, To: to, Most: o.most, Limit: o.limit})
		},
	}
	o.register(c, takeAll)
	f := c.Flags()
	f.Float64Var(&o.drop, "max-drop", 0, "the `POINTS` by which the task's measure may be below FP32's: top-1, mAP or the cosine in percentage points, a perplexity in percent")
	f.Float64Var(&o.sqnr, "min-sqnr", 0, "the least SQNR of the first output, in `DB`")
	f.Float64Var(&o.agreement, "min-agreement", 0, "the least `SHARE`, from 0 to 1, of items whose first class is FP32's")
	f.DurationVar(&o.latency, "max-latency", 0, "the longest median latency, as in 2ms")
	f.StringSliceVar(&o.raise, "raise-to", []string{string(config.FP32), string(config.FP16)}, "the `PRECISIONS` that layers may be raised to: fp32, fp16, int8:token (products with a range for each row); none: all stay in INT8, and engines quantised in several ways are compared")
	under(c, configHeading, "raise-to")
	under(c, "Goal", "max-drop", "min-sqnr", "min-agreement", "max-latency")
	f.StringVarP(&o.to, "output", "o", "", "the `FILE` of the best configuration to write, for --config")
	f.StringVar(&o.state, "resume", "", "a `FILE` that keeps what was found, and from which a search goes on")
	f.IntVar(&o.most, "engines", 12, "how many engines are built at most")
	f.DurationVar(&o.limit, "limit", 0, "the `TIME` after which it ends with the best that it has found, as in 10m; finding ranges counts, but is not cut short, and one engine is built in any case; default: none")
	under(c, outputHeading, "output", "resume")
	under(c, "Goal", "engines", "limit")
	return c
}

// goal returns what is searched for; changed reports whether a flag was given.
func (o *tuneFlags) goal(changed func(string) bool) (g report.Goal, err error) {
	if changed("min-sqnr") {
		g.MinSQNR = &o.sqnr
	}
	if changed("max-drop") {
		g.MaxDrop = &o.drop
	}
	if changed("min-agreement") {
		g.MinAgreement = &o.agreement
	}
	g.MaxLatency = o.latency
	switch {
	case g.IsZero():
		return g, errors.New("say what to reach: --max-drop, --min-sqnr, --min-agreement or --max-latency")
	case !(o.agreement >= 0 && o.agreement <= 1):
		return g, fmt.Errorf("--min-agreement %v: want a share from 0 to 1", o.agreement)
	case !(o.drop >= 0 && o.drop <= 100):
		return g, fmt.Errorf("--max-drop %v: want percentage points from 0 to 100", o.drop)
	case !(o.sqnr > -report.MaxDB && o.sqnr < report.MaxDB):
		return g, fmt.Errorf("--min-sqnr %v: want decibels", o.sqnr)
	case o.latency < 0:
		return g, fmt.Errorf("--max-latency %v is less than nothing", o.latency)
	case o.limit < 0:
		return g, fmt.Errorf("--limit %v is less than nothing", o.limit)
	case o.most < 1 || o.most > 10000:
		return g, fmt.Errorf("--engines %d: want 1 to 10000", o.most)
	}
	return g, nil
}

// raisedTo returns the precisions of --raise-to.
func (o *tuneFlags) raisedTo() (list []config.Precision, err error) {
	if slices.Equal(o.raise, []string{"none"}) {
		return nil, nil
	}
	for _, name := range o.raise {
		to := config.Precision(strings.TrimSpace(name))
		if to != config.FP32 && to != config.FP16 && to != config.INT8ByToken {
			return nil, fmt.Errorf("--raise-to %q: want fp32, fp16, int8:token, several of them, or none", name)
		}
		list = append(list, to)
	}
	return list, nil
}

// tuneOutput is the JSON of trtui tune-precision.
type tuneOutput struct {
	File string `json:",omitempty"` // of the configuration
	report.Search
	Beside []evalRow `json:",omitempty"` // FP32 and the configuration that was begun with, as they are, and what was found, in the same rounds
}

// beside measures what was found beside FP32 and the configuration that was begun with.
func (o *tuneFlags) beside(ctx context.Context, p *place, r *sessions.Runner, s *report.Search) ([]evalRow, error) {
	best := s.Chosen()
	if best == nil {
		return nil, nil
	}
	fp32, _ := plainly(s.Base)
	fp32.Precision = config.FP32
	rows, _, err := evalConfigs(ctx, r, p, []config.Config{fp32, s.Base, best.Config})
	return rows, err
}

func tunePrecision(ctx context.Context, o *tuneFlags, stdout, stderr io.Writer, path string, how stages.Tuning) error {
	if err := o.check(); err != nil {
		return err
	}
	how.State = &stages.SearchState{}
	if o.state != "" {
		var err error
		if how.State, err = stages.OpenSearchState(o.state); err != nil {
			return err
		}
	}
	return o.with(path, stderr, func(p *place, r *sessions.Runner) error {
		cfg, err := o.quantised(p.model)
		if err != nil {
			return err
		}
		s, err := r.Tune(ctx, cfg, how)
		stopped := errors.Is(err, context.Canceled)
		if err != nil && !(stopped && s != nil && len(s.Points) > 0) {
			return err
		}
		out := tuneOutput{Search: *s}
		if best := s.Chosen(); best != nil && o.to != "" {
			if err := writeConfig(o.to, best.Config); err != nil {
				return err
			}
			out.File = o.to
		}
		if !stopped {
			out.Beside, err = o.beside(ctx, p, r, s)
		}
		if o.output.json() {
			err = errors.Join(writeReport(stdout, r.Head(&cfg), out), err)
		} else {
			writeSearch(stdout, p, &out)
		}
		switch unsaved := how.State.Err(); {
		case unsaved != nil && err != nil: // a search that was stopped
			writeNote(stderr, "trtui: %v", unsaved)
		case err == nil && unsaved != nil:
			return unsaved
		case err == nil && s.Best == nil:
			return errNo
		}
		return err
	})
}

// writeConfig writes the file of a configuration, for --config.
func writeConfig(path string, cfg config.Config) error {
	data, err := config.Marshal(cfg)
	if err != nil {
		return err
	}
	_, err = host.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	return err
}

// writeSearch prints the engines that were built, and which is the best.
func writeSearch(w io.Writer, p *place, s *tuneOutput) {
	fmt.Fprintf(w, "%s on %s: %s\n", p.model.Name(), p.work.Data.Name(), s.Goal)
	if p.work.Data.Random() {
		writeNote(w, "random input: accuracy is not meaningful, only agreement is")
	}
	if s.Output != "" {
		predicted := ""
		if s.AllPredicted {
			predicted = "; predicted is that of all outputs together"
		}
		writeNote(w, "SQNR is that of the first output, %s%s", ui.VisibleName(s.Output), predicted)
	}
	fmt.Fprintf(w, "%s built, %s without an engine\n\n", count(len(s.Points), "engine"), count(s.Predictions, "variant"))
	var most time.Duration
	for _, q := range s.Points {
		most = max(most, q.Tuned)
	}
	var rows [][]string
	measure, taskText := "top-1 %", func(v float64) string { return hundredths(100 * v) }
	if len(s.Points) > 0 && s.Points[0].Task != nil {
		switch name := s.Points[0].Task.Name; name {
		case "perplexity":
			measure, taskText = name, hundredths
		default:
			measure = name + " %"
		}
	}
	for i, q := range s.Points {
		mark := ""
		switch {
		case s.Best != nil && *s.Best == i:
			mark = "best"
		case q.Meets:
			mark = "meets it"
		case s.Nearest != nil && *s.Nearest == i:
			mark = "nearest"
		}
		sqnr := "-"
		if q.SQNR != nil {
			sqnr = decibels(*q.SQNR)
		}
		task := "-"
		if q.Task != nil {
			task = taskText(q.Task.Value)
		}
		rows = append(rows, []string{
			fmt.Sprint(i + 1), fmt.Sprint(q.Raised), decibels(q.Predicted), sqnr, task, known(percentageOf(q.Agreement), hundredths),
			us(q.Tuned), bar(float64(q.Tuned)/float64(max(1, most)), 16), ms(q.Latency), bytesText(q.Weights), mark,
		})
	}
	writeTable(w, []string{">engine", ">raised", "~>predicted dB", ">SQNR dB", ">" + measure, ">agree %", ">tuned µs", "~", ">median ms", "~>weights", ""}, rows)
	if len(s.Beside) > 0 {
		fmt.Fprintln(w, "\nbeside FP32 and what was begun with, in the same rounds:")
		rows = nil
		for i := range s.Beside {
			rows = append(rows, besideCells(s, i, taskText))
		}
		writeTable(w, []string{"configuration", ">SQNR dB", ">" + measure, ">agree %", ">median ms", "~>speed", ">weights", ""}, rows)
	}
	best := s.Chosen()
	if best == nil {
		return
	}
	fmt.Fprintln(w)
	if s.Best == nil {
		fmt.Fprintln(w, "nothing that was found meets the goal; the nearest is")
	}
	fmt.Fprintln(w, best.Config.Label(false))
	if best.Config.Precision == config.FP32 {
		fmt.Fprintln(w, "no layer is worth INT8 here")
	}
	if len(best.Config.LayerPrecisions) > 0 {
		fmt.Fprintln(w, "layers: "+strings.Join(best.Config.LayerPrecisions, ", "))
	}
	if s.File != "" {
		fmt.Fprintf(w, "%s: written; build it with --config %s\n", s.File, s.File)
	}
}

// besideCells is the row of what was found, the last one, or of one that it is held against.
func besideCells(s *tuneOutput, i int, taskText func(float64) string) []string {
	r := &s.Beside[i]
	name, median, speed, remark := r.Config.Label(false), ms(r.Latency), "1.00×", ""
	switch {
	case r.SameAs != "":
		median, speed, remark = "-", "-", "same engine as "+r.SameAs
	case r.Speed != nil:
		speed, remark = speedText(*r.Speed, s.Beside[0].Latency, r.Latency)
	}
	if i == len(s.Beside)-1 {
		name = fmt.Sprintf("found: engine %d", 1+*cmp.Or(s.Best, s.Nearest))
	}
	task := "-"
	if r.Task != nil {
		task = taskText(r.Task.Value)
	}
	return []string{name, orDash(r.SQNR), task, known(r.Agreement, hundredths), median, speed, bytesText(r.WeightsBytes), remark}
}

// percentageOf returns a share in percent, nil where there is none.
func percentageOf(share *float64) *float64 {
	if share == nil {
		return nil
	}
	return percentage(*share)
}
