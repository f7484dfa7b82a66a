package cmd

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/internal/host"
)

// definedFile writes the network that is defined to an ONNX file of its name, and returns the file's path.
func definedFile(t *testing.T, d *graph.Definition) string {
	t.Helper()
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return networkFile(t, n)
}

// networkFile writes a network to an ONNX file of its name, and returns the file's path.
func networkFile(t *testing.T, n *graph.Network) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), n.Name+".onnx")
	if _, err := host.WriteFile(path, func(w io.Writer) error { return onnx.Export(w, n) }); err != nil {
		t.Fatal(err)
	}
	return path
}
