package onnx

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/internal/host"
)

// maxModel bounds the file of a model: no protocol buffer is longer. Larger models have their weights in other files.
const maxModel = math.MaxInt32

// File is an imported model. It has read its files: what becomes of them afterwards does not touch it.
type File struct {
	Network   *graph.Network
	Notes     []string                 // what a person should know of a model that can be run: what its file says wrongly, dropout that is at work
	Refused   *ImportError             // of a file that was opened to look at it: what keeps the model from being run; else nil
	SHA256    [sha256.Size]byte        // of the model's file, without those of external data
	Bytes     int64                    // of the model's file
	Constants map[string]numeric.Value // what became of Importer.Constants
	read      []*source
}

// Changed returns the path of a file that is not any more what was read, and what has become of it, as [host.Changed] says it;
// "" if there is none.
func (f *File) Changed() (path, how string) {
	for _, s := range f.read {
		if how := host.Changed(s.path, s.info); how != "" {
			return s.path, how
		}
	}
	return "", ""
}

// Importer says how models are imported.
type Importer struct {
	Ops graph.OpSet

	// Fixed are inputs, by name, that become constants of the network. So a model can be imported that takes a shape
	// or axes, which must be known, as an input. The name of a sequence's tensor is that of [Element].
	Fixed map[string]numeric.Value

	// Constants are inputs, by name, that become constants of the network, each element of the number or truth value that is written:
	// so a model can be imported of which an input chooses a branch.
	Constants map[string]string

	// Lengths says how many tensors each input has that is a sequence, by name.
	Lengths map[string]int

	// Without are the inputs that are optionals and have no element.
	Without []string

	// Axes says how many axes each input has of which the model does not, by name; that of a sequence's tensor is of [Element].
	Axes map[string]int

	// Shapes are those of inputs, by name, at which alone a model is imported that cannot be for all: where it computes shapes in
	// so many steps that they are too long as expressions of open extents, which numbers never are. "" is of the only input.
	Shapes map[string][]int

	// MaxExtent is the most that an extent may be that data decide; 0 where none may.
	MaxExtent int

	made map[string]numeric.Value // what becomes of Constants; nil: nobody asks
}

// Open reads the model at path, and what it needs of the files beside it that hold its external data, and imports it with
// the given ops. What is unsupported or wrong in the model is an [*ImportError]; a file that changes meanwhile is an error,
// too.
func Open(ops graph.OpSet, path string) (*File, error) { return Importer{Ops: ops}.Open(path) }

// Open is the function of that name.
func (o Importer) Open(path string) (*File, error) { return o.open(path, false) }

// Look opens a model to look at it: a node that is not supported becomes a layer that says so, see [graph.Unsupported],
// and File.Refused is the error that Open would return. An error is one of a model that is damaged.
func (o Importer) Look(path string) (*File, error) { return o.open(path, true) }

func (o Importer) open(path string, looked bool) (*File, error) {
	data, sum, model, err := readModel(path)
	if err != nil {
		return nil, err
	}
	o.made = map[string]numeric.Value{}
	f := &File{SHA256: sum, Bytes: int64(len(data)), Constants: o.made, read: []*source{model}}
	side := newExternalFiles(f, path)
	got, err := o.parse(filepath.Base(path), data, side.bytes, looked)
	f.Network, f.Notes, f.Refused = got.network, got.notes, got.refused
	side.close()
	if changed, how := f.Changed(); how == host.Rewritten {
		return nil, fmt.Errorf("%s changed while it was read; open it again when it is written", changed)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// readModel reads the file of a model as a whole.
func readModel(path string) (data []byte, sum [sha256.Size]byte, s *source, err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, sum, nil, err
	case info.IsDir():
		return nil, sum, nil, fmt.Errorf("%s is a directory; give the model's .onnx file", path)
	case !info.Mode().IsRegular():
		return nil, sum, nil, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > maxModel:
		return nil, sum, nil, fmt.Errorf("%s has %d bytes, but an ONNX model has at most %d; put its weights in external data files", path, info.Size(), maxModel)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, sum, nil, err
	}
	defer f.Close()
	if s, err = newSource(path, f); err != nil {
		return nil, sum, nil, err
	}
	data, sum, err = s.whole()
	return data, sum, s, err
}

// Parse imports a model from memory; its weights stay part of data, which must not change. name is used in errors.
// A model whose data is in other files needs [Open].
func Parse(ops graph.OpSet, name string, data []byte) (*graph.Network, error) {
	return Importer{Ops: ops}.Parse(name, data)
}

// Parse is the function of that name.
func (o Importer) Parse(name string, data []byte) (*graph.Network, error) {
	got, err := o.parse(name, data, nil, false)
	return got.network, err
}

// source is a file that was opened, and what it was then.
type source struct {
	path string
	file *os.File
	info fs.FileInfo
}

func newSource(path string, f *os.File) (*source, error) {
	info, err := f.Stat()
	return &source{path, f, info}, err
}

// hashedAtOnce is how much of a file is read before it is hashed, while the next is read.
const hashedAtOnce = 4 << 20

// whole reads all of the file, and hashes it meanwhile.
func (s *source) whole() (data []byte, sum [sha256.Size]byte, err error) {
	size := int(s.info.Size())
	if err := host.Room(s.path, int64(size)); err != nil {
		return nil, sum, err
	}
	data = make([]byte, size)
	read, hashed := make(chan []byte, size/hashedAtOnce+1), make(chan [sha256.Size]byte)
	go func() {
		h := sha256.New()
		for part := range read {
			h.Write(part)
		}
		hashed <- [sha256.Size]byte(h.Sum(nil))
	}()
	for at := 0; at < size && err == nil; at += hashedAtOnce {
		part := data[at:min(at+hashedAtOnce, size)]
		err = s.fill(part, int64(at))
		read <- part
	}
	close(read)
	return data, <-hashed, err
}

// bytes reads n bytes of the file.
func (s *source) bytes(at int64, n int) ([]byte, error) {
	if err := host.Room(s.path, int64(n)); err != nil {
		return nil, err
	}
	data := make([]byte, n)
	return data, s.fill(data, at)
}

// fill reads what is in the file from at on; one that has become shorter is an error that says so.
func (s *source) fill(data []byte, at int64) error {
	read, err := s.file.ReadAt(data, at)
	if read == len(data) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s changed while it was read: it had %d bytes; open it again when it is written", s.path, s.info.Size())
	}
	return err
}
