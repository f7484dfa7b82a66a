package config_test

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/sessions/config"
)

// TestSetLayerPrecision edits the list of rules as the workbench does.
func TestSetLayerPrecision(t *testing.T) {
	var c config.Config
	for _, step := range []struct {
		source string
		p      config.Precision
		want   []string
	}{
		{"a/Conv", config.INT8, []string{"a/Conv:int8"}},
		{"b,c:d", config.FP16, []string{"a/Conv:int8", "b*c:d:fp16"}},
		{"a/Conv", config.FP32, []string{"b*c:d:fp16", "a/Conv:fp32"}},
		{"b,c:d", "", []string{"a/Conv:fp32"}},
		{"none", "", []string{"a/Conv:fp32"}},
		{"a/Conv", "", nil},
	} {
		c.SetLayerPrecision(step.source, step.p)
		if !slices.Equal(c.LayerPrecisions, step.want) {
			t.Errorf("%s to %q: %q, want %q", step.source, step.p, c.LayerPrecisions, step.want)
		}
	}
	c.LayerPrecisions = []string{"*:fp16,head/*:fp32", "x:int8"}
	for _, q := range []struct {
		name string
		from []string
		p    config.Precision
		rule string
	}{
		{"y", nil, config.FP16, "*:fp16"},
		{"head/y", nil, config.FP32, "head/*:fp32"},
		{"fused", []string{"head/y", "x"}, config.INT8, "x:int8"},
	} {
		if p, rule := c.LayerPrecision(q.name, q.from); p != q.p || rule != q.rule {
			t.Errorf("%s is %s by %s, want %s by %s", q.name, p, rule, q.p, q.rule)
		}
	}
}
