package detection

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph/numeric"
)

// Output is one of a network's, of a batch.
type Output struct {
	Name  string
	Value numeric.Value
}

// Form is a way in which detectors give what they find.
type Form struct {
	Name string
	Doc  string
	// Categories: the numbers of classes are those of the file of labels, not places among them.
	Categories bool

	of func(outputs []Output) (decoder, error) // the error says what an output would have to be
}

// decoder returns what was found in one item of outputs, in pixels of an image of a height and a width.
type decoder func(outputs []Output, item int, height, width float64) []Found

// forms are all there are, in the order of documents.
var forms = []Form{
	{Name: "yolov5", Doc: "rows of centre, size, object score and class scores; v7 as well", of: yolo(true)},
	{Name: "yolov8", Doc: "columns of centre, size and class scores; v9 and v11 as well", of: yolo(false)},
	{Name: "end2end", Doc: "rows of corners, score and class, such as v10's", of: endToEnd},
	{Name: "torchvision", Doc: "outputs of corners in pixels, classes and scores", Categories: true, of: separate(false, false)},
	{Name: "ssd", Doc: "outputs of corners from 0 to 1, classes and scores", Categories: true, of: separate(true, false)},
	{Name: "tensorflow", Doc: "outputs of corners from 0 to 1, y first, classes and scores", Categories: true, of: separate(true, true)},
	{Name: "yunet", Doc: "cls, obj and bbox of strides 8, 16 and 32", of: yunet},
}

// Forms returns all forms.
func Forms() []Form { return slices.Clone(forms) }

// FormOf returns the form of a name, or where that is empty the only one that outputs fit.
func FormOf(name string, outputs []Output) (*Form, error) {
	if name != "" {
		f, err := named(name)
		if err == nil {
			_, err = f.of(outputs)
		}
		return f, err
	}
	var fitting []string
	var only *Form
	for i := range forms {
		if _, err := forms[i].of(outputs); err == nil {
			only, fitting = &forms[i], append(fitting, forms[i].Name)
		}
	}
	switch len(fitting) {
	case 0:
		return nil, fmt.Errorf("the outputs are boxes in no form that is known, which are %s: %s", strings.Join(names(), ", "), described(outputs))
	case 1:
		return only, nil
	}
	return nil, fmt.Errorf("the outputs may be boxes in the forms %s: say which", strings.Join(fitting, ", "))
}

// Check returns an error where no form has the name; the empty one stands for that which outputs fit.
func Check(name string) error {
	if name == "" {
		return nil
	}
	_, err := named(name)
	return err
}

func named(name string) (*Form, error) {
	if i := slices.IndexFunc(forms, func(f Form) bool { return f.Name == name }); i >= 0 {
		return &forms[i], nil
	}
	return nil, fmt.Errorf("no form of boxes is called %q; want %s", name, strings.Join(names(), ", "))
}

func names() (list []string) {
	for i := range forms {
		list = append(list, forms[i].Name)
	}
	return list
}

func described(outputs []Output) string {
	var list []string
	for _, o := range outputs {
		list = append(list, fmt.Sprintf("%s %v", o.Name, o.Value.Dims))
	}
	return strings.Join(list, ", ")
}

// Find returns what was found in an item of outputs, of an image that the network read in a height and a width, in pixels.
func (f *Form) Find(outputs []Output, item, height, width int) ([]Found, error) {
	decode, err := f.of(outputs)
	if err != nil {
		return nil, fmt.Errorf("boxes in the form %s: %w", f.Name, err)
	}
	return decode(outputs, item, float64(height), float64(width)), nil
}

// matrix is an item of an output as rows of columns.
type matrix struct {
	data          []float32
	rows, columns int
}

func (m matrix) row(r int) []float32 { return m.data[r*m.columns : (r+1)*m.columns] }

// itemOf returns the item of an output whose last two axes are rows and columns, of which an output without a batch has one; no rows
// where there is no such item.
func itemOf(o Output, item int) matrix {
	d, data := o.Value.Dims, o.Value.Floats()
	m := matrix{rows: d[len(d)-2], columns: d[len(d)-1]}
	n := m.rows * m.columns
	if (item+1)*n > len(data) {
		return matrix{}
	}
	m.data = data[item*n : (item+1)*n]
	return m
}

// table reports whether an output of real numbers is rows and columns for each item.
func table(o Output) bool {
	d := o.Value.Dims
	return o.Value.Type.IsFloat() && (len(d) == 3 || len(d) == 2) && d[len(d)-1] > 0 && d[len(d)-2] > 0
}

// centred returns the box of a centre and a size.
func centred(x, y, w, h float32) Box {
	cx, cy, dx, dy := float64(x), float64(y), float64(w)/2, float64(h)/2
	return Box{X0: cx - dx, Y0: cy - dy, X1: cx + dx, Y1: cy + dy}
}

// yolo returns the form of YOLO's heads: with a score of whether there is an object at all, by which those of classes are multiplied,
// rows are boxes; without, columns are.
func yolo(object bool) func([]Output) (decoder, error) {
	return func(outputs []Output) (decoder, error) {
		at, fits := only(outputs)
		if at >= 0 {
			rows, columns := outputs[at].Value.Dims[1], outputs[at].Value.Dims[2]
			fits = object && columns > 5 && columns < rows || !object && rows > 4 && rows < columns
		}
		if !fits {
			if object {
				return nil, fmt.Errorf("want one output [batch, boxes, 5 + classes], have %s", described(outputs))
			}
			return nil, fmt.Errorf("want one output [batch, 4 + classes, boxes], have %s", described(outputs))
		}
		return func(outputs []Output, item int, _, _ float64) (found []Found) {
			m := itemOf(outputs[at], item)
			boxes, values := m.rows, m.columns
			value := func(b, k int) float32 { return m.data[b*m.columns+k] }
			first := 5
			if !object {
				boxes, values, first = m.columns, m.rows, 4
				value = func(b, k int) float32 { return m.data[k*m.columns+b] }
			}
			for b := range boxes {
				box := centred(value(b, 0), value(b, 1), value(b, 2), value(b, 3))
				for k := first; k < values; k++ {
					score := float64(value(b, k))
					if object {
						score *= float64(value(b, 4))
					}
					if score > leastScore {
						found = append(found, classed(box, k-first, score))
					}
				}
			}
			return suppressed(counted(found))
		}, nil
	}
}

// only returns the place of the only output that is rows and columns for each item of a batch; -1 where there are none or several.
func only(outputs []Output) (at int, ok bool) {
	at = -1
	for i, o := range outputs {
		if !table(o) || len(o.Value.Dims) != 3 {
			continue
		}
		if ok {
			return -1, false
		}
		at, ok = i, true
	}
	return at, ok
}

func classed(b Box, class int, score float64) Found {
	b.Class, b.Category = class, class
	return Found{b, score}
}

// endToEnd is the form of networks that suppress by themselves.
func endToEnd(outputs []Output) (decoder, error) {
	at := slices.IndexFunc(outputs, func(o Output) bool { return table(o) && o.Value.Dims[len(o.Value.Dims)-1] == 6 })
	if at < 0 {
		return nil, fmt.Errorf("want an output [batch, boxes, 6], have %s", described(outputs))
	}
	return func(outputs []Output, item int, _, _ float64) (found []Found) {
		m := itemOf(outputs[at], item)
		for r := range m.rows {
			v := m.row(r)
			found = append(found, classed(corners(v, 1, 1), int(v[5]), float64(v[4])))
		}
		return best(counted(found))
	}, nil
}

// best returns boxes in the order of their scores.
func best(found []Found) []Found {
	slices.SortStableFunc(found, func(a, b Found) int { return cmp.Compare(b.Score, a.Score) })
	return found[:min(len(found), mostStaying)]
}

func corners(v []float32, width, height float64) Box {
	return Box{X0: float64(v[0]) * width, Y0: float64(v[1]) * height, X1: float64(v[2]) * width, Y1: float64(v[3]) * height}
}
