package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is no timing cache is not to be deleted.
func TestOpenTimingCacheRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct{ path, says string }{
		{dir, "is a directory; name a file"},
		{write("model.onnx", "\x08\x07"), "not a timing cache; name another file"},
	} {
		if _, err := OpenTimingCache(c.path); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.path, err, c.says)
		}
	}
}
