package dataset

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
)

// npy writes an array as numpy does, in the given version of the format.
func npy(version byte, descr, shape string, data []byte) []byte {
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	b := append([]byte("\x93NUMPY"), version, 0)
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(head)+1))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(head)+1))
	}
	return append(append(append(b, head...), '\n'), data...)
}

func npz(t testing.TB, members map[string][]byte, names ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(members[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func idx(kind byte, dims []int, data []byte) []byte {
	b := []byte{0, 0, kind, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, uint32(d))
	}
	return append(b, data...)
}

func gzipped(t testing.TB, b []byte) []byte {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return z.Bytes()
}

func write(t testing.TB, dir, name string, b []byte) string {
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func floats(v ...float32) []byte { return graph.Bytes(v) }

func count(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// batch returns the items as float32 and checks their shape.
func batch(t *testing.T, s *Set, i, n int, dims ...int) []float32 {
	t.Helper()
	v, err := s.Batch(i, n)
	if err != nil {
		t.Fatal(err)
	}
	if len(v) != 1 || !slices.Equal(v[0].Dims, dims) {
		t.Fatalf("%d values, the first of shape %v, want %v", len(v), v[0].Dims, dims)
	}
	return v[0].Floats()
}

func TestOpenFiles(t *testing.T) {
	x := []float32{1, 2, 3, 4, 5, 6}
	dir := t.TempDir()
	members := map[string][]byte{
		"x.npy": npy(1, "<f4", "(3, 2)", floats(x...)), "y.npy": npy(2, "<i8", "(3,)", graph.Bytes([]int64{7, 0, 2})),
		"a.npy": npy(3, "|u1", "(3, 1)", []byte{9, 8, 7}),
	}
	pixels := idx(8, []int{3, 2, 2}, count(12))
	cifar := append(append([]byte{5}, count(3072)...), append([]byte{6}, count(3072)...)...)
	write(t, dir, "t-labels-idx1-ubyte", idx(8, []int{3}, []byte{3, 4, 5}))
	labels := write(t, dir, "labels.bin", []byte{1, 2, 3})
	for _, c := range []struct {
		file    string
		content []byte
		options Options
		dims    []int // of all items
		want    []float32
		labels  []int
	}{
		{"a.npy", members["x.npy"], Options{}, []int{3, 2}, x, nil},
		{"b.npy", members["x.npy"], Options{First: 1, Limit: 1, Labels: labels}, []int{1, 2}, []float32{3, 4}, []int{2}},
		{"b.npy", members["x.npy"], Options{First: 1, Limit: 1, Labels: labels, LabelOffset: 1}, []int{1, 2}, []float32{3, 4}, []int{3}},
		{"f2.npy", npy(1, "<f2", "(2,)", []byte{0, 0x3c, 0, 0xc0}), Options{}, []int{2}, []float32{1, -2}, nil},
		{"f8.npy", npy(1, "=f8", "(1, 1)", graph.Bytes([]float64{-2.5})), Options{}, []int{1, 1}, []float32{-2.5}, nil},
		{"i2.npy", npy(1, "<i2", "(2,)", graph.Bytes([]int16{-5, 5})), Options{Scale: 0.5, Mean: []float32{1}}, []int{2}, []float32{-3.5, 1.5}, nil},
		{"c.npy", npy(1, "|u1", "(1,2,2)", []byte{1, 2, 3, 4}), Options{Mean: []float32{1, 2}, Std: []float32{1, 2}}, []int{1, 2, 2}, []float32{0, 1, .5, 1}, nil},
		{"d.npz", npz(t, members, "x.npy", "y.npy"), Options{}, []int{3, 2}, x, []int{7, 0, 2}},
		{"e.npz", npz(t, members, "x.npy", "y.npy"), Options{First: 1}, []int{2, 2}, x[2:], []int{0, 2}},
		{"t-images-idx3-ubyte.gz", gzipped(t, pixels), Options{Scale: 1, First: 1, Limit: 2}, []int{2, 1, 2, 2}, []float32{4, 5, 6, 7, 8, 9, 10, 11}, []int{4, 5}},
		{"p-idx", idx(8, []int{1, 2, 2}, count(4)), Options{Scale: 1, Size: 4, Pad: true, Mean: []float32{1}, Std: []float32{2}}, []int{1, 1, 4, 4},
			[]float32{-.5, -.5, -.5, -.5, -.5, -.5, 0, -.5, -.5, .5, 1, -.5, -.5, -.5, -.5, -.5}, nil},
		{"n-idx", idx(8, []int{1, 1, 2}, []byte{51, 255}), Options{NHWC: true, Channels: 3}, []int{1, 1, 2, 3}, []float32{.2, .2, .2, 1, 1, 1}, nil},
		{"raw.bin", []byte{1, 0xff, 3, 4, 5, 6}, Options{Shape: []int{2}, Type: graph.I8, Range: graph.PerTensor(0.5, 1), First: 0, Limit: 3, Labels: labels},
			[]int{3, 2}, []float32{0, -1, 1, 1.5, 2, 2.5}, []int{1, 2, 3}},
		{"cifar.bin", cifar, Options{First: 1}, []int{1, 3, 32, 32}, nil, []int{6}},
	} {
		t.Run(c.file, func(t *testing.T) {
			s, err := Open(write(t, dir, c.file, c.content), c.options)
			if err != nil {
				t.Fatal(err)
			}
			got := batch(t, s, 0, s.Len(), c.dims...)
			for i, w := range c.want {
				if math.Abs(float64(got[i]-w)) > 1e-6 {
					t.Fatalf("got %v, want %v", got, c.want)
				}
			}
			if !slices.Equal(s.Labels, c.labels) {
				t.Errorf("labels %v, want %v", s.Labels, c.labels)
			}
			again, err := Open(filepath.Join(dir, c.file), c.options)
			if err != nil || again.Identity != s.Identity || len(s.Identity.Hash) != 64 || s.Identity.Size != int64(len(c.content)) {
				t.Errorf("identity %+v, then %+v, %v", s.Identity, again.Identity, err)
			}
		})
	}
	a, _ := Open(filepath.Join(dir, "a.npy"), Options{})
	b, _ := Open(filepath.Join(dir, "a.npy"), Options{Limit: 1})
	if a.Identity.Hash == b.Identity.Hash {
		t.Error("a part of the data has the identity of the whole")
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	x := npy(1, "<f4", "(3, 2)", floats(1, 2, 3, 4, 5, 6))
	y := map[string][]byte{"x.npy": x, "y.npy": npy(1, "<i8", "(2,)", graph.Bytes([]int64{1, 2})), "n.txt": {1}}
	write(t, dir, "empty/readme.txt", nil)
	write(t, dir, "two/a-images", nil)
	write(t, dir, "two/b-images", nil)
	write(t, dir, "img/a.png", []byte("no image"))
	for _, c := range []struct {
		file    string
		content []byte
		options Options
		want    string
	}{
		{"text", []byte("hello, world"), Options{}, "its form is unknown"},
		{"none", nil, Options{}, "its form is unknown"},
		{"short.npy", x[:len(x)-1], Options{}, "the file ends after 23 of 24 bytes"},
		{"head.npy", x[:20], Options{}, "the header of the array is cut off"},
		{"be.npy", npy(1, ">f4", "(1,)", floats(1)), Options{}, "big-endian"},
		{"obj.npy", npy(1, "|O", "(1,)", floats(1)), Options{}, `arrays of type "|O" are not supported`},
		{"shape.npy", npy(1, "<f4", "(-1,)", nil), Options{}, "the array's shape (-1,) is wrong"},
		{"huge.npy", npy(1, "<f4", "(1000000000, 1000000000)", nil), Options{}, "more than 1024 MiB"},
		{"long.npy", npy(1, "<f4", "(200000000,)", floats(1)), Options{}, "the file ends after 4 of"},
		{"overflow.npy", npy(1, "<f4", "(1, 1099511627776, 1099511627776)", nil), Options{}, "more than 1024 MiB"},
		{"scalar.npy", npy(1, "<f4", "()", floats(1)), Options{}, "is a single number"},
		{"zero.npy", npy(1, "<f4", "(0, 2)", nil), Options{}, "first item is 0, but there are 0"},
		{"part.npy", x, Options{First: 3}, "first item is 3, but there are 3"},
		{"limit.npy", x, Options{First: 1, Limit: 3}, "items 1 to 3 are wanted, but there are 3"},
		{"labels.npz", npz(t, y, "x.npy", "y.npy"), Options{}, "2 labels for 3 items"},
		{"member.npz", npz(t, y, "n.txt"), Options{}, "n.txt in the archive is no .npy array"},
		{"only.npz", npz(t, y, "y.npy"), Options{}, "the archive has no array x"},
		{"idx", idx(13, []int{1}, floats(1)), Options{}, "its form is unknown"},
		{"cut-idx", idx(8, []int{2, 2, 2}, count(7)), Options{}, "the file ends after 7 of 8"},
		{"huge-idx", idx(8, []int{math.MaxUint32, math.MaxUint32, math.MaxUint32}, nil), Options{}, "more than 1024 MiB"},
		{"empty-idx", idx(8, []int{9, 70000, 0}, nil), Options{}, "images of 70000x0"},
		{"wide.npy", npy(1, "<f4", "(3, 0)", nil), Options{}, "is empty"},
		{"flat-idx", idx(8, []int{2, 2}, count(4)), Options{}, "are no images"},
		{"size-idx", idx(8, []int{1, 2, 2}, count(4)), Options{Size: 4}, "images are 2x2, want 4x4"},
		{"mean-idx", idx(8, []int{1, 2, 2}, count(4)), Options{Mean: []float32{1, 2}}, "2 means for 1 channels"},
		{"c.bin", count(100), Options{}, "100 bytes are not CIFAR items of 3073"},
		{"r.bin", count(100), Options{Shape: []int{3}, Type: graph.F32}, "100 bytes are not items of f32[3]"},
		{"std.npy", x, Options{Std: []float32{0}}, "a standard deviation is 0"},
		{"l.npy", x, Options{Labels: filepath.Join(dir, "missing")}, "no such file"},
		{"missing/x", nil, Options{}, "no such file"},
		{"empty", nil, Options{}, "the folder has neither input_0.pb"},
		{"two", nil, Options{}, "name one of a-images, b-images"},
	} {
		path := filepath.Join(dir, c.file)
		if c.content != nil {
			write(t, dir, c.file, c.content)
		} else if c.file == "none" {
			write(t, dir, c.file, nil)
		}
		_, err := Open(path, c.options)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %s", c.file, err, c.want)
		}
	}
	s, err := Open(filepath.Join(dir, "img"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Batch(0, 1); err == nil || err.Error() != "img: item 0: a.png: image: unknown format" {
		t.Errorf("broken image: %v", err)
	}
}

func TestBatchAndFeed(t *testing.T) {
	v := graph.Values(graph.U8, count(5*4), 5, 2, 2)
	s, err := New("five", []Array{{"", v}}, []int{0, 1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range [][2]int{{-1, 1}, {0, 0}, {0, 6}, {5, 1}, {4, 2}, {math.MaxInt, 1}, {1, math.MaxInt}} {
		if _, err := s.Batch(r[0], r[1]); err == nil {
			t.Errorf("items %v were returned", r)
		}
	}
	n := graph.NewNetwork("n")
	image := n.AddInput("image", graph.F32, graph.Symbol("batch"), graph.Const(1), graph.Const(2), graph.Const(2))
	feed, err := s.Feed(n.Inputs, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	got := feed["image"]
	if !slices.Equal(got.Dims, []int{2, 1, 2, 2}) || !slices.Equal(got.F32(), []float32{12, 13, 14, 15, 16, 17, 18, 19}) {
		t.Errorf("fed %v %v", got.Dims, got.F32())
	}
	if l := s.LabelsOf(3, 2); !slices.Equal(l, []int{3, 4}) {
		t.Errorf("labels %v", l)
	}
	var sizes []int
	var last graph.Value
	for feed, err := range s.Batches(n.Inputs, 2) {
		if err != nil {
			t.Fatal(err)
		}
		last = feed["image"]
		sizes = append(sizes, last.Dims[0])
	}
	if !slices.Equal(sizes, []int{2, 2, 2}) || !slices.Equal(last.F32()[4:], last.F32()[:4]) {
		t.Errorf("batches of %v, the last %v", sizes, last.F32())
	}
	n.Inputs = append(n.Inputs, n.AddInput("other", graph.F32, graph.Const(1)))[:2]
	if _, err := s.Feed(n.Inputs, 0, 1); err == nil || !strings.Contains(err.Error(), "no data for input image") {
		t.Errorf("two inputs: %v", err)
	}
	image.Dims[2] = graph.Const(3)
	if _, err := s.Feed(n.Inputs[:1], 0, 1); err == nil || err.Error() != "five: input image: data of shape [1 2 2] does not fit f32[batch,1,3,2]" {
		t.Errorf("another shape: %v", err)
	}
	f, _ := New("f", []Array{{"", graph.NewValue(graph.F32, 1, 3)}}, nil)
	n.Inputs[1].Type, n.Inputs[1].Dims = graph.I64, graph.Shape(1, 3)
	if _, err := f.Feed(n.Inputs[1:2], 0, 1); err == nil || !strings.Contains(err.Error(), "data is f32, the network needs i64") {
		t.Errorf("another type: %v", err)
	}
}

func TestONNXData(t *testing.T) {
	dir := t.TempDir()
	for i, dims := range [][]int{{1, 2}, {3, 2}, {2, 2}} {
		name := []string{"test_data_set_0", "test_data_set_2", "test_data_set_10"}[i]
		x := graph.NewValue(graph.F32, dims...)
		x.F32()[0] = float32(i)
		write(t, dir, name+"/input_0.pb", onnx.WriteTensor("x", x))
		write(t, dir, name+"/input_1.pb", onnx.WriteTensor("k", graph.Values(graph.I64, []int64{int64(i)})))
	}
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != 3 || !s.Whole {
		t.Fatalf("%+v", s)
	}
	for i, rows := range []int{1, 3, 2} {
		v, err := s.Batch(i, 1)
		if err != nil || v[0].Dims[0] != rows || v[0].F32()[0] != float32(i) || v[1].I64()[0] != int64(i) || len(v[1].Dims) != 0 {
			t.Errorf("set %d: %v %v", i, v, err)
		}
	}
	if _, err := s.Batch(0, 2); err == nil {
		t.Error("whole items were joined")
	}
	if one, err := Open(filepath.Join(dir, "test_data_set_2"), Options{}); err != nil || one.Len() != 1 {
		t.Errorf("one folder: %v", err)
	}
	write(t, dir, "test_data_set_10/input_1.pb", []byte{0xff})
	if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "input_1.pb") {
		t.Errorf("broken tensor: %v", err)
	}
}

func TestImages(t *testing.T) {
	dir := t.TempDir()
	m := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	for i := range 6 {
		m.SetNRGBA(i%3, i/3, color.NRGBA{byte(i), byte(10 * i), 200, byte(40 * i)})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "b.png", b.Bytes())
	write(t, dir, "a.png", b.Bytes())
	write(t, dir, "ignored.txt", nil)
	o := Options{Scale: 1, Size: 2, Resize: 2, Mean: []float32{0, 0, 200}, Std: []float32{1, 10, 1}}
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	want := []float32{0, 1, 3, 4, 0, 1, 3, 4, 0, 0, 0, 0}
	if got := batch(t, s, 1, 1, 1, 3, 2, 2); s.Len() != 2 || s.Labels != nil || !slices.Equal(got, want) {
		t.Errorf("%d images, %v", s.Len(), got)
	}
	o.BGR, o.Mean, o.Std = true, []float32{200, 0, 0}, []float32{1, 10, 1} // in the model's order
	if s, err = Open(dir, o); err != nil {
		t.Fatal(err)
	}
	want = []float32{0, 0, 0, 0, 0, 1, 3, 4, 0, 1, 3, 4}
	if got := batch(t, s, 1, 1, 1, 3, 2, 2); !slices.Equal(got, want) {
		t.Errorf("blue first: %v, want %v", got, want)
	}
	o.NHWC = true
	if s, err = Open(dir, o); err != nil {
		t.Fatal(err)
	}
	if got := batch(t, s, 1, 1, 1, 2, 2, 3)[3:6]; !slices.Equal(got, []float32{0, 1, 1}) {
		t.Errorf("blue first, channels last: the second pixel is %v", got)
	}
	write(t, dir, "labels.tsv", []byte("file\tclass\tname\nb.png\t7\tthing\n"))
	if s, err = Open(dir, o); err != nil || s.Len() != 1 || !slices.Equal(s.Labels, []int{7}) {
		t.Errorf("with labels: %+v, %v", s, err)
	}
	for text, want := range map[string]string{
		"b.png\t7\nb.png\tx\n": "labels.tsv, line 2", "file\tclass\n../x.png\t1\n": "is not a file in the folder", "c.png\t1\n": "image c.png",
	} {
		write(t, dir, "labels.tsv", []byte(text))
		if _, err := Open(dir, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestRandom(t *testing.T) {
	n := graph.NewNetwork("n")
	n.AddInput("x", graph.F16, graph.Symbol("batch"), graph.Const(3))
	n.AddInput("k", graph.I64, graph.Symbol("batch"))
	s, err := Random(n.Inputs, map[string]int{"batch": 4}, 5, 1)
	if err != nil || !s.Random || s.Whole {
		t.Fatalf("%+v %v", s, err)
	}
	all, err := s.Feed(n.Inputs, 0, 5)
	if err != nil {
		t.Fatal(err)
	}
	third, err := s.Feed(n.Inputs, 2, 1)
	if err != nil || !bytes.Equal(all["x"].Data[12:18], third["x"].Data) || !bytes.Equal(all["k"].Data[16:24], third["k"].Data) {
		t.Errorf("an item depends on its batch: %v %v %v", all, third, err)
	}
	other, _ := Random(n.Inputs, nil, 5, 2)
	if v, _ := other.Batch(0, 5); bytes.Equal(v[0].Data, all["x"].Data) {
		t.Error("another seed gives the same data")
	}
	n.AddInput("s", graph.F32)
	w, err := Random(n.Inputs, map[string]int{"batch": 4}, 2, 1)
	if err != nil || !w.Whole {
		t.Fatalf("%+v %v", w, err)
	}
	if v, err := w.Feed(n.Inputs, 1, 1); err != nil || v["x"].Dims[0] != 4 || len(v["s"].Dims) != 0 {
		t.Errorf("%v %v", v, err)
	}
	fixed := graph.NewNetwork("fixed")
	fixed.AddInput("x", graph.F32, graph.Const(2), graph.Const(4))
	f, err := Random(fixed.Inputs, nil, 3, 1)
	if err != nil || !f.Whole {
		t.Fatalf("%+v %v", f, err)
	}
	if bound, err := f.Bind(fixed.Inputs); err != nil || bound.Len() != 3 {
		t.Errorf("a batch that is fixed to 2: %v", err)
	}
}

// Random data that is too large is an error that names the input and what to give instead.
func TestRandomTooLarge(t *testing.T) {
	for _, c := range []struct {
		name  string
		dims  []graph.Dim
		items int
		want  string
	}{
		{"small", graph.Shape(1, 3), 1 << 16, ""},
		{"the most", graph.Shape(1, 1<<28), 16, ""},
		{"an item", graph.Shape(1, 1<<28+1), 1, "input x of shape [1 268435457] an item has 1.074e+09 bytes, and the limit is 1073741824; give a model whose input is smaller"},
		{"overflow", []graph.Dim{graph.Symbol("batch"), graph.Symbol("wide"), graph.Const(1 << 40), graph.Const(1 << 40)}, 1, "give smaller shapes"},
		{"items", graph.Shape(1, 1<<28), 17, "17 items have 1.825e+10 bytes, and the limit is 17179869184; give fewer items (--random-items 16)"},
		{"empty", graph.Shape(0, 1<<40), 1, ""},
		{"negative", []graph.Dim{graph.Const(1), graph.Symbol("n").AddN(-4)}, 1, "has extent -3 on axis 1"},
	} {
		n := graph.NewNetwork("n")
		n.AddInput("x", graph.F32, c.dims...)
		_, err := Random(n.Inputs, map[string]int{"wide": 1 << 24}, c.items, 1)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	n := graph.NewNetwork("two")
	n.AddInput("x", graph.F32, graph.Shape(1, 1<<27+1)...)
	n.AddInput("y", graph.F32, graph.Shape(1, 1<<27)...)
	if _, err := Random(n.Inputs, nil, 1, 1); err == nil || !strings.Contains(err.Error(), "input y") {
		t.Errorf("two inputs that are too large together: %v", err)
	}
}

func TestParseItems(t *testing.T) {
	for text, want := range map[string][2]int{"500-1999": {500, 1500}, "500-": {500, 0}, "1500": {0, 1500}, "0-0": {0, 1}} {
		if first, limit, err := ParseItems(text); err != nil || first != want[0] || limit != want[1] {
			t.Errorf("%s: %d %d %v", text, first, limit, err)
		}
	}
	for _, text := range []string{"", "x", "-5", "5-4", "0", "1-2-3"} {
		if _, _, err := ParseItems(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestBind(t *testing.T) {
	s, err := New("pair", []Array{{"", graph.Values(graph.F32, []float32{1, 2}, 2, 1)}}, []int{4, -1})
	if err != nil {
		t.Fatal(err)
	}
	n := graph.NewNetwork("n")
	n.AddInput("x", graph.F32, graph.Symbol("batch"), graph.Const(1))
	b, err := s.Bind(n.Inputs)
	if err != nil {
		t.Fatal(err)
	}
	in, err := b.Inputs(1)
	if err != nil || in["x"].F32()[0] != 2 || b.Len() != 2 || b.Name() != "pair" || b.Random() {
		t.Errorf("%v %v", in, err)
	}
	if l, ok := b.Label(0); l != 4 || !ok {
		t.Errorf("label %d %v", l, ok)
	}
	if _, ok := b.Label(1); ok {
		t.Error("an item without label has one")
	}
	n.Inputs[0].Dims[1] = graph.Const(2)
	if _, err := s.Bind(n.Inputs); err == nil {
		t.Error("another shape was bound")
	}
}

// Data that feeds nothing to a network is an error; one of its inputs may be empty.
func TestEmptyFeed(t *testing.T) {
	s := &Set{Name: "nothing", Whole: true, length: 1, Inputs: []Input{{"x", graph.F32, []int{1, 0}}, {"y", graph.F32, []int{1, 2}}}}
	s.read = func(int, int, graph.Value) error { return nil }
	n := graph.NewNetwork("n")
	n.AddInput("x", graph.F32, graph.Const(1), graph.Symbol("length"))
	if _, err := s.Bind(n.Inputs); err == nil || !strings.Contains(err.Error(), "item 0: input x of shape [1 0] has no elements") {
		t.Errorf("only an empty input: %v", err)
	}
	n.AddInput("y", graph.F32, graph.Const(1), graph.Const(2))
	if _, err := s.Bind(n.Inputs); err != nil {
		t.Errorf("an empty input among others: %v", err)
	}
}

// NaN and infinities are errors that name item, input and element, unless they are asked for; so is what becomes infinite
// in the network's type.
func TestNotFinite(t *testing.T) {
	dir := t.TempDir()
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	n := graph.NewNetwork("n")
	n.AddInput("x", graph.F32, graph.Symbol("batch"), graph.Const(2))
	half := graph.NewNetwork("half")
	half.AddInput("x", graph.F16, graph.Symbol("batch"), graph.Const(2))
	for _, c := range []struct {
		values  []float32
		inputs  []*graph.Tensor
		options Options
		want    string
	}{
		{[]float32{1, 2, 3, 70000}, n.Inputs, Options{}, ""},
		{[]float32{1, 2, 3, nan}, n.Inputs, Options{}, "input x: item 1: element 1 is NaN as f32"},
		{[]float32{1, 2, -inf, 4}, n.Inputs, Options{}, "item 1: element 0 is -Inf"},
		{[]float32{1, 2, 3, 70000}, half.Inputs, Options{}, "item 1: element 1 is +Inf as f16"},
		{[]float32{1, 2, 3, nan}, n.Inputs, Options{NotFinite: true}, ""},
	} {
		path := write(t, dir, "x.npy", npy(1, "<f4", "(2, 2)", floats(c.values...)))
		s, err := Open(path, c.options)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Bind(c.inputs)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %q", c.values, err, c.want)
		}
	}
	path := write(t, dir, "y.npz", npz(t, map[string][]byte{
		"x.npy": npy(1, "<f4", "(1, 2)", floats(1, 2)), "y.npy": npy(1, "<i8", "(1,)", graph.Bytes([]int64{-1})),
	}, "x.npy", "y.npy"))
	if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "label -1 of item 0") {
		t.Errorf("a label under 0: %v", err)
	}
}
