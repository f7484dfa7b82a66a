package torture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/trtui/trtui/internal/host"
)

// State is how far a run is: it goes on from there.
type State struct {
	Seed  uint64
	Hunts map[string]*Progress

	dir string
}

// Progress is how far one hunt is.
type Progress struct {
	Next  uint64 // the first number that was not tried
	Tried int
	Spent time.Duration // of all its workers together
	Count map[string]int
	Found map[string]int // findings by folder
}

// OpenState reads the state that a folder holds; where there is none it begins with a seed.
func OpenState(dir string, seed uint64) (*State, error) {
	s := &State{Seed: seed, Hunts: map[string]*Progress{}, dir: dir}
	data, err := os.ReadFile(filepath.Join(dir, "state.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return s, os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = json.Unmarshal(data, s)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; remove it to begin anew", filepath.Join(dir, "state.json"), err)
	}
	if seed != 0 && seed != s.Seed {
		return nil, fmt.Errorf("%s is of seed %d, not %d; name another folder, or remove it to begin anew", dir, s.Seed, seed)
	}
	return s, nil
}

// of returns a hunt's progress.
func (s *State) of(hunt string) *Progress {
	p := s.Hunts[hunt]
	if p == nil {
		p = &Progress{}
		s.Hunts[hunt] = p
	}
	if p.Count == nil {
		p.Count = map[string]int{}
	}
	if p.Found == nil {
		p.Found = map[string]int{}
	}
	return p
}

func (s *State) save() error {
	data, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		return err
	}
	_, err = host.WriteFile(filepath.Join(s.dir, "state.json"), host.Bytes(data))
	return err
}

// seedOf returns the seed of a hunt's try: hunts of one run, and runs of different seeds, have nothing in common.
func (s *State) seedOf(number uint64) uint64 { return s.Seed<<32 + number }

// enough is how many findings of a kind are kept.
const enough = 3

// keep writes a finding to its folder, unless there are enough of its kind.
func (s *State) keep(hunt string, number uint64, f Finding) (dir string, isNew bool, err error) {
	p := s.of(hunt)
	folder := f.Folder()
	p.Found[folder]++
	n := p.Found[folder]
	dir = filepath.Join(s.dir, "found", hunt, folder, fmt.Sprint(n))
	if n > enough {
		return dir, false, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return dir, false, err
	}
	text := fmt.Sprintf("%s\n\n%s\n\nshown by: %s\nfound by: go run ./scripts/torture --hunts %s --seed %d --only %d\n", f.Kind, f.Text, f.Command, hunt, s.Seed, number)
	if err := os.WriteFile(filepath.Join(dir, "finding.txt"), []byte(text), 0o644); err != nil {
		return dir, false, err
	}
	for _, name := range slices.Sorted(maps.Keys(f.Files)) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return dir, false, err
		}
		if err := os.WriteFile(file, f.Files[name], 0o644); err != nil {
			return dir, false, err
		}
	}
	return dir, n == 1, nil
}
