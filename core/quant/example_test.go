package quant_test

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
)

// Calibrators choose a range from the histogram of a tensor's values: minmax clips nothing, percentile leaves out the few
// that are far off.
func ExampleParseCalibrator() {
	values := make([]float32, 10_000)
	for i := range values {
		values[i] = float32(i%1000) / 1000
	}
	values[17] = 12.7
	h := &quant.Histogram{}
	h.AddValue(numeric.Values(numeric.F32, values, len(values)), numeric.Range{})
	for _, text := range []string{"minmax", "percentile:99.9"} {
		c, err := quant.ParseCalibrator(text, quant.Scheme{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %.2f\n", c, quant.AMax(c.Range(h)))
	}
	// Output:
	// minmax: 12.70
	// percentile:99.9: 1.00
}
