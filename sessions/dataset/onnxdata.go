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

// keep makes these values the items of a whole set, by its inputs.
func (s *Set) keep(items [][]numeric.Value) {
	s.shapes = func(i, k int) []int { return items[i][k].Dims }
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

// itemised returns a whole set as one of the items that lie along the first axis of its values, where that axis is one and the
// same symbol in all inputs: the batch. A set of batches of one, of values that differ in other axes, or for other inputs stays
// as it is.
func (s *Set) itemised(inputs []*graph.Tensor) *Set {
	if !s.Whole || s.shapes == nil || !sameBatch(inputs) {
		return s
	}
	type place struct{ set, at int }
	var places []place
	cut := *s
	cut.Inputs = nil
	for i := range s.length {
		n := 0
		for k, in := range s.Inputs {
			dims := s.shapes(i, k)
			if len(dims) == 0 || k > 0 && dims[0] != n || i > 0 && !slices.Equal(dims[1:], cut.Inputs[k].Dims) {
				return s
			}
			if n = dims[0]; i == 0 {
				cut.Inputs = append(cut.Inputs, Input{in.Name, in.Type, slices.Clone(dims[1:])})
			}
		}
		for at := range n {
			places = append(places, place{i, at})
		}
	}
	if len(places) == s.length || len(places) == 0 {
		return s
	}
	cut.Whole, cut.shapes, cut.length = false, nil, len(places)
	cut.Identity.Hash += " by items"
	cut.read = func(i, k int, dst *numeric.Value) error {
		from := places[i]
		whole := numeric.NewValue(dst.Type, s.shapes(from.set, k)...)
		if err := s.read(from.set, k, &whole); err != nil {
			return err
		}
		store(dst, whole.Rows(from.at, from.at+1).Data)
		return nil
	}
	return &cut
}

// sameBatch reports whether one symbol is the first axis of all inputs, and no other axis of them.
func sameBatch(inputs []*graph.Tensor) bool {
	if len(inputs) == 0 || len(inputs[0].Dims) == 0 {
		return false
	}
	batch, symbol := inputs[0].Dims[0].SymbolName()
	for _, t := range inputs {
		for i, d := range t.Dims {
			names := map[string]bool{}
			if d.Symbols(names); names[batch] != (i == 0) {
				return false
			}
		}
		if len(t.Dims) == 0 {
			return false
		}
	}
	return symbol
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
