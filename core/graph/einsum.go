package graph

import (
	"fmt"
	"slices"
	"strings"
)

// einsumEquation is the equation of an Einsum: for each operand, and for the result, the label of every axis. The axes of an
// ellipsis have the labels -1 for the last one, -2 for the one before, and so on; the others are the letters themselves.
type einsumEquation struct {
	operands [][]int
	result   []int
}

// maxEinsumAxes bounds the axes of an operand.
const maxEinsumAxes = 64

// parseEinsum reads an equation, such as "bij,bjk->bik", "...ii->...i" or "ij,j", for operands of the given numbers of axes.
// Without an arrow the result has the axes of the ellipses and then, in the order of their codes, the letters that occur once.
func parseEinsum(equation string, ranks []int) (einsumEquation, error) {
	var e einsumEquation
	fail := func(format string, args ...any) (einsumEquation, error) {
		return e, fmt.Errorf("equation %q: %s", equation, fmt.Sprintf(format, args...))
	}
	left, right, explicit := strings.Cut(strings.ReplaceAll(equation, " ", ""), "->")
	terms := strings.Split(left, ",")
	if len(terms) != len(ranks) {
		return fail("%d operands, the node has %d", len(terms), len(ranks))
	}
	count, ellipsis := map[int]int{}, 0
	for i, term := range terms {
		letters := len(strings.ReplaceAll(term, "...", ""))
		over := ranks[i] - letters
		switch {
		case ranks[i] > maxEinsumAxes:
			return fail("operand %d has %d axes, at most %d are supported", i, ranks[i], maxEinsumAxes)
		case over < 0 || over > 0 && !strings.Contains(term, "..."):
			return fail("operand %d has %d axes, %q names %d", i, ranks[i], term, letters)
		}
		labels, err := einsumLabels(term, over)
		if err != nil {
			return fail("%v", err)
		}
		for _, label := range labels {
			count[label]++
		}
		e.operands = append(e.operands, labels)
		ellipsis = max(ellipsis, over)
	}
	if !explicit {
		for at := ellipsis; at > 0; at-- {
			e.result = append(e.result, -at)
		}
		for label := range int('z') + 1 {
			if count[label] == 1 {
				e.result = append(e.result, label)
			}
		}
		return e, nil
	}
	var err error
	if e.result, err = einsumLabels(right, ellipsis); err != nil {
		return fail("%v", err)
	}
	for i, label := range e.result {
		switch {
		case slices.Contains(e.result[:i], label):
			return fail("the result has %q twice", rune(label))
		case label > 0 && count[label] == 0:
			return fail("the result has %q, which no operand has", rune(label))
		}
	}
	if ellipsis > 0 && !strings.Contains(right, "...") {
		return fail("an operand has axes of an ellipsis, the result has none")
	}
	return e, nil
}

// einsumLabels returns the labels of a term whose ellipsis stands for so many axes.
func einsumLabels(term string, ellipsis int) ([]int, error) {
	var labels []int
	before, after, dots := strings.Cut(term, "...")
	for _, part := range []string{before, after} {
		for _, c := range part {
			if c < 'A' || c > 'Z' && c < 'a' || c > 'z' {
				return nil, fmt.Errorf("%q in %q is no letter", c, term)
			}
			labels = append(labels, int(c))
		}
		if dots {
			for at := ellipsis; at > 0; at-- {
				labels = append(labels, -at)
			}
			dots = false
		}
	}
	return labels, nil
}
