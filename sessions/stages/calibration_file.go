package stages

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/model"
)

// CalibrationFile is what calibration found, as JSON: ranges that a person may edit, and the histograms and means from which
// other calibrators find theirs without data. A file written by hand needs no more than names and ranges.
type CalibrationFile struct {
	Version     int             `json:"version"`
	Model       string          `json:"model,omitempty"`
	Data        string          `json:"data,omitempty"` // that it was found on
	Items       int             `json:"items,omitempty"`
	Random      bool            `json:"random_data,omitempty"`
	Calibrator  string          `json:"calibrator,omitempty"` // that found the ranges
	Activations string          `json:"activations,omitempty"`
	Tensors     []CalibrationOf `json:"tensors"`
	path        string
	notes       []string // what is doubtful about it
	foreign     bool     // another tool's, which names tensors that the model need not have
}

// CalibrationOf is what was found of one tensor.
type CalibrationOf struct {
	Name      string           `json:"name"`
	Range     []float64        `json:"range,omitempty"` // least and largest value that integers stand for
	Histogram *quant.Histogram `json:"histogram,omitempty"`
	Axis      int              `json:"channel_axis,omitempty"`
	Means     []float64        `json:"channel_means,omitempty"`
}

const (
	CalibrationVersion  = 1
	maxCalibrationBytes = 1 << 30
)

// Write writes the file, whole or not at all, and returns its size.
func (f *CalibrationFile) Write(path string) (int64, error) {
	return host.WriteFile(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(f)
	})
}

// ReadCalibration reads a file of calibration, or a calibration cache of TensorRT. An error names the file and what is wrong in it.
func ReadCalibration(path string) (*CalibrationFile, error) {
	data, err := host.ReadUpTo(path, maxCalibrationBytes)
	if err != nil {
		return nil, fmt.Errorf("calibration: %w", err)
	}
	f := &CalibrationFile{path: path}
	if exchange.IsCalibrationCache(data) {
		err = f.readCache(data)
	} else if err = json.Unmarshal(data, f); errors.As(err, new(*json.SyntaxError)) && !exchange.IsJSON(data) {
		err = errors.New("it is neither a file of calibration nor a calibration cache of TensorRT")
	}
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return nil, fmt.Errorf("calibration %s: %w", path, err)
	}
	return f, nil
}

// readCache takes the ranges of a calibration cache of TensorRT.
func (f *CalibrationFile) readCache(data []byte) error {
	c, err := exchange.ParseCalibrationCache(data)
	if err != nil {
		return err
	}
	f.Version, f.Calibrator, f.foreign = CalibrationVersion, c.Algorithm(), true
	for _, s := range c.Scales {
		if s.Scale > 0 {
			amax := 127 * float64(s.Scale)
			f.Tensors = append(f.Tensors, CalibrationOf{Name: s.Tensor, Range: []float64{-amax, amax}})
		}
	}
	for _, d := range c.Doubts() {
		f.notes = append(f.notes, f.path+": "+d)
	}
	return nil
}

// Fit leaves out of another tool's file the tensors that a model does not have, since those name some of their own. None that it has
// is an error.
func (f *CalibrationFile) Fit(m *model.Model) error {
	if !f.foreign || m.Network == nil {
		return nil
	}
	var fit []CalibrationOf
	var first string
	for _, t := range f.Tensors {
		if m.Network.Tensor(t.Name) != nil {
			fit = append(fit, t)
		} else if first == "" {
			first = t.Name
		}
	}
	if len(fit) == 0 {
		return fmt.Errorf("calibration %s: %s has none of its tensors, such as %s", f.path, m.Name(), config.Quoted(first))
	}
	if out := len(f.Tensors) - len(fit); out > 0 {
		f.notes = append(f.notes, fmt.Sprintf("%s: %s left out that %s does not have, such as %s", f.path, config.CountOf(out, "tensor", "tensors"),
			m.Name(), config.Quoted(first)))
	}
	f.Tensors = fit
	return nil
}

// Symmetric reports whether the ranges are meant for activations that are quantised symmetrically, as TensorRT's are.
func (f *CalibrationFile) Symmetric() bool { return f.foreign }

// Notes says what is doubtful about the file.
func (f *CalibrationFile) Notes() []string { return f.notes }

func (f *CalibrationFile) check() error {
	if f.Version != CalibrationVersion {
		return fmt.Errorf("version %d is not known: this program reads %d", f.Version, CalibrationVersion)
	}
	if len(f.Tensors) == 0 {
		return errors.New("it has no tensors")
	}
	seen := map[string]bool{}
	for _, t := range f.Tensors {
		switch {
		case t.Name == "" || seen[t.Name]:
			return fmt.Errorf("tensor %s stands twice, or has no name", config.Quoted(t.Name))
		case t.Range == nil && t.Histogram == nil:
			return fmt.Errorf("tensor %s has neither range nor histogram", config.Quoted(t.Name))
		case t.Axis < 0:
			return fmt.Errorf("tensor %s: channel axis %d", config.Quoted(t.Name), t.Axis)
		case t.Range != nil:
			if err := config.CheckRange(t.Range); err != nil {
				return fmt.Errorf("tensor %s: %w", config.Quoted(t.Name), err)
			}
		}
		seen[t.Name] = true
	}
	return nil
}

// Ranges returns the ranges by tensor.
func (f *CalibrationFile) Ranges() map[string][]float64 {
	list := map[string][]float64{}
	for _, t := range f.Tensors {
		if t.Range != nil {
			list[t.Name] = slices.Clone(t.Range)
		}
	}
	return list
}

// HasHistograms reports whether calibrators can find ranges by it.
func (f *CalibrationFile) HasHistograms() bool {
	return slices.ContainsFunc(f.Tensors, func(t CalibrationOf) bool { return t.Histogram != nil })
}

// collected is data of which no more is left than what was found on it.
type collected struct{ *CalibrationFile }

// CollectedData returns the file as data to calibrate on: of no items, but with histograms.
func (f *CalibrationFile) CollectedData() dataset.Data { return collected{f} }

func (c collected) Len() int { return 0 }

func (c collected) Inputs(int) (map[string]numeric.Value, error) {
	return nil, fmt.Errorf("calibration %s has no items", c.path)
}

func (c collected) Labels(int) []int { return nil }

func (c collected) Name() string { return fmt.Sprintf("%s, as %s says", c.Data, c.path) }

func (c collected) Random() bool { return c.CalibrationFile.Random }

// found returns the histograms and means.
func (c collected) found() *build.Collected {
	all := &build.Collected{Histograms: map[string]*quant.Histogram{}, Means: map[string]*quant.Means{}}
	for _, t := range c.Tensors {
		if t.Histogram != nil {
			all.Histograms[t.Name] = t.Histogram
		}
		if t.Means != nil {
			all.Means[t.Name] = quant.MeansOf(quant.ChannelMeans{Axis: t.Axis, Mean: t.Means})
		}
	}
	return all
}
