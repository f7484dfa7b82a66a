package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Profile is an optimisation profile beside the first one, which a [Config] has in the same fields: the shapes of inputs at which
// tactics are timed, and the ends of those that the engine serves.
type Profile struct {
	Shapes    map[string][]int `json:"shapes,omitempty" entry:"input,shape"` // none: MaxShapes
	MinShapes map[string][]int `json:"min_shapes,omitempty" entry:"input,shape"`
	MaxShapes map[string][]int `json:"max_shapes,omitempty" entry:"input,shape"`
}

// MaxProfiles bounds the profiles of an engine.
const MaxProfiles = 16

// shapesPart is one of the sets of shapes that a profile has, by its name in files.
type shapesPart struct {
	name string
	of   *map[string][]int
}

func (p *Profile) parts() []shapesPart {
	return []shapesPart{{"shapes", &p.Shapes}, {"min_shapes", &p.MinShapes}, {"max_shapes", &p.MaxShapes}}
}

// someShapes returns the profiles with their shapes as one makes them.
func someShapes(list []Profile, one func([]int) []int) []Profile {
	if len(list) == 0 {
		return nil
	}
	list = slices.Clone(list)
	for i := range list {
		for _, part := range list[i].parts() {
			*part.of = someOf(*part.of, one)
		}
	}
	return list
}

// items names the shapes of a profile, by set and input.
func (p Profile) items() [][]string {
	var list [][]string
	for i, part := range p.parts() {
		var items []string
		for _, input := range slices.Sorted(maps.Keys(*part.of)) {
			items = append(items, []string{"", "from ", "to "}[i]+input+" "+TimesText((*part.of)[input]))
		}
		list = append(list, items)
	}
	return list
}

// TimesText writes a shape as --shapes takes it.
func TimesText(dims []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(dims), "[]"), " ", "x")
}
