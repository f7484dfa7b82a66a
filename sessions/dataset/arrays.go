package dataset

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/internal/host"
)

// ReadArrays returns the arrays of a .npz file by name, each as it is.
func ReadArrays(path string) (map[string]numeric.Value, error) {
	data, err := host.ReadFile(path)
	if err != nil {
		return nil, err
	}
	arrays, err := readArchive(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return arrays, nil
}

func readArchive(data []byte) (map[string]numeric.Value, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("not a .npz archive: %w", err)
	}
	arrays, left := map[string]numeric.Value{}, maxBytes
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			return nil, fmt.Errorf("%s in the archive is no .npy array", f.Name)
		}
		v, err := readWhole(f, left)
		if err != nil {
			return nil, fmt.Errorf("array %s: %w", name, err)
		}
		left -= len(v.Data)
		arrays[name] = v
	}
	return arrays, nil
}

// readWhole reads a member of an archive, which may be empty.
func readWhole(f *zip.File, most int) (numeric.Value, error) {
	r, err := f.Open()
	if err != nil {
		return numeric.Value{}, err
	}
	defer r.Close()
	return readNpy(r, most, everything)
}

// everything chooses all rows.
func everything(n int) (first, count int, err error) { return 0, n, nil }
