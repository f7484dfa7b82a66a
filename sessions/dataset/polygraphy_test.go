package dataset

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
)

// testdata/polygraphy was written by Polygraphy 0.53.6: inputs x, 2x2, of two iterations, and what ONNX Runtime made of them,
// y = Relu(x w) and k, the place of the largest of each row.
const pgInputs, pgOutputs = "testdata/polygraphy/inputs.json", "testdata/polygraphy/outputs.json"

func TestPolygraphyFiles(t *testing.T) {
	set, err := Open(pgInputs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	results, err := ReadResults(pgOutputs)
	if err != nil {
		t.Fatal(err)
	}
	if set.Len() != 2 || !set.Whole || len(results) != 1 || len(results[0].Iterations) != 2 || !strings.HasPrefix(results[0].Runner, "onnxrt-runner-N0") {
		t.Fatalf("%d items, results %+v", set.Len(), results)
	}
	w := [2][3]float32{{1, -2, .5}, {0, 1, 3}}
	for i, got := range results[0].Iterations {
		batch, err := set.Batch(i, 1)
		if err != nil {
			t.Fatal(err)
		}
		x, y, k := batch[0].F32(), got["y"].F32(), got["k"].I64()
		for row := range 2 {
			best := 0
			for c := range 3 {
				want := max(0, x[2*row]*w[0][c]+x[2*row+1]*w[1][c])
				if d := y[3*row+c] - want; d > 1e-6 || d < -1e-6 {
					t.Errorf("iteration %d: y[%d,%d] is %g, want %g", i, row, c, y[3*row+c], want)
				}
				if y[3*row+c] > y[3*row+best] {
					best = c
				}
			}
			if k[row] != int64(best) {
				t.Errorf("iteration %d: k[%d] is %d, want %d", i, row, k[row], best)
			}
		}
	}
}

// What is written is what Polygraphy wrote, but for the time that an iteration took.
func TestPolygraphyWritten(t *testing.T) {
	results, err := ReadResults(pgOutputs)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteResults(&b, results); err != nil {
		t.Fatal(err)
	}
	same(t, b.Bytes(), pgOutputs)
	set, err := Open(pgInputs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var feeds []map[string]numeric.Value
	for i := range set.Len() {
		batch, err := set.Batch(i, 1)
		if err != nil {
			t.Fatal(err)
		}
		feeds = append(feeds, map[string]numeric.Value{"x": batch[0]})
	}
	b.Reset()
	if err := WriteFeeds(&b, feeds); err != nil {
		t.Fatal(err)
	}
	same(t, b.Bytes(), pgInputs)
}

// same compares JSON with that of a file, without times.
func same(t *testing.T, got []byte, path string) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(want, &b); err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{a, b} {
		dropRuntime(v)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%s: written\n%s", path, got)
	}
}

func dropRuntime(v any) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			dropRuntime(x)
		}
	case map[string]any:
		if _, ok := v["runtime"]; ok {
			v["runtime"] = nil
		}
		for _, x := range v {
			dropRuntime(x)
		}
	}
}

// A folder has one file for each iteration.
func TestPolygraphyFolder(t *testing.T) {
	results, err := ReadResults(pgOutputs)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i, it := range results[0].Iterations {
		var b bytes.Buffer
		if err := WriteResults(&b, []Results{{Runner: "r", Iterations: []map[string]numeric.Value{it}}}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, []string{"0000000000.json", "0000000001.json"}[i]), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadResults(dir)
	if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0].Iterations, results[0].Iterations) {
		t.Errorf("%v: %+v", err, got)
	}
}

// Files that are none, or have what is not read, are errors that say so.
func TestPolygraphyRefused(t *testing.T) {
	array := `{"array": "k05VTVBZAQB2AHs=", "polygraphy_class": "ndarray"}`
	for text, want := range map[string]string{
		``:                   "neither a .npz archive nor results",
		`{}`:                 "neither a .npz archive nor results",
		`{"lst":[]}`:         "neither a .npz archive nor results",
		`{"lst":[["r"]]}`:    "a runner has 1 parts",
		`{"lst":[["r",[]]]}`: "r has no iterations",
		`{"lst":[["r",[{"outputs":{"y":null}}]]]}`:                                     "r, iteration 0: array y: there is none",
		`{"lst":[["r",[{"outputs":{"y":{}}}]]]}`:                                       "no array of numpy",
		`{"lst":[["r",[{"outputs":{"y":{"values":{"tensor":"UEs="}}}}]]]}`:             "pickled tensor of PyTorch",
		`{"lst":[["r",[{"outputs":{"y":{"values":` + array + `}}}]]]}`:                 "the header of the array is cut off",
		`{"lst":[["r",[{"outputs":{"y":{"values":{"array":"AAAAAAAAAAAAAAAA"}}}}]]]}`:  "not a .npy array",
		`{"lst":[["r",[{"outputs":{"y":{"values":{"array":"not base64 \u0001"}}}}]]]}`: "not a .npy array",
		"PK\x03\x04": "not a .npz archive",
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadResults(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		`[]`: "its form is unknown", `[{`: "no inputs of Polygraphy", `[{"x":{}}]`: "item 0: array x: it is no array of numpy",
	} {
		path := filepath.Join(t.TempDir(), "f.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
