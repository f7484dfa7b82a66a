package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
)

var (
	inputFile = regexp.MustCompile(`^input_(\d+)\.pb$`)
	setFolder = regexp.MustCompile(`^test_data_set_(\w+)$`)
)

// openONNX returns ONNX test data: a folder of input_K.pb, or a folder of such folders named test_data_set_N. Every
// folder is one whole item, since nothing says which axis of a tensor counts items.
func openONNX(dir string, o Options) (*Set, error) {
	folders, err := onnxFolders(dir)
	if err != nil {
		return nil, err
	}
	first, count, err := o.part(len(folders))
	if err != nil {
		return nil, err
	}
	s := &Set{Name: filepath.Base(dir), Whole: true, asStored: true, length: count, Identity: Identity{Path: dir}}
	h := sha256.New()
	var items [][]graph.Value
	left := maxBytes
	for _, folder := range folders[first : first+count] {
		paths, err := onnxInputs(folder)
		if err != nil {
			return nil, err
		}
		item := make([]graph.Value, len(paths))
		for k, path := range paths {
			name, v, err := s.readTensor(path, h)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			if left -= len(v.Data); left < 0 {
				return nil, errTooLarge
			}
			if len(items) == 0 {
				s.Inputs = append(s.Inputs, Input{name, v.Type, v.Dims})
			} else if k >= len(s.Inputs) || s.Inputs[k].Name != name || s.Inputs[k].Type != v.Type {
				return nil, fmt.Errorf("%s: %s %s differs from the first set's input of that number", path, name, v.Type)
			}
			item[k] = v
		}
		if len(item) != len(s.Inputs) {
			return nil, fmt.Errorf("%s: %d inputs, the first set has %d", folder, len(item), len(s.Inputs))
		}
		items = append(items, item)
	}
	fmt.Fprintf(h, "%+v", o)
	s.Identity.Hash = hex.EncodeToString(h.Sum(nil))
	s.shapes = func(i, k int) []int { return items[i][k].Dims }
	s.read = func(i, k int, dst graph.Value) error {
		copy(dst.Data, items[i][k].Data)
		return nil
	}
	return s, nil
}

// onnxFolders returns the folders of test data in dir, itself or those in it, in order; none if it has none.
func onnxFolders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, e := range entries {
		if inputFile.MatchString(e.Name()) {
			return []string{dir}, nil
		}
		if e.IsDir() && setFolder.MatchString(e.Name()) {
			folders = append(folders, e.Name())
		}
	}
	slices.SortFunc(folders, byNumber)
	for i, f := range folders {
		folders[i] = filepath.Join(dir, f)
	}
	return folders, nil
}

// byNumber orders names that end in numbers by these, before others by name.
func byNumber(a, b string) int {
	number := func(s string) int {
		n, err := strconv.Atoi(setFolder.FindStringSubmatch(s)[1])
		if err != nil {
			return 1 << 62
		}
		return n
	}
	if d := number(a) - number(b); d != 0 {
		return d
	}
	if a < b {
		return -1
	}
	return 1
}

// onnxInputs returns the paths of input_0.pb, input_1.pb, ... in a folder.
func onnxInputs(dir string) ([]string, error) {
	var paths []string
	for k := 0; ; k++ {
		path := filepath.Join(dir, fmt.Sprintf("input_%d.pb", k))
		if _, err := os.Stat(path); err != nil {
			break
		}
		paths = append(paths, path)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: no input_0.pb", dir)
	}
	return paths, nil
}

// readTensor reads a TensorProto and takes its file into the set's identity.
func (s *Set) readTensor(path string, h interface{ Write([]byte) (int, error) }) (string, graph.Value, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", graph.Value{}, err
	}
	if info.Size() > maxBytes {
		return "", graph.Value{}, errTooLarge
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", graph.Value{}, err
	}
	if _, err := h.Write(b); err != nil {
		return "", graph.Value{}, err
	}
	s.Identity.Size += info.Size()
	if info.ModTime().After(s.Identity.ModTime) {
		s.Identity.ModTime = info.ModTime()
	}
	return onnx.ReadTensor(b)
}
