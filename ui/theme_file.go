package ui

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// themeFile is a theme as a file has it.
type themeFile struct {
	Base    string            `json:"base"`    // the name of one of [Themes], whose colours count where the file has none
	Colours map[string]string `json:"colours"` // "#rrggbb" by meaning
}

// meanings are the names of colours in files.
var meanings = map[string]Style{
	"plain": Plain, "muted": Muted, "faint": Faint, "accent": Accent, "good": Good, "warn": Warn, "bad": Bad, "ink": Ink,
	"fp32": F32, "fp16": F16, "int8": I8, "other-type": OtherType,
	"series1": Series1, "series2": Series2, "series3": Series3, "series4": Series4,
	"series5": Series5, "series6": Series6, "series7": Series7, "series8": Series8,
	"heat1": Heat1, "heat2": Heat2, "heat3": Heat3, "heat4": Heat4, "heat5": Heat5, "heat6": Heat6,
	"cursor": CursorGround, "rest": RestGround, "selected": SelectedGround, "match": MatchGround, "chip": ChipGround,
}

// Meanings returns the names of colours in the files of themes.
func Meanings() []string { return slices.Sorted(maps.Keys(meanings)) }

// ReadTheme reads a theme: JSON with the name of a base and colours by meaning.
//
//	{"base": "dark", "colours": {"accent": "#ff8800", "cursor": "#402000"}}
func ReadTheme(name string, data []byte) (*Theme, error) {
	var file themeFile
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("theme %s: %w", name, err)
	}
	t := themeNamed(cmp.Or(file.Base, "dark"))
	if t == nil {
		return nil, fmt.Errorf("theme %s: base %q: want one of %s", name, file.Base, strings.Join(ThemeNames(), ", "))
	}
	for _, meaning := range slices.Sorted(maps.Keys(file.Colours)) {
		s, ok := meanings[meaning]
		if !ok {
			return nil, fmt.Errorf("theme %s: colour %q: want one of %s", name, meaning, strings.Join(Meanings(), ", "))
		}
		text := file.Colours[meaning]
		rgb, err := strconv.ParseUint(strings.TrimPrefix(text, "#"), 16, 24)
		if err != nil || len(text) != 7 || text[0] != '#' {
			return nil, fmt.Errorf("theme %s: %s %q: want #rrggbb", name, meaning, text)
		}
		t.paint(s, int(rgb))
	}
	t.Name = name
	t.settle()
	return t, nil
}
