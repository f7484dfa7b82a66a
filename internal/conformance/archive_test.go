package conformance

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestArchiveBomb: a small archive that unpacks to much is refused before memory is taken for it, whether its files are large
// or many; what lies within the bounds is read.
func TestArchiveBomb(t *testing.T) {
	zeros := make([]byte, 1<<20)
	archive := func(files, mebibytes int) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		for range files {
			if err := w.WriteHeader(&tar.Header{Name: "case/model.onnx", Mode: 0o666, Size: int64(mebibytes) << 20}); err != nil {
				t.Fatal(err)
			}
			for range mebibytes {
				if _, err := w.Write(zeros); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "cases.tar.gz")
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		name                   string
		files, mebibytes, most int // of what is allocated, in MiB
		refused                bool
	}{{"one large file", 1, 300, 8, true}, {"many files", 150, 2, 72, true}, {"within the bounds", 2, 20, 48, false}} {
		path := archive(c.files, c.mebibytes)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := archiveCases(path)
		runtime.ReadMemStats(&after)
		if refused := err != nil && strings.Contains(err.Error(), "it unpacks to more than 64 MiB"); refused != c.refused || !refused && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := int(after.TotalAlloc-before.TotalAlloc) >> 20; got > c.most {
			t.Errorf("%s: %d MiB were allocated, want %d at most", c.name, got, c.most)
		}
	}
}
