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
}

// tolerances are the values of these flags by output.
type tolerances struct {
	atol, rtol, quantile map[string]float64
	statistic            byOutput
}

const (
	statisticFlag = "check-error-stat"
	quantileFlag  = "error-quantile"
)

// usualQuantile is the one of outputs that none is given for, as in Polygraphy.
const usualQuantile = 0.99

// tolerance defines the flags.
func (f *toleranceFlags) tolerance(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.atol, "atol", nil, "absolute tolerance, `[OUTPUT:]NUMBER`; if only --rtol is given 1e-5, in fp16 and for 16-bit tensors 1e-3")
	flags.StringSliceVar(&f.rtol, "rtol", nil, "relative tolerance, `[OUTPUT:]NUMBER`; if only --atol is given 1e-4, in fp16 and for 16-bit tensors 1e-2")
	flags.StringSliceVar(&f.statistic, statisticFlag, nil, "what is to be within the tolerance, `[OUTPUT:]STATISTIC`: "+compare.Elementwise+", which is usual, or "+strings.Join(compare.Statistics(), ", "))
	flags.StringSliceVar(&f.quantile, quantileFlag, nil, "the share of elements whose differences are to be within the tolerance, `[OUTPUT:]NUMBER`, for --"+statisticFlag+" quantile (default: 0.99)")
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
	known := append([]string{compare.Elementwise}, compare.Statistics()...)
	for _, s := range t.statistic {
		if !slices.Contains(known, s) {
			return t, usageError{fmt.Errorf("--%s %s: want %s, or OUTPUT: and one of them", statisticFlag, s, orList(known))}
		}
	}
	return t, nil
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
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// checkNames returns an error where an output is named that the model does not have.
func (t *tolerances) checkNames(n *graph.Network) error {
	var has []string
	for _, out := range n.Outputs {
		has = append(has, out.Name)
	}
	for _, name := range t.named() {
		if !slices.Contains(has, name) {
			return usageError{fmt.Errorf("a tolerance is for output %s, which the model does not have: it has %s%s", name, strings.Join(has, ", "), config.DidYouMean(name, has))}
		}
	}
	return nil
}

// of returns what is checked of an output, "" for those that are not named; where only one tolerance is given the other is usual.
func (t *tolerances) of(name string, usual report.Tolerance) compare.Check {
	c := compare.Check{Tolerance: usual, Statistic: t.statistic[""], Quantile: usualQuantile}
	for _, from := range []string{"", name} {
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
	how := compare.Options{Check: t.of("", usual), Half: t.of("", half).Tolerance, Outputs: map[string]compare.Check{}}
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
