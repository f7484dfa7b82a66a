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
