package accuracy

import (
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/words"
)

// metric is a measure of the difference between two tensors.
type metric struct {
	name   string
	value  func(*report.Errors) float64
	write  func(float64) string
	higher bool // more is better
}

var metrics = []metric{
	{name: "SQNR dB", value: func(e *report.Errors) float64 { return e.SQNR }, write: words.Decibels, higher: true},
	{name: "max abs", value: func(e *report.Errors) float64 { return e.MaxAbs }, write: ui.Number},
	{name: "mean abs", value: func(e *report.Errors) float64 { return e.MeanAbs }, write: ui.Number},
	{name: "median abs", value: func(e *report.Errors) float64 { return e.MedianAbs }, write: ui.Number},
	{name: "max rel", value: func(e *report.Errors) float64 { return e.MaxRel }, write: ui.Number},
	{name: "mean rel", value: func(e *report.Errors) float64 { return e.MeanRel }, write: ui.Number},
	{name: "L2", value: func(e *report.Errors) float64 { return e.L2 }, write: ui.Number},
	{name: "1-cosine", value: func(e *report.Errors) float64 { return 1 - e.Cosine }, write: ui.Number},
	{name: "PSNR dB", value: func(e *report.Errors) float64 { return e.PSNR }, write: words.Decibels, higher: true},
}
