package model

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/host"
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
	Quantized bool                     // the model brings quantisation of its own
	Dropped   *pass.Step               // what took back the quantisation that the model brought; nil where it was left
	Stripped  bool                     // it is an engine without the network that it was made of: Network is its plan's, lowered
	Opened    time.Duration            // what reading it took
	Constants map[string]numeric.Value // inputs of the file that are constants of the network
	Notes     []string                 // what a person should know of its file: see [onnx.File]; an engine has those of the model that it is of
	// Refused is why a model that was opened to be looked at cannot be run; nil where it can.
	Refused *onnx.ImportError
	Passes  []pass.Pass // of the program's own, that it is built with beside the standard ones
	Rules   ruleFiles   // that configurations may name
	// Calibrators are the program's own, that one may choose beside the standard ones.
	Calibrators []quant.Method

	changed func() (path, how string) // of the file that is not what was read, or ""
}

// Open reads an ONNX model or an engine file; what becomes of the file afterwards does not touch the model.
func Open(ops graph.OpSet, path string) (*Model, error) { return Import(onnx.Importer{Ops: ops}, path) }

// LookAt is Open for a model that need not be run: where parts of it are not supported Refused says so, and its
// graph and passes are there all the same.
func LookAt(ops graph.OpSet, path string) (*Model, error) {
	return Look(onnx.Importer{Ops: ops}, path)
}

// Import is Open for a model that is imported as im says.
func Import(im onnx.Importer, path string) (*Model, error) {
	return open(im, path, onnx.Importer.Open)
}

// Look is LookAt for a model that is imported as im says.
func Look(im onnx.Importer, path string) (*Model, error) { return open(im, path, onnx.Importer.Look) }

func open(im onnx.Importer, path string, open func(onnx.Importer, string) (*onnx.File, error)) (*Model, error) {
	begin := time.Now()
	head, info, err := peek(path)
	if err != nil {
		return nil, err
	}
	m := &Model{Path: path}
	if run.IsEngine(head) {
		data, err := host.ReadFile(path)
		if err != nil {
			return nil, err
		}
		m.changed = func() (string, string) { return path, host.Changed(path, info) }
		if m.Engine, err = run.ReadEngine(im.Ops, data); err != nil {
			return nil, fmt.Errorf("engine %s: %w", path, err)
		}
		sum := sha256.Sum256(data)
		m.Network, m.SHA256, m.Bytes = m.Engine.Source, hex.EncodeToString(sum[:]), int64(len(data))
		if m.Stripped = m.Network == nil; m.Stripped {
			m.Network = m.Engine.Any().Network
		}
		m.Notes = notesIn(m.Engine.Report)
	} else {
		f, err := open(im, path)
		if none := new(onnx.NotModelError); errors.As(err, &none) {
			if f, ok := foreignOf(path, head, info.Size()); ok {
				return nil, f.error(path)
			}
			return nil, fmt.Errorf("%s is neither an ONNX model nor an engine, or is damaged: %w", path, none.Err)
		}
		if err != nil {
			return nil, err
		}
		m.Network, m.Notes, m.Refused, m.changed = f.Network, f.Notes, f.Refused, f.Changed
		m.SHA256, m.Bytes, m.Constants = hex.EncodeToString(f.SHA256[:]), f.Bytes, f.Constants
	}
	m.Quantized, m.Opened = !m.Stripped && isQuantized(m.Network), time.Since(begin)
	return m, nil
}

// notesIn returns the notes on a model's file that the report in an engine's file has. Where it is damaged whatever needs it says so.
func notesIn(stored json.RawMessage) []string {
	var r struct{ Notes []string }
	if len(stored) == 0 || graph.UnmarshalStored(stored, &r) != nil {
		return nil
	}
	return r.Notes
}

// Parse opens an ONNX model that is in memory, as the embedded one is.
func Parse(ops graph.OpSet, name string, data []byte) (*Model, error) {
	begin := time.Now()
	n, err := onnx.Parse(ops, name, data)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return &Model{Network: n, Path: name, Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:]), Quantized: isQuantized(n), Opened: time.Since(begin)}, nil
}

// DropQuantization makes a model that brings its own quantisation one of real numbers, as if it had not been quantised.
func DropQuantization(ctx context.Context, m *Model) error {
	switch {
	case m.Engine != nil:
		return fmt.Errorf("%s is an engine, which is quantised as it was built; drop the quantisation of the model that it is of", m.Name())
	case !m.Quantized:
		return fmt.Errorf("%s brings no quantisation that could be dropped", m.Name())
	}
	n, dropped, err := build.DropQuantization(ctx, m.Network)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name(), err)
	}
	m.Network, m.Quantized, m.Dropped = n, false, dropped
	return nil
}

// Defined returns the model of a network that is in memory, as one that was defined in Go.
func Defined(n *graph.Network) *Model {
	return &Model{Network: n, Quantized: isQuantized(n)}
}

// Name returns what a person calls the model: its file's name, and of the model in the program that of its graph.
func (m *Model) Name() string {
	if m.Path == "" || m.Path == Embedded {
		return m.Network.Name
	}
	return filepath.Base(m.Path)
}

// Methods returns the kinds of calibrator that one may choose.
func (m *Model) Methods() quant.Methods { return append(quant.Calibrators(), m.Calibrators...) }

// Kind says from what the model was read.
func (m *Model) Kind() string {
	if m.Engine != nil {
		return "engine"
	}
	return "onnx"
}

// OfFile reports whether the model was read from a file, which may change.
func (m *Model) OfFile() bool { return m.changed != nil }

// Changed returns the path of a file of the model that is not any more what was read, and what has become of it: it "changed on
// disk", "is gone", "is a directory now"; how is "" if there is none.
func (m *Model) Changed() (path, how string) {
	if m.changed == nil {
		return "", ""
	}
	return m.changed()
}

// Runnable returns the error of a model that cannot be run.
func (m *Model) Runnable() error {
	if m.Refused != nil {
		return m.Refused
	}
	return nil
}

// peek returns the first bytes of a file and what it is.
func peek(path string) ([]byte, fs.FileInfo, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, nil, fmt.Errorf("%s is a directory; name a model file (.onnx) or an engine", path)
	}
	f, err := host.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	head := make([]byte, 64)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, nil, err
	}
	return head[:n], info, nil
}

func isQuantized(n *graph.Network) bool {
	for _, l := range n.Layers {
		if l.Op == graph.Quantize || l.Op == graph.Dequantize {
			return true
		}
	}
	return false
}
