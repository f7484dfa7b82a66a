package views

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// settingDocs say what the settings of a configuration are, by their names.
var settingDocs = map[string]string{
	"precision":             "number format of arithmetic: fp32, fp16, int8",
	"calibrator":            "what finds ranges for INT8, with its parameter: percentile:99.9",
	"activations":           "how activations are quantised: symmetric, asymmetric, with :u8, :token or :auto",
	"weight_scales":         "a scale for each channel, or for each tensor",
	"weight_ranges":         "how ranges of weights are found",
	"keep":                  "what stays in floating point: first, last, residuals, ops",
	"ranges":                "ranges of tensors in place of the calibrator's",
	"bias_correction":       "what takes back the shift that quantisation gives",
	"equalization":          "of channels, before they are quantised",
	"rounding":              "how weights are rounded",
	"weights":               "weights of products in few bits: int8, int4:32",
	"batch":                 "batch size, where that axis is open",
	"shapes":                "shapes of inputs",
	"min_shapes":            "the least shapes that the engine serves",
	"max_shapes":            "the largest shapes that the engine serves",
	"profiles":              "further ranges of shapes, each with a plan",
	"state":                 "inputs that are outputs of the item before",
	"rule_files":            "files of rewrite rules",
	"disable":               "rules and places that are switched off",
	"passes_until":          "stop after so many passes; 0: all",
	"layer_precisions":      "precision by layer: *head*:fp32",
	"precision_constraints": "what a layer's precision means that cannot be had: prefer, obey, none",
	"tactics":               "the only tactic of a layer",
	"forbid_tactics":        "tactics that a layer, or *, may not have",
}

// atStart are the settings that are chosen when a model is opened, with what they are of.
var atStart = map[string]string{"rule_files": "rewrite rules are read", "state": "data are opened"}

// settings are what the palette has of the configuration, each with its value, and the threads of the device.
func settings(w *workbench) (list []ui.Entry) {
	for i, s := range config.Settings(config.Default()) {
		with := func(value string) (config.Config, error) {
			if lack := w.Lacks(pane.NeedsModel); lack != "" {
				return config.Config{}, errors.New(lack)
			}
			if what, ok := atStart[s.Name]; ok {
				return config.Config{}, fmt.Errorf("%s: it is chosen at the start, when %s", s.Name, what)
			}
			if w.o.Set != nil {
				return w.o.Set(w.config.want, s.Name, value)
			}
			return config.Set(w.config.want, s.Name, value)
		}
		list = append(list, settingEntry(settingDocs[s.Name], &ui.Setting{
			Name: s.Name, Form: settingDocs[s.Name] + "; " + s.Form,
			Value: func() string { return config.Settings(w.config.want)[i].Value },
			Check: func(value string) error { _, err := with(value); return err },
			Set: func(value string) tea.Cmd {
				to, err := with(value)
				switch {
				case err != nil:
					return pane.Say(ui.Bad, err.Error())
				case config.Same(to, w.config.want):
					return pane.Say(ui.Plain, "it is so already")
				}
				return w.Change(func(c *config.Config) { *c = to })
			},
		}))
	}
	if w.o.Threads == nil {
		return list
	}
	count := func(value string) (int, error) {
		if lack := w.Lacks(pane.NeedsModel); lack != "" {
			return 0, errors.New(lack)
		}
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < 0 {
			return 0, fmt.Errorf("threads %s: want a number, or 0 for all processors", value)
		}
		return n, nil
	}
	return append(list, settingEntry("worker threads", &ui.Setting{
		Name: "threads", Form: "worker threads; 0: all processors. The model is opened anew.",
		Value: func() string { return strconv.Itoa(w.snap.Device.Threads) },
		Check: func(value string) error { _, err := count(value); return err },
		Set: func(value string) tea.Cmd {
			n, err := count(value)
			if err != nil {
				return pane.Say(ui.Bad, err.Error())
			}
			return tea.Sequence(pane.Say(ui.Plain, "opening the model anew"), w.o.Threads(n, w.config.want))
		},
	}))
}

func settingEntry(doc string, s *ui.Setting) ui.Entry {
	return ui.Entry{Text: s.Name + ": " + cmp.Or(doc, "a setting"), Words: append(strings.Split(s.Name, "_"), s.Name, "set"), Setting: s}
}
