package cmd

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// layered returns the configuration whose layers are looked at: the last one, and where a model was given and nothing asked
// for INT8 with the calibrator that every command begins with.
func (g *configFlags) layered(m *model.Model, configs []config.Config) config.Config {
	cfg := configs[len(configs)-1]
	if m.Engine == nil && g.file == nil && !g.changed("precision", "calibrator") {
		cfg.Calibrator = config.DefaultCalibrator
	}
	return cfg
}

// evalLayers prints the errors of every layer of one configuration.
func evalLayers(ctx context.Context, o *modelFlags, w io.Writer, r *sessions.Runner, cfg config.Config) error {
	snap, err := r.Report(ctx, cfg, report.PartAccuracy, run.Profiling{})
	if err != nil {
		return err
	}
	return o.writeLayerErrors(w, snap)
}

// writeLayerErrors prints what the layers of one configuration err by.
func (o *modelFlags) writeLayerErrors(w io.Writer, snap *report.Snapshot) error {
	a := snap.Accuracy
	if o.output.json() {
		return writeReport(w, snap.Head(), a)
	}
	fmt.Fprintf(w, "%s, %s: error of each layer against %s, on %s\n\n", snap.Model.Name, strings.TrimSpace(a.Precision+" "+a.Calibrator), a.LayersAgainst(), count(a.TapItems, "item"))
	var rows [][]string
	for _, l := range a.Layers {
		mark := ""
		switch {
		case l.Name == a.FirstBad && l.Name == a.Worst:
			mark = fmt.Sprintf("first that adds less than %.0f dB, and the worst", a.Tolerance)
		case l.Name == a.FirstBad:
			mark = fmt.Sprintf("first that adds less than %.0f dB", a.Tolerance)
		case l.Name == a.Worst:
			mark = "adds most error"
		}
		rows = append(rows, []string{
			short(l.Name), l.Precision, decibels(l.Local.SQNR), decibels(l.AddedSQNR()), decibels(l.Accumulated.SQNR), bar(min(1, max(0, l.Accumulated.SQNR/60)), 20),
			fmt.Sprintf("%.4g", l.Accumulated.MaxAbs), fmt.Sprintf("%.4g", l.Accumulated.MeanAbs), fmt.Sprintf("%.6f", l.Accumulated.Cosine), mark,
		})
	}
	writeTable(w, []string{"@layer", "type", ">own error dB", ">adds dB", ">accumulated dB", "~", ">max abs", ">mean abs", ">cosine", ""}, rows)
	if n := len(a.UnlikeLayers); n > 0 {
		writeNote(w, "%s not compared on some items, on which the data give another size than FP32's: %s", count(n, "layer"), strings.Join(a.UnlikeLayers, ", "))
	}
	fmt.Fprintln(w)
	writeCauses(w, a)
	writeScore(w, a)
	return nil
}
