package cmd

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
)

// profileFlags are --minShapes, --optShapes and --maxShapes of each profile, as trtexec has them: --profile says which one those
// behind it are of.
type profileFlags struct {
	list []profileTexts // by profile, the first even if it has nothing
	at   int
}

// profileTexts are the values of the flags as they were given; "" where they were not.
type profileTexts struct{ min, opt, max string }

func (p *profileFlags) define(f *pflag.FlagSet) {
	p.list, p.at = make([]profileTexts, 1), 0
	flag := func(name, usage string, of func(*profileTexts) *string) {
		f.Var(&profileShapes{p, of}, name, usage)
	}
	flag("minShapes", "least `SHAPES` that the engine serves, as --shapes has them: it runs at any between these and --maxShapes", func(t *profileTexts) *string { return &t.min })
	flag("optShapes", "`SHAPES` at which tactics are timed; default: --shapes, or else --maxShapes", func(t *profileTexts) *string { return &t.opt })
	flag("maxShapes", "largest `SHAPES` that the engine serves", func(t *profileTexts) *string { return &t.max })
	f.Var(&profileNumber{p}, "profile", "`NUMBER`, from 0, of the profile that the three flags behind it are of: an engine may have several, each with its own ranges and tactics")
}

// profileShapes is one of the three flags.
type profileShapes struct {
	flags *profileFlags
	of    func(*profileTexts) *string
}

func (v *profileShapes) String() string { return "" }
func (v *profileShapes) Type() string   { return "string" }

func (v *profileShapes) Set(s string) error {
	*v.of(&v.flags.list[v.flags.at]) = s
	return nil
}

// profileNumber is --profile.
type profileNumber struct{ flags *profileFlags }

func (v *profileNumber) String() string { return "" }
func (v *profileNumber) Type() string   { return "int" }

func (v *profileNumber) Set(s string) error {
	n, err := strconv.Atoi(s)
	most := min(len(v.flags.list), config.MaxProfiles-1)
	if err != nil || n < 0 || n > most {
		return fmt.Errorf("want 0 to %d: profiles are numbered from 0 without a gap, and there are %d at most", most, config.MaxProfiles)
	}
	if n == len(v.flags.list) {
		v.flags.list = append(v.flags.list, profileTexts{})
	}
	v.flags.at = n
	return nil
}

// given reports whether there is anything of a profile.
func (p *profileFlags) given() bool { return len(p.list) > 1 || p.list[0] != profileTexts{} }

// profiles sets the profiles that were asked for.
func (g *configFlags) profiles(cfg *config.Config) error {
	for i, texts := range g.ranges.list {
		var p config.Profile
		for _, part := range []struct {
			flag, text string
			to         *map[string][]int
		}{{"minShapes", texts.min, &p.MinShapes}, {"optShapes", texts.opt, &p.Shapes}, {"maxShapes", texts.max, &p.MaxShapes}} {
			var err error
			if *part.to, err = parseShapes(part.flag, part.text); err != nil {
				return err
			}
		}
		switch {
		case i > 0 && texts.opt == "" && texts.max == "":
			return fmt.Errorf("--profile %d: give --optShapes or --maxShapes behind it", i)
		case i > 0:
			cfg.Profiles = append(cfg.Profiles, p)
			continue
		case texts.opt != "" && g.changed("shapes"):
			return errors.New("--shapes and --optShapes are one: give one of the two")
		}
		cfg.MinShapes, cfg.MaxShapes = p.MinShapes, p.MaxShapes
		if texts.opt != "" {
			cfg.Shapes = p.Shapes
		}
	}
	return nil
}

// overProfiles sets the profiles over those of an engine or a file.
func (g *configFlags) overProfiles(cfg *config.Config, asked config.Config) {
	first := g.ranges.list[0]
	for _, part := range []struct {
		text  string
		to    *map[string][]int
		asked map[string][]int
	}{{first.min, &cfg.MinShapes, asked.MinShapes}, {first.opt, &cfg.Shapes, asked.Shapes}, {first.max, &cfg.MaxShapes, asked.MaxShapes}} {
		if part.text != "" {
			*part.to = part.asked
		}
	}
	if len(g.ranges.list) > 1 {
		cfg.Profiles = asked.Profiles
	}
}

// givenShapes returns the shapes that data is to have: those that flags say tactics are timed at; nil where they do not.
func (g *configFlags) givenShapes() (map[string][]int, error) {
	flag, text := "shapes", g.shapes
	if first := g.ranges.list[0]; text == "" && first.opt != "" {
		flag, text = "optShapes", first.opt
	}
	return parseShapes(flag, text)
}

// unboundedRange is the error that a range has least shapes and no largest ones; it shows what would be a range.
func unboundedRange(m *model.Model, least map[string][]int) error {
	text := func(shapes map[string][]int) string { return strings.Join(shapeWords(shapes), ",") }
	largest := map[string][]int{}
	for name, dims := range least {
		largest[name] = slices.Clone(dims)
		if t := m.Network.Tensor(name); t != nil && len(t.Dims) == len(dims) {
			for i, d := range t.Dims {
				if _, fixed := d.IsConst(); !fixed {
					largest[name][i] = 8 * max(1, dims[i])
				}
			}
		}
	}
	return fmt.Errorf("--minShapes %s is the least of a range, and the largest is missing: add --maxShapes, as in --minShapes %s --maxShapes %s",
		text(least), text(least), text(largest))
}

// named gives inputs without a name in the flags theirs, and an engine of a range without best shapes, or data that has some,
// the largest.
func (g *configFlags) named(m *model.Model, cfg *config.Config, ofData map[string][]int) error {
	sets := []*map[string][]int{&cfg.Shapes, &cfg.MinShapes, &cfg.MaxShapes}
	for i := range cfg.Profiles {
		p := &cfg.Profiles[i]
		sets = append(sets, &p.Shapes, &p.MinShapes, &p.MaxShapes)
	}
	for _, shapes := range sets {
		dims, ok := (*shapes)[""]
		if !ok {
			continue
		}
		if m.Network == nil || len(m.Network.Inputs) != 1 || len(*shapes) > 1 {
			return usageError{errors.New("--shapes: name the inputs, as in x:1x3x224x224: the model has several")}
		}
		*shapes = map[string][]int{m.Network.Inputs[0].Name: dims}
	}
	if m.Network != nil && len(cfg.MinShapes) > 0 && len(cfg.MaxShapes) == 0 && cfg.Shapes == nil && ofData == nil {
		return usageError{unboundedRange(m, cfg.MinShapes)}
	}
	if cfg.Shapes == nil && ofData == nil && len(cfg.MaxShapes) > 0 && !g.changed("batch") {
		cfg.Shapes = maps.Clone(cfg.MaxShapes)
	}
	return nil
}
