package advice

import "github.com/trtui/trtui/sessions/report"

// notFinite finds weights by which no output is a number.
func notFinite(f *facts) []report.Finding {
	if f.Overview == nil {
		return nil
	}
	for _, b := range f.Overview.Badges {
		if b.Text == report.WeightsNotFinite {
			return []report.Finding{{Severity: report.Problem, Remedy: report.RemedyModel, Text: b.Why, Evidence: []report.Evidence{}}}
		}
	}
	return nil
}

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
