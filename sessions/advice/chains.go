package advice

import (
	"fmt"

	"github.com/trtui/trtui/sessions/report"
)

// chains finds reformats of tensors that were only just moved, converted or reformatted: two copies where one would do.
func chains(f *facts) (list []report.Finding) {
	moved := map[string]*report.LayerTiming{} // what the last steps only moved, by tensor
	for i := range f.Timings.Layers {
		l := &f.Timings.Layers[i]
		if !l.Reformat {
			if made := f.layers[l.Name]; made != nil && l.Median > 0 && (movers[l.Op] || isConversion(l.Op)) && made.Epilogue == "" {
				for _, t := range made.Outputs {
					moved[t.Name] = l
				}
			}
			continue
		}
		tensor := reformatted(l.Name)
		before := moved[tensor]
		moved[tensor] = l
		if before == nil || l.Share+before.Share < noticeable {
			continue
		}
		took := l.Median + before.Median
		list = append(list, report.Finding{Severity: report.Suggestion, Remedy: report.RemedyTactics, Layer: consumerOf(f, l.Name), Tensor: tensor, Time: took, Bytes: l.Bytes + before.Bytes,
			Text: fmt.Sprintf("%s is copied twice in a row: by %s and by %s; they take %s of the time and move %s",
				tensor, short(before.Name), l.Name, percent(l.Share+before.Share), size(l.Bytes+before.Bytes)),
			Evidence: []report.Evidence{shareOf(l.Share + before.Share), bytes("moved", l.Bytes+before.Bytes)}})
	}
	byTime(list)
	return list[:min(len(list), mostTensors)]
}
