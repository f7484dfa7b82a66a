package exchange

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/report"
)

// caches are files as TensorRT writes them, with the largest magnitudes that were calibrated: 3c010204 is a 127th.
var caches = []struct {
	header, text string
	scales       []TensorScale
}{
	{"TRT-8601-EntropyCalibration2", "images: 3c010204\n", []TensorScale{{"images", 1. / 127}}},
	{"TRT-100300-MinMaxCalibration", "a: 3c010a14\nb:0: 40b7daf4\n(Unnamed Layer* 3) [Convolution]_output: 3f800000\n",
		[]TensorScale{{"a", 0.00787594}, {"b:0", 5.745478}, {"(Unnamed Layer* 3) [Convolution]_output", 1}}},
	{"TRT-7103-EntropyCalibration2", "x: 00000000\ny: 3f800000\n", []TensorScale{{"x", 0}, {"y", 1}}},
}

// TestCalibrationCache reads what TensorRT writes and writes it again to the byte.
func TestCalibrationCache(t *testing.T) {
	for _, want := range caches {
		file := []byte(want.header + "\n" + want.text)
		c, err := ParseCalibrationCache(file)
		if err != nil {
			t.Fatalf("%s: %v", want.header, err)
		}
		if c.Header != want.header || len(c.Scales) != len(want.scales) {
			t.Errorf("%s: read as %+v", want.header, c)
		}
		for i, s := range c.Scales {
			if w := want.scales[i]; s.Tensor != w.Tensor || math.Abs(float64(s.Scale-w.Scale)) > 1e-6*float64(w.Scale) {
				t.Errorf("%s: %+v, want %+v", want.header, s, w)
			}
		}
		if got := c.Bytes(); !bytes.Equal(got, file) {
			t.Errorf("%s: written as %q", want.header, got)
		}
	}
	if c, err := ParseCalibrationCache([]byte("TRT-8601-EntropyCalibration2\r\nx: 3F800000\r\n\r\n")); err != nil || c.Algorithm() != "EntropyCalibration2" || c.Scales[0].Scale != 1 {
		t.Errorf("lines of Windows, upper case: %+v, %v", c, err)
	}
}

// TestCalibrationCacheErrors names the line of what is wrong.
func TestCalibrationCacheErrors(t *testing.T) {
	for text, says := range map[string]string{
		"":                                    "line 1",
		"x: 3f800000\n":                       "line 1: want TRT-",
		"TRT-8601-A\n":                        "has no tensors",
		"TRT-8601-A\nx: 3f800000\nx 3f\n":     "line 3: \"x 3f\"",
		"TRT-8601-A\nx: 0.5\n":                "line 2: tensor \"x\": \"0.5\" are not 8",
		"TRT-8601-A\nx: 123456789\n":          "not 8 hexadecimal digits",
		"TRT-8601-A\nx: 7fc00000\n":           "is NaN, which is no scale",
		"TRT-8601-A\nx: bf800000\n":           "is -1, which is no scale",
		"TRT-8601-A\nx: 3f800000\n\nx: 3f8\n": "line 4: tensor \"x\" stands in line 2",
	} {
		if _, err := ParseCalibrationCache([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}

// TestCacheHeader checks headers that were seen in public files.
func TestCacheHeader(t *testing.T) {
	for version, want := range map[string]string{"8.6.1": "TRT-8601-", "8.2.3": "TRT-8203-", "7.1.3.4": "TRT-7103-", "10.3.0": "TRT-100300-", "10.16.1": "TRT-101601-"} {
		if got, err := CacheHeader(version, "X"); err != nil || got != want+"X" {
			t.Errorf("%s: %q, %v", version, got, err)
		}
	}
	for _, wrong := range []string{"", "10", "8.x.1", "8.-1.1", "1.2.3.4.5", "8.600.1"} {
		if got, err := CacheHeader(wrong, "X"); err == nil {
			t.Errorf("%q: %s", wrong, got)
		}
	}
}

// TestNewCalibrationCache keeps the scales of a report to the bit.
func TestNewCalibrationCache(t *testing.T) {
	of := func(name string, scale float32) report.TensorCalibration {
		return report.TensorCalibration{Tensor: name, By: []report.CalibratorResult{{Scale: 9}, {Scale: scale}}}
	}
	next := math.Nextafter32(1./127, 2)
	snap := &report.Snapshot{Calibration: &report.Calibration{Calibrators: []string{"minmax", "mse"}, Active: "mse", Tensors: []report.TensorCalibration{
		of("exact", next), of("zeros", 0), of("one", 1),
	}}}
	if _, err := NewCalibrationCache("", snap); err == nil || !strings.Contains(err.Error(), "symmetric around zero") {
		t.Errorf("asymmetric ranges: %v", err)
	}
	snap.Config.Quantization.Activations = "symmetric"
	c, err := NewCalibrationCache("TRT-8601-EntropyCalibration2", snap)
	if err != nil {
		t.Fatal(err)
	}
	if want := []TensorScale{{"exact", next}, {"one", 1}}; !slices.Equal(c.Scales, want) {
		t.Errorf("%+v, want %+v", c.Scales, want)
	}
	snap.Calibration.Tensors[0].Tensor = "two\nlines"
	if _, err := NewCalibrationCache("", snap); err == nil || !strings.Contains(err.Error(), `two\nlines`) {
		t.Errorf("a name of two lines: %v", err)
	}
}

// TestCacheDoubts finds scales whose bytes are in the wrong order.
func TestCacheDoubts(t *testing.T) {
	c := &CalibrationCache{Scales: []TensorScale{{"x", math.Float32frombits(0x0402013c)}, {"y:0", 0}, {"z", 1}}}
	got := fmt.Sprint(c.Doubts())
	for _, want := range []string{"1 of 3 scales are implausible, that of tensor \"x\"", "1 of 3 scales are zero", "1 names have a colon"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s: want %q", got, want)
		}
	}
}

func FuzzCalibrationCache(f *testing.F) {
	for _, c := range caches {
		f.Add([]byte(c.header + "\n" + c.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseCalibrationCache(data)
		if err != nil {
			return
		}
		again, err := ParseCalibrationCache(c.Bytes())
		if err != nil || again.Header != c.Header || !slices.Equal(again.Scales, c.Scales) {
			t.Errorf("%q: read again %+v, %v", data, again, err)
		}
	})
}
