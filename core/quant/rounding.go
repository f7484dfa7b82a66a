package quant

import (
	"fmt"
	"slices"
	"strings"
)

// Rounding says how weights become integers. The zero value is to the nearest.
type Rounding struct {
	kind    string // "", gptq, compensated or auto
	ordered bool   // the inputs of the largest moments first
}

// Roundings returns the kinds of rounding.
func Roundings() []string { return []string{"nearest", "gptq", "compensated", "auto"} }

// ParseRounding reads what String writes: nearest, gptq, gptq:ordered, which rounds the weights of those inputs first whose second
// moments are the largest, compensated, which is gptq of weights that take back what quantisation does to their input (see
// [Compensation]), or auto, which is one of the others, by trial.
func ParseRounding(text string) (Rounding, error) {
	name, param, has := strings.Cut(text, ":")
	switch {
	case name == "nearest" && !has:
		return Rounding{}, nil
	case (name == "auto" || name == "compensated") && !has:
		return Rounding{kind: name}, nil
	case name == "gptq" && (!has || param == "ordered"):
		return Rounding{name, has}, nil
	}
	return Rounding{}, fmt.Errorf("rounding %q: want %s or gptq:ordered", text, strings.Join(Roundings(), ", "))
}

func (r Rounding) String() string {
	switch {
	case r.ordered:
		return r.kind + ":ordered"
	case r.kind != "":
		return r.kind
	}
	return "nearest"
}

// NeedsMoments reports whether it looks at what the weights are multiplied by.
func (r Rounding) NeedsMoments() bool { return r.kind != "" }

// Compensates reports whether weights make up for what quantisation does to their input.
func (r Rounding) Compensates() bool { return r.kind == "compensated" }

// ByMoments returns what r does by the second moments of inputs alone.
func (r Rounding) ByMoments() Rounding {
	if r.Compensates() {
		r.kind = "gptq"
	}
	return r
}

// IsAuto reports whether it is yet to be chosen.
func (r Rounding) IsAuto() bool { return r.kind == "auto" }

// order returns in which order the weights of inputs are rounded whose second moments are on a matrix's diagonal.
func (r Rounding) order(m []float64, k int) []int {
	list := make([]int, k)
	for i := range list {
		list[i] = i
	}
	if r.ordered {
		slices.SortStableFunc(list, func(a, b int) int {
			switch x, y := m[a*k+a], m[b*k+b]; {
			case x > y:
				return -1
			case x < y:
				return 1
			}
			return 0
		})
	}
	return list
}
