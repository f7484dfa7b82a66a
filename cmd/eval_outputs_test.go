package cmd

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/report"
)

// TestEvalNamesOutputs: of a model of several outputs, the one whose SQNR rows have is named, and the others' are listed, by row.
func TestEvalNamesOutputs(t *testing.T) {
	model, data := recurrentModel(t)
	args := []string{"eval", model, "--data", data, "--state", "h=hn", "--precision", "fp32", "-q"}
	out, _ := command(t, 0, args...)
	if !strings.Contains(out, "SQNR is that of the first output, y\n") {
		t.Errorf("got\n%s", out)
	}
	out, _ = command(t, 0, append(args, "--format", "json")...)
	var got struct {
		Rows []struct {
			Outputs []struct {
				Name  string
				Exact bool
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) != 1 || len(got.Rows[0].Outputs) != 2 || got.Rows[0].Outputs[1].Name != "hn" || !got.Rows[0].Outputs[1].Exact {
		t.Errorf("got %+v", got)
	}
	row := func(calibrator string, db ...float64) evalRow {
		r := evalRow{Precision: "int8", Calibrator: calibrator, Outputs: make([]report.OutputError, len(db))}
		for i, v := range db {
			r.Outputs[i] = report.OutputError{Name: []string{"cls", "mask", "box"}[i], Errors: report.Errors{SQNR: v}}
		}
		return r
	}
	reference, same := row("", 200, 200, 200), row("mse", 52, 39, 41)
	reference.Reference, same.SameAs = true, "int8 minmax"
	var b strings.Builder
	writeOtherOutputs(&b, []evalRow{reference, row("minmax", 52, 39, 41), same, row("entropy", 51, 38, 40.5)})
	want := []string{
		"SQNR is that of the first output, cls; of the others it is:", "",
		"other output  int8 minmax dB  int8 entropy dB",
		"mask                    39.0             38.0",
		"box                     41.0             40.5", "",
	}
	if b.String() != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", b.String(), strings.Join(want, "\n"))
	}
	b.Reset()
	if writeOtherOutputs(&b, []evalRow{reference, row("minmax", 52)}[1:]); b.Len() > 0 {
		t.Errorf("of one output: %s", b.String())
	}
}
