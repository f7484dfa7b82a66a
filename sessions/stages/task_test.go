package stages

import (
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/detection"
	"github.com/trtui/trtui/sessions/report"
)

func TestParseTask(t *testing.T) {
	for text, want := range map[string]Task{"auto": {}, "classes": {Kind: "classes"}, "outputs": {Kind: "outputs"}, "detection": {Kind: "detection"}, "detection:yolov8": {"detection", "yolov8"}} {
		if got, err := ParseTask(text); err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "text", "classes:5", "detection:", "detection:yolo", "segmentation"} {
		if _, err := ParseTask(text); err == nil {
			t.Errorf("%q is a task", text)
		}
	}
}

// photographs are two images of 20x20, of which the first has a box from (2, 4) to (12, 14) of the category 7.
func photographs(t *testing.T, boxes bool) (dataset.Data, *graph.Network) {
	dir := t.TempDir()
	for _, name := range []string{"a.png", "b.png"} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, image.NewGray(image.Rect(0, 0, 20, 20))); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	o := dataset.Options{Size: dataset.Size{Height: 40, Width: 40}, Resize: dataset.Letterboxed}
	if boxes {
		o.Labels = filepath.Join(dir, "boxes.json")
		text := `{"images":[{"id":1,"file_name":"a.png"},{"id":2,"file_name":"b.png"}],"categories":[{"id":7}],"annotations":[{"image_id":1,"category_id":7,"bbox":[2,4,10,10]}]}`
		if err := os.WriteFile(o.Labels, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := dataset.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	in := &graph.Tensor{Name: "x", Type: numeric.F32, Dims: symbolic.Shape(1, 3, 40, 40)}
	d, err := s.Bind([]*graph.Tensor{in})
	if err != nil {
		t.Fatal(err)
	}
	return d, &graph.Network{Inputs: []*graph.Tensor{in}, Outputs: []*graph.Tensor{{Name: "boxes", Type: numeric.F32, Dims: symbolic.Shape(1, 2, 6)}}}
}

func found(rows ...float32) map[string]numeric.Value {
	v := numeric.NewValue(numeric.F32, 1, 2, 6)
	copy(v.F32(), rows)
	return map[string]numeric.Value{"boxes": v}
}

// TestDetectionTask counts what FP32 and an engine find of boxes, and of FP32's own where there are none.
func TestDetectionTask(t *testing.T) {
	right, far := found(4, 8, 24, 28, 0.9, 0), found(8, 12, 28, 32, 0.9, 0) // IoU 16*16/(800-256) = 0.47
	near := found(5, 8, 25, 28, 0.8, 0)                                     // 19*20/(800-380) = 0.905: 9 of 10 thresholds
	nothing := found()
	d, n := photographs(t, true)
	for _, c := range []struct {
		got       map[string]numeric.Value
		mean, at5 float64
	}{{right, 1, 1}, {near, 0.9, 1}, {far, 0, 0}, {nothing, 0, 0}} {
		s := newScore(n, d, 1, Task{})
		for b, got := range []map[string]numeric.Value{c.got, nothing} {
			if err := s.add(b, []map[string]numeric.Value{right, nothing}[b], got); err != nil {
				t.Fatal(err)
			}
		}
		l, items, err := s.result()
		if err != nil || items != 2 || s.task.Kind != report.TaskDetection || l.Detection == nil || l.Top1 >= 0 || l.Agreement >= 0 {
			t.Fatalf("%d items, %+v, %v", items, l, err)
		}
		b := l.Detection
		if math.Abs(b.MAP-c.mean) > 1e-9 || b.MAP50 != c.at5 || b.FP32MAP != 1 || b.Boxes != 1 || b.Classes != 1 || b.AgainstFP32Boxes {
			t.Errorf("%+v, want %v and %v", b, c.mean, c.at5)
		}
		m, ok := (&report.Accuracy{Labels: l}).Metric()
		if !ok || m.Name != "mAP" || math.Abs(m.Drop-100*(1-c.mean)) > 1e-9 {
			t.Errorf("%+v", m)
		}
	}
	d, n = photographs(t, false)
	s := newScore(n, d, 1, Task{Kind: report.TaskDetection, Form: "end2end"})
	if err := s.add(0, right, near); err != nil {
		t.Fatal(err)
	}
	if l, _, _ := s.result(); l.Detection == nil || !l.Detection.AgainstFP32Boxes || math.Abs(l.Detection.MAP-0.9) > 1e-9 {
		t.Errorf("%+v", l.Detection)
	}
	s = newScore(n, d, 1, Task{Kind: report.TaskDetection, Form: "yolov8"})
	if err := s.add(0, right, near); err == nil || !strings.Contains(err.Error(), "want one output [batch, 4 + classes, boxes], have boxes [1 2 6]") {
		t.Errorf("another form: %v", err)
	}
}

// TestMetric is by task, with the drop below FP32.
func TestMetric(t *testing.T) {
	two, three := 2.0, 3.0
	out := []report.OutputError{{Errors: report.Errors{Cosine: 0.75}}}
	for _, c := range []struct {
		a    report.Accuracy
		name string
		drop float64
	}{
		{report.Accuracy{Labels: report.LabelAccuracy{Top1: 0.5, FP32Top1: 0.75}}, "top-1", 25},
		{report.Accuracy{Labels: report.LabelAccuracy{Tokens: 9, Top1: 0.5, FP32Top1: 0.5, Perplexity: &three, FP32Perplexity: &two}}, "perplexity", 50},
		{report.Accuracy{Task: report.TaskOutputs, Labels: report.LabelAccuracy{Top1: -1}, Outputs: out}, "cosine", 25},
		{report.Accuracy{Task: report.TaskClasses, Labels: report.LabelAccuracy{Top1: -1}, Outputs: out}, "", 0},
	} {
		if m, ok := c.a.Metric(); m.Name != c.name || m.Drop != c.drop || ok != (c.name != "") {
			t.Errorf("%+v %v, want %s with %v", m, ok, c.name, c.drop)
		}
	}
}

// TestClassesTask refuses outputs that are no classes, and outputs as a task has none.
func TestClassesTask(t *testing.T) {
	n := &graph.Network{Outputs: []*graph.Tensor{{Name: "y", Type: numeric.F32}}}
	image := map[string]numeric.Value{"y": numeric.NewValue(numeric.F32, 1, 3, 4)}
	s := newScore(n, text(nil), 1, Task{Kind: report.TaskClasses})
	if err := s.add(0, image, image); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.result(); err == nil || !strings.Contains(err.Error(), "no row of scores for each item") {
		t.Errorf("an image is a class: %v", err)
	}
	s = newScore(n, text{1}, 1, Task{Kind: report.TaskOutputs})
	if err := s.add(0, outputs(1, 2, 3), outputs(1, 2, 3)); err != nil {
		t.Fatal(err)
	}
	if l, items, err := s.result(); err != nil || items != 1 || l.Agreement >= 0 || l.Top1 >= 0 {
		t.Errorf("%+v, %d items, %v", l, items, err)
	}
}

// TestDetectionInterval has an engine that finds nothing in some of many images: told apart from FP32 where those are many, not where
// they are two of forty, and from itself never.
func TestDetectionInterval(t *testing.T) {
	there := []detection.Box{{X1: 10, Y1: 10}}
	right := []detection.Found{{Box: there[0], Score: 0.9}}
	engine := func(images, lost int) *report.Detection {
		d := &detecting{form: &detection.Form{Name: "test"}}
		for i := range images {
			d.ref.Add(slices.Clone(there), slices.Clone(right))
			if i < lost {
				d.got.Add(slices.Clone(there), nil)
			} else {
				d.got.Add(slices.Clone(there), slices.Clone(right))
			}
		}
		return d.result()
	}
	bad, good, few := engine(40, 20), engine(40, 2), engine(leastSample-1, 4)
	if w := bad.MAPWithin; w == nil || math.Abs((w.High-w.Low)/2-0.155) > 0.03 || w.Low > bad.MAP || w.High < bad.MAP {
		t.Errorf("%+v around %v", w, bad.MAP) // 1.96 standard errors of a share of a half are 0.155
	}
	if d := bad.BesideFP32; d == nil || !d.Apart() || d.Low > -0.5 || d.High < -0.5 {
		t.Errorf("beside FP32: %v", d)
	}
	if d := good.BesideFP32; d == nil || d.Apart() {
		t.Errorf("two of forty beside FP32: %v", d)
	}
	if d := bad.Beside(good); d == nil || !d.Apart() {
		t.Errorf("twenty and two: %v", d)
	}
	if d := good.Beside(good); d == nil || d.Apart() || d.Low != 0 || d.High != 0 {
		t.Errorf("beside itself: %v", d)
	}
	if few.MAPWithin != nil || few.BesideFP32 != nil || few.Beside(few) != nil || good.Beside(nil) != nil || good.Beside(engine(41, 2)) != nil {
		t.Error("few images, or others, have an interval")
	}
}
