package stages

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/report"
)

// SearchState is what a search has found, in memory or in a file as well: a search that is given it does none of that again. It is
// for one model, one device, the same data and one configuration to begin from.
type SearchState struct {
	path  string // of the file; empty: none
	saved time.Time
	err   error // why the file could not be written
	kept  searchFile
}

// searchFile is the form of the file.
type searchFile struct {
	Version int                           `json:"version"`
	Of      string                        `json:"of"` // what it is about
	Noise   map[string]float64            `json:"noise"`
	Costs   map[string]storedCost         `json:"costs"`
	Points  map[string]report.SearchPoint `json:"points"`
}

type storedCost struct {
	Time           time.Duration
	Weights, Arena int
}

const (
	searchVersion  = 2
	maxSearchBytes = 256 << 20
	searchInterval = 5 * time.Second // between writes of the file
)

// OpenSearchState returns the state in a file, an empty one where there is no such file yet.
func OpenSearchState(path string) (*SearchState, error) {
	s := &SearchState{path: path}
	data, err := host.ReadUpTo(path, maxSearchBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("search state: %w", err)
	}
	err = json.Unmarshal(data, &s.kept)
	if err == nil && s.kept.Version != searchVersion {
		err = fmt.Errorf("its version is %d, not %d", s.kept.Version, searchVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("search state %s: %w; name another file, or delete it", path, err)
	}
	return s, nil
}

// begin checks that a state is of what is to be searched, and that it can be kept: a search may take hours.
func (s *SearchState) begin(t *studies, cfg config.Config) error {
	name := func(d dataset.Data) string {
		if d == nil {
			return ""
		}
		return fmt.Sprintf("%s, %d items", d.Name(), d.Len())
	}
	of := key(t.model.SHA256, t.precisions.backend.Info().Fingerprint, name(t.data), name(t.calibration.Data), cfg)
	if s.kept.Of != "" && s.kept.Of != of {
		return fmt.Errorf("search state %s: it is of another model, device, data or configuration; name another file, or delete it", s.path)
	}
	s.kept.Version, s.kept.Of = searchVersion, of
	if s.kept.Noise == nil {
		s.kept.Noise = map[string]float64{}
	}
	if s.kept.Costs == nil {
		s.kept.Costs = map[string]storedCost{}
	}
	if s.kept.Points == nil {
		s.kept.Points = map[string]report.SearchPoint{}
	}
	s.flush()
	return s.Err()
}

func (s *SearchState) noise(id string) (float64, bool) {
	v, ok := s.kept.Noise[id]
	return v, ok
}

func (s *SearchState) setNoise(id string, v float64) {
	s.kept.Noise[id] = v
	s.save()
}

func (s *SearchState) cost(id string) (cost, bool) {
	c, ok := s.kept.Costs[id]
	return cost{c.Time, c.Weights, c.Arena}, ok
}

func (s *SearchState) setCost(id string, c cost) {
	s.kept.Costs[id] = storedCost{c.time, c.weights, c.arena}
	s.save()
}

func (s *SearchState) point(id string) (report.SearchPoint, bool) {
	p, ok := s.kept.Points[id]
	return p, ok
}

func (s *SearchState) add(id string, p report.SearchPoint) {
	s.kept.Points[id] = p
	s.flush()
}

// save writes the file if that was not done just now.
func (s *SearchState) save() {
	if time.Since(s.saved) >= searchInterval {
		s.flush()
	}
}

// flush writes the file.
func (s *SearchState) flush() {
	if s.path == "" {
		return
	}
	_, s.err = host.WriteFile(s.path, func(w io.Writer) error { return json.NewEncoder(w).Encode(&s.kept) })
	s.saved = time.Now()
}

// Err returns why the file could not be written the last time; nil where it was.
func (s *SearchState) Err() error {
	if s.err == nil {
		return nil
	}
	return fmt.Errorf("search state: %w", s.err)
}
