package detection

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph/numeric"
)

// separate returns a form of outputs of their own for boxes, classes and scores.
func separate(share, yFirst bool) func([]Output) (decoder, error) {
	return func(outputs []Output) (decoder, error) {
		boxes := slices.IndexFunc(outputs, func(o Output) bool { return table(o) && o.Value.Dims[len(o.Value.Dims)-1] == 4 })
		if boxes < 0 {
			return nil, fmt.Errorf("want an output [boxes, 4] of corners, have %s", described(outputs))
		}
		rows := outputs[boxes].Value.Dims[len(outputs[boxes].Value.Dims)-2]
		list := func(names ...string) int {
			return slices.IndexFunc(outputs, func(o Output) bool {
				d := o.Value.Dims
				return len(d) > 0 && d[len(d)-1] == rows && slices.ContainsFunc(names, func(n string) bool { return strings.Contains(strings.ToLower(o.Name), n) })
			})
		}
		classes, scores := list("label", "class"), list("score", "conf")
		if classes < 0 {
			classes = slices.IndexFunc(outputs, func(o Output) bool {
				d := o.Value.Dims
				return len(d) > 0 && d[len(d)-1] == rows && o.Value.Type.IsInteger()
			})
		}
		if classes < 0 || scores < 0 || classes == scores {
			return nil, fmt.Errorf("want outputs [boxes] called labels or classes, and scores, beside %s %v; have %s", outputs[boxes].Name, outputs[boxes].Value.Dims, described(outputs))
		}
		return func(outputs []Output, item int, height, width float64) (found []Found) {
			m := itemOf(outputs[boxes], item)
			class, score := numbers(outputs[classes].Value), outputs[scores].Value.Floats()
			if !share {
				height, width = 1, 1
			}
			for r := range min(m.rows, len(class)-item*rows, len(score)-item*rows) {
				v := m.row(r)
				if yFirst {
					v = []float32{v[1], v[0], v[3], v[2]}
				}
				found = append(found, classed(corners(v, width, height), class[item*rows+r], float64(score[item*rows+r])))
			}
			return best(counted(found))
		}, nil
	}
}

// numbers returns the elements as whole numbers.
func numbers(v numeric.Value) []int {
	list := make([]int, v.Len())
	if v.Type.IsInteger() {
		for i, x := range v.Ints() {
			list[i] = int(x)
		}
		return list
	}
	for i, x := range v.Floats() {
		list[i] = int(x)
	}
	return list
}

// yunet is the form of the face detector of that name: for each cell of a grid a class score, an object score, and a box whose centre is
// in cells from the cell's own corner and whose size is the logarithm of one in cells.
func yunet(outputs []Output) (decoder, error) {
	strides := []int{8, 16, 32}
	var at [3][3]int
	for s, stride := range strides {
		for k, name := range []string{"cls", "obj", "bbox"} {
			full := fmt.Sprintf("%s_%d", name, stride)
			at[s][k] = slices.IndexFunc(outputs, func(o Output) bool { return o.Name == full && table(o) && len(o.Value.Dims) == 3 })
			if at[s][k] < 0 {
				return nil, fmt.Errorf("want an output %s [batch, cells, ...], have %s", full, described(outputs))
			}
		}
	}
	return func(outputs []Output, item int, _, width float64) (found []Found) {
		for s, stride := range strides {
			class, object, box := itemOf(outputs[at[s][0]], item), itemOf(outputs[at[s][1]], item), itemOf(outputs[at[s][2]], item)
			across := max(1, int(width)/stride)
			for r := range min(class.rows, object.rows, box.rows) {
				score := math.Sqrt(unit(class.row(r)[0]) * unit(object.row(r)[0]))
				v, size := box.row(r), float64(stride)
				if len(v) < 4 {
					return nil
				}
				cx, cy := (float64(r%across)+float64(v[0]))*size, (float64(r/across)+float64(v[1]))*size
				w, h := math.Exp(float64(v[2]))*size, math.Exp(float64(v[3]))*size
				found = append(found, classed(Box{X0: cx - w/2, Y0: cy - h/2, X1: cx + w/2, Y1: cy + h/2}, 0, score))
			}
		}
		return suppressed(counted(found))
	}, nil
}

// unit bounds a score to 0 to 1.
func unit(v float32) float64 { return min(1, max(0, float64(v))) }
