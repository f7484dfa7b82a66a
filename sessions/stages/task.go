package stages

import (
	"fmt"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/detection"
	"github.com/trtui/trtui/sessions/report"
)

// Task is what a model is for, by which its accuracy is measured. The zero value is what data and outputs say: boxes where the data
// has them, a text, or classes.
type Task struct {
	Kind string // one of the report's tasks; empty: as above
	Form string // of boxes; empty: the only one that outputs fit
}

// ParseTask reads "auto", "classes", "outputs", "detection" or "detection:yolov8", a form of boxes.
func ParseTask(text string) (Task, error) {
	kind, form, given := strings.Cut(text, ":")
	switch {
	case text == "auto":
		return Task{}, nil
	case text == report.TaskClasses, text == report.TaskOutputs:
		return Task{Kind: text}, nil
	case kind == report.TaskDetection && (!given || form != ""):
		return Task{kind, form}, detection.Check(form)
	}
	return Task{}, fmt.Errorf("task %q: want auto, classes, detection[:FORM] or outputs", text)
}

// of returns the task on some data, of which the score counts rows.
func (t Task) of(d dataset.Data) Task {
	if _, boxes := dataset.TruthOf(d, 0); boxes && t.Kind == "" {
		t.Kind = report.TaskDetection
	}
	return t
}

// sureScore is from which score on a box of FP32 stands for one that is there, where nobody says what is.
const sureScore = 0.25

// detecting counts the boxes that FP32 and an engine find.
type detecting struct {
	task          Task
	network       *graph.Network
	data          dataset.Data
	form          *detection.Form
	ref, got      detection.Precision
	height, width int // of images, where the data has no boxes
	none          bool
}

// add takes what both found in an item, place k of a batch.
func (t *detecting) add(item, k int, ref, got map[string]numeric.Value) error {
	want, have := t.outputs(ref), t.outputs(got)
	if t.form == nil {
		form, err := detection.FormOf(t.task.Form, want)
		if err != nil {
			return fmt.Errorf("task detection: %w", err)
		}
		t.form = form
	}
	truth, ok := dataset.TruthOf(t.data, item)
	if !ok {
		t.none = true
		if err := t.measure(item); err != nil {
			return err
		}
		truth.Height, truth.Width = t.height, t.width
	}
	inRef, err := t.form.Find(want, k, truth.Height, truth.Width)
	if err != nil {
		return err
	}
	inGot, err := t.form.Find(have, k, truth.Height, truth.Width)
	if err != nil {
		return err
	}
	if t.none {
		for _, f := range inRef {
			if f.Score >= sureScore {
				truth.Boxes = append(truth.Boxes, f.Box)
			}
		}
	} else if t.form.Categories {
		truth.Boxes = byCategory(truth.Boxes)
	}
	t.ref.Add(truth.Boxes, inRef)
	t.got.Add(truth.Boxes, inGot)
	return nil
}

// byCategory numbers classes as the file of labels does.
func byCategory(boxes []detection.Box) []detection.Box {
	list := make([]detection.Box, len(boxes))
	for i, b := range boxes {
		b.Class = b.Category
		list[i] = b
	}
	return list
}

// outputs returns the network's, in its order.
func (t *detecting) outputs(values map[string]numeric.Value) (list []detection.Output) {
	for _, o := range t.network.Outputs {
		if v, ok := values[o.Name]; ok {
			list = append(list, detection.Output{Name: o.Name, Value: v})
		}
	}
	return list
}

// measure finds the size of the images in an input that is one: [1, channels, height, width] or channels last.
func (t *detecting) measure(item int) error {
	inputs, err := t.data.Inputs(item)
	if err != nil {
		return err
	}
	for _, in := range t.network.Inputs {
		if d := inputs[in.Name].Dims; len(d) == 4 {
			t.height, t.width = d[2], d[3]
			if d[1] > 4 && d[3] <= 4 {
				t.height, t.width = d[1], d[2]
			}
			return nil
		}
	}
	return fmt.Errorf("task detection: no input of the network is images")
}

// result is what came of all items; nil where nothing was there to be found.
func (t *detecting) result() *report.Detection {
	got, ok := t.got.Result()
	ref, _ := t.ref.Result()
	if !ok {
		return nil
	}
	d := &report.Detection{Form: t.form.Name, MAP: got.Mean, MAP50: got.At50, MAP75: got.At75, FP32MAP: ref.Mean, FP32MAP50: ref.At50,
		Boxes: got.Boxes, Classes: got.Classes, Images: t.got.Images(), AgainstFP32Boxes: t.none}
	if r := (report.Resamples{MAP: resampledMAP(&t.got), FP32: resampledMAP(&t.ref)}); len(r.MAP) > 0 {
		d.Resamples, d.MAPWithin = &r, report.Middle(r.MAP)
		d.BesideFP32 = d.CompareFP32()
	}
	return d
}

// resampledMAP returns the mean average precision on images that are drawn; none where there are too few.
func resampledMAP(p *detection.Precision) []float64 {
	times := make([]int, p.Images())
	return resampled(len(times), func(images []int) float64 {
		clear(times)
		for _, i := range images {
			times[i]++
		}
		r, _ := p.Of(times) // no boxes at all are none found
		return r.Mean
	})
}
