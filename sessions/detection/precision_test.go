package detection

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
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

// TestPrecisionOf counts images several times and not at all: as if they had been added so often.
func TestPrecisionOf(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	const images = 12
	there, found := make([][]Box, images), make([][]Found, images)
	var p Precision
	for i := range images {
		for range rnd.IntN(4) {
			x, y := 80*rnd.Float64(), 80*rnd.Float64()
			b := Box{X0: x, Y0: y, X1: x + 20, Y1: y + 20, Class: rnd.IntN(3), Crowd: rnd.IntN(8) == 0}
			there[i] = append(there[i], b)
			b.X0, b.Y0, b.Crowd = b.X0+4*rnd.Float64(), b.Y0-3*rnd.Float64(), false
			found[i] = append(found[i], Found{b, rnd.Float64()}, Found{Box{X0: y, Y0: x, X1: y + 20, Y1: x + 20, Class: b.Class}, rnd.Float64()})
		}
		p.Add(slices.Clone(there[i]), slices.Clone(found[i]))
	}
	for range 20 {
		times := make([]int, images)
		var several Precision
		for range images {
			i := rnd.IntN(images)
			times[i]++
			several.Add(slices.Clone(there[i]), slices.Clone(found[i]))
		}
		want, _ := several.Result()
		if got, _ := p.Of(times); math.Abs(got.Mean-want.Mean) > 1e-12 || got.Boxes != want.Boxes || got.Classes != want.Classes {
			t.Errorf("%v: %+v, want %+v", times, got, want)
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
