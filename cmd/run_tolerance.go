package cmd

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// byOutput are the values of a flag in Polygraphy's spelling, [OUTPUT:]VALUE: "" has the one for all other outputs.
type byOutput map[string]string

// parseByOutput reads a flag's values. Names of outputs may have colons.
func parseByOutput(flag string, list []string) (byOutput, error) {
	by := byOutput{}
	for _, text := range list {
		name, value := "", text
		if at := strings.LastIndexByte(text, ':'); at >= 0 {
			name, value = text[:at], text[at+1:]
		}
		if _, ok := by[name]; ok {
			return nil, usageError{fmt.Errorf("--%s %s: it was given for that output already", flag, text)}
		}
		by[name] = value
	}
	return by, nil
}

// numbers reads the values as tolerances.
func (b byOutput) numbers(flag string) (map[string]float64, error) {
	numbers := map[string]float64{}
	for name, text := range b {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= 0) {
			return nil, usageError{fmt.Errorf("--%s %s: want a number of 0 or more, or OUTPUT:NUMBER", flag, text)}
		}
		numbers[name] = v
	}
	return numbers, nil
}

// toleranceFlags say when outputs agree.
type toleranceFlags struct {
	atol, rtol, statistic, quantile []string
	functions, post                 []string
	limits                          map[string]*[]string // of metrics, by name
}

// tolerances are the values of these flags by output.
type tolerances struct {
	atol, rtol, quantile map[string]float64
	statistic            byOutput
	metrics              map[string]map[string]float64 // limits of those that judge, by output
	alone                bool                          // and nothing else does
	top                  map[string]compare.Top
}

const (
	statisticFlag = "check-error-stat"
	quantileFlag  = "error-quantile"
	functionFlag  = "compare-func"
	postFlag      = "postprocess"
	simple        = "simple"             // the function that tolerances are of
	perceptual    = "perceptual_metrics" // one of Polygraphy's that is not here
)

// functionGroups are functions that stand for several.
var functionGroups = map[string][]string{"distance_metrics": {"l2", "cosine_similarity"}, "quality_metrics": {"psnr", "snr"}}

// functionNames lists what --compare-func may name.
func functionNames() []string {
	names := []string{simple}
	for _, m := range compare.Metrics() {
		names = append(names, m.Name)
	}
	return append(names, slices.Sorted(maps.Keys(functionGroups))...)
}

// limitFlag names the flag that limits a metric, as Polygraphy does.
func limitFlag(metric string) string {
	if metric == "indices" {
		return "index-tolerance"
	}
	return strings.ReplaceAll(metric, "_", "-") + "-threshold"
}

// usualQuantile is the one of outputs that none is given for, as in Polygraphy.
const usualQuantile = 0.99

// tolerance defines the flags.
func (f *toleranceFlags) tolerance(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.atol, "atol", nil, "absolute tolerance, `[OUTPUT:]NUMBER`; if only --rtol is given 1e-5, in fp16 and for 16-bit tensors 1e-3")
	flags.StringSliceVar(&f.rtol, "rtol", nil, "relative tolerance, `[OUTPUT:]NUMBER`; if only --atol is given 1e-4, in fp16 and for 16-bit tensors 1e-2")
	flags.StringSliceVar(&f.statistic, statisticFlag, nil, "what is to be within the tolerance, `[OUTPUT:]STATISTIC`: "+compare.Elementwise+", which is usual, or "+strings.Join(compare.Statistics(), ", "))
	flags.StringSliceVar(&f.quantile, quantileFlag, nil, "the share of elements whose differences are to be within the tolerance, `[OUTPUT:]NUMBER`, for --"+statisticFlag+" quantile (default: 0.99)")
	flags.StringSliceVar(&f.functions, functionFlag, nil, "by what outputs are judged, all of the functions given: "+simple+", the tolerances, which is usual; "+metricDocs()+"; distance_metrics and quality_metrics are the first two of these and the next two")
	flags.StringArrayVar(&f.post, postFlag, nil, "compare the places of the K highest elements of an output in place of it, `[OUTPUT:]top-K[,axis=N]`; of the last axis by default; may be repeated")
	f.limits = map[string]*[]string{}
	for _, m := range compare.Metrics() {
		side := "at most"
		if m.Least {
			side = "at least"
		}
		list := new([]string)
		f.limits[m.Name] = list
		flags.StringSliceVar(list, limitFlag(m.Name), nil, fmt.Sprintf("what --%s %s is to be %s, `[OUTPUT:]NUMBER` (default: %g)", functionFlag, m.Name, side, m.Usual))
	}
}

// toleranceNames are the flags, in their order.
func toleranceNames() []string {
	names := []string{"atol", "rtol", statisticFlag, quantileFlag, functionFlag}
	for _, m := range compare.Metrics() {
		names = append(names, limitFlag(m.Name))
	}
	return append(names, postFlag)
}

func metricDocs() string {
	var docs []string
	for _, m := range compare.Metrics() {
		docs = append(docs, m.Name+", "+m.Doc)
	}
	return strings.Join(docs, "; ")
}

func (f *toleranceFlags) parse() (t tolerances, err error) {
	for _, one := range []struct {
		flag string
		list []string
		to   *map[string]float64
	}{{"atol", f.atol, &t.atol}, {"rtol", f.rtol, &t.rtol}, {quantileFlag, f.quantile, &t.quantile}} {
		by, err := parseByOutput(one.flag, one.list)
		if err == nil {
			*one.to, err = by.numbers(one.flag)
		}
		if err != nil {
			return t, err
		}
	}
	if t.statistic, err = parseByOutput(statisticFlag, f.statistic); err != nil {
		return t, err
	}
	for name, q := range t.quantile {
		if q > 1 {
			return t, usageError{fmt.Errorf("--%s %g: want a share of the elements, from 0 to 1", quantileFlag, q)}
		}
		if s := cmp.Or(t.statistic[name], t.statistic[""]); s != "quantile" {
			return t, usageError{fmt.Errorf("--%s is for --%s quantile", quantileFlag, statisticFlag)}
		}
	}
	if err := f.parseFunctions(&t); err != nil {
		return t, err
	}
	if err := f.parsePost(&t); err != nil {
		return t, err
	}
	known := append([]string{compare.Elementwise}, compare.Statistics()...)
	for _, s := range t.statistic {
		if !slices.Contains(known, s) {
			return t, usageError{fmt.Errorf("--%s %s: want %s, or OUTPUT: and one of them", statisticFlag, s, orList(known))}
		}
	}
	return t, nil
}

// parseFunctions reads by which metrics outputs are judged, and their limits.
func (f *toleranceFlags) parseFunctions(t *tolerances) error {
	names := functionNames()
	asked := map[string]bool{}
	for _, name := range f.functions {
		if name == perceptual {
			return usageError{fmt.Errorf("--%s %s: LPIPS is computed by a network that was trained on what people see, which is not here; quality_metrics, psnr and snr, compare images", functionFlag, name)}
		}
		if !slices.Contains(names, name) {
			return usageError{fmt.Errorf("--%s %s: want %s", functionFlag, name, orList(names))}
		}
		group, ok := functionGroups[name]
		if !ok {
			group = []string{name}
		}
		for _, one := range group {
			asked[one] = true
		}
	}
	t.alone, t.metrics = len(asked) > 0 && !asked[simple], map[string]map[string]float64{}
	for _, m := range compare.Metrics() {
		flag := limitFlag(m.Name)
		by, err := parseByOutput(flag, *f.limits[m.Name])
		if err != nil {
			return err
		}
		limits, err := by.numbers(flag)
		switch {
		case err != nil:
			return err
		case len(limits) > 0 && !asked[m.Name]:
			return usageError{fmt.Errorf("--%s is for --%s %s", flag, functionFlag, m.Name)}
		case !asked[m.Name]:
			continue
		}
		if _, ok := limits[""]; !ok {
			limits[""] = m.Usual
		}
		for output, limit := range limits {
			if t.metrics[output] == nil {
				t.metrics[output] = map[string]float64{}
			}
			t.metrics[output][m.Name] = limit
		}
	}
	if t.alone && len(f.atol)+len(f.rtol)+len(f.statistic) > 0 {
		return usageError{fmt.Errorf("--atol, --rtol and --%s are for --%s %s, which is not asked for", statisticFlag, functionFlag, simple)}
	}
	return nil
}

// parsePost reads of which outputs places are compared.
func (f *toleranceFlags) parsePost(t *tolerances) error {
	by, err := parseByOutput(postFlag, f.post)
	if err != nil {
		return err
	}
	t.top = map[string]compare.Top{}
	for output, text := range by {
		count, axis, along := strings.Cut(strings.TrimPrefix(text, "top-"), ",axis=")
		top := compare.Top{Axis: -1}
		top.K, err = strconv.Atoi(count)
		if err == nil && along {
			top.Axis, err = strconv.Atoi(axis)
		}
		if err != nil || top.K < 1 || !strings.HasPrefix(text, "top-") {
			return usageError{fmt.Errorf("--%s %s: want top-K or top-K,axis=N, or that behind OUTPUT: for one output", postFlag, text)}
		}
		t.top[output] = top
	}
	return nil
}

// given reports whether any of them is for outputs that are not named.
func (t *tolerances) given() bool {
	_, atol := t.atol[""]
	_, rtol := t.rtol[""]
	_, statistic := t.statistic[""]
	return atol || rtol || statistic
}

// named returns the outputs that are named, in order.
func (t *tolerances) named() []string {
	names := map[string]bool{}
	for _, of := range []map[string]float64{t.atol, t.rtol, t.quantile} {
		for name := range of {
			names[name] = true
		}
	}
	for name := range t.statistic {
		names[name] = true
	}
	for output := range t.metrics {
		names[output] = true
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// checkNames returns an error where an output is named that the model does not have.
func (t *tolerances) checkNames(n *graph.Network) error {
	var has []string
	for _, out := range n.Outputs {
		has = append(has, out.Name)
	}
	for _, name := range slices.Concat(t.named(), slices.Sorted(maps.Keys(t.top))) {
		if name != "" && !slices.Contains(has, name) {
			return usageError{fmt.Errorf("a tolerance is for output %s, which the model does not have: it has %s%s", name, strings.Join(has, ", "), config.DidYouMean(name, has))}
		}
	}
	return nil
}

// of returns what is checked of an output, "" for those that are not named; where only one tolerance is given the other is usual.
func (t *tolerances) of(name string, usual report.Tolerance) compare.Check {
	c := compare.Check{Tolerance: usual, Statistic: t.statistic[""], Quantile: usualQuantile}
	c.Measures = compare.Measures{Limits: map[string]float64{}, Alone: t.alone}
	for _, from := range []string{"", name} {
		maps.Copy(c.Measures.Limits, t.metrics[from])
		if v, ok := t.atol[from]; ok {
			c.Abs = v
		}
		if v, ok := t.rtol[from]; ok {
			c.Rel = v
		}
		if v, ok := t.statistic[from]; ok {
			c.Statistic = v
		}
		if v, ok := t.quantile[from]; ok {
			c.Quantile = v
		}
	}
	return c
}

// comparing returns how runs are compared: with the tolerances that are given or, where there are none, with such as rounding
// stays within, for the precision and for the types of tensors. INT8's are FP32's, since every backend computes the same
// integers.
func (t *tolerances) comparing(p config.Precision) compare.Options {
	usual, half := report.Tolerance{Abs: 1e-5, Rel: 1e-4}, report.Tolerance{Abs: 1e-3, Rel: 1e-2}
	if p == config.FP16 {
		usual = half
	}
	how := compare.Options{Check: t.of("", usual), Half: t.of("", half).Tolerance, Outputs: map[string]compare.Check{}, Top: t.top}
	for _, name := range t.named() {
		how.Outputs[name] = t.of(name, usual)
	}
	if !t.given() {
		how.Check.Tolerance, how.Half, how.Scaled = report.Tolerance{Abs: 1e-4, Rel: 1e-4}, report.Tolerance{Abs: 3e-2, Rel: 1e-2}, true
		how.Unexplained = how.Half
		if p == config.FP32 {
			how.Unexplained = how.Check.Tolerance
		}
	}
	return how
}
