package model

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/rules"
	"github.com/trtui/trtui/internal/host"
)

// RuleFile is a file of rewrite rules that was read.
type RuleFile struct {
	Path string
	Pass pass.Pass
}

// ReadRules reads files of rules; ops are those that rules may be about. Passes and rules must have names of their own.
func ReadRules(ops graph.OpSet, paths []string) ([]RuleFile, error) {
	var list []RuleFile
	taken := map[string]string{}
	for _, path := range paths {
		text, err := host.ReadUpTo(path, rules.MaxBytes)
		if err != nil {
			return nil, fmt.Errorf("rules: %w", err)
		}
		f, err := rules.Parse(path, text, ops)
		if err != nil {
			return nil, fmt.Errorf("rules: %w", err)
		}
		p := f.Pass()
		for _, name := range append([]string{p.Name}, p.Rules...) {
			if other, ok := taken[name]; ok {
				return nil, fmt.Errorf("rules: %s and %s both have %s; choose another name in one of them", other, path, name)
			}
			taken[name] = path
		}
		list = append(list, RuleFile{path, p})
	}
	return list, nil
}

// ruleFiles are those that a model has.
type ruleFiles []RuleFile

// Passes returns a program's own passes and those of the files of some paths.
func (r ruleFiles) Passes(own []pass.Pass, paths []string) []pass.Pass {
	list := slices.Clone(own)
	for _, f := range r {
		if slices.Contains(paths, f.Path) {
			list = append(list, f.Pass)
		}
	}
	return list
}

// All returns a program's own passes and those of all files.
func (r ruleFiles) All(own []pass.Pass) []pass.Pass {
	list := slices.Clone(own)
	for _, f := range r {
		list = append(list, f.Pass)
	}
	return list
}

// Have returns an error for a file of rules that was not read, as one that an engine was built with and that is gone.
func (r ruleFiles) Have(paths []string) error {
	for _, path := range paths {
		if !slices.ContainsFunc(r, func(f RuleFile) bool { return f.Path == path }) {
			return fmt.Errorf("the rules of %s cannot be read any more: the engine was built with them, and runs as it is, but is not built anew", path)
		}
	}
	return nil
}
