package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/ui"
)

// evalRow is one configuration's result in the JSON of trtui eval.
type evalRow struct {
	Precision    string
	Calibrator   string
	Top1         *float64             // percent; null without labels
	Agreement    *float64             // percent of items whose first class is FP32's; null without classes
	Unclassed    string               `json:",omitempty"` // why Agreement is null though there is an output
	Tokens       int                  `json:",omitempty"` // of a text: those that follow another
	Perplexity   *float64             `json:",omitempty"` // of them; null where that is no number
	Task         *report.TaskMetric   `json:",omitempty"` // what counts of the task; null where it is not known
	Detection    *report.Detection    `json:",omitempty"`
	SQNR         float64              `unit:"db" exact:"exact"` // of the first output; null where that cannot be compared
	Outputs      []report.OutputError // all that can be compared, in the model's order
	BesideFirst  *report.Sign         `json:",omitempty"`                           // whether top-1 can be told from the first row\'s
	MAPBeside    *report.Difference   `json:",omitempty" output:"map_beside_first"` // whether the mAP can be
	Latency      time.Duration
	LatencyP99   time.Duration // 0 where the latency is that of rounds side by side
	InRounds     bool          `json:",omitempty"` // of a recording: the latency is what it takes in rounds side by side, not the median of its own measurement
	Speed        *report.Speed // beside the first row, FP32's; null for that, and for the same engine as another row's
	WeightsBytes int
	ArenaBytes   int
	Ranges       string `json:",omitempty"` // of activations: where they come from
	Random       bool   `json:",omitempty" output:"random_data"`
	RandomRanges bool   `json:",omitempty"`
	Emulated     bool   `json:",omitempty"`                       // computed in FP32: latencies and bytes, which would mean nothing, are 0
	Estimated    bool   `json:",omitempty"`                       // latencies are a cost model's
	Reference    bool   `json:",omitempty"`                       // what the others are compared with
	Alone        bool   `json:",omitempty" output:"without_fp32"` // there is no FP32 to compare with
	NotFinite    uint64 `json:",omitempty"`                       // elements of the first output, over all items, that are NaN or infinite here or in FP32
	SameAs       string `json:",omitempty"`                       // the row of the same engine, whose numbers these are
	Unchanged    string `json:",omitempty"`                       // why the precision changes no layer
	Config       config.Config

	Unlike          []report.UnlikeOutput `json:",omitempty"`                      // outputs that cannot be compared on some items
	SQNRWithin      *report.Within        `json:",omitempty" output:"sqnr_within"` // in dB, with 95 % confidence
	AgreementWithin *report.Within        `json:",omitempty"`                      // shares

	cosine bool // is what counts
	offset int  // by how much the labels seem to be off
}

func evalCommand(t tables) *cobra.Command {
	o := onBackends(t)
	var perLayer bool
	var layerItems string
	c := &cobra.Command{
		Use:        "eval [MODEL|ENGINE|RECORDING]",
		SuggestFor: []string{"accuracy", "top1", "agreement", "sqnr", "capability"},
		Short:      "Compare precisions and calibrators: label accuracy, agreement with FP32, SQNR, latency, memory",
		Long: "Compare precisions and calibrators: label accuracy, agreement with FP32, SQNR, latency, memory.\n\n" +
			"An engine is compared with FP32 as it is, with the ranges that it was built with; one that has not got the model that it was\n" +
			"built from (trtui build --keep-source), with the labels of the data alone. New ranges are found if\n" +
			"--calib-data names data for that, if --calibrator lists several, which are compared on the same data, or\n" +
			"if its own come from random input and --data is given. The output says where ranges come from.\n\n" +
			"Of a text, every token counts whose next one is known: perplexity, top-1 and agreement with FP32 are of the\n" +
			"token that the model holds most likely behind the text so far, not behind what it would have written itself.\n\n" +
			"Of a detector, whose --labels are boxes, accuracy is COCO's mean average precision over overlaps of 0.5 to 0.95, and at 0.5.\n" +
			"With --task detection and no boxes, those that FP32 is sure of stand for them. With --task outputs it is the cosine.\n\n" +
			"With --per-layer, layers are compared on the first items alone, by --layer-items on more of them or all: each takes three\n" +
			"inferences, layer by layer. Few do to rank layers; a layer that errs on some items alone shows on many.\n\n" +
			"With --weights, the first row is FP32 with the weights of the model.\n\n" +
			"Of a recording it is what was recorded: every configuration, or the one that is named behind @.\n\n" +
			"A configuration of --config, too, is compared only with FP32, unless --precision or --calibrator list others.",
		Example: examples("precisions and calibrators on labelled data", "trtui eval model.onnx --data test.npz --calib-data calib.npz",
			"two calibrators of INT8", "trtui eval model.onnx --precision int8 --calibrator entropy,mse",
			"a detector and the boxes of its images", "trtui eval yolo.onnx --data val2017/ --labels instances_val2017.json",
			"where an engine loses accuracy", "trtui eval model.engine --data test.npz --per-layer",
			"the same on all items, not the first "+strconv.Itoa(stages.TapItems), "trtui eval model.engine --data test.npz --per-layer --layer-items all",
			"a language model with weights of 4 bits", "trtui eval model.onnx --data text.txt --weights int4",
			"what a recording has of all its configurations", "trtui eval session.trtui",
			"a recurrent model on a sequence", "trtui eval vad.onnx --data chunks.npy --state state=stateN"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("layer-items") {
				if !perLayer {
					return usageError{errors.New("--layer-items is for --per-layer, which is missing")}
				}
				n, err := strconv.Atoi(layerItems)
				switch {
				case layerItems == "all":
					n = math.MaxInt
				case err != nil || n < 1:
					return usageError{fmt.Errorf("--layer-items %q: want a number of items, or all", layerItems)}
				}
				o.tapItems = n
			}
			return eval(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr(), modelArg(args), perLayer)
		},
	}
	o.register(c, takeAll)
	o.config.several("compare")
	o.config.emulates = true
	o.config.lookup("precision").Usage += "; fp8 and fp8-e5m2, floats of 8 bits, are emulated for their accuracy"
	c.Flags().BoolVar(&perLayer, "per-layer", false, "own error and accumulated error of every layer, for the last configuration named; default: int8, "+config.DefaultCalibrator)
	c.Flags().StringVar(&layerItems, "layer-items", "", "the first `NUMBER` of the items that are evaluated, on which --per-layer compares layers, or all; default: "+strconv.Itoa(stages.TapItems))
	under(c, "Report", "per-layer", "layer-items")
	return c
}

// eval prints a row for each precision and, for int8, each calibrator.
func eval(ctx context.Context, o *modelFlags, stdout, stderr io.Writer, path string, perLayer bool) error {
	if err := o.check(); err != nil {
		return err
	}
	switch states, err := parseOperand(path).each(); {
	case err != nil:
		return err
	case states != nil:
		return o.evalRecorded(stdout, path, states, perLayer)
	}
	o.anew = o.config.comparesCalibrators()
	return o.with(path, stderr, func(p *place, r *sessions.Runner) error {
		if err := sessions.Judgeable(r, perLayer); err != nil {
			return err
		}
		configs, err := o.evaluated(p.model, perLayer)
		if err != nil {
			return err
		}
		if perLayer {
			return evalLayers(ctx, o, stdout, r, o.config.layered(p.model, configs))
		}
		given := false
		if o.config.fixed() {
			if configs, given, err = evalOnce(ctx, r, configs); err != nil {
				return err
			}
		}
		rows, offset, err := evalConfigs(ctx, r, p, configs)
		if err != nil {
			return err
		}
		for i := range rows {
			if x := &rows[i]; given && x.Config.Precision == config.INT8 {
				x.Calibrator, x.Ranges, x.RandomRanges = rangesOfFile, "those of "+o.config.quantization.path, false
			}
		}
		if offset != 0 {
			judged := "FP32"
			if rows[0].Alone {
				judged = "the engine"
			}
			writeNote(stderr, "trtui: hint: with %d added to every label %s is right far more often: the model may have a background class; pass --label-offset %d", offset, judged, o.data.labelOffset+offset)
		}
		if o.output.json() {
			return writeReport(stdout, r.Head(nil), struct{ Rows []evalRow }{rows})
		}
		heading := fmt.Sprintf("%s on %s: %s", p.model.Name(), p.work.Data.Name(), count(p.work.Data.Len(), "item"))
		if how := dataset.Brought(p.work.Data); how != "" {
			heading += ", " + how
		}
		return writeEval(stdout, heading, rows)
	})
}

// evaluated returns the configurations that are asked for, FP32, with which all are compared, first: but for an engine without its
// model, of which there is no other configuration than its own.
func (o *modelFlags) evaluated(m *model.Model, perLayer bool) ([]config.Config, error) {
	precisions, calibrators := o.config.listed(m)
	if m.Stripped {
		return o.config.eachFor(m, o.data.shapes, precisions, calibrators)
	}
	fp32 := string(config.FP32)
	added := !slices.Contains(precisions, fp32)
	precisions = append([]string{fp32}, slices.DeleteFunc(slices.Clone(precisions), func(name string) bool { return name == fp32 })...)
	configs, err := o.config.eachFor(m, o.data.shapes, precisions, calibrators)
	if err != nil {
		return nil, err
	}
	switch plain, changed := plainly(configs[0]); {
	case added:
		configs[0] = plain
	case changed && !perLayer:
		configs = append([]config.Config{plain}, configs...)
	}
	return configs, nil
}

// rangesOfFile is in the place of a calibrator where all ranges are those of --ranges.
const rangesOfFile = "file"

// evalOnce leaves one configuration of INT8 where calibrators have no say, since a file has all ranges: they all come to one engine.
// given is false where they do not, and where there is one alone.
func evalOnce(ctx context.Context, r *sessions.Runner, configs []config.Config) (list []config.Config, given bool, err error) {
	first, several := "", 0
	for _, cfg := range configs {
		if cfg.Precision != config.INT8 {
			list = append(list, cfg)
			continue
		}
		id, _, err := r.Identity(ctx, cfg)
		switch {
		case err != nil:
			return nil, false, err
		case several == 0:
			first, list = id, append(list, cfg)
		case id != first:
			return configs, false, nil
		}
		several++
	}
	return list, several > 1, nil
}

// plainly returns a configuration of FP32 with the weights of the model and no layers of other precisions; changed reports whether it
// had others.
func plainly(cfg config.Config) (plain config.Config, changed bool) {
	changed = cfg.Weights != "" || len(cfg.LayerPrecisions) > 0
	cfg.Weights, cfg.LayerPrecisions = "", nil
	return cfg, changed
}

// evalConfigs returns a row for each configuration, and by how much the labels seem to be off. Engines are measured side by
// side; one that two configurations have in common is measured once: what differed would be noise.
func evalConfigs(ctx context.Context, r *sessions.Runner, p *place, configs []config.Config) (rows []evalRow, offset int, err error) {
	var distinct []config.Config
	engines, of := map[string]int{}, make([]int, len(configs)) // by identity, and by row: the place in distinct
	unchanged := make([]string, len(configs))
	for i, cfg := range configs {
		var id string
		if id, unchanged[i], err = r.Identity(ctx, cfg); err != nil {
			return nil, 0, err
		}
		if _, known := engines[id]; !known {
			engines[id] = len(distinct)
			distinct = append(distinct, cfg)
		}
		of[i] = engines[id]
	}
	profiling := run.Profiling{WarmUp: warmUp, Iterations: 50, Duration: evalTime}
	compared, err := r.Compare(ctx, distinct, report.PartOverview|report.PartScore, profiling)
	if err != nil {
		return nil, 0, err
	}
	first := map[int]string{} // what the first row of each engine is called
	for i, cfg := range configs {
		row := newEvalRow(compared[of[i]])
		row.Precision, row.Calibrator, row.Config, row.Unchanged = string(cfg.Precision), p.calibrator(cfg), cfg, unchanged[i]
		if i > 0 && of[i] != of[0] {
			own, other := &compared[of[i]].Accuracy.Labels, &compared[of[0]].Accuracy.Labels
			row.BesideFirst, row.MAPBeside = own.Answers.Beside(other.Answers), own.Detection.Beside(other.Detection)
		}
		if row.Emulated = cfg.Precision.Emulated(); row.Emulated {
			row.Latency, row.LatencyP99, row.Speed, row.WeightsBytes, row.ArenaBytes = 0, 0, nil, 0, 0
		}
		if same, known := first[of[i]]; known {
			row.SameAs, row.Speed, row.Reference = same, nil, false
		} else {
			first[of[i]] = strings.TrimSpace(row.precision() + " " + row.Calibrator)
		}
		rows, offset = append(rows, row), row.offset
	}
	return rows, offset, nil
}

// calibrator names what gives a configuration its ranges; "" where nothing does.
func (p *place) calibrator(cfg config.Config) string {
	switch {
	case p.model.Quantized && cfg.Precision == config.INT8:
		return report.OwnName
	case cfg.Quantizes() && !p.model.Quantized:
		return cfg.Calibrator
	}
	return ""
}

func newEvalRow(c sessions.Compared) evalRow {
	acc := c.Accuracy
	row := evalRow{
		Ranges: acc.Ranges, Reference: acc.Reference, Alone: acc.Alone, Latency: c.Overview.Latency.Median, LatencyP99: c.Overview.Latency.P99, Speed: c.Speed,
		WeightsBytes: c.Memory.Weights, ArenaBytes: c.Memory.Peak, Random: acc.Random, RandomRanges: acc.RandomRanges,
		Estimated: c.Timings.Estimated, offset: acc.Labels.Offset,
		Top1: percentage(acc.Labels.Top1), Agreement: percentage(acc.Labels.Agreement),
	}
	row.Unclassed = acc.Labels.Unclassed
	row.Tokens, row.Perplexity = acc.Labels.Tokens, acc.Labels.Perplexity
	row.Detection, row.cosine = acc.Labels.Detection, acc.Task == report.TaskOutputs
	if m, ok := acc.Metric(); ok {
		row.Task = &m
	}
	row.Outputs = acc.Outputs
	row.Unlike, row.AgreementWithin, row.SQNR = acc.Unlike, acc.Labels.AgreementWithin, math.NaN()
	if first := acc.First(); first != nil {
		row.SQNRWithin, row.SQNR, row.NotFinite = first.SQNRWithin, first.SQNR, first.NotFinite
	}
	return row
}

// percentage returns a share in percent, nil where there is none.
func percentage(share float64) *float64 {
	if share < 0 {
		return nil
	}
	share *= 100
	return &share
}

// writeRanges says where the ranges of rows come from, and of which calibrators where not all are from there.
func writeRanges(w io.Writer, rows []evalRow) {
	var from []string
	of := map[string][]string{} // calibrators
	for _, r := range rows {
		if r.Ranges == "" {
			continue
		}
		if of[r.Ranges] == nil {
			from = append(from, r.Ranges)
		}
		if !slices.Contains(of[r.Ranges], r.Calibrator) {
			of[r.Ranges] = append(of[r.Ranges], r.Calibrator)
		}
	}
	for _, said := range from {
		if len(from) == 1 {
			writeNote(w, "ranges: %s", said)
			continue
		}
		writeNote(w, "ranges of %s: %s", strings.Join(of[said], ", "), said)
	}
}

// writeEval prints rows under a heading, which names model and data.
func writeEval(w io.Writer, heading string, rows []evalRow) error {
	writeNote(w, "%s", heading)
	if rows[0].Random {
		writeNote(w, "random input: accuracy is not meaningful, only agreement is")
	}
	for _, input := range slices.Sorted(maps.Keys(rows[0].Config.State)) {
		writeNote(w, "state: %s is %s of the item before", input, rows[0].Config.State[input])
	}
	if slices.ContainsFunc(rows, func(r evalRow) bool { return r.RandomRanges }) {
		writeNote(w, "random calibration: ranges come from random input and say nothing about real inputs")
	}
	if rows[0].Alone {
		writeNote(w, "%s", report.WhyAlone)
	}
	writeRanges(w, rows)
	if slices.ContainsFunc(rows, func(r evalRow) bool { return r.Emulated }) {
		writeNote(w, "emulated: fp8 is what floats of 8 bits hold of inputs and weights of products, computed in float32; it has no times and no memory")
	}
	if rows[0].Estimated {
		fmt.Fprintln(w, "estimated: latencies are computed from what the simulator counted, not measured")
	}
	said := ""
	for _, r := range rows {
		if r.Unchanged != said && r.Unchanged != "" {
			said = r.Unchanged
			writeNote(w, "%s", said)
		}
	}
	fmt.Fprintln(w)
	var lines [][]string
	text, boxes := rows[0].Tokens > 0, rows[0].Detection
	if slices.ContainsFunc(rows, func(r evalRow) bool { return r.Detection == nil }) {
		boxes = nil
	}
	for _, r := range rows {
		median, p99, speed, remark := ms(r.Latency), ms(r.LatencyP99), "1.00×", ""
		if r.InRounds {
			p99 = "-"
		}
		if r.Speed != nil {
			speed, remark = speedText(*r.Speed, rows[0].Latency, r.Latency)
		}
		if r.Reference && len(rows) > 1 {
			remark = "reference"
		}
		if r.SameAs != "" {
			median, p99, speed, remark = "-", "-", "-", "same engine as "+r.SameAs
		}
		weights, arena := bytesText(r.WeightsBytes), bytesText(r.ArenaBytes)
		if r.Emulated {
			median, p99, speed, remark, weights, arena = "-", "-", "-", "emulated", "-", "-"
		}
		if r.NotFinite > 0 {
			remark = strings.TrimSuffix(count(int(r.NotFinite), "element")+" NaN or infinite; "+remark, "; ")
		}
		if s := r.BesideFirst; s != nil && !s.Apart() {
			remark = strings.TrimSuffix("top-1 not told from the first on "+count(s.Items, "item")+"; "+remark, "; ")
		}
		if d := r.MAPBeside; d != nil && !d.Apart() {
			remark = strings.TrimSuffix("mAP not told from the first on "+count(d.Items, "image")+"; "+remark, "; ")
		}
		line := []string{
			r.precision(), r.Calibrator, known(r.Top1, hundredths), known(r.Agreement, hundredths), orDash(r.SQNR),
			median, p99, speed, weights, arena, remark,
		}
		switch {
		case text:
			line = slices.Insert(line, 2, known(r.Perplexity, hundredths))
		case boxes != nil:
			line = slices.Replace(line, 2, 4, hundredths(100*r.Detection.MAP), hundredths(100*r.Detection.MAP50))
		case rows[0].cosine:
			line = slices.Replace(line, 2, 4, known(r.taskValue(), func(v float64) string { return fmt.Sprintf("%.6f", v) }))
		}
		lines = append(lines, line)
	}
	head := []string{"precision", "calibrator", ">top-1 %", ">agree %", ">SQNR dB", ">median ms", "~>p99 ms", "~>speed", "~>weights", ">arena", ""}
	switch {
	case text:
		head = slices.Insert(head, 2, ">perplexity")
		fmt.Fprintf(w, "of %s that follow another\n", count(rows[0].Tokens, "token"))
	case boxes != nil:
		head = slices.Replace(head, 2, 4, ">mAP %", ">mAP50 %")
		fmt.Fprintln(w, boxesText(boxes))
	case rows[0].cosine:
		head = slices.Replace(head, 2, 4, ">cosine")
	}
	writeTable(w, head, lines)
	writeOtherOutputs(w, rows)
	if why := rows[0].Unclassed; why != "" {
		writeNote(w, "no agreement of classes: %s; SQNR tells how far outputs are", why)
	}
	for _, r := range rows {
		for _, u := range r.Unlike {
			writeNote(w, "%s: output %s %s", strings.TrimSpace(r.precision()+" "+r.Calibrator), ui.VisibleName(u.Name), u.Why())
		}
	}
	return nil
}

// boxesText says what boxes a precision is of.
func boxesText(d *report.Detection) string {
	of := fmt.Sprintf("of %s of %s, outputs in the form %s", count(d.Boxes, "box"), config.CountOf(d.Classes, "class", "classes"), d.Form)
	if d.AgainstFP32Boxes {
		of += "; the data has no boxes: those that FP32 is sure of stand for them"
	}
	return of
}

// taskValue is the figure that counts of the task; nil where it is not known.
func (r evalRow) taskValue() *float64 {
	if r.Task == nil {
		return nil
	}
	return &r.Task.Value
}

// precision names the precision, and what weights are rounded to beside it.
func (r evalRow) precision() string {
	if r.Config.Weights == "" {
		return r.Precision
	}
	text := r.Precision + ", " + r.Config.Weights + " weights"
	if by := r.Config.Quantization.Full().Rounding; by != "nearest" {
		text += " by " + by
	}
	return text
}

// speedText prints how many times as fast as another one is by the times of both, with a remark where that says little, or where rounds
// have another ratio.
func speedText(s report.Speed, reference, own time.Duration) (speed, remark string) {
	said := s.Beside(reference, own)
	speed = fmt.Sprintf("%.2f×", said.Ratio)
	var remarks []string
	if !s.Significant {
		remarks = append(remarks, s.Undecided())
	}
	if said.Rounds != 0 {
		remarks = append(remarks, fmt.Sprintf("%.2f× in rounds", said.Rounds))
	}
	if !s.SideBySide {
		remarks = append(remarks, "not measured side by side")
	}
	return speed, strings.Join(remarks, "; ")
}

// hundredths prints a number with two digits behind the point.
func hundredths(v float64) string { return fmt.Sprintf("%.2f", v) }
