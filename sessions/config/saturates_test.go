package config

import "testing"

// TestSaturates: products of unsigned bytes with weights of 8 bits may exceed 16 bits; signed ones and weights of 7 bits do not.
func TestSaturates(t *testing.T) {
	for _, c := range []struct {
		q    Quantization
		want bool
	}{
		{Quantization{}, true},
		{Quantization{Activations: "symmetric:u8"}, true},
		{Quantization{Activations: "symmetric"}, false},
		{Quantization{WeightRanges: "minmax/7bit"}, false},
		{Quantization{Activations: "asymmetric", WeightRanges: "mse"}, true},
	} {
		if got := c.q.Saturates(); got != c.want {
			t.Errorf("%+v: got %v", c.q, got)
		}
	}
}
