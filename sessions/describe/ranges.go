package describe

import (
	"fmt"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/sessions/config"
)

// GivenRanges says what ranges that were given and the equalisation of channels do to each other; it is empty where that is nothing.
func GivenRanges(cfg config.Config, l *build.Lowered) string {
	if n := len(l.Unscaled); n > 0 {
		return fmt.Sprintf("channels of %s are not equalised, first of all %s: the ranges that were given hold for channels as they are; equalised by weights or by activations, "+
			"ranges of scaled channels are found on the calibration data", config.CountOf(n, "tensor", "tensors"), config.Quoted(l.Unscaled[0]))
	}
	replaced := 0
	for _, s := range l.Equalized {
		if _, given := cfg.Quantization.Ranges[s.Tensor]; given {
			replaced++
		}
	}
	if replaced == 0 {
		return ""
	}
	return fmt.Sprintf("%s not used, since channels are equalised: those of scaled channels are found on the calibration data", config.CountOf(replaced, "range that was given is", "ranges that were given are"))
}
