package model_test

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/sessions/model"
)

// A file of another tool is named, with what to do instead.
func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	archive := func(names ...string) string {
		var b strings.Builder
		z := zip.NewWriter(&b)
		for _, n := range names {
			if _, err := z.Create(n); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, c := range []struct{ name, content, want string }{
		{"a.tflite", "\x1c\x00\x00\x00TFL3\x14\x00", "TensorFlow Lite"},
		{"a.h5", "\x89HDF\r\n\x1a\n\x00\x00", "Keras HDF5"},
		{"script.pt", archive("m/data.pkl", "m/code/a.py", "m/constants.pkl"), "TorchScript"},
		{"state.pt", archive("m/data.pkl", "m/data/0"), "PyTorch file"},
		{"a.keras", archive("config.json", "model.weights.h5"), "Keras model"},
		{"a.npz", archive("x.npy"), "it holds data"},
		{"cut.pt", archive("m/data.pkl")[:40], "damaged zip"},
		{"old.pt", "\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", "PyTorch file"},
		{"a.gguf", "GGUF\x03\x00\x00\x00", "GGUF"},
		{"a.plan", "ftrt\x00\x00\x00\x00", "TensorRT"},
		{"a.safetensors", "\x10\x00\x00\x00\x00\x00\x00\x00{\"a\":{}}" + strings.Repeat(" ", 32), "no graph"},
		{"lfs.onnx", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"},
		{"page.onnx", "<!DOCTYPE html><html>", "web page"},
		{"a.xml", "<?xml version=\"1.0\"?><net name=\"a\">", "OpenVINO"},
		{"empty.trtui", "", "an empty file"},
		{"a.json", "{\"precision\":\"int8\"}", "if it is a saved configuration"},
		{"graph.pb", "\n\x1e\n\x05input\x12\x0bPlaceholder", "TensorFlow graph"},
		{"noise.onnx", "\xff\xff\xff\xff\xff\xff", "neither an ONNX model nor an engine"},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(c.content), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := model.Open(graph.Ops(), path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.name) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
