package cmd

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/report"
)

// TestSpeedText says of a difference within the noise that there is none.
func TestSpeedText(t *testing.T) {
	for _, c := range []struct {
		speed        report.Speed
		text, remark string
	}{
		{report.Speed{Ratio: 2.1, Low: 2, High: 2.2, Significant: true, SideBySide: true}, "2.10×", ""},
		{report.Speed{Ratio: 1.08, Low: 0.9, High: 1.2, SideBySide: true}, "~1.00×", "no significant difference"},
		{report.Speed{Ratio: 1.68, Low: 1.5, High: 1.8, Significant: true}, "1.68×", "not measured side by side"},
		{report.Speed{Ratio: 1.08, Low: 0.9, High: 1.2}, "~1.00×", "no significant difference; not measured side by side"},
	} {
		if text, remark := speedText(c.speed); text != c.text || remark != c.remark {
			t.Errorf("%+v is %q, %q", c.speed, text, remark)
		}
	}
}

// TestEvalMeasuresSideBySide compares two calibrators, which are measured in the same rounds, and two precisions of one engine,
// which is measured once.
func TestEvalMeasuresSideBySide(t *testing.T) {
	if testing.Short() {
		t.Skip("measures")
	}
	out, _ := command(t, 0, append(few(t), "eval", "--precision", "int8", "--calibrator", "minmax,entropy,minmax", "--items", "8", "--format", "json", "-q")...)
	var report struct {
		Rows []struct {
			Latency float64 `json:"latency_ms"`
			SameAs  string  `json:"same_as"`
			Speed   *struct {
				Ratio, Low, High float64
				Significant      *bool
				SideBySide       bool `json:"side_by_side"`
			}
		}
	}
	if err := json.NewDecoder(bytes.NewReader([]byte(out))).Decode(&report); err != nil {
		t.Fatal(err)
	}
	rows := report.Rows
	if len(rows) != 3 || rows[0].Speed != nil || rows[1].Speed == nil || rows[2].Speed != nil {
		t.Fatalf("the rows are %+v", rows)
	}
	if s := rows[1].Speed; !s.SideBySide || s.Significant == nil || s.Low > s.Ratio || s.Ratio > s.High || s.Low <= 0 {
		t.Errorf("the second row's speed is %+v", *s)
	}
	if !strings.HasPrefix(rows[2].SameAs, "int8 minmax") || rows[2].Latency != rows[0].Latency {
		t.Errorf("the same engine was measured again: %+v", rows[2])
	}
}
