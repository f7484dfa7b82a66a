package cmd

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions/dataset"
)

// savedValues are tensors of batches by name, one behind the other along the first axis.
type savedValues map[string]numeric.Value

// add takes the tensors of a batch.
func (s savedValues) add(what string, batch map[string]numeric.Value) error {
	for name, v := range batch {
		all, ok := s[name]
		if !ok {
			s[name] = numeric.Value{Type: v.Type, Dims: slices.Clone(v.Dims), Data: slices.Clone(v.Data)}
			continue
		}
		if len(v.Dims) == 0 || !slices.Equal(v.Dims[1:], all.Dims[1:]) {
			return fmt.Errorf("%s %s cannot be saved for several items: they do not lie along its first axis; give --items 0-0, or save a .json", what, name)
		}
		all.Dims[0] += v.Dims[0]
		all.Data = append(all.Data, v.Data...)
		s[name] = all
	}
	return nil
}

// saving keeps what runs take or make for a file: an archive of numpy arrays, which has those of the first run, or the JSON of
// Polygraphy, which has each batch of each run as an iteration.
type saving struct {
	path    string
	what    string // "output"
	results []dataset.Results
	all     savedValues
}

// newSaving returns what saves to a file for runs of these names; nil where there is no file.
func newSaving(path, what string, names ...string) *saving {
	if path == "" {
		return nil
	}
	s := &saving{path: path, what: what}
	for _, name := range names {
		s.results = append(s.results, dataset.Results{Runner: name})
	}
	return s
}

func (s *saving) json() bool { return filepath.Ext(s.path) == ".json" }

// add takes what a run has of the batch that begins with item first; with item 0 all begins anew.
func (s *saving) add(run, first int, batch map[string]numeric.Value) error {
	if s == nil || run > 0 && !s.json() {
		return nil
	}
	if !s.json() {
		if first == 0 {
			s.all = savedValues{}
		}
		return s.all.add(s.what, batch)
	}
	r := &s.results[run]
	if first == 0 {
		r.Iterations = nil
	}
	own := make(map[string]numeric.Value, len(batch))
	for name, v := range batch {
		own[name] = numeric.Value{Type: v.Type, Dims: slices.Clone(v.Dims), Data: slices.Clone(v.Data)}
	}
	r.Iterations = append(r.Iterations, own)
	return nil
}

// write writes the file.
func (s *saving) write() error {
	if s == nil {
		return nil
	}
	_, err := host.WriteFile(s.path, func(w io.Writer) error {
		switch {
		case !s.json():
			return dataset.WriteNpz(w, s.all)
		case s.what == "input":
			return dataset.WriteFeeds(w, s.results[0].Iterations)
		}
		return dataset.WriteResults(w, s.results)
	})
	return err
}
