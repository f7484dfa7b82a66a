package views

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// viewedSnapshot is an engine of TensorRT as trtexec described it.
func viewedSnapshot(t testing.TB, names ...string) *report.Snapshot {
	t.Helper()
	var files []exchange.File
	for _, name := range names {
		path := filepath.Join("..", "sessions", "exchange", "testdata", name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, exchange.File{Path: path, Data: data})
	}
	e, err := exchange.OpenEngine(files)
	if err != nil {
		t.Fatal(err)
	}
	return e.Snapshot()
}

// TestViewed draws every screen for another program's files: what they tell, and of the rest why it is not there. Keys that would
// change or run something say why they do not.
func TestViewed(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, viewedSnapshot(t, "layers10.json", "profile10.json", "times10.json"))
	b.size(120, 40)
	b.wants("VIEW", "71.0 µs", "Conv_0 +1")
	b.press("2")
	b.wants("Sigmoid_2", "i8")
	b.press("3")
	b.wants("29.9 µs", "50.2%", "no samples: not in the files")
	for _, digit := range []string{"4", "5", "6", "7", "8"} {
		b.press(digit)
		b.wants("not in the files that were opened", "the engine was built from")
	}
	b.press("f")
	b.wants("another program's files")
	b = newBench(t, ui.Options{NoColor: true}, viewedSnapshot(t, "layers11.json"))
	b.size(80, 24)
	for _, digit := range []string{"1", "3"} {
		b.press(digit)
		b.wants("not in the files")
	}
	b.press("2")
	b.wants("/act/Relu")
}
