package onnx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// externalFiles finds the data of tensors that is stored beside the model. Names that lead out of the model's
// directory, by symbolic links too, are refused, but for links beside a link: where the model is a link, its data may be
// links into the folder that holds the model's own file, as download caches have it:
//
//	snapshots/1/model.onnx       -> ../../blobs/a
//	snapshots/1/model.onnx_data  -> ../../blobs/b
type externalFiles struct {
	file  *File
	dir   string
	blobs string             // the folder of the file that the model is a link to; "" where it is none
	open  map[string]*source // by location
	data  map[span][]byte
}

func newExternalFiles(f *File, path string) *externalFiles {
	e := &externalFiles{file: f, dir: filepath.Dir(path), open: map[string]*source{}, data: map[span][]byte{}}
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			e.blobs = filepath.Dir(real)
		}
	}
	return e
}

// span is a part of a file of external data.
type span struct {
	location       string
	offset, length int
}

func (e *externalFiles) close() {
	for _, s := range e.open {
		s.file.Close()
	}
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
	if length != size {
		return nil, fmt.Errorf("its external data has %d bytes, its shape and type need %d", length, size)
	}
	part := span{location, offset, length}
	if data, ok := e.data[part]; ok {
		return data, nil
	}
	s, ok := e.open[location]
	if !ok {
		if s, err = e.openFile(location); err != nil {
			return nil, err
		}
		e.open[location] = s
		e.file.read = append(e.file.read, s)
	}
	if have := int(s.info.Size()); offset > have || length > have-offset {
		return nil, fmt.Errorf("bytes %d to %d of external data file %q are needed, but it has %d", offset, offset+length, location, have)
	}
	data, err := s.bytes(int64(offset), length)
	e.data[part] = data
	return data, err
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

func (e *externalFiles) openFile(location string) (*source, error) {
	name := filepath.FromSlash(location)
	f, err := openInside(e.dir, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && e.blobs != "" && filepath.IsLocal(name) {
		if real, realErr := filepath.EvalSymlinks(filepath.Join(e.dir, name)); realErr != nil {
			err = realErr
		} else if filepath.Dir(real) == e.blobs {
			f, err = openInside(e.blobs, filepath.Base(real))
		}
	}
	switch {
	case errors.Is(err, errNotRegular):
		return nil, fmt.Errorf("its external data file %q is not a regular file", location)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("its external data file %q is missing; put it next to the model", location)
	case err != nil && !e.inside(name):
		return nil, fmt.Errorf("its external data file %q is not inside the model's directory; put it next to the model", location)
	case err != nil:
		return nil, fmt.Errorf("its external data file %q cannot be opened inside the model's directory: %w", location, err)
	}
	s, err := newSource(filepath.Join(e.dir, name), f)
	if err != nil {
		f.Close()
	}
	return s, err
}

// inside reports whether a name leads to a place in the model's directory, links included.
func (e *externalFiles) inside(name string) bool {
	dir, err := filepath.EvalSymlinks(e.dir)
	if err != nil || !filepath.IsLocal(name) {
		return false
	}
	real, err := filepath.EvalSymlinks(filepath.Join(dir, name))
	if err != nil {
		return true // what it leads to is not what is wrong
	}
	rel, err := filepath.Rel(dir, real)
	return err == nil && filepath.IsLocal(rel)
}

var errNotRegular = errors.New("not a regular file")

// openInside opens a regular file in a folder, which no link leads out of. Of others, opening might wait for ever.
func openInside(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if info, err := root.Stat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	return root.Open(name)
}
