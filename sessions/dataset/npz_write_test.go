package dataset

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
)

// What is written is read again, and by numpy where there is one.
func TestWriteNpz(t *testing.T) {
	arrays := map[string]numeric.Value{
		"scalar": {Type: numeric.F32, Dims: nil, Data: numeric.Bytes([]float32{7})},
		"list":   {Type: numeric.I64, Dims: []int{3}, Data: numeric.Bytes([]int64{-1, 2, 1 << 40})},
		"a/b":    {Type: numeric.U8, Dims: []int{2, 2}, Data: []byte{0, 1, 254, 255}},
		"half":   {Type: numeric.F16, Dims: []int{1, 2}, Data: numeric.Bytes([]uint16{0x3c00, 0xc000})},
		"brain":  {Type: numeric.BF16, Dims: []int{2}, Data: numeric.Bytes([]uint16{0x3f80, 0xc000})},
		"none":   {Type: numeric.Bool, Dims: []int{1, 0}},
	}
	var file bytes.Buffer
	if err := WriteNpz(&file, arrays); err != nil {
		t.Fatal(err)
	}
	read, _, err := readNpz(bytes.NewReader(file.Bytes()), int64(file.Len()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	arrays["brain"] = numeric.Value{Type: numeric.F32, Dims: []int{2}, Data: numeric.Bytes([]float32{1, -2})}
	if len(read) != len(arrays) {
		t.Errorf("%d arrays, want %d", len(read), len(arrays))
	}
	for _, a := range read {
		want := arrays[a.Name]
		if a.Value.Type != want.Type || fmt.Sprint(a.Value.Dims) != fmt.Sprint(want.Dims) || !bytes.Equal(a.Value.Data, want.Data) {
			t.Errorf("%s: %v, want %v", a.Name, a.Value, want)
		}
	}
	path := filepath.Join(t.TempDir(), "a.npz")
	if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	script := "import sys, numpy\nz = numpy.load(sys.argv[1])\nfor n in sorted(z): print(n, z[n].dtype, z[n].shape, z[n].ravel().tolist())"
	out, err := exec.Command("python3", "-c", script, path).Output()
	if err != nil {
		t.Log("numpy is not asked: python3 has none")
		return
	}
	want := []string{"a/b uint8 (2, 2) [0, 1, 254, 255]", "brain float32 (2,) [1.0, -2.0]", "half float16 (1, 2) [1.0, -2.0]",
		"list int64 (3,) [-1, 2, 1099511627776]", "none bool (1, 0) []", "scalar float32 () [7.0]"}
	if got := strings.Split(strings.TrimSpace(string(out)), "\n"); !reflect.DeepEqual(got, want) {
		t.Errorf("numpy reads %q, want %q", got, want)
	}
}
