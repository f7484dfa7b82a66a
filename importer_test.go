package trtui_test

import (
	"strings"
	"testing"

	"github.com/trtui/trtui"
)

// TestImporter: a limit that is none is refused before the model is looked at.
func TestImporter(t *testing.T) {
	for _, extent := range []int{-1, 1 << 30} {
		if _, err := (trtui.Importer{MaxExtent: extent}).Parse("m.onnx", nil); err == nil || !strings.Contains(err.Error(), "MaxExtent is") {
			t.Errorf("%d: %v", extent, err)
		}
	}
	if _, err := (trtui.Importer{}).Open("none.onnx"); err == nil {
		t.Error("a file that there is not is opened")
	}
}
