package advice

import "github.com/trtui/trtui/sessions/report"

// randomRanges finds INT8 that was calibrated on made-up input.
func randomRanges(f *facts) []report.Finding {
	for _, b := range f.Overview.Badges {
		if b.Text == report.RandomCalibration {
			return []report.Finding{{Severity: report.Problem, Remedy: report.RemedyData, Text: b.Why,
				Evidence: []report.Evidence{}}}
		}
	}
	return nil
}
