package cmd

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestCalibrateOwn shows the ranges that a quantised model brings beside those of calibrators, in text and JSON, also where they were
// dropped, and none of a model that brings none.
func TestCalibrateOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("calibrates the embedded model")
	}
	few, qdq := few(t), filepath.Join(t.TempDir(), "qdq.onnx")
	command(t, 0, append([]string{"export", "--qdq", "-q", "--rounding", "nearest", "--equalization", "off", "-o", qdq}, few...)...)
	for _, c := range []struct {
		args []string
		own  bool
	}{{[]string{qdq}, true}, {[]string{qdq, "--requantize"}, true}, {nil, false}} {
		args := append(append([]string{"calibrate", "-q"}, c.args...), few...)
		text, _ := command(t, 0, args...)
		if strings.Contains(text, "the model's") != c.own {
			t.Errorf("%v prints\n%s", c.args, text)
		}
		out, _ := command(t, 0, append(args, "--format", "json")...)
		var r struct {
			Tensors []struct {
				By  []struct{ Scale float64 }
				Own *struct {
					Scale float64
					Zero  int
					Type  string
					Sqnr  float64 `json:"sqnr_db"`
				}
			}
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		own := 0
		for _, tensor := range r.Tensors {
			if o := tensor.Own; o != nil {
				if own++; o.Scale <= 0 || o.Type != "u8" || o.Sqnr < 15 {
					t.Errorf("%v: the model's own is %+v", c.args, o)
				}
			}
		}
		if own > 0 != c.own {
			t.Errorf("%v: JSON has %d ranges of the model", c.args, own)
		}
	}
}
