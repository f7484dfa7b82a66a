package advice

import (
	"fmt"

	"github.com/trtui/trtui/sessions/report"
)

// scaleLoss is how many decibels one scale for all weights may cost.
const scaleLoss = 6

// weightScale finds the layer that loses most by having one scale for all its channels.
func weightScale(f *facts) []report.Finding {
	if f.Config.Quantization.Full().WeightScales != "tensor" {
		return nil
	}
	var worst *report.WeightCalibration
	count := 0
	for i := range f.Calibration.Weights {
		w := &f.Calibration.Weights[i]
		lost := w.PerChannel - w.PerTensor
		if !w.Used || w.Given || lost < scaleLoss {
			continue
		}
		if count++; worst == nil || lost > worst.PerChannel-worst.PerTensor {
			worst = w
		}
	}
	if worst == nil {
		return nil
	}
	return []report.Finding{{Severity: report.Warning, Remedy: report.RemedyWeightScales, Layer: worst.Layer, Tensor: worst.Tensor,
		Text: fmt.Sprintf("one scale for all weights costs %s over %d dB; %s has %.1f dB, and %.1f with one for each channel",
			plural(count, "layer"), scaleLoss, short(worst.Layer), worst.PerTensor, worst.PerChannel),
		Evidence: []report.Evidence{number("layers", float64(count)), decibels("per_tensor_sqnr", worst.PerTensor), decibels("per_channel_sqnr", worst.PerChannel)},
	}}
}
