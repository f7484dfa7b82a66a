package dataset

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
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

func floats(v ...float32) []byte { return numeric.Bytes(v) }

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
		"x.npy": npy(1, "<f4", "(3, 2)", floats(x...)), "y.npy": npy(2, "<i8", "(3,)", numeric.Bytes([]int64{7, 0, 2})),
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
		{"f8.npy", npy(1, "=f8", "(1, 1)", numeric.Bytes([]float64{-2.5})), Options{}, []int{1, 1}, []float32{-2.5}, nil},
		{"i2.npy", npy(1, "<i2", "(2,)", numeric.Bytes([]int16{-5, 5})), Options{Scale: 0.5, Mean: []float32{1}}, []int{2}, []float32{-3.5, 1.5}, nil},
		{"c.npy", npy(1, "|u1", "(1,2,2)", []byte{1, 2, 3, 4}), Options{Mean: []float32{1, 2}, Std: []float32{1, 2}}, []int{1, 2, 2}, []float32{0, 1, .5, 1}, nil},
		{"d.npz", npz(t, members, "x.npy", "y.npy"), Options{}, []int{3, 2}, x, []int{7, 0, 2}},
		{"e.npz", npz(t, members, "x.npy", "y.npy"), Options{First: 1}, []int{2, 2}, x[2:], []int{0, 2}},
		{"t-images-idx3-ubyte.gz", gzipped(t, pixels), Options{Scale: 1, First: 1, Limit: 2}, []int{2, 1, 2, 2}, []float32{4, 5, 6, 7, 8, 9, 10, 11}, []int{4, 5}},
		{"p-idx", idx(8, []int{1, 2, 2}, count(4)), Options{Scale: 1, Size: Size{4, 4}, Pad: true, Mean: []float32{1}, Std: []float32{2}}, []int{1, 1, 4, 4},
			[]float32{-.5, -.5, -.5, -.5, -.5, -.5, 0, -.5, -.5, .5, 1, -.5, -.5, -.5, -.5, -.5}, nil},
		{"n-idx", idx(8, []int{1, 1, 2}, []byte{51, 255}), Options{NHWC: true, Channels: 3}, []int{1, 1, 2, 3}, []float32{.2, .2, .2, 1, 1, 1}, nil},
		{"raw.bin", []byte{1, 0xff, 3, 4, 5, 6}, Options{Shape: []int{2}, Type: numeric.I8, Range: numeric.PerTensor(0.5, 1), First: 0, Limit: 3, Labels: labels},
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
	y := map[string][]byte{"x.npy": x, "y.npy": npy(1, "<i8", "(2,)", numeric.Bytes([]int64{1, 2})), "n.txt": {1}}
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
		{"obj.npy", npy(1, "|O", "(1,)", floats(1)), Options{}, "arrays of Python's objects are not supported; save strings as such"},
		{"shape.npy", npy(1, "<f4", "(-1,)", nil), Options{}, "the array's shape (-1,) is wrong"},
		{"huge.npy", npy(1, "<f4", "(1000000000, 1000000000)", nil), Options{}, "more than 1024 MiB"},
		{"long.npy", npy(1, "<f4", "(200000000,)", floats(1)), Options{}, "the file ends after 4 of"},
		{"overflow.npy", npy(1, "<f4", "(1, 1099511627776, 1099511627776)", nil), Options{}, "more than 1024 MiB"},
		{"zero.npy", npy(1, "<f4", "(0, 2)", nil), Options{}, "there are no items"},
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
		{"size-idx", idx(8, []int{1, 2, 2}, count(4)), Options{Size: Size{4, 4}}, "images are 2x2, want 4x4"},
		{"mean-idx", idx(8, []int{1, 2, 2}, count(4)), Options{Mean: []float32{1, 2}}, "2 means for 1 channels"},
		{"c.bin", count(100), Options{}, "100 bytes are not CIFAR items of 3073"},
		{"r.bin", count(100), Options{Shape: []int{3}, Type: numeric.F32}, "100 bytes are not items of f32[3]"},
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
	s, err := Open(filepath.Join(dir, "only.npz"), Options{Inputs: []string{"y"}})
	if err != nil || s.Labels != nil || len(s.Inputs) != 1 || s.Inputs[0].Name != "y" {
		t.Errorf("y of an input that is called so: %+v, %v", s, err)
	}
	s, err = Open(filepath.Join(dir, "img"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Batch(0, 1); err == nil || err.Error() != "img: item 0: a.png: image: unknown format" {
		t.Errorf("broken image: %v", err)
	}
}
