package sessions

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/run"
)

// Embedded is the path of the model in the program.
const Embedded = "embedded"

// Model is what a session is opened on: a source network and, if it came from an engine file, the engine.
type Model struct {
	Network   *graph.Network
	Engine    *run.Engine // nil for an ONNX model
	Path      string      // Embedded for the model in the program
	Bytes     int64
	SHA256    string
	Quantized bool          // the model brings quantisation of its own
	Opened    time.Duration // what reading it took
	// Refused is why a model that was opened to be looked at cannot be run; nil where it can.
	Refused *onnx.ImportError

	file io.Closer
}

// OpenModel opens an ONNX model or an engine file. Constants point into the mapped file until Close.
func OpenModel(ops graph.OpSet, path string) (*Model, error) {
	return openModel(ops, path, onnx.Importer.Open)
}

// LookAtModel is OpenModel for a model that need not be run: where parts of it are not supported Refused says so, and its
// graph and passes are there all the same.
func LookAtModel(ops graph.OpSet, path string) (*Model, error) {
	return openModel(ops, path, onnx.Importer.Look)
}

func openModel(ops graph.OpSet, path string, open func(onnx.Importer, string) (*onnx.File, error)) (*Model, error) {
	begin := time.Now()
	head, size, err := peek(path)
	if err != nil {
		return nil, err
	}
	m := &Model{Path: path, Bytes: size}
	if run.IsEngine(head) {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if m.Engine, err = run.ReadEngine(ops, data); err != nil {
			return nil, fmt.Errorf("engine %s: %w", path, err)
		}
		m.Network = m.Engine.Source
	} else {
		f, err := open(onnx.Importer{Ops: ops}, path)
		if none := new(onnx.NotModelError); errors.As(err, &none) {
			if f, ok := foreignOf(path, head, size); ok {
				return nil, fmt.Errorf("%s is %s, not an ONNX model or an engine: %s", path, f.kind, f.instead)
			}
			return nil, fmt.Errorf("%s is neither an ONNX model nor an engine, or is damaged; as a model: %w", path, none.Err)
		}
		if err != nil {
			return nil, err
		}
		m.Network, m.Refused, m.file = f.Network, f.Refused, f
	}
	if m.SHA256, err = hashFile(path); err != nil {
		m.Close()
		return nil, err
	}
	m.Quantized, m.Opened = isQuantized(m.Network), time.Since(begin)
	return m, nil
}

// ParseModel opens an ONNX model that is in memory, as the embedded one is.
func ParseModel(ops graph.OpSet, name string, data []byte) (*Model, error) {
	begin := time.Now()
	n, err := onnx.Parse(ops, name, data)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return &Model{Network: n, Path: name, Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:]), Quantized: isQuantized(n), Opened: time.Since(begin)}, nil
}

// Name returns what a person calls the model: its file's name, and of the model in the program that of its graph.
func (m *Model) Name() string {
	if m.Path == "" || m.Path == Embedded {
		return m.Network.Name
	}
	return filepath.Base(m.Path)
}

// kind says from what the model was read.
func (m *Model) kind() string {
	if m.Engine != nil {
		return "engine"
	}
	return "onnx"
}

// Close unmaps the file; the network must not be used any more.
func (m *Model) Close() error {
	if m.file != nil {
		return m.file.Close()
	}
	return nil
}

// peek returns the first bytes of a file and its size.
func peek(path string) ([]byte, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if info.IsDir() {
		return nil, 0, fmt.Errorf("%s is a directory; name a model file (.onnx) or an engine", path)
	}
	head := make([]byte, 64)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, 0, err
	}
	return head[:n], info.Size(), nil
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func isQuantized(n *graph.Network) bool {
	for _, l := range n.Layers {
		if l.Op == graph.Quantize || l.Op == graph.Dequantize {
			return true
		}
	}
	return false
}
