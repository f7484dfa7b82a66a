package calibration

import "strings"

// parameters are the steps of the calibrators that have one.
var parameters = []struct {
	of    string // what stands before the parameter
	steps []float64
	bare  bool // the last step is the calibrator without a parameter
}{
	{"percentile:", []float64{90, 95, 98, 99, 99.5, 99.9, 99.95, 99.99, 99.995, 99.999, 99.9995, 99.9999, 100}, false},
	{"entropy:bins=", []float64{128, 256, 512, 1024, 2048}, true},
}

// HasParameter reports whether a calibrator has one that keys move.
func HasParameter(calibrator string) bool {
	for _, p := range parameters {
		if name, _, _ := strings.Cut(p.of, ":"); calibrator == name || strings.HasPrefix(calibrator, p.of) {
			return true
		}
	}
	return false
}
