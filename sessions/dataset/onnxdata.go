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

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/internal/host"
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
	var items [][]numeric.Value
	left := maxBytes
	for _, folder := range folders[first : first+count] {
		paths, err := onnxInputs(folder)
		if err != nil {
			return nil, err
		}
		item := make([]numeric.Value, len(paths))
		for k, path := range paths {
			name, v, err := s.readTensor(path, h)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			if left -= len(v.Data); left < 0 {
				return nil, errTooLarge
			}
			if err := s.input(k, name, v, len(items) == 0); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
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
	s.keep(items)
	return s, nil
}

// input notes input k of an item of a whole set: of the first one what it is, of others whether they are the same.
func (s *Set) input(k int, name string, v numeric.Value, first bool) error {
	if first {
		s.Inputs = append(s.Inputs, Input{name, v.Type, v.Dims})
	} else if k >= len(s.Inputs) || s.Inputs[k].Name != name || s.Inputs[k].Type != v.Type {
		return fmt.Errorf("%s %s differs from the first item's input of that number", name, v.Type)
	}
	return nil
}

// keep makes these values the items of a whole set, by item and input.
func (s *Set) keep(items [][]numeric.Value) {
	s.stored = items
	s.read = func(i, k int, dst *numeric.Value) error {
		store(dst, items[i][k].Data)
		return nil
	}
}

// store gives an item its elements: strings are as long as they are.
func store(dst *numeric.Value, data []byte) {
	if dst.Type == numeric.Str {
		dst.Data = slices.Clone(data)
		return
	}
	copy(dst.Data, data)
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
func (s *Set) readTensor(path string, h interface{ Write([]byte) (int, error) }) (string, numeric.Value, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", numeric.Value{}, err
	}
	if info.Size() > maxBytes {
		return "", numeric.Value{}, errTooLarge
	}
	b, err := host.ReadFile(path)
	if err != nil {
		return "", numeric.Value{}, err
	}
	if _, err := h.Write(b); err != nil {
		return "", numeric.Value{}, err
	}
	s.Identity.Size += info.Size()
	if info.ModTime().After(s.Identity.ModTime) {
		s.Identity.ModTime = info.ModTime()
	}
	return onnx.ReadTensor(b)
}
