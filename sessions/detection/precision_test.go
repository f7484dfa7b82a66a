package detection

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// TestPrecision compares with COCO's own evaluation: testdata/precision.py.
func TestPrecision(t *testing.T) {
	data, err := os.ReadFile("testdata/precision.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Images           int
		There, Found     [][7]float64 // image, class, x, y, width, height, and whether it is a crowd or the score
		Mean, At50, At75 float64
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		there, found := make([][]Box, c.Images), make([][]Found, c.Images)
		box := func(r [7]float64) Box {
			return Box{X0: r[2], Y0: r[3], X1: r[2] + r[4], Y1: r[3] + r[5], Class: int(r[1])}
		}
		for _, r := range c.There {
			b := box(r)
			b.Crowd = r[6] == 1
			there[int(r[0])] = append(there[int(r[0])], b)
		}
		for _, r := range c.Found {
			found[int(r[0])] = append(found[int(r[0])], Found{box(r), r[6]})
		}
		var p Precision
		for image := range there {
			p.Add(there[image], found[image])
		}
		got, ok := p.Result()
		for name, v := range map[string][2]float64{"0.5 to 0.95": {got.Mean, c.Mean}, "0.5": {got.At50, c.At50}, "0.75": {got.At75, c.At75}} {
			if !ok || math.Abs(v[0]-v[1]) > 1e-9 {
				t.Errorf("case %d: precision at %s is %.9f, want %.9f", i, name, v[0], v[1])
			}
		}
	}
}

// TestPrecisionOfNothing has no images, none with boxes, and boxes that are not found.
func TestPrecisionOfNothing(t *testing.T) {
	var p Precision
	if _, ok := p.Result(); ok {
		t.Error("no images have a precision")
	}
	p.Add(nil, []Found{{Box{X1: 1, Y1: 1}, 1}})
	if _, ok := p.Result(); ok {
		t.Error("images without boxes have a precision")
	}
	p.Add([]Box{{X1: 1, Y1: 1, Class: 3}}, nil)
	if r, ok := p.Result(); !ok || r.Mean != 0 || r.Classes != 1 || r.Boxes != 1 {
		t.Errorf("%+v %v, want a precision of 0", r, ok)
	}
	p.Add(nil, []Found{{Box{X1: math.NaN(), Y1: 1, Class: 3}, math.NaN()}})
	if r, ok := p.Result(); !ok || r.Mean != 0 {
		t.Errorf("%+v %v with a box of NaN, want a precision of 0", r, ok)
	}
}
