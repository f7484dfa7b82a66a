package cuda

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/products"
)

// TestVariants: the names of a family's tactics begin with its name and their tile, the products on tiles are all of a family, and
// no family has but one tactic in all.
func TestVariants(t *testing.T) {
	size := map[string]int{}
	for _, e := range Tactics() {
		v := e.Variant
		if v == (kernels.Variant{}) {
			continue
		}
		if size[v.Family]++; v.Family == "" || v.Tile == "" || !strings.HasPrefix(e.Name, v.Family+"_"+v.Tile) {
			t.Errorf("%s is %+v", e.Name, v)
		}
	}
	for family, n := range size {
		if n < 2 {
			t.Errorf("family %s has but one tactic", family)
		}
	}
	for _, e := range products.Tiled() {
		if e.Variant.Split == 0 {
			t.Errorf("%s does not say what splits its sums", e.Name)
		}
	}
}
