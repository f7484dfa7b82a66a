package detection

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
)

func output(name string, data []float32, dims ...int) Output {
	v := numeric.NewValue(numeric.F32, dims...)
	copy(v.F32(), data)
	return Output{name, v}
}

// The same two boxes, from (10, 20) to (30, 60) of class 1 and from (50, 10) to (70, 30) of class 0, in an image of 100x200 (width first).
func twoBoxes() map[string][]Output {
	end := output("o", []float32{50, 10, 70, 30, 0.5, 0, 10, 20, 30, 60, 0.9, 1}, 1, 2, 6)
	five := make([]float32, 8*7)
	copy(five, []float32{20, 40, 20, 40, 0.9, 0, 1})
	copy(five[7:], []float32{21, 40, 20, 40, 0.8, 0, 1}) // the same object
	copy(five[14:], []float32{60, 20, 20, 20, 0.5, 1, 0})
	eight := make([]float32, 6*8)
	for b := range 3 {
		row := five[7*b:]
		for k := range 4 {
			eight[8*k+b] = row[k]
		}
		eight[8*4+b], eight[8*5+b] = row[4]*row[5], row[4]*row[6]
	}
	labels := numeric.NewValue(numeric.I64, 2)
	copy(labels.I64(), []int64{0, 1})
	return map[string][]Output{
		"end2end":     {end},
		"yolov5":      {output("o", five, 1, 8, 7)},
		"yolov8":      {output("o", eight, 1, 6, 8)},
		"torchvision": {output("boxes", []float32{50, 10, 70, 30, 10, 20, 30, 60}, 2, 4), {"labels", labels}, output("scores", []float32{0.5, 0.9}, 2)},
		"ssd":         {output("bboxes", []float32{0.5, 0.05, 0.7, 0.15, 0.1, 0.1, 0.3, 0.3}, 1, 2, 4), {"labels", labels}, output("scores", []float32{0.5, 0.9}, 1, 2)},
		"tensorflow": {output("detection_boxes", []float32{0.05, 0.5, 0.15, 0.7, 0.1, 0.1, 0.3, 0.3}, 1, 2, 4),
			output("detection_classes", []float32{0, 1}, 1, 2), output("detection_scores", []float32{0.5, 0.9}, 1, 2)},
	}
}

// TestForms decodes the same boxes from all forms.
func TestForms(t *testing.T) {
	for name, outputs := range twoBoxes() {
		f, err := FormOf(name, outputs)
		if err != nil {
			t.Fatal(name, err)
		}
		found, err := f.Find(outputs, 0, 200, 100)
		if err != nil || len(found) != 2 {
			t.Fatalf("%s: %+v %v", name, found, err)
		}
		for i, want := range []Found{{Box{X0: 10, Y0: 20, X1: 30, Y1: 60, Class: 1, Category: 1}, 0.9}, {Box{X0: 50, Y0: 10, X1: 70, Y1: 30}, 0.5}} {
			got := found[i]
			far := math.Abs(got.X0-want.X0) + math.Abs(got.Y0-want.Y0) + math.Abs(got.X1-want.X1) + math.Abs(got.Y1-want.Y1) + math.Abs(got.Score-want.Score)
			if far > 1e-4 || got.Class != want.Class {
				t.Errorf("%s: box %d is %+v, want %+v", name, i, got, want)
			}
		}
	}
}

// TestYunet decodes a box of each stride by the formula of its authors.
func TestYunet(t *testing.T) {
	var outputs []Output
	for _, stride := range []int{8, 16, 32} {
		cells := (64 / stride) * (96 / stride)
		class, object, box := make([]float32, cells), make([]float32, cells), make([]float32, 4*cells)
		if stride == 16 { // the cell of row 1, column 2, of 6
			class[8], object[8] = 0.81, 1.5
			copy(box[32:], []float32{0.5, -0.25, float32(math.Log(2)), float32(math.Log(3))})
		}
		for name, data := range map[string][]float32{"cls": class, "obj": object, "bbox": box, "kps": make([]float32, 10*cells)} {
			outputs = append(outputs, output(fmt.Sprintf("%s_%d", name, stride), data, 1, cells, len(data)/cells))
		}
	}
	f, err := FormOf("", outputs)
	if err != nil || f.Name != "yunet" {
		t.Fatal(f, err)
	}
	found, err := f.Find(outputs, 0, 64, 96)
	if err != nil || len(found) != 1 {
		t.Fatalf("%+v %v", found, err)
	}
	b := found[0]
	if cx, cy, w, h := (b.X0+b.X1)/2, (b.Y0+b.Y1)/2, b.X1-b.X0, b.Y1-b.Y0; math.Abs(cx-40)+math.Abs(cy-12)+math.Abs(w-32)+math.Abs(h-48)+math.Abs(b.Score-0.9) > 1e-4 {
		t.Errorf("%+v", b)
	}
}

// TestFormOf finds the form, or says what would tell.
func TestFormOf(t *testing.T) {
	all := twoBoxes()
	for name, want := range map[string]string{"end2end": "end2end", "yolov5": "yolov5", "yolov8": "yolov8"} {
		if f, err := FormOf("", all[name]); err != nil || f.Name != want {
			t.Errorf("%s: %v %v", name, f, err)
		}
	}
	for _, c := range []struct {
		form    string
		outputs []Output
		want    string
	}{
		{"", all["torchvision"], "torchvision, ssd, tensorflow: say which"},
		{"", []Output{output("o", nil, 1, 300, 6)}, "yolov5, end2end: say which"},
		{"", []Output{output("y", nil, 1, 10)}, "no form that is known"},
		{"yolov9000", all["yolov5"], `no form of boxes is called "yolov9000"`},
		{"yolov8", all["yolov5"], "want one output [batch, 4 + classes, boxes], have o [1 8 7]"},
		{"torchvision", all["torchvision"][:1], "want outputs [boxes] called labels or classes"},
		{"yunet", all["yolov5"], "cls_8"},
	} {
		if _, err := FormOf(c.form, c.outputs); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.form, err, c.want)
		}
	}
}

// TestFindAnything gives every form numbers that mean nothing, NaN among them, and items that are not there.
func TestFindAnything(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for name, outputs := range twoBoxes() {
		f, _ := FormOf(name, outputs)
		for range 50 {
			for _, o := range outputs {
				if o.Value.Type == numeric.F32 {
					for i := range o.Value.F32() {
						o.Value.F32()[i] = math.Float32frombits(rnd.Uint32())
					}
				}
			}
			for item := range 3 {
				found, err := f.Find(outputs, item, 64, 64)
				if err != nil || item > 0 && len(found) > 0 {
					t.Fatalf("%s: item %d: %v %v", name, item, found, err)
				}
				for _, b := range found {
					if b.Score != b.Score || math.IsInf(b.X0, 0) {
						t.Fatalf("%s: %+v", name, b)
					}
				}
			}
		}
	}
}
