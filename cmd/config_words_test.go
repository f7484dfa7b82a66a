package cmd

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/stages"
)

// settings are a choice other than the default for every field of a configuration, and of how is quantised.
var settings = map[string]func(*config.Config){
	"Precision":  func(c *config.Config) { c.Precision = config.FP16 },
	"Calibrator": func(c *config.Config) { c.Calibrator = "percentile:99.9" },
	"Weights":    func(c *config.Config) { c.Weights = "int4:32" },
	"Batch":      func(c *config.Config) { c.Batch = 4 },
	"Shapes":     func(c *config.Config) { c.Shapes = map[string][]int{"x": {1, 3, 8, 8}, "y": {1, 2}} },
	"MinShapes":  func(c *config.Config) { c.MinShapes = map[string][]int{"x": {1, 3}} },
	"MaxShapes":  func(c *config.Config) { c.MaxShapes = map[string][]int{"x": {9, 3}} },
	"Profiles": func(c *config.Config) {
		c.Profiles = []config.Profile{{MaxShapes: map[string][]int{"x": {4, 3}}}, {Shapes: map[string][]int{"x": {2, 3}}}}
	},
	"State":           func(c *config.Config) { c.State = map[string]string{"h": "hN", "c": "cN"} },
	"RuleFiles":       func(c *config.Config) { c.RuleFiles = []string{"my rules/one.rules"} },
	"Disable":         func(c *config.Config) { c.Disable = []string{"equalization:a,b", "fuse-pad", "rounding:head"} },
	"Until":           func(c *config.Config) { c.Until = 7 },
	"LayerPrecisions": func(c *config.Config) { c.LayerPrecisions = []string{"*head*:fp32", `a "b":int8`} },
	"Constraints":     func(c *config.Config) { c.LayerPrecisions, c.Constraints = []string{"a:fp16"}, config.Obey },
	"Pin":             func(c *config.Config) { c.Pin = map[string]string{"conv 1": "t", "a=b": "u"} },
	"Forbid":          func(c *config.Config) { c.Forbid = map[string][]string{"": {"eval"}, "conv": {"a", "b"}} },

	"Quantization.Activations":  func(c *config.Config) { c.Quantization.Activations = "symmetric:u8" },
	"Quantization.WeightScales": func(c *config.Config) { c.Quantization.WeightScales = "tensor" },
	"Quantization.WeightRanges": func(c *config.Config) { c.Quantization.WeightRanges = "percentile:99.9" },
	"Quantization.Keep":         func(c *config.Config) { c.Quantization.Keep = []string{"first", "residuals"} },
	"Quantization.Ranges": func(c *config.Config) {
		c.Quantization.Ranges = map[string][]float64{"a b": {-1e-20, 2}, "c=d": {0, 0.1}}
	},
	"Quantization.BiasCorrection": func(c *config.Config) { c.Quantization.BiasCorrection = "off" },
	"Quantization.Equalization":   func(c *config.Config) { c.Quantization.Equalization = "activations:0.4" },
	"Quantization.Rounding":       func(c *config.Config) { c.Quantization.Rounding = "gptq:ordered" },
}

// fieldsOf lists the fields of a configuration.
func fieldsOf(t reflect.Type, before string) (list []string) {
	for f := range t.Fields() {
		if f.Type == reflect.TypeFor[config.Quantization]() {
			list = append(list, fieldsOf(f.Type, f.Name+".")...)
			continue
		}
		list = append(list, before+f.Name)
	}
	return list
}

// readBack is the configuration that a command has of the words that say one, on a model.
func readBack(t *testing.T, args []string, words *configWords, m *model.Model) config.Config {
	t.Helper()
	for _, w := range words.words {
		if w, quoted := strings.CutPrefix(w, "'"); quoted {
			args = append(args, strings.TrimSuffix(w, "'"))
		} else {
			args = append(args, w)
		}
	}
	o, c := onBackends(tables{backends: backends}), &cobra.Command{}
	o.register(c, takeAll)
	if err := c.ParseFlags(args); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	asked, err := o.config.asked()
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return o.config.over(o.config.base(m, asked), asked)
}

// all is a command with every flag of a configuration.
func all(t *testing.T) (*cobra.Command, *modelFlags) {
	t.Helper()
	o, c := onBackends(tables{backends: backends}), &cobra.Command{}
	o.register(c, takeAll)
	return c, o
}

// TestConfigWords: a command that is copied has every setting of the configuration, on a model and on an engine that was built
// otherwise; what it cannot have it says.
func TestConfigWords(t *testing.T) {
	quantized := func(set func(*config.Config)) config.Config {
		c := config.Default()
		c.Precision = config.INT8
		set(&c)
		return c
	}
	same := func(name string, got, want config.Config) {
		t.Helper()
		if g, w := got.Effective(false), want.Effective(false); !reflect.DeepEqual(g, w) || !reflect.DeepEqual(compact(got).State, compact(want).State) {
			t.Errorf("%s: the command has\n%+v, want\n%+v", name, g, w)
		}
	}
	plain := quantized(func(*config.Config) {})
	c, _ := all(t)
	for _, field := range fieldsOf(reflect.TypeFor[config.Config](), "") {
		set := settings[field]
		if set == nil {
			t.Errorf("no setting of %s is tried", field)
			continue
		}
		cfg := quantized(set)
		w := unflagged{config: config.Default()}.configWords(c, cfg, false)
		if len(w.lost) > 0 {
			t.Errorf("%s is lost: %q", field, w.lost)
		}
		same(field, readBack(t, nil, w, &model.Model{}), cfg)

		w = unflagged{config: plain, engine: true}.configWords(c, cfg, false)
		same("engine, "+field, readBack(t, nil, w, engine(t, plain)), cfg)

		w = unflagged{config: cfg, engine: true}.configWords(c, cfg, false)
		if len(w.words) > 0 {
			t.Errorf("engine as it was built, %s: %q", field, w.words)
		}
		w = unflagged{config: cfg, engine: true}.configWords(c, plain, false)
		if back := readBack(t, nil, w, engine(t, cfg)); len(w.lost) == 0 {
			same("engine, no "+field, back, plain)
		}
	}
	if w := (unflagged{config: quantized(settings["Disable"]), engine: true}).configWords(c, plain, false); !slices.Equal(w.lost, []string{"no --disable"}) {
		t.Errorf("rules that an engine is without are on again: %q, lost %q", w.words, w.lost)
	}
}

// calibrationAt writes a file of ranges of two tensors, with or without histograms.
func calibrationAt(t *testing.T, histograms bool) string {
	t.Helper()
	f := &stages.CalibrationFile{Version: stages.CalibrationVersion}
	for _, name := range []string{"a", "b"} {
		of := stages.CalibrationOf{Name: name, Range: []float64{-1, 2}}
		if histograms {
			of.Histogram = new(quant.Histogram)
			of.Histogram.Add([]float32{-1, 0.5, 2})
		}
		f.Tensors = append(f.Tensors, of)
	}
	path := filepath.Join(t.TempDir(), "ranges.json")
	if _, err := f.Write(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestConfigWordsOfRanges: ranges of a file that a workbench was started with are those of the command, too, but for those that were
// changed since.
func TestConfigWordsOfRanges(t *testing.T) {
	c, _ := all(t)
	for _, path := range []string{"histograms", "ranges"} {
		file := calibrationAt(t, path == "histograms")
		of, err := stages.ReadCalibration(file)
		if err != nil {
			t.Fatal(err)
		}
		cfg := config.Default()
		cfg.Precision, cfg.Quantization.Ranges = config.INT8, of.Ranges()
		u := unflagged{config: config.Default(), ranges: of}
		given := []string{"--ranges", file}
		try := func(what string, lost int) {
			t.Helper()
			w := u.configWords(c, cfg, false)
			back := readBack(t, given, w, &model.Model{})
			if len(w.lost) != lost || lost == 0 && !reflect.DeepEqual(back.Effective(false), cfg.Effective(false)) {
				t.Errorf("%s, %s: %q lost %q\n%+v\nwant %+v", path, what, w.words, w.lost, back.Effective(false), cfg.Effective(false))
			}
		}
		try("as they are", 0)
		cfg = cfg.Clone()
		cfg.Quantization.Ranges["a"] = []float64{-3, 3}
		try("one changed", 0)
		delete(cfg.Quantization.Ranges, "a")
		if path == "histograms" {
			try("one free", 0)
			cfg.Calibrator = "minmax"
			try("another calibrator", 0)
		} else {
			try("one free", 1)
		}
	}
}

// TestByConfiguration: every flag that a configuration is read from follows what is shown, not what the workbench was started with, but for a
// file of ranges and which profile of an engine is open.
func TestByConfiguration(t *testing.T) {
	_, o := all(t)
	for _, p := range o.config.parts {
		p.flags.VisitAll(func(f *pflag.Flag) {
			if f.Name != "ranges" && f.Name != "useProfile" && !slices.Contains(byConfiguration, f.Name) {
				t.Errorf("--%s is copied as it was given", f.Name)
			}
		})
	}
}
