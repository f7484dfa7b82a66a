package quantise

import (
	"github.com/trtui/trtui/core/graph/pass"
)

// CorrectBias returns the pass that takes back, in the biases of quantised products, what quantisation does to their means. It
// runs between Standard and Lowering, on the network in which layers have been quantised; run has the numbers, which this
// package knows nothing of.
func CorrectBias(run func(*pass.Rewrite)) pass.Pass { return calibrated(biasCorrection, run) }

// The rules of CorrectBias.
const (
	BiasCorrection = "bias-correction"
	Compensation   = "compensation"
)

// biasCorrection has rules whose places are the layers that are corrected.
var biasCorrection = pass.Pass{
	Name:  "correct-biases",
	Doc:   "biases and weights of products take back what quantisation does",
	Rules: []string{BiasCorrection, Compensation},
	Docs: map[string]string{
		BiasCorrection: "the bias of a product takes back what quantisation adds to the mean of each output channel",
		Compensation:   "the weights of a quantised product are solved for what the layers before it lost, and then rounded",
	},
}

// EqualizeChannels returns the pass that scales channels of tensors between products so that one range suits them all. It runs
// between Standard and what quantises layers; run has the numbers.
func EqualizeChannels(run func(*pass.Rewrite)) pass.Pass { return calibrated(equalization, run) }

// Equalization is the rule of EqualizeChannels.
const Equalization = "equalization"

// equalization has one rule, whose places are the layers whose results are scaled.
var equalization = pass.Pass{
	Name:  "equalize-channels",
	Doc:   "a layer divides its channels by what the products behind it multiply their weights by, so that one range suits all channels",
	Rules: []string{Equalization},
}

// RangeRows returns the pass that tells at which products rows have ranges of their own, where that was chosen by trial, and why at
// others they have not. It runs behind what quantises layers; run knows what was chosen.
func RangeRows(run func(*pass.Rewrite)) pass.Pass { return calibrated(rowRanges, run) }

// RowRanges is the rule of RangeRows.
const RowRanges = "row-ranges"

// rowRanges has one rule, whose places are products of rows.
var rowRanges = pass.Pass{
	Name:  "range-rows",
	Doc:   "products have a range for each row, found as it comes, where outputs of items that were held out gain by it",
	Rules: []string{RowRanges},
}

// RoundWeights returns the pass that chooses the integers which weights become. It runs between what quantises layers and
// [CorrectBias]; run has the numbers.
func RoundWeights(run func(*pass.Rewrite)) pass.Pass { return calibrated(weightRounding, run) }

// The rules of RoundWeights.
const (
	Rounding = "rounding" // weights of quantised products
	FewBits  = "few-bits" // weights of products of real numbers
)

var weightRounding = pass.Pass{
	Name:  "round-weights",
	Doc:   "weights become the integers that were asked for",
	Rules: []string{Rounding, FewBits},
	Docs: map[string]string{
		Rounding: "the weights of a quantised product are rounded by the second moments of its input, so that its sums lose least",
		FewBits:  "the weights of a product of real numbers are rounded to 8 or 4 bits, with scales for columns or groups of them",
	},
}

// Calibrated returns the passes that change numbers by what calibration found, in order. Their runs are those of
// [EqualizeChannels], [RangeRows], [RoundWeights] and [CorrectBias].
func Calibrated() []pass.Pass {
	return []pass.Pass{equalization, rowRanges, weightRounding, biasCorrection}
}

func calibrated(p pass.Pass, run func(*pass.Rewrite)) pass.Pass {
	p.Run = run
	return p
}
