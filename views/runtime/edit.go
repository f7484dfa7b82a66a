package runtime

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// edit asks for the shapes that profile k of the engine is to serve, as those of a report are in a line to change, and rebuilds it for them.
func edit(r *report.Runtime, k int, d pane.Desk) tea.Cmd {
	if r == nil || d.Lacks(pane.NeedsModel) != "" {
		return nil
	}
	if len(r.Axes) == 0 {
		return pane.Say(ui.Plain, "no axis of the inputs is open: there are no other shapes")
	}
	hint := "AXIS=LEAST..BEST..LARGEST, or the same of an INPUT's whole shape, as in x=1x64..8x128..16x512; one number serves it alone. "
	if r.MadeUp {
		hint += "The data, which are made up, are made anew at BEST; what is left out stays."
	} else {
		hint += "BEST fits the data, but for the batch; what is left out stays."
	}
	name := "Shapes to serve"
	if k > 0 {
		name = fmt.Sprintf("Shapes that profile %d is to serve", k)
	}
	return ui.Open(&ui.Ask{
		Name: name,
		Hint: hint,
		Text: rangesText(r.Axes),
		Check: func(text string) error {
			_, err := parseRanges(text, r)
			return err
		},
		Take: func(text string) tea.Cmd {
			axes, err := parseRanges(text, r)
			if err != nil { // Check took it
				return pane.Say(ui.Bad, err.Error())
			}
			narrowed := narrow(axes)
			asked := serve(r, axes, k, d)
			if narrowed == "" {
				return asked
			}
			return tea.Sequence(asked, pane.Say(ui.Warn, narrowed))
		},
	})
}

// rangesText writes axes as parseRanges reads them.
func rangesText(axes []report.RuntimeAxis) string {
	var list []string
	for _, a := range axes {
		if a.Follows != nil {
			continue
		}
		text := strconv.Itoa(a.Opt)
		if a.Min != a.Max {
			text = fmt.Sprintf("%d..%d..%d", a.Min, a.Opt, a.Max)
		}
		list = append(list, a.Symbol+"="+text)
	}
	return strings.Join(list, " ")
}

// serve asks for an engine whose profile k serves the axes.
func serve(r *report.Runtime, axes []report.RuntimeAxis, k int, d pane.Desk) tea.Cmd {
	to := *r
	to.Axes = axes
	return d.Change(func(c *config.Config) { setProfile(c, k, &to) })
}

// parseRanges returns the axes of an engine with what a person wrote of them. Errors name the axis or the input. At the best extents the
// data run, of which only the batch can be another, unless they are made up.
func parseRanges(text string, r *report.Runtime) ([]report.RuntimeAxis, error) {
	axes := append([]report.RuntimeAxis(nil), r.Axes...)
	given := map[string]string{} // by axis, the item that it is of
	items, err := itemsOf(text)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		at := strings.LastIndexByte(item, '=')
		name, values := item[:at], item[at+1:]
		places, err := placesOf(name, r)
		if err != nil {
			return nil, err
		}
		shapes, err := threeShapes(values, len(places))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for k, i := range places {
			now := [3]int{shapes[0][k], shapes[1][k], shapes[2][k]}
			if i < 0 {
				if fixed := r.Points[0].Shapes[name][k]; now != [3]int{fixed, fixed, fixed} {
					return nil, fmt.Errorf("%s: axis %d is %d in the model, and cannot be another", name, k, fixed)
				}
				continue
			}
			a := &axes[i]
			if before, ok := given[a.Symbol]; ok && now != [3]int{a.Min, a.Opt, a.Max} {
				return nil, fmt.Errorf("axis %s: %s and %s differ in it", a.Symbol, before, item)
			}
			given[a.Symbol] = item
			a.Min, a.Opt, a.Max = now[0], now[1], now[2]
		}
	}
	for i := range axes {
		a := &axes[i]
		if a.Follows == nil {
			continue
		}
		was := *a
		a.Min, a.Opt, a.Max = a.Follows.Ends(axes)
		if given[a.Symbol] != "" && (was.Min != a.Min || was.Opt != a.Opt || was.Max != a.Max) {
			return nil, fmt.Errorf("axis %s: it is %s, which makes it %d..%d..%d", a.Symbol, a.Follows, a.Min, a.Opt, a.Max)
		}
	}
	for i, a := range axes {
		if a.Min < 1 || a.Max > config.MaxExtent || a.Min > a.Opt || a.Opt > a.Max {
			return nil, fmt.Errorf("axis %s: %d..%d..%d: want 1 to %d, the least first and the largest last", a.Symbol, a.Min, a.Opt, a.Max, config.MaxExtent)
		}
		if now := r.Axes[i].Opt; a.Opt != now && !a.Batch && !r.MadeUp && a.Follows == nil {
			return nil, fmt.Errorf("axis %s: the best is to be %d, as in the data that are open, and not %d: %s=%d..%d..%d", a.Symbol, now, a.Opt, a.Symbol, min(a.Min, now), now, max(a.Max, now))
		}
	}
	return axes, together(axes, r.MadeUp)
}

// narrow brings ranges within what the model allows, and says what keeps them there. Where its best extent is another than the one at which
// that was found out nothing is known.
func narrow(axes []report.RuntimeAxis) string {
	var list []string
	for i := range axes {
		a, why := &axes[i], ""
		if l := a.Limit; l == nil || a.Opt < l.Least || a.Opt > l.Most {
			continue
		}
		if a.Min, a.Max, why = a.Clip(a.Min, a.Max); why != "" {
			list = append(list, why)
		}
	}
	report.Follow(axes)
	return strings.Join(list, "; ")
}

// together returns an error where axes that count the items of data are to differ.
func together(axes []report.RuntimeAxis, madeUp bool) error {
	first := -1
	for i, a := range axes {
		switch {
		case !a.Batch || madeUp:
		case first < 0:
			first = i
		case a.Opt != axes[first].Opt:
			return fmt.Errorf("axis %s: the best is to be %d, as of %s: both count the items of the data that are open", a.Symbol, axes[first].Opt, axes[first].Symbol)
		}
	}
	return nil
}

// itemsOf cuts a line at its spaces, but not in names: an item ends with a word that has an equals sign.
func itemsOf(text string) (items []string, err error) {
	item := ""
	for word := range strings.FieldsSeq(text) {
		item = strings.TrimSpace(item + " " + word)
		if strings.Contains(word, "=") {
			items, item = append(items, strings.TrimSuffix(item, ",")), ""
		}
	}
	if item != "" {
		return nil, fmt.Errorf("%q: want AXIS=LEAST..BEST..LARGEST", item)
	}
	return items, nil
}

// placesOf returns which axes a name is of: itself, or those of an input in order, -1 where its extent is fixed.
func placesOf(name string, r *report.Runtime) ([]int, error) {
	var names []string
	for i, a := range r.Axes {
		if a.Symbol == name {
			return []int{i}, nil
		}
		names = append(names, a.Symbol)
	}
	dims, ok := r.Points[0].Shapes[name]
	if !ok {
		names = append(names, slices.Sorted(maps.Keys(r.Points[0].Shapes))...)
		return nil, fmt.Errorf("no axis and no input is called %s%s", config.Quoted(name), config.DidYouMean(name, names))
	}
	places := make([]int, len(dims))
	for k := range places {
		places[k] = -1
	}
	for i, a := range r.Axes {
		for _, p := range a.Places {
			if p.Input == name {
				places[p.Axis] = i
			}
		}
	}
	return places, nil
}

// threeShapes reads the least, best and largest of something of so many extents, or one for all three.
func threeShapes(text string, rank int) (shapes [3][]int, err error) {
	parts := strings.Split(text, "..")
	switch len(parts) {
	case 1:
		parts = []string{text, text, text}
	case 3:
	default:
		return shapes, errors.New("want LEAST..BEST..LARGEST, or one for all three")
	}
	for i, part := range parts {
		for extent := range strings.SplitSeq(part, "x") {
			n, err := strconv.Atoi(extent)
			if err != nil {
				return shapes, fmt.Errorf("%q is no extent: want a whole number", extent)
			}
			shapes[i] = append(shapes[i], n)
		}
		if len(shapes[i]) != rank {
			return shapes, fmt.Errorf("%s has %d extents, want %d", part, len(shapes[i]), rank)
		}
	}
	return shapes, nil
}
