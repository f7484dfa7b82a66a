package accuracy

import (
	"testing"

	"github.com/trtui/trtui/ui"
)

// TestNamedBelow: the pane that shows one of several views has the name in the title of the one that it shows.
func TestNamedBelow(t *testing.T) {
	for _, v := range []ui.View{&errorView{}, &layersView{}} {
		if _, ok := v.(ui.Named); !ok {
			t.Errorf("%T has a name in its title, and does not say so", v)
		}
	}
}
