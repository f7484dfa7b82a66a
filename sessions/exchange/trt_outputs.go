package exchange

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/trtui/trtui/core/graph/numeric"
)

// NamedValue is a tensor under its name.
type NamedValue struct {
	Name string
	numeric.Value
}

// OutputsJSON writes tensors as trtexec --exportOutput does: their names, their extents with an x between them, and all elements in
// order. JSON has neither NaN, for which null stands, nor infinities, which are 1e999 and -1e999: what reads these as doubles has
// infinities again.
func OutputsJSON(list []NamedValue) ([]byte, error) {
	rows := []object{}
	for _, v := range list {
		values, err := v.numbers(func(x float64) string {
			if x != x {
				return "null"
			}
			return strconv.FormatFloat(math.Copysign(1, x), 'f', 0, 64) + "e999"
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, object{{"name", v.Name}, {"dimensions", v.extents()}, {"values", jsonNumbers(values)}})
	}
	data, err := json.Marshal(rows) // in one line: a number is no line of its own
	return append(data, '\n'), err
}

// OutputsSection is what trtexec --dumpOutput prints of tensors.
func OutputsSection(list []NamedValue) (Section, error) {
	s := Section{Heading: "Output Tensors"}
	for _, v := range list {
		values, err := v.numbers(func(x float64) string {
			return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(x, 'g', -1, 64), "+"))
		})
		if err != nil {
			return s, err
		}
		s.Lines = append(s.Lines, fmt.Sprintf("%s: (%s)", v.Name, v.extents()), strings.Join(values, " "))
	}
	return s, nil
}

// extents writes the dims as trtexec does; of a scalar there are none.
func (v NamedValue) extents() string {
	texts := make([]string, len(v.Dims))
	for i, d := range v.Dims {
		texts[i] = strconv.Itoa(d)
	}
	return strings.Join(texts, "x")
}

// numbers writes the elements with as many digits as tell them from others of their type; odd does those that are not finite.
func (v NamedValue) numbers(odd func(float64) string) ([]string, error) {
	if v.Type == numeric.Str {
		return nil, fmt.Errorf("output %s has strings, and trtexec writes numbers alone", v.Name)
	}
	if !v.Type.IsFloat() && !v.Type.IsNarrowFloat() {
		return v.Format(), nil
	}
	bits := 32 // whatever is narrower is a number of these, too
	if v.Type == numeric.F64 {
		bits = 64
	}
	list := make([]string, v.Len())
	for i, x := range v.Float64s() {
		if list[i] = strconv.FormatFloat(x, 'g', -1, bits); math.IsInf(x, 0) || x != x {
			list[i] = odd(x)
		}
	}
	return list, nil
}

// jsonNumbers is a list of numbers in one line.
type jsonNumbers []string

func (n jsonNumbers) MarshalJSON() ([]byte, error) {
	return []byte("[" + strings.Join(n, ",") + "]"), nil
}
