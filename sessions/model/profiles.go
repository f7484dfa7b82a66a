package model

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/sessions/config"
)

// UseProfile leaves of an engine one of its profiles, as if it had been built for that alone.
func UseProfile(m *Model, k int) error {
	if m.Engine == nil {
		return fmt.Errorf("profile %d: %s is no engine, and profiles are chosen of engines", k, m.Name())
	}
	if n := len(m.Engine.Profiles); k < 0 || k >= n {
		return fmt.Errorf("profile %d: %s has %s, which are numbered from 0 on", k, m.Name(), config.CountOf(n, "profile", "profiles"))
	}
	r, err := m.Making()
	if err != nil {
		return err
	}
	if k <= len(r.Config.Profiles) {
		r.Config = config.OfProfile(r.Config, k)
	}
	e := *m.Engine
	e.Profiles, e.Plans = e.Profiles[k:k+1], nil
	for _, p := range m.Engine.Plans {
		if p.Profile == k {
			only := *p
			only.Profile = 0
			e.Plans = append(e.Plans, &only)
		}
	}
	if len(e.Plans) == 0 {
		return fmt.Errorf("profile %d: %s has no plan of it", k, m.Name())
	}
	if batch, ok := m.BatchOfShapes(r.Config.Shapes); ok {
		r.Config.Batch = batch
	}
	if len(e.Report) > 0 {
		e.Report, err = graph.MarshalStored(r)
	}
	m.Engine = &e
	return err
}

// Served returns an error where none of an engine's profiles serves the shapes of a configuration: a [*run.OutOfRange] of each.
func Served(m *Model, cfg config.Config) error {
	if m.Engine == nil {
		return nil
	}
	env, err := m.Symbols(cfg)
	if err != nil {
		return err
	}
	var refused error
	for _, p := range m.Engine.Plans {
		err := p.Serves(env)
		if err == nil {
			return nil
		}
		if len(m.Engine.Profiles) > 1 {
			err = fmt.Errorf("profile %d: %w", p.Profile, err)
		}
		if refused != nil {
			err = fmt.Errorf("%w; %w", refused, err)
		}
		refused = err
	}
	return refused
}
