package conformance

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/internal/host"
)

// Case is a model with the outputs that are expected for some inputs.
type Case struct {
	Name string

	open func(onnx.Importer) (*graph.Network, error)
	sets []dataSet
}

// dataSet is one test_data_set: input_0.pb, ..., output_0.pb, ...
type dataSet struct {
	name            string
	inputs, outputs []dataFile // by number
}

type dataFile struct {
	name   string
	number int
	read   func() ([]byte, error)
}

// The contents of an archive, which are held in memory, are bounded by maxArchiveBytes, and beyond freeArchiveBytes by
// maxArchiveRatio times the size of the archive: what real test data may compress to, and a hundredth of what gzip can.
const (
	maxArchiveBytes  = 1 << 30
	freeArchiveBytes = 64 << 20
	maxArchiveRatio  = 32
)

// Find returns the cases at each of the paths: the folder of a case, a folder of such folders, a model, or a .tar.gz.
func Find(paths ...string) ([]Case, error) {
	var cases []Case
	for _, path := range paths {
		found, err := findAt(path)
		if err != nil {
			return nil, err
		}
		cases = append(cases, found...)
	}
	return cases, nil
}

// findAt returns the cases at a path, sorted by name.
func findAt(name string) ([]Case, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	var cases []Case
	switch {
	case info.IsDir():
		cases, err = folderCases(name)
	case filepath.Ext(name) == ".onnx":
		cases = make([]Case, 1)
		cases[0], err = fileCase(name)
	case strings.HasSuffix(name, ".tar.gz"), strings.HasSuffix(name, ".tgz"):
		cases, err = archiveCases(name)
	default:
		err = fmt.Errorf("%s is neither a folder nor a model nor a .tar.gz", name)
	}
	if err == nil && len(cases) == 0 {
		err = fmt.Errorf("%s has no cases: a case is a folder with a model and test_data_set_0 in it", name)
	}
	slices.SortStableFunc(cases, func(a, b Case) int { return cmp.Compare(a.Name, b.Name) })
	return cases, err
}

// folderCases returns the cases at and below a folder.
func folderCases(root string) ([]Case, error) {
	var cases []Case
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".onnx" {
			return err
		}
		dir := filepath.Dir(file)
		model, err := caseModel(dir)
		if dir != filepath.Clean(root) && errors.Is(err, errWhichModel) {
			return nil // among other cases, a folder that leaves it open
		}
		if err != nil || file != model {
			return err
		}
		c, err := fileCase(file)
		cases = append(cases, c)
		return err
	})
	return cases, err
}

// fileCase returns the case of a model with the test data beside it; its name is the folder's.
func fileCase(file string) (Case, error) {
	dir := filepath.Dir(file)
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Case{}, err
	}
	c := Case{Name: filepath.Base(abs), open: func(im onnx.Importer) (*graph.Network, error) {
		f, err := im.Open(file)
		if err != nil {
			return nil, err
		}
		return f.Network, nil
	}}
	data, err := filepath.Glob(filepath.Join(escapeGlob(dir), "test_data_set*", "*.pb"))
	for _, file := range data {
		c.add(filepath.Base(filepath.Dir(file)), filepath.Base(file), func() ([]byte, error) { return host.ReadFile(file) })
	}
	return c, err
}

var errWhichModel = errors.New("models, none of which is model.onnx")

// caseModel returns the model of the case that a folder is: model.onnx, or beside test data the only model whatever its name;
// "" of a folder that is no case.
func caseModel(dir string) (string, error) {
	models, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*.onnx"))
	if err != nil {
		return "", err
	}
	if usual := filepath.Join(dir, "model.onnx"); slices.Contains(models, usual) {
		return usual, nil
	}
	sets, err := filepath.Glob(filepath.Join(escapeGlob(dir), "test_data_set*", "*.pb"))
	switch {
	case err != nil || len(sets) == 0:
		return "", err
	case len(models) > 1:
		return "", fmt.Errorf("%s has test data and %d %w; name one, as in %s", dir, len(models), errWhichModel, models[0])
	}
	return models[0], nil
}

// escapeGlob returns a pattern that matches a path literally.
func escapeGlob(s string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(s)
}

// archiveCases returns the cases of a .tar.gz, reading it once into memory.
func archiveCases(name string) ([]Case, error) {
	f, err := host.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	order, files, err := readArchive(f, min(maxArchiveBytes, max(freeArchiveBytes, maxArchiveRatio*info.Size())))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return casesOf(order, files), nil
}

// readArchive returns the names of the files in a .tar.gz, in order, and what they hold: no more than limit bytes, with
// what is between them.
func readArchive(r io.Reader, limit int64) (order []string, files map[string][]byte, err error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, nil, err
	}
	tooLarge := fmt.Errorf("it unpacks to more than %d MiB; unpack it and give the folder", limit>>20)
	files, left := map[string][]byte{}, limit
	limited := &io.LimitedReader{R: z, N: limit}
	for r := tar.NewReader(limited); ; {
		h, err := r.Next()
		if err == nil && h.Typeflag == tar.TypeReg {
			if left -= h.Size; left < 0 { // a sparse file may have any size
				return nil, nil, tooLarge
			}
			entry := path.Clean(h.Name)
			order = append(order, entry)
			files[entry] = make([]byte, h.Size)
			_, err = io.ReadFull(r, files[entry])
		}
		switch {
		case limited.N <= 0:
			return nil, nil, tooLarge
		case errors.Is(err, io.EOF):
			return order, files, nil
		case err != nil:
			return nil, nil, err
		}
	}
}

// casesOf groups the files of an archive into cases.
func casesOf(order []string, files map[string][]byte) []Case {
	var cases []Case
	place := map[string]int{}
	for _, file := range order {
		dir, base := path.Split(file)
		if base != "model.onnx" {
			continue
		}
		dir = path.Clean(dir)
		place[dir] = len(cases)
		cases = append(cases, Case{Name: path.Base(dir), open: func(im onnx.Importer) (*graph.Network, error) {
			return im.Parse("model.onnx", files[file])
		}})
	}
	for _, file := range order {
		set := path.Dir(file)
		if i, ok := place[path.Dir(set)]; ok && strings.HasPrefix(path.Base(set), "test_data_set") {
			cases[i].add(path.Base(set), path.Base(file), func() ([]byte, error) { return files[file], nil })
		}
	}
	return cases
}

// add adds a file of a data set; one that is named neither input_K.pb nor output_K.pb is left out.
func (c *Case) add(set, name string, read func() ([]byte, error)) {
	i := slices.IndexFunc(c.sets, func(s dataSet) bool { return s.name == set })
	if i < 0 {
		i = len(c.sets)
		c.sets = append(c.sets, dataSet{name: set})
	}
	kind, rest, _ := strings.Cut(name, "_")
	number, err := strconv.Atoi(strings.TrimSuffix(rest, ".pb"))
	if err != nil {
		return
	}
	f := dataFile{name: set + "/" + name, number: number, read: read}
	list := &c.sets[i].inputs
	switch kind {
	case "input":
	case "output":
		list = &c.sets[i].outputs
	default:
		return
	}
	*list = append(*list, f)
	slices.SortStableFunc(*list, func(a, b dataFile) int { return cmp.Compare(a.number, b.number) })
}

// values reads files as the values of the given tensors: by the name in the file, or by number where that is unknown. Those of a
// sequence have the names of its tensors. Those of fixed inputs are left out.
func (s dataSet) values(files []dataFile, tensors []*graph.Tensor, fixed map[string]numeric.Value) (map[string]numeric.Value, error) {
	values := map[string]numeric.Value{}
	known := func(name string) bool {
		return slices.ContainsFunc(tensors, func(t *graph.Tensor) bool { return t.Name == name })
	}
	for _, f := range files {
		name, list, err := f.value()
		if err != nil {
			return nil, err
		}
		if _, ok := fixed[onnx.Element(name, 0)]; ok {
			continue
		}
		if len(list) != 1 || known(onnx.Element(name, 0)) {
			for i, v := range list {
				values[onnx.Element(name, i)] = v
			}
			continue
		}
		if !known(name) {
			if f.number < 0 || f.number >= len(tensors) {
				return nil, fmt.Errorf("%s: the model has no input or output %q or of this number", f.name, name)
			}
			name = tensors[f.number].Name
		}
		values[name] = list[0]
	}
	return values, nil
}

// value returns the tensor in a file, or those of a sequence.
func (f dataFile) value() (name string, list []numeric.Value, err error) {
	data, err := f.read()
	if err != nil {
		return "", nil, err
	}
	name, v, err := onnx.ReadTensor(data)
	if err == nil {
		return name, []numeric.Value{v}, nil
	}
	if name, list, other := onnx.ReadTensors(data); other == nil || errors.Is(other, onnx.ErrNoElement) {
		return name, list, other
	}
	return name, nil, fmt.Errorf("%s: %w", f.name, err)
}

// fixed returns the inputs by their names in the files, and the tensors of those that are sequences by theirs, from the given one on;
// nil if one has no name or cannot be read.
func (s dataSet) fixed(from int) map[string]numeric.Value {
	values := map[string]numeric.Value{}
	for _, f := range s.inputs[min(from, len(s.inputs)):] {
		name, list, err := f.value()
		if errors.Is(err, onnx.ErrNoElement) {
			continue
		}
		if err != nil || name == "" {
			return nil
		}
		for i, v := range list {
			if element := onnx.Element(name, i); values[element].Data == nil { // else an input of that name
				values[element] = v
			}
		}
		if len(list) == 1 { // an optional tensor's file is like a sequence's
			values[name] = list[0]
		}
	}
	return values
}

// given returns the files of inputs, those aside that are optionals without an element.
func (s dataSet) given() []dataFile {
	return slices.DeleteFunc(slices.Clone(s.inputs), func(f dataFile) bool {
		_, _, err := f.value()
		return errors.Is(err, onnx.ErrNoElement)
	})
}

// importer returns how the model is imported for the data: with sequences of as many tensors, inputs of as many axes, and without
// the optionals that have no element.
func (s dataSet) importer(fixed map[string]numeric.Value) onnx.Importer {
	im := onnx.Importer{Ops: graph.Ops(), Fixed: fixed, Lengths: map[string]int{}, Axes: map[string]int{}}
	for _, f := range s.inputs {
		data, err := f.read()
		if err != nil {
			continue
		}
		if name, v, err := onnx.ReadTensor(data); err == nil {
			im.Axes[name] = len(v.Dims)
			continue
		}
		switch name, list, err := onnx.ReadTensors(data); {
		case errors.Is(err, onnx.ErrNoElement):
			im.Without = append(im.Without, name)
		case err == nil:
			im.Lengths[name] = len(list)
			for i, v := range list {
				im.Axes[onnx.Element(name, i)] = len(v.Dims)
			}
		}
	}
	return im
}

// serves reports whether the data has values that the network's inputs on whose elements shapes depend can have: such as a Reshape's,
// which may say -1 where it is a constant.
func (s dataSet) serves(n *graph.Network) bool {
	if !slices.ContainsFunc(n.Inputs, func(t *graph.Tensor) bool { return t.IsShape }) {
		return true
	}
	values, err := s.values(s.given(), n.Inputs, nil)
	if err != nil {
		return true // which is said later
	}
	env, err := n.Bind(values)
	return err == nil && n.CheckShapes(env) == nil
}
