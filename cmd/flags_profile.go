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
	"github.com/trtui/trtui/ui"
)

// profileFlags are --minShapes, --optShapes and --maxShapes of each profile, as trtexec has them: --profile says which one those
// behind it are of.
type profileFlags struct {
	list     []profileTexts // by profile, the first even if it has nothing
	at       int
	numbered bool // --profile was given
	used     *int // in place of --useProfile; nil: it was not
}

// profileTexts are the values of the flags as they were given; "" where they were not.
type profileTexts struct{ min, opt, max string }

func (p *profileFlags) define(f *pflag.FlagSet) {
	*p = profileFlags{list: make([]profileTexts, 1)}
	flag := func(name, usage string, of func(*profileTexts) *string) {
		f.Var(&profileShapes{p, of}, name, usage)
	}
	flag("minShapes", "least `SHAPES` that the engine serves, as --shapes has them: it runs at any between these and --maxShapes", func(t *profileTexts) *string { return &t.min })
	flag("optShapes", "`SHAPES` at which tactics are timed; default: --shapes, or else --maxShapes", func(t *profileTexts) *string { return &t.opt })
	flag("maxShapes", "largest `SHAPES` that the engine serves", func(t *profileTexts) *string { return &t.max })
	f.Var(&profileNumber{p}, "profile", "`NUMBER`, from 0, of the profile that the three flags behind it are of: an engine may have several, each with its own ranges and tactics; without these flags, of an engine, the same as --useProfile")
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
	if err != nil || n < 0 || n >= config.MaxProfiles {
		return fmt.Errorf("want 0 to %d: profiles are numbered from 0 without a gap, and there are %d at most", config.MaxProfiles-1, config.MaxProfiles)
	}
	for n >= len(v.flags.list) {
		v.flags.list = append(v.flags.list, profileTexts{})
	}
	v.flags.at, v.flags.numbered = n, true
	return nil
}

// sole returns the profile that --profile names without shapes behind it: that in which an engine is to run.
func (p *profileFlags) sole() (k int, is bool) {
	for _, texts := range p.list {
		if texts != (profileTexts{}) {
			return 0, false
		}
	}
	return p.at, p.numbered
}

// useProfileOf leaves of an engine the profile in which it is to run, if one is named.
func (g *configFlags) useProfileOf(m *model.Model) error {
	if m.Engine == nil {
		return nil
	}
	if k, is := g.ranges.sole(); is {
		g.ranges.used, g.ranges.list, g.ranges.numbered = &k, g.ranges.list[:1], false
	}
	flag, k := "useProfile", g.useProfile
	switch given := g.changed(flag); {
	case given && g.ranges.used != nil && *g.ranges.used != k:
		return usageError{fmt.Errorf("--useProfile %d and --profile %d name two profiles; give one of the two", k, *g.ranges.used)}
	case g.ranges.used != nil:
		flag, k = "profile", *g.ranges.used
	case !given:
		return nil
	}
	if err := model.UseProfile(m, k); err != nil {
		return usageError{fmt.Errorf("--%s: %w", flag, err)}
	}
	return nil
}

// oneProfile leaves of the profiles that a model is to be built for the one that --useProfile names.
func (g *configFlags) oneProfile(m *model.Model, cfg config.Config) (config.Config, error) {
	if k, sole := g.ranges.sole(); sole && k > 0 && m.Engine == nil {
		return cfg, usageError{withoutShapes(k)}
	}
	if m.Engine != nil || !g.changed("useProfile") {
		return cfg, nil
	}
	n := len(cfg.Profiles) + 1
	if n == 1 && len(cfg.MinShapes)+len(cfg.MaxShapes) == 0 {
		return cfg, usageError{fmt.Errorf("--useProfile: %w", model.UseProfile(m, g.useProfile))}
	}
	if g.useProfile < 0 || g.useProfile >= n {
		return cfg, usageError{fmt.Errorf("--useProfile %d: there are %s, numbered from 0 on", g.useProfile, config.CountOf(n, "profile", "profiles"))}
	}
	return config.OfProfile(cfg, g.useProfile), nil
}

// given reports whether there is anything of a profile.
func (p *profileFlags) given() bool {
	_, sole := p.sole()
	return !sole && (len(p.list) > 1 || p.list[0] != profileTexts{})
}

// profiles sets the profiles that were asked for.
func (g *configFlags) profiles(cfg *config.Config) error {
	if _, sole := g.ranges.sole(); sole {
		return nil
	}
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
			return withoutShapes(i)
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

// withoutShapes is the error of a profile that is to be made of nothing.
func withoutShapes(k int) error {
	return fmt.Errorf("--profile %d: give --optShapes or --maxShapes behind it", k)
}

// rangeOfData gives a configuration the shapes of the data: those of the first item, and where items differ the range of them all. A range
// that is swept is another one.
func (g *configFlags) rangeOfData(cfg *config.Config, shapes map[string][]int) {
	cfg.Shapes = shapes
	g.ofData = shapes != nil && g.dataMin != nil && len(g.sweep) == 0 && len(cfg.MinShapes)+len(cfg.MaxShapes)+len(cfg.Profiles) == 0 && cfg.Batch <= 1
	if g.ofData {
		cfg.MinShapes, cfg.MaxShapes = maps.Clone(g.dataMin), maps.Clone(g.dataMax)
	}
}

// rangeText writes the range of the data's items, as in "ids:1x3 to 1x31".
func (g *configFlags) rangeText() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(g.dataMin)) {
		low, high := config.TimesText(g.dataMin[name]), config.TimesText(g.dataMax[name])
		if low != high {
			list = append(list, ui.VisibleName(name)+":"+low+" to "+high)
		}
	}
	return strings.Join(list, ", ")
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
	if _, sole := g.ranges.sole(); len(g.ranges.list) > 1 && !sole {
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
