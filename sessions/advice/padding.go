package advice

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/trtui/trtui/sessions/report"
)

// paddingLoss is the part of a layer's lanes from which padding is too much.
const paddingLoss = 0.25

// blocked finds how many channels lie side by side in a format, as in "linear to c16".
var blocked = regexp.MustCompile(`\bc(\d+)\b`)

// padding finds layers whose channels do not fill the blocks of the layout that their kernels use.
func padding(f *facts) (list []report.Finding) {
	for i := range f.Tactics.Layers {
		t := &f.Tactics.Layers[i]
		l := f.layers[t.Layer]
		taken, took := f.share(t.Layer)
		if l == nil || taken < notableShare || l.FLOPs == 0 || len(l.Outputs) == 0 || len(l.Outputs[0].Shape) < 2 {
			continue
		}
		block := blockOf(t)
		channels := l.Outputs[0].Shape[1]
		if block < 2 || channels < 1 {
			continue
		}
		padded := (channels + block - 1) / block * block
		lost := 1 - float64(channels)/float64(padded)
		if lost < paddingLoss {
			continue
		}
		list = append(list, report.Finding{Severity: report.Suggestion, Remedy: report.RemedyModel, Layer: l.Name, Time: took,
			Text: fmt.Sprintf("%s makes %d channels and computes %d, since they lie in blocks of %d: %s of its work is padding; it takes %s of the time, and %d channels would take no more",
				short(l.Name), channels, padded, block, percent(lost), percent(taken), padded),
			Evidence: []report.Evidence{number("channels", float64(channels)), number("block", float64(block)), share("padding", lost), shareOf(taken)}})
	}
	byTime(list)
	return list[:min(len(list), mostTensors)]
}

// blockOf returns the block of channels that the chosen tactic of a layer writes; 0 where it writes none.
func blockOf(t *report.LayerTactics) int {
	for _, c := range t.Candidates {
		if !c.Chosen {
			continue
		}
		all := blocked.FindAllStringSubmatch(c.Format, -1)
		if len(all) == 0 {
			return 0
		}
		n, err := strconv.Atoi(all[len(all)-1][1])
		if err != nil || n > 1<<10 {
			return 0
		}
		return n
	}
	return 0
}
