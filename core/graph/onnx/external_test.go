//go:build unix

package onnx

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// addModel is x + w, where w is bytes 4 to 12 of a file.
func addModel(location string) []byte {
	return modelBytes(input("x", 2), externalWeights(location), nodeField("Add", "a", list("x", "w"), list("y")), output("y", 2))
}

// tree makes files, and links: those whose text begins with ->.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, link := strings.CutPrefix(text, "->"); link {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestExternalDataOfCaches: where the model is a link, its data may be links into the folder of the model's own file, as in
// the cache of the Hugging Face hub; nothing else leads out of its folder.
func TestExternalDataOfCaches(t *testing.T) {
	data := string(numeric.Bytes([]float32{9, 1, 2, 7}))
	for _, c := range []struct {
		name, location, says string
		files                map[string]string
	}{
		{"a cache", "w.bin", "", map[string]string{
			"blobs/a": string(addModel("w.bin")), "blobs/b": data, "snap/1/m.onnx": "->../../blobs/a", "snap/1/w.bin": "->../../blobs/b"}},
		{"data in a folder below", "data/w.bin", "", map[string]string{
			"blobs/a": string(addModel("data/w.bin")), "blobs/b": data, "snap/1/m.onnx": "->../../blobs/a", "snap/1/data/w.bin": "->../../../blobs/b"}},
		{"data beside the link", "w.bin", "", map[string]string{
			"blobs/a": string(addModel("w.bin")), "snap/1/m.onnx": "->../../blobs/a", "snap/1/w.bin": data}},
		{"the folder is a link", "w.bin", "", map[string]string{
			"real/m.onnx": string(addModel("w.bin")), "real/w.bin": data, "snap/1": "->../real"}},
		{"data that was not fetched", "w.bin", `its external data file "w.bin" is missing`, map[string]string{
			"blobs/a": string(addModel("w.bin")), "snap/1/m.onnx": "->../../blobs/a", "snap/1/w.bin": "->../../blobs/b"}},
		{"a link elsewhere", "w.bin", "inside the model's directory", map[string]string{
			"blobs/a": string(addModel("w.bin")), "secret/b": data, "snap/1/m.onnx": "->../../blobs/a", "snap/1/w.bin": "->../../secret/b"}},
		{"a folder below the blobs", "w.bin", "inside the model's directory", map[string]string{
			"blobs/a": string(addModel("w.bin")), "blobs/c/b": data, "snap/1/m.onnx": "->../../blobs/a", "snap/1/w.bin": "->../../blobs/c/b"}},
		{"a link beside a file", "w.bin", "inside the model's directory", map[string]string{
			"blobs/b": data, "snap/1/m.onnx": string(addModel("w.bin")), "snap/1/w.bin": "->../../blobs/b"}},
		{"a name that leads there", "../../blobs/b", "inside the model's directory", map[string]string{
			"blobs/a": string(addModel("../../blobs/b")), "blobs/b": data, "snap/1/m.onnx": "->../../blobs/a"}},
		{"a device", "w.bin", "inside the model's directory", map[string]string{
			"blobs/a": string(addModel("w.bin")), "snap/1/m.onnx": "->../../blobs/a", "snap/1/w.bin": "->/dev/zero"}},
		{"a folder for data", "w.bin", "is not a regular file", map[string]string{
			"blobs/a": string(addModel("w.bin")), "blobs/b/c": data, "snap/1/m.onnx": "->../../blobs/a", "snap/1/w.bin": "->../../blobs/b"}},
	} {
		f, err := Open(graph.Ops(), filepath.Join(tree(t, c.files), "snap", "1", "m.onnx"))
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, want %q", c.name, err, c.says)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if v, _ := f.Network.Tensor("w").Const(); v.F32()[0] != 1 || v.F32()[1] != 2 {
			t.Errorf("%s: the data is %v", c.name, v.F32())
		}
	}
}

// TestExternalDataOfPipes: a named pipe is not waited for.
func TestExternalDataOfPipes(t *testing.T) {
	root := tree(t, map[string]string{"m.onnx": string(addModel("w.bin"))})
	if err := syscall.Mkfifo(filepath.Join(root, "w.bin"), 0o666); err != nil {
		t.Skip(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := Open(graph.Ops(), filepath.Join(root, "m.onnx"))
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), `its external data file "w.bin" is not a regular file`) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a pipe is waited for")
	}
}
