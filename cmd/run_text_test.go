package cmd

import (
	"bytes"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/report"
)

// TestDifferenceText: of an output that differs all measures are told, those of distance and of quality beside those of elements.
func TestDifferenceText(t *testing.T) {
	var b bytes.Buffer
	d := report.TensorDifference{Name: "y", Type: "f32", Count: 10, Differ: 4, Errors: report.Errors{
		MaxAbs: 0.5, MeanAbs: 0.1, MedianAbs: 0.05, MaxRel: 0.25, MeanRel: 0.03, L2: 1.25, Cosine: 1 - 2e-6, SQNR: 31.5, PSNR: 42.25,
	}}
	writeDifference(&b, report.Pair{}, d)
	for _, want := range []string{"max 0.5 at", "mean 0.1, median 0.05", "max 0.25, mean 0.03", "L2 1.25, cosine 1 - 2e-06, PSNR 42.2 dB, SQNR 31.5 dB"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	for v, want := range map[float64]string{1: "1", 0.99: "0.99", -1: "-1"} {
		if got := cosineText(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}

// TestStepsText: how many elements a rounding moved, and whether those are few.
func TestStepsText(t *testing.T) {
	for _, c := range []struct {
		steps report.Steps
		want  string
	}{
		{report.Steps{Scale: 0.02, Elements: 3, Most: 10}, "3 of 1000 elements differ by one step of the scale 0.02, none by more: rounding, which up to 10 may show"},
		{report.Steps{Scale: 1, Elements: 1, Most: 10}, "1 of 1000 elements differs by 1, none by more: rounding, which up to 10 may show"},
		{report.Steps{Scale: 0.02, Elements: 500, Most: 10}, "500 of 1000 elements differ by one step of the scale 0.02, none by more: more than the 10 that rounding alone explains"},
	} {
		if got := stepsText(&c.steps, 1000); got != c.want {
			t.Errorf("%s\nwant\n%s", got, c.want)
		}
	}
}
