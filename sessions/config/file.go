package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/internal/host"
)

// Version is the version of configuration files. It grows when a field changes its name or its meaning or goes away.
const Version = 1

// File is a configuration that a person saved or wrote, to build with it again: a JSON object. A field that is
// missing leaves its choice to who reads the file; an empty list or object says that there is none.
//
//	{
//	  "version": 1,
//	  "precision": "int8",
//	  "calibrator": "percentile:99.9",
//	  "layer_precisions": ["*head*:fp32"],
//	  "tactics": {"conv1": "conv_i8_avx512vnni_direct"},
//	  "forbid_tactics": {"*": ["eval"]}
//	}
type File struct {
	path   string
	fields fields
}

// fields are the fields of a configuration file, nil where the file does not have them. Tactics are by engine layer,
// "*" forbids one in every layer.
type fields struct {
	Version         *int                  `json:"version"`
	Precision       *Precision            `json:"precision"`
	Calibrator      *string               `json:"calibrator"`
	Activations     *string               `json:"activations"`
	WeightScales    *string               `json:"weight_scales"`
	WeightRanges    *string               `json:"weight_ranges"`
	Keep            []string              `json:"keep"`
	Ranges          map[string][]float64  `json:"ranges"`
	BiasCorrection  *quant.BiasCorrection `json:"bias_correction"`
	Equalization    *string               `json:"equalization"`
	Rounding        *string               `json:"rounding"`
	Weights         *string               `json:"weights"`
	Batch           *int                  `json:"batch"`
	Shapes          map[string][]int      `json:"shapes"`
	MinShapes       map[string][]int      `json:"min_shapes"`
	MaxShapes       map[string][]int      `json:"max_shapes"`
	Profiles        []Profile             `json:"profiles"`
	State           map[string]string     `json:"state"`
	RuleFiles       []string              `json:"rule_files"`
	Disable         []string              `json:"disable"`
	Until           *int                  `json:"passes_until"`
	LayerPrecisions []string              `json:"layer_precisions"`
	Constraints     *Constraints          `json:"precision_constraints"`
	Tactics         map[string]string     `json:"tactics"`
	ForbidTactics   map[string][]string   `json:"forbid_tactics"`
}

// anyLayer is the name under which a file forbids tactics in every layer; a Config has "" for it.
const anyLayer = "*"

// maxBytes bounds a configuration file.
const maxBytes = 16 << 20

// ReadFile reads a configuration file. An error names the file and what is wrong in it; which layers, tactics and
// rules a model has is checked when it is built. own are as for [Config.Check].
func ReadFile(path string, own ...quant.Method) (*File, error) {
	data, err := host.ReadUpTo(path, maxBytes)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	c := &File{path: path}
	if err := c.parse(data, own); err != nil {
		return nil, fmt.Errorf("configuration %s: %w", path, err)
	}
	return c, nil
}

func (f *File) parse(data []byte, own quant.Methods) error {
	var names map[string]json.RawMessage
	if err := json.Unmarshal(data, &names); err != nil {
		return fmt.Errorf("%w: want a JSON object, as a saved configuration is", at(data, err))
	}
	if names == nil {
		return errors.New("the file has null: want a JSON object, as a saved configuration is")
	}
	known := fieldNames(reflect.TypeFor[fields]())
	var unknown []string
	for name := range names {
		if !slices.Contains(known, name) {
			unknown = append(unknown, fmt.Sprintf("unknown field %s%s", Quoted(name), DidYouMean(name, known)))
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return errors.New(strings.Join(unknown, "; "))
	}
	if err := json.Unmarshal(data, &f.fields); err != nil {
		return at(data, err)
	}
	strict := json.NewDecoder(bytes.NewReader(names["profiles"]))
	strict.DisallowUnknownFields()
	if err := strict.Decode(new([]Profile)); err != nil && err != io.EOF {
		return fmt.Errorf("profiles: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if v := f.fields.Version; v != nil && *v != Version {
		return fmt.Errorf("version %d is not known: this program reads %d", *v, Version)
	}
	return f.Over(Default()).Check(own...)
}

// fieldNames returns the names of a struct's fields in JSON.
func fieldNames(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		names = append(names, t.Field(i).Tag.Get("json"))
	}
	return names
}

// at says in which line of data a JSON error is.
func at(data []byte, err error) error {
	offset := int64(-1)
	if e := (*json.SyntaxError)(nil); errors.As(err, &e) {
		offset = e.Offset
	}
	if e := (*json.UnmarshalTypeError)(nil); errors.As(err, &e) {
		offset = e.Offset
		what := fmt.Sprintf("field %q", e.Field)
		if e.Field == "" {
			what = "the file"
		}
		err = fmt.Errorf("%s cannot be a JSON %s", what, e.Value)
	}
	if offset < 0 || offset > int64(len(data)) {
		return err
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:offset], []byte("\n")), err)
}

// Has reports whether the file has a field, by its name in it.
func (f *File) Has(name string) bool {
	v := reflect.ValueOf(f.fields)
	i := slices.Index(fieldNames(v.Type()), name)
	return i >= 0 && !v.Field(i).IsNil()
}

// Over returns base with what the file says in place of what base says. Tactics of base are for its precision: they are
// dropped where the file has another one.
func (f *File) Over(base Config) Config {
	c, s := base, f.fields
	set(&c.Precision, s.Precision)
	if c.Precision != base.Precision {
		c.Pin, c.Forbid = nil, nil
	}
	set(&c.Calibrator, s.Calibrator)
	s.quantization(&c.Quantization)
	set(&c.Weights, s.Weights)
	set(&c.Batch, s.Batch)
	set(&c.Until, s.Until)
	if s.Constraints != nil {
		if c.Constraints = *s.Constraints; c.Constraints == Prefer {
			c.Constraints = "" // as the zero Config says it
		}
	}
	if s.Shapes != nil {
		c.Shapes = filled(s.Shapes)
	}
	if s.MinShapes != nil {
		c.MinShapes = filled(s.MinShapes)
	}
	if s.MaxShapes != nil {
		c.MaxShapes = filled(s.MaxShapes)
	}
	if s.Profiles != nil {
		c.Profiles = someShapes(s.Profiles, func(dims []int) []int { return dims })
	}
	if s.State != nil {
		c.State = filled(s.State)
	}
	if s.RuleFiles != nil {
		c.RuleFiles = slices.Clip(append([]string(nil), s.RuleFiles...))
	}
	if s.Disable != nil {
		c.Disable = slices.Clip(append([]string(nil), s.Disable...))
	}
	if s.LayerPrecisions != nil {
		c.LayerPrecisions = slices.Clip(append([]string(nil), s.LayerPrecisions...))
	}
	if s.Tactics != nil {
		c.Pin = filled(s.Tactics)
	}
	if s.ForbidTactics != nil {
		c.Forbid = map[string][]string{}
		for layer, tactics := range s.ForbidTactics {
			if layer == anyLayer {
				layer = ""
			}
			c.Forbid[layer] = tactics
		}
		c.Forbid = filled(c.Forbid)
	}
	return c
}

// quantization sets what the fields say of quantisation.
func (s *fields) quantization(q *Quantization) {
	set(&q.Activations, s.Activations)
	set(&q.WeightScales, s.WeightScales)
	set(&q.WeightRanges, s.WeightRanges)
	set(&q.BiasCorrection, s.BiasCorrection)
	set(&q.Equalization, s.Equalization)
	set(&q.Rounding, s.Rounding)
	if s.Keep != nil {
		q.Keep = slices.Clip(append([]string(nil), s.Keep...))
	}
	if s.Ranges != nil {
		q.Ranges = filled(s.Ranges)
	}
	*q = q.Effective()
}

// set stores what v points to, if it points to something.
func set[T any](to *T, v *T) {
	if v != nil {
		*to = *v
	}
}

// filled makes an empty map nil, as configurations have them.
func filled[V any](m map[string]V) map[string]V {
	if len(m) == 0 {
		return nil
	}
	return m
}

// Marshal returns a configuration as the text of a file, which has every field, so that it means the same whatever
// it is read over.
func Marshal(c Config) ([]byte, error) {
	version := Version
	if c.Constraints == "" {
		c.Constraints = Prefer
	}
	q := c.Quantization.Full()
	s := fields{
		Activations: &q.Activations, WeightScales: &q.WeightScales, WeightRanges: &q.WeightRanges, BiasCorrection: &q.BiasCorrection, Equalization: &q.Equalization, Rounding: &q.Rounding, Weights: &c.Weights,
		Keep: append([]string{}, q.Keep...), Ranges: q.Ranges,
		Version: &version, Precision: &c.Precision, Calibrator: &c.Calibrator, Batch: &c.Batch, Shapes: c.Shapes, MinShapes: c.MinShapes, MaxShapes: c.MaxShapes, Profiles: append([]Profile{}, c.Profiles...),
		State: c.State, RuleFiles: append([]string{}, c.RuleFiles...), Disable: c.Disable,
		Until: &c.Until, LayerPrecisions: c.LayerPrecisions, Constraints: &c.Constraints, Tactics: c.Pin, ForbidTactics: map[string][]string{},
	}
	for layer, tactics := range c.Forbid {
		if layer == "" {
			layer = anyLayer
		}
		s.ForbidTactics[layer] = tactics
	}
	for _, shapes := range []*map[string][]int{&s.Shapes, &s.MinShapes, &s.MaxShapes} {
		if *shapes == nil {
			*shapes = map[string][]int{}
		}
	}
	if s.Ranges == nil {
		s.Ranges = map[string][]float64{}
	}
	for _, m := range []*map[string]string{&s.Tactics, &s.State} {
		if *m == nil {
			*m = map[string]string{}
		}
	}
	s.Disable = append([]string{}, s.Disable...)
	s.LayerPrecisions = append([]string{}, s.LayerPrecisions...)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(s)
	return b.Bytes(), err
}

// Check returns an error for what no model can be built with, by the names that files and flags have for it; own are the
// program's calibrators beside those that there are.
func (c Config) Check(own ...quant.Method) error {
	switch c.Precision {
	case FP32, FP16, INT8:
	default:
		return fmt.Errorf("precision %q: want fp32, fp16 or int8", c.Precision)
	}
	if _, err := append(quant.Calibrators(), own...).Parse(c.Calibrator, quant.Scheme{}); err != nil {
		return fmt.Errorf("calibrator: %w", err)
	}
	if err := c.Quantization.Check(); err != nil {
		return err
	}
	if _, err := quant.ParseFewBits(c.Weights); err != nil {
		return err
	}
	if c.Batch < 1 || c.Batch > MaxBatch {
		return fmt.Errorf("batch %d: want 1 to %d", c.Batch, MaxBatch)
	}
	if err := checkShapes(c); err != nil {
		return err
	}
	if last := lastPass(); c.Until < 0 || c.Until > last {
		return fmt.Errorf("passes_until %d: want 1 to %d, or 0 for all passes", c.Until, last)
	}
	if _, err := c.Rules(); err != nil {
		return fmt.Errorf("layer_precisions: %w", err)
	}
	switch c.Constraints {
	case "", Prefer, Obey, Ignore:
		return nil
	}
	return fmt.Errorf("precision_constraints %q: want prefer, obey or none", c.Constraints)
}

// checkShapes returns an error for shapes that no input can have, and for too many profiles.
func checkShapes(c Config) error {
	if len(c.Profiles) >= MaxProfiles {
		return fmt.Errorf("profiles: %d beside the first: want fewer than %d", len(c.Profiles), MaxProfiles)
	}
	check := func(what string, p Profile) error {
		for _, part := range p.parts() {
			for _, input := range slices.Sorted(maps.Keys(*part.of)) {
				if dims := (*part.of)[input]; len(dims) > 0 && (slices.Min(dims) < -1 || slices.Max(dims) > MaxExtent) {
					return fmt.Errorf("%s%s: %s %v: want extents of 0 to %d", what, part.name, input, dims, MaxExtent)
				}
			}
		}
		return nil
	}
	if err := check("", Profile{c.Shapes, c.MinShapes, c.MaxShapes}); err != nil {
		return err
	}
	for i, p := range c.Profiles {
		if err := check(fmt.Sprintf("profiles: %d: ", i+1), p); err != nil {
			return err
		}
	}
	return nil
}

// Bounds of what can be meant.
const (
	MaxBatch  = 1 << 16
	MaxExtent = 1 << 24 // of an axis
)

// Saver writes the configurations of one session to one file of its own. Its methods may be called by several
// goroutines.
type Saver struct {
	folder, name string

	mu   sync.Mutex
	path string // written by this saver; empty: nothing yet
}

// NewSaver returns a saver that writes to a new file in folder, named after a model's.
func NewSaver(folder, model string) *Saver {
	base := filepath.Base(model)
	return &Saver{folder: folder, name: strings.TrimSuffix(base, filepath.Ext(base))}
}

// Save writes a configuration and returns the file's path: MODEL.config.json, or with a number where that is someone
// else's. What it wrote itself it writes anew.
func (s *Saver) Save(c Config) (string, error) {
	data, err := Marshal(c)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.path != "" {
		_, err := host.WriteFile(s.path, host.Bytes(data))
		return s.path, err
	}
	const most = 1000
	for n := 1; n <= most; n++ {
		number := ""
		if n > 1 {
			number = "-" + strconv.Itoa(n)
		}
		path := filepath.Join(s.folder, s.name+".config"+number+".json")
		_, err := host.CreateFile(path, host.Bytes(data))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		s.path = path
		return path, nil
	}
	return "", fmt.Errorf("%s has %d configurations of %s already", s.folder, most, s.name)
}
