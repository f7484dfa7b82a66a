package advice

import "github.com/trtui/trtui/sessions/report"

// modelFile finds what a person should know of the model's file, as its import noted it.
func modelFile(f *facts) (list []report.Finding) {
	for _, note := range f.Model.Notes {
		list = append(list, report.Finding{Severity: report.Warning, Remedy: report.RemedyModel, Text: note, Evidence: []report.Evidence{}})
	}
	return list
}
