package dataset

import (
	"bytes"
	"image"
	"image/png"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

const cocoText = `{"info": {}, "images": [{"id": 9, "file_name": "wide.png", "width": 1, "height": 1}, {"id": 4, "file_name": "high.png"}],
"categories": [{"id": 17, "name": "b"}, {"id": 3, "name": "a"}],
"annotations": [{"id": 1, "image_id": 9, "category_id": 17, "bbox": [10, 5, 20, 10], "segmentation": [[1, 2]]},
 {"id": 2, "image_id": 4, "category_id": 3, "bbox": [0, 0, 20, 40], "iscrowd": 1}]}`

// boxFolder has two images, 40x20 and 20x40 (width first).
func boxFolder(t *testing.T) string {
	dir := t.TempDir()
	for name, r := range map[string]image.Rectangle{"wide.png": image.Rect(0, 0, 40, 20), "high.png": image.Rect(0, 0, 20, 40)} {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(r)); err != nil {
			t.Fatal(err)
		}
		write(t, dir, name, b.Bytes())
	}
	return dir
}

// TestBoxes reads boxes from both forms and moves them as images are moved.
func TestBoxes(t *testing.T) {
	dir := boxFolder(t)
	coco, yolo := filepath.Join(dir, "instances.json"), t.TempDir()
	write(t, dir, "instances.json", []byte(cocoText))
	write(t, yolo, "wide.txt", []byte("1 0.5 0.5 0.5 0.5\n\n"))
	input := []*graph.Tensor{{Name: "x", Type: numeric.F32, Dims: symbolic.Shape(1, 3, 80, 80)}}
	for _, c := range []struct {
		labels, resize string
		item           int
		want           [4]float64
		class          int
		category       int
	}{
		{coco, "letterbox", 0, [4]float64{20, 30, 60, 50}, 1, 17},
		{coco, "stretch", 0, [4]float64{20, 20, 60, 60}, 1, 17},
		{coco, "crop:80", 0, [4]float64{0, 20, 80, 60}, 1, 17}, // 160x80, of which 40 are cut off on either side
		{coco, "letterbox", 1, [4]float64{20, 0, 60, 80}, 0, 3},
		{yolo, "letterbox", 1, [4]float64{20, 30, 60, 50}, 1, 1}, // images by name
	} {
		how, err := ParseResize(c.resize)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, Options{Labels: c.labels, Resize: how, Size: Size{80, 80}})
		if err != nil {
			t.Fatal(err)
		}
		d, err := s.Bind(input)
		if err != nil {
			t.Fatal(err)
		}
		truth, ok := TruthOf(d, c.item)
		if !ok || len(truth.Boxes) != 1 || truth.Height != 80 || truth.Width != 80 {
			t.Fatalf("%s %s: %+v %v", c.labels, c.resize, truth, ok)
		}
		b := truth.Boxes[0]
		for k, v := range []float64{b.X0, b.Y0, b.X1, b.Y1} {
			if math.Abs(v-c.want[k]) > 1e-9 {
				t.Errorf("%s %s: item %d has %+v, want %v", c.labels, c.resize, c.item, b, c.want)
			}
		}
		if b.Class != c.class || b.Category != c.category || b.Crowd != (c.item == 1 && c.labels == coco) {
			t.Errorf("%s %s: %+v", c.labels, c.resize, b)
		}
	}
	s, err := Open(dir, Options{Labels: coco, Resize: Letterboxed, Size: Size{80, 80}, First: 1})
	if err != nil {
		t.Fatal(err)
	}
	d, _ := s.Bind(input)
	if truth, _ := TruthOf(d, 0); d.Len() != 1 || len(truth.Boxes) != 1 || truth.Boxes[0].Category != 3 {
		t.Errorf("from the second image on: %d items, %+v", d.Len(), truth)
	}
}

// TestBoxesOfSeveral refuses a model that takes two images at once.
func TestBoxesOfSeveral(t *testing.T) {
	dir := boxFolder(t)
	write(t, dir, "instances.json", []byte(cocoText))
	s, err := Open(dir, Options{Labels: filepath.Join(dir, "instances.json"), Size: Size{80, 80}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Bind([]*graph.Tensor{{Name: "x", Type: numeric.F32, Dims: symbolic.Shape(2, 3, 80, 80)}}); err == nil || !strings.Contains(err.Error(), "takes 2 at once") {
		t.Error(err)
	}
}

// TestLetterbox puts an image in the middle of grey.
func TestLetterbox(t *testing.T) {
	dir := boxFolder(t)
	s, err := Open(dir, Options{Resize: Letterboxed, Size: Size{8, 8}, Scale: 1})
	if err != nil {
		t.Fatal(err)
	}
	values, err := s.Batch(1, 1) // wide.png: 8x4 in rows 2 to 5
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values[0].F32() {
		if row, want := i/8%8, float32(0); row < 2 || row > 5 {
			want = 114
			if v != want {
				t.Fatalf("element %d is %v, want %v", i, v, want)
			}
		} else if v != want {
			t.Fatalf("element %d is %v, want %v", i, v, want)
		}
	}
}

// TestBoxesRefused names what is wrong.
func TestBoxesRefused(t *testing.T) {
	dir := boxFolder(t)
	for text, want := range map[string]string{
		"[]": "no instances in COCO's form",
		"{}": "images or categories are missing",
		strings.Replace(cocoText, `"image_id": 9`, `"image_id": 8`, 1):         "annotation 0: there is no image 8",
		strings.Replace(cocoText, `"category_id": 17`, `"category_id": 18`, 1): "annotation 0: there is no category 18",
		strings.Replace(cocoText, "[10, 5, 20, 10]", "[10, 5, 20]", 1):         "annotation 0: its bbox is [10 5 20]",
		strings.Replace(cocoText, "wide.png", "../wide.png", 1):                "is no file in the folder",
		strings.Replace(cocoText, "wide.png", "none.png", 1):                   "none.png",
		strings.Replace(cocoText, `"id": 9,`, `"id": 4,`, 1):                   "image 4 is there twice",
	} {
		write(t, dir, "boxes.json", []byte(text))
		if _, err := Open(dir, Options{Labels: filepath.Join(dir, "boxes.json")}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
	yolo := t.TempDir()
	if _, err := Open(dir, Options{Labels: yolo}); err == nil || !strings.Contains(err.Error(), "no image has a .txt") {
		t.Errorf("a folder without labels: %v", err)
	}
	for _, text := range []string{"0 1 2 3", "x 0 0 0 0", "0 0.5 0.5 1.5 0.1", "-1 0 0 0 0", "0 nan 0 0 0", "0 0 0 1 1 0 1"} {
		write(t, yolo, "high.txt", []byte(text))
		if _, err := Open(dir, Options{Labels: yolo}); err == nil || !strings.Contains(err.Error(), "high.txt: line 1") {
			t.Errorf("%q: %v", text, err)
		}
	}
	write(t, dir, "classes", []byte{1, 2, 3})
	if _, err := Open(dir, Options{Labels: filepath.Join(dir, "classes")}); err == nil || !strings.Contains(err.Error(), "3 labels for 2 images") {
		t.Errorf("labels of other images: %v", err)
	}
	write(t, dir, "classes", []byte{1, 2})
	s, err := Open(dir, Options{Labels: filepath.Join(dir, "classes")})
	if err != nil || len(s.Labels) != 2 || s.Labels[1] != 2 {
		t.Errorf("labels of a folder: %v, %v", s, err)
	}
	if !HasBoxes(yolo) || !HasBoxes("a.json") || HasBoxes(filepath.Join(dir, "classes")) || HasBoxes(filepath.Join(dir, "none")) {
		t.Error("boxes are taken for classes, or classes for boxes")
	}
}
