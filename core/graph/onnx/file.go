package onnx

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/trtui/trtui/core/graph"
)

// File is an imported model whose weights lie in files mapped into memory.
type File struct {
	Network *graph.Network
	Refused *ImportError // of a file that was opened to look at it: what keeps the model from being run; else nil
	maps    []mapping
}

// Close releases the mapped files. The network and all that shares its weights must not be used afterwards.
func (f *File) Close() error {
	var errs []error
	for _, m := range f.maps {
		errs = append(errs, m.close())
	}
	f.maps = nil
	return errors.Join(errs...)
}

// Importer says how models are imported.
type Importer struct {
	Ops graph.OpSet

	// Fixed are inputs, by name, that become constants of the network. So a model can be imported that takes a shape
	// or axes, which must be known, as an input.
	Fixed map[string]graph.Value
}

// Open maps the model at path, and the files beside it that hold its external data, and imports it with the given ops.
// What is unsupported or wrong in the model is an [*ImportError]. The files must not change until Close.
func Open(ops graph.OpSet, path string) (*File, error) { return Importer{Ops: ops}.Open(path) }

// Open is the function of that name.
func (o Importer) Open(path string) (*File, error) { return o.open(path, false) }

// Look opens a model to look at it: a node that is not supported becomes a layer that says so, see [graph.Unsupported],
// and File.Refused is the error that Open would return. An error is one of a model that is damaged.
func (o Importer) Look(path string) (*File, error) { return o.open(path, true) }

func (o Importer) open(path string, looked bool) (*File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a directory; give the model's .onnx file", path)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f := &File{}
	m, err := mapPath(path)
	if err != nil {
		return nil, err
	}
	f.maps = append(f.maps, m)
	side := &externalFiles{file: f, dir: filepath.Dir(path), data: map[string][]byte{}}
	f.Network, f.Refused, err = o.parse(filepath.Base(path), m.data, side.bytes, looked)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Parse imports a model from memory; its weights stay part of data, which must not change. name is used in errors.
// A model whose data is in other files needs [Open].
func Parse(ops graph.OpSet, name string, data []byte) (*graph.Network, error) {
	return Importer{Ops: ops}.Parse(name, data)
}

// Parse is the function of that name.
func (o Importer) Parse(name string, data []byte) (*graph.Network, error) {
	n, _, err := o.parse(name, data, nil, false)
	return n, err
}

func mapPath(path string) (mapping, error) {
	f, err := os.Open(path)
	if err != nil {
		return mapping{}, err
	}
	defer f.Close()
	return mapFile(f)
}

// mapping is the contents of a file.
type mapping struct {
	data  []byte
	close func() error
}

// readMapping reads a file as a whole, where it cannot be mapped.
func readMapping(f *os.File) (mapping, error) {
	data, err := io.ReadAll(f)
	return mapping{data, func() error { return nil }}, err
}

// externalFiles finds the data of tensors that is stored beside the model. Names that lead out of the model's
// directory, by symbolic links too, are refused.
type externalFiles struct {
	file *File
	dir  string
	data map[string][]byte // by location
}

// bytes returns the size bytes of a tensor's data.
func (e *externalFiles) bytes(t *tensor, size int) ([]byte, error) {
	location := t.external["location"]
	if location == "" {
		return nil, errors.New("its external data has no location")
	}
	offset, err := externalInt(t, "offset", 0)
	if err != nil {
		return nil, err
	}
	length, err := externalInt(t, "length", size)
	if err != nil {
		return nil, err
	}
	data, ok := e.data[location]
	if !ok {
		if data, err = e.open(location); err != nil {
			return nil, err
		}
		e.data[location] = data
	}
	if offset > len(data) || length > len(data)-offset {
		return nil, fmt.Errorf("bytes %d to %d of external data file %q are needed, but it has %d", offset, offset+length, location, len(data))
	}
	return data[offset : offset+length : offset+length], nil
}

func externalInt(t *tensor, key string, def int) (int, error) {
	s, ok := t.external[key]
	if !ok {
		return def, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > maxElements {
		return 0, fmt.Errorf("%s %q of its external data is not a size", key, s)
	}
	return n, nil
}

func (e *externalFiles) open(location string) ([]byte, error) {
	root, err := os.OpenRoot(e.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(filepath.FromSlash(location))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("its external data file %q is missing; put it beside the model", location)
	case err != nil:
		return nil, fmt.Errorf("its external data file %q cannot be opened inside the model's directory: %w", location, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("its external data file %q is not a regular file", location)
	}
	m, err := mapFile(f)
	if err != nil {
		return nil, fmt.Errorf("its external data file %q: %w", location, err)
	}
	e.file.maps = append(e.file.maps, m)
	return m.data, nil
}
