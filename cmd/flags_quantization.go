package cmd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/stages"
)

// quantizationFlags say how layers in 8 bits are quantised, beside --calibrator.
type quantizationFlags struct {
	config.Quantization
	correction string
	ranges     []string
	path       string
	file       *stages.CalibrationFile // that is at path, once it was read
	flags      *pflag.FlagSet
}

func (q *quantizationFlags) define(f, rounding *pflag.FlagSet) {
	q.flags = f
	def := config.DefaultQuantization()
	f.StringVar(&q.Activations, "activations", def.Activations, "`SCHEME` of activations in int8: "+orList(config.Schemes()))
	f.StringVar(&q.WeightScales, "weight-scales", def.WeightScales, "one scale of weights for each output `channel`, or one for all of a layer's: channel or tensor")
	f.StringVar(&q.WeightRanges, "weight-ranges", def.WeightRanges, "`KIND` of the ranges of weights: minmax, mse or percentile[:P]; with /7bit behind it integers of -64 to 64 alone, for programs that add products of bytes in 16 bits, as ONNX Runtime and OpenVINO do without VNNI")
	f.StringSliceVar(&q.Keep, "keep", nil, "`LAYERS` that stay in floating point: first, last, all of an op, as in first,Gemm, or residuals, what products add to their results; by name: --layer-precisions")
	f.StringArrayVar(&q.ranges, "range", nil, "range of a tensor in place of the calibrator's, as `TENSOR=AMAX` or TENSOR=LEAST:LARGEST; may be repeated")
	f.StringVar(&q.path, "ranges", "", "`FILE` of trtui calibrate -o: its ranges, or with --calibrator those which that finds by its histograms; or a calibration cache of TensorRT; no data is needed, and --calib-data gives what corrects biases and rounds weights better")
	f.StringVar(&q.Equalization, "equalization", def.Equalization, "`HOW` channels are scaled so that one range suits them all, the results in fp32 staying as they are: off, weights, activations[:A], of which the share A goes into weights, or auto: off or activations, by which calibration items that are held out lose less")
	rounding.StringVar(&q.Rounding, "rounding", def.Rounding, "`HOW` weights become integers, those of --weights too: nearest, gptq[:ordered], by what they are multiplied by on the calibration data, compensated, gptq of weights that take back what the layers before lost, for which --bias-correction is exact, and which for --weights alone is gptq, or auto: nearest or gptq, by which calibration items that are held out lose less")
	f.StringVar(&q.correction, "bias-correction", string(def.BiasCorrection), "what biases take back of rounding: off, fast (of weights, by the means of activations) or exact (of activations too, layer by layer on the calibration data)")
}

// read reads the file of --ranges.
func (q *quantizationFlags) read() (err error) {
	if q.path != "" && q.file == nil {
		q.file, err = stages.ReadCalibration(q.path)
	}
	return err
}

// symmetric reports whether activations are quantised symmetrically since the ranges of the file are meant so.
func (q *quantizationFlags) symmetric() bool {
	return q.file != nil && q.file.Symmetric() && !q.flags.Changed("activations")
}

// fit leaves out of the file of --ranges what is not in a model, where that may be.
func (q *quantizationFlags) fit(m *model.Model) error {
	if err := q.read(); err != nil || q.file == nil {
		return err
	}
	return q.file.Fit(m)
}

// notes says what is doubtful about the file of --ranges.
func (q *quantizationFlags) notes() []string {
	if q.file == nil {
		return nil
	}
	return q.file.Notes()
}

// fixed reports whether the file of --ranges says which range each tensor has that it has.
func (g *configFlags) fixed() bool {
	q := &g.quantization
	return q.file != nil && !(g.changed("calibrator") && q.file.HasHistograms())
}

// asked returns what the flags and their defaults say; calibrated: a calibrator was given.
func (q *quantizationFlags) asked(calibrated bool) (r config.Quantization, err error) {
	r = q.Quantization
	if err = q.read(); err != nil {
		return r, err
	}
	if q.file != nil && !(calibrated && q.file.HasHistograms()) {
		r.Ranges = q.file.Ranges()
	}
	if q.symmetric() {
		r.Activations = "symmetric"
	}
	r.BiasCorrection = quant.BiasCorrection(q.correction)
	for _, text := range q.ranges {
		name, lo, hi, err := parseRange(text)
		if err != nil {
			return r, err
		}
		if r.Ranges == nil {
			r.Ranges = map[string][]float64{}
		}
		r.Ranges[name] = []float64{lo, hi}
	}
	if err = r.Check(); err != nil {
		err = fmt.Errorf("--%s", strings.ReplaceAll(err.Error(), "_", "-"))
	}
	return r.Effective(), err
}

// parseRange reads TENSOR=AMAX or TENSOR=LEAST:LARGEST; a name may hold further equals signs.
func parseRange(text string) (name string, lo, hi float64, err error) {
	wrong := fmt.Errorf("--range %q: want TENSOR=AMAX or TENSOR=LEAST:LARGEST, with zero between them", text)
	at := strings.LastIndexByte(text, '=')
	if at < 1 {
		return "", 0, 0, wrong
	}
	least, largest, both := strings.Cut(text[at+1:], ":")
	if !both {
		least, largest = "-"+least, least
	}
	if lo, err = strconv.ParseFloat(least, 64); err != nil {
		return "", 0, 0, wrong
	}
	if hi, err = strconv.ParseFloat(largest, 64); err != nil || !(lo <= 0 && hi >= 0 && lo < hi) {
		return "", 0, 0, wrong
	}
	return text[:at], lo, hi, nil
}

// over sets what flags were given for.
func (q *quantizationFlags) over(g *configFlags, to *config.Quantization, asked config.Quantization) {
	if g.changed("activations") || q.symmetric() {
		to.Activations = asked.Activations
	}
	given(g, "weight-scales", &to.WeightScales, asked.WeightScales)
	given(g, "weight-ranges", &to.WeightRanges, asked.WeightRanges)
	given(g, "keep", &to.Keep, asked.Keep)
	if g.changed("range", "ranges") {
		to.Ranges = asked.Ranges
	}
	given(g, "equalization", &to.Equalization, asked.Equalization)
	given(g, "rounding", &to.Rounding, asked.Rounding)
	given(g, "bias-correction", &to.BiasCorrection, asked.BiasCorrection)
}
