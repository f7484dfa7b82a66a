package views

import (
	"sync"

	"github.com/trtui/trtui/sessions/config"
)

// saves is what was written to files of configurations from this workbench.
type saves struct {
	mu   sync.Mutex
	last map[string]string // by path: the label of the configuration that is there now
}

// write saves a configuration and returns the file's path and what was done: "fp32 saved, overwriting int8/mse".
func (s *saves) write(save func(config.Config) (string, error), cfg config.Config, label string) (path, what string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if path, err = save(cfg); err != nil {
		return "", "", err
	}
	what = label + " saved"
	switch was, again := s.last[path]; {
	case again && was == label:
		what = label + " saved again, overwritten"
	case again:
		what += ", overwriting " + was
	}
	if s.last == nil {
		s.last = map[string]string{}
	}
	s.last[path] = label
	return path, what, nil
}
