package sessions_test

import (
	"context"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/testdata"
)

// Configurations that give one engine have one identity; what makes another network or asks for other tactics has another.
func TestIdentity(t *testing.T) {
	sessions.NotUnderRace(t)
	m, err := model.Parse(graph.Ops(), model.Embedded, testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Random(m.Network.Inputs, map[string]int{"batch": 1}, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	data, err := set.Bind(m.Network.Inputs)
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	defer b.Close()
	var warned []string
	r := sessions.NewRunner(m, stages.Workplace{
		Backend: b, Cache: build.NewTimingCache(), Data: data, CalData: data, Warn: func(text string) { warned = append(warned, text) },
	}, nil)
	fp32 := config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1}
	change := func(f func(*config.Config)) config.Config { c := fp32; f(&c); return c }
	identity := func(cfg config.Config) string {
		id, _, err := r.Identity(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	for _, c := range []struct {
		name string
		cfg  config.Config
		same bool
	}{
		{"calibrator of no INT8", change(func(c *config.Config) { c.Calibrator = "mse" }), true},
		{"every layer set to fp32", change(func(c *config.Config) {
			c.Precision, c.LayerPrecisions = config.FP16, []string{"*:fp32"}
		}), true},
		{"fp16", change(func(c *config.Config) { c.Precision = config.FP16 }), false},
		{"batch", change(func(c *config.Config) { c.Batch = 2 }), false},
		{"rule", change(func(c *config.Config) { c.Disable = []string{"batchnorm-into-producer"} }), false},
		{"ban", change(func(c *config.Config) { c.Forbid = map[string][]string{"": {"conv_f32_eval"}} }), false},
	} {
		if got := identity(c.cfg) == identity(fp32); got != c.same {
			t.Errorf("%s: the same engine as fp32: %v, want %v", c.name, got, c.same)
		}
	}
	int8 := change(func(c *config.Config) { c.Precision = config.INT8 })
	minmax := int8
	minmax.Calibrator = "minmax"
	if identity(int8) == identity(minmax) {
		t.Error("two calibrators gave one engine")
	}
	if len(warned) != 0 {
		t.Errorf("warned of %s", strings.Join(warned, "; "))
	}
}
