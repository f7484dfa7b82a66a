package sessions

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// TestMixedOf: a layer that takes least in another precision gets a rule, not one whose times cannot be told apart, nor a conversion, and
// before what a person asked for.
func TestMixedOf(t *testing.T) {
	c := &report.Columns{}
	for _, p := range []config.Precision{config.FP32, config.FP16, config.INT8} {
		c.Columns = append(c.Columns, report.Column{Label: string(p), Config: config.Config{Precision: p, LayerPrecisions: []string{"head:fp32"}}})
	}
	c.Rows = []report.ColumnRow{
		{From: []string{"a", "b"}, Fastest: "fp16"}, {From: []string{"c"}, Fastest: "int8"}, {From: []string{"d"}},
		{From: []string{"e"}, Fastest: "fp32", Reformat: true}, {From: []string{"f", "g,h", "i*"}, Fastest: "fp32"},
	}
	m := mixedOf(c, 2)
	if want := []string{"a:fp16", "b:fp16", "f:fp32", "head:fp32"}; m.Precision != config.INT8 || !slices.Equal(m.LayerPrecisions, want) {
		t.Errorf("%s with %v, want int8 with %v", m.Precision, m.LayerPrecisions, want)
	}
	if got := c.Columns[2].Config.LayerPrecisions; !slices.Equal(got, []string{"head:fp32"}) {
		t.Errorf("the column's own rules are %v now", got)
	}
}
