// Package budget holds an engine to figures that a file gives: latency, accuracy, memory and size, as they are or against a
// baseline. It reads the file ([Read]), and says of what was measured which limits it keeps ([Budget.Check]). Start with
// metrics.go, the table of what can be limited; limit.go says how limits are written, noise.go when a time is over one.
package budget

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// Budget is the limits of a file.
type Budget struct {
	Path     string
	Baseline string // a recording, an engine or a model, beside the file or by its whole path; empty: none
	Looks    int    // how often a measurement may be looked at before it is long enough; 0: once
	strict   bool   // noise does not pass
	limits   []limit
}

// The bounds on a budget's file.
const (
	MaxBytes  = 1 << 20
	maxLimits = 100
)

// Read reads a budget; path is where it is said to come from.
func Read(r io.Reader, path string) (*Budget, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%s: more than %d bytes", path, MaxBytes)
	}
	b := &Budget{Path: path}
	var root yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&root); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := d.Decode(new(yaml.Node)); err != io.EOF {
		return nil, fmt.Errorf("%s: there is more than one document", path)
	}
	if err := b.read(root.Content[0]); err != nil {
		return nil, err
	}
	if len(b.limits) == 0 {
		return nil, fmt.Errorf("%s: no limits: want limits with one of %s", path, strings.Join(Names(), ", "))
	}
	return b, nil
}

// at says where in the file an error is.
func (b *Budget) at(n *yaml.Node, err error) error {
	return fmt.Errorf("%s:%d: %w", b.Path, n.Line, err)
}

// read reads the document.
func (b *Budget) read(n *yaml.Node) error {
	return b.each(n, func(key, value *yaml.Node) error {
		switch key.Value {
		case "baseline":
			if value.Kind != yaml.ScalarNode || value.Value == "" {
				return b.at(value, errors.New("baseline: want the path of a recording, an engine or a model"))
			}
			b.Baseline = value.Value
			if !filepath.IsAbs(b.Baseline) {
				b.Baseline = filepath.Join(filepath.Dir(b.Path), b.Baseline)
			}
			return nil
		case "noise":
			if value.Value != "passes" && value.Value != "unknown" {
				return b.at(value, errors.New("noise: want passes or unknown, which a value over its limit is that the measurement does not tell from one within"))
			}
			b.strict = value.Value == "unknown"
			return nil
		case "limits":
			return b.each(value, b.limit)
		}
		fields := []string{"baseline", "noise", "limits"}
		return b.at(key, fmt.Errorf("unknown field %q%s; there are %s, and below \"limits:\" %s",
			key.Value, config.DidYouMean(key.Value, slices.Concat(fields, Names())), strings.Join(fields, ", "), strings.Join(Names(), ", ")))
	})
}

// limit reads one limit.
func (b *Budget) limit(key, value *yaml.Node) error {
	m := named(key.Value)
	if m == nil {
		return b.at(key, fmt.Errorf("unknown limit %q%s; there are %s", key.Value, config.DidYouMean(key.Value, Names()), strings.Join(Names(), ", ")))
	}
	if value.Kind != yaml.ScalarNode {
		return b.at(value, fmt.Errorf("%s: want %s", m.name, example(m)))
	}
	l, err := parseLimit(m, value.Value)
	if err != nil {
		return b.at(value, fmt.Errorf("%s: %w", m.name, err))
	}
	if len(b.limits) == maxLimits {
		return b.at(key, fmt.Errorf("more than %d limits", maxLimits))
	}
	l.line = key.Line
	b.limits = append(b.limits, l)
	return nil
}

// each goes through a mapping; a key that is there twice is an error, and so are aliases, which could stand for far more.
func (b *Budget) each(n *yaml.Node, do func(key, value *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return b.at(n, errors.New("want fields, as in \"limits:\" and below it \"  latency_p50: 2.5 ms\""))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || value.Kind == yaml.AliasNode {
			return b.at(key, errors.New("want a field with a value"))
		}
		if seen[key.Value] {
			return b.at(key, fmt.Errorf("%s is there twice", key.Value))
		}
		seen[key.Value] = true
		if err := do(key, value); err != nil {
			return err
		}
	}
	return nil
}

// Parts returns the reports that the limits are on.
func (b *Budget) Parts() (parts report.Parts) {
	for _, l := range b.limits {
		parts |= l.metric.needs
	}
	return parts
}

// Limits reports whether there is a limit on a metric.
func (b *Budget) Limits(name string) bool {
	for _, l := range b.limits {
		if l.metric.name == name {
			return true
		}
	}
	return false
}

// Timed reports whether there is a limit on times.
func (b *Budget) Timed() bool { return b.Parts().Has(report.PartTimings) }
