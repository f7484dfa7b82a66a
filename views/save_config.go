package views

import (
	"cmp"
	"path/filepath"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/ui"
)

// saves is what was written to files of configurations from this workbench.
type saves struct {
	mu   sync.Mutex
	last map[string]string // by path: the label of the configuration that is there now
}

// saveConfig writes the configuration that is asked for to a file and says, also in the log, where that is and what it
// takes the place of.
func (w *workbench) saveConfig() tea.Cmd {
	cfg, label := w.config.want.Clone(), w.config.want.Label(ownRanges(w.snap))
	return func() tea.Msg {
		path, what, err := w.saves.write(w.o.SaveConfig, cfg, label)
		if err != nil {
			return ui.StatusMsg{Text: "save the configuration: " + err.Error(), Style: ui.Bad}
		}
		w.ctl.Note(what + ": " + path)
		return ui.StatusMsg{Text: what + ": " + cmp.Or(w.o.hint(ConfigSaved{path}), path), Style: ui.Good,
			Shorter: []string{what + ": " + path, what + ": " + filepath.Base(path)}}
	}
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
