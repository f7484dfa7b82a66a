package ui

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"go.yaml.in/yaml/v3"
)

// A Keymap is what a file says of keys: actions by the names that help lists, with keys of one's own. Contexts are screens by their
// names, and [Everywhere].
//
//	everywhere:
//	  freeze: p
//	Graph:
//	  pass: ["(", ")"]
type Keymap struct {
	path     string
	bindings []keyBinding // in the order of the file
}

// keyBinding gives an action keys.
type keyBinding struct {
	context, action string
	keys            []string
	line            int
}

// Everywhere is the context of the keys that mean the same on all screens.
const Everywhere = "everywhere"

// The bounds on a file of keys.
const (
	maxKeymapBytes = 1 << 20
	maxBindings    = 2000
)

// ReadKeymap reads a file of keys: YAML. What its names mean is checked where they are used, by [New].
func ReadKeymap(path string, data []byte) (*Keymap, error) {
	m := &Keymap{path: path}
	if len(data) > maxKeymapBytes {
		return nil, fmt.Errorf("%s: more than %d bytes", path, maxKeymapBytes)
	}
	var root yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	switch err := d.Decode(&root); {
	case err == io.EOF: // nothing but comments
		return m, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := d.Decode(new(yaml.Node)); err != io.EOF {
		return nil, fmt.Errorf("%s: there is more than one document", path)
	}
	err := m.each(root.Content[0], "contexts, such as "+Everywhere, func(context, actions *yaml.Node) error {
		return m.each(actions, "actions with their keys", func(action, keys *yaml.Node) error {
			if len(m.bindings) >= maxBindings {
				return m.at(action.Line, fmt.Errorf("more than %d actions", maxBindings))
			}
			names, err := keyNames(keys)
			if err != nil {
				return m.at(keys.Line, fmt.Errorf("%s: %w", action.Value, err))
			}
			m.bindings = append(m.bindings, keyBinding{context.Value, action.Value, names, action.Line})
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// at says where in the file an error is.
func (m *Keymap) at(line int, err error) error { return fmt.Errorf("%s:%d: %w", m.path, line, err) }

// each goes through the entries of a mapping, each of which it may have once; one that is empty has none.
func (m *Keymap) each(n *yaml.Node, want string, do func(key, value *yaml.Node) error) error {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return m.at(n.Line, errors.New("want "+want))
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			return m.at(key.Line, errors.New("want "+want))
		}
		if line, ok := seen[key.Value]; ok {
			return m.at(key.Line, fmt.Errorf("%s is there already, on line %d", key.Value, line))
		}
		seen[key.Value] = key.Line
		if err := do(key, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// keyNames reads one key, or a list of them.
func keyNames(n *yaml.Node) ([]string, error) {
	list := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		list = n.Content
	}
	var names []string
	for _, k := range list {
		if k.Kind != yaml.ScalarNode || k.Tag == "!!null" {
			return nil, errors.New(`want a key, such as x, ctrl+x, f5 or "?", or a list of keys`)
		}
		if !IsKeyName(k.Value) {
			return nil, fmt.Errorf("there is no key %q: a key is x, X, ctrl+x, alt+x, f5, tab, space, insert", k.Value)
		}
		names = append(names, k.Value)
	}
	if len(names) == 0 {
		return nil, errors.New("want a key")
	}
	return names, nil
}

// IsKeyName reports whether a terminal can tell of a key by that name.
func IsKeyName(name string) bool {
	rest, shifted := name, false
	for {
		mod, after, ok := cutModifier(rest)
		if !ok {
			break
		}
		rest, shifted = after, shifted || mod == tea.ModShift
	}
	_, special := keyCodes[rest]
	letter, size := utf8.DecodeRuneInString(rest)
	return Press(name).String() == name && (special || !shifted && size == len(rest) && size > 0 && unicode.IsPrint(letter) && letter != ' ')
}

// fixed are the keys that text entry and dialogs need, and those that choose screens: no action can be given one that is not its own,
// nor another in its place.
func fixed(key string) string {
	switch key {
	case "ctrl+c":
		return "it ends the program"
	case "esc", "enter", "backspace", "delete":
		return "text entry and dialogs need it"
	}
	if len(key) == 1 && key[0] >= '0' && key[0] <= '9' {
		return "it chooses a screen"
	}
	return ""
}

// textKeys are those that move in a line of text: they are for motion.
func textKey(key string) bool {
	return slices.Contains([]string{"up", "down", "left", "right", "home", "end"}, key)
}

// keyContexts are the keys as they are now: by context and name of an action those that it was given.
type keyContexts map[string]map[string][]string

// of returns a key as it is now in a context.
func (m keyContexts) of(context string, k Key) Key {
	if keys, ok := m[context][k.action()]; ok && len(keys) == len(k.Keys) {
		k.Keys = keys
	}
	return k
}

// all is of for several.
func (m keyContexts) all(context string, keys []Key) []Key {
	if len(m[context]) == 0 {
		return keys
	}
	list := make([]Key, len(keys))
	for i, k := range keys {
		list[i] = m.of(context, k)
	}
	return list
}

// meant returns the key that stands in the program for one that was pressed on a screen, "" where it does nothing now.
func (a *App) meant(s *Screen, name string) string {
	if len(a.keys) == 0 || fixed(name) != "" {
		return name
	}
	moved := false
	look := func(context string, keys []Key) string {
		for _, k := range keys {
			now := a.keys.of(context, k)
			if i := slices.Index(now.Keys, name); i >= 0 {
				return k.Keys[i]
			}
			moved = moved || slices.Contains(k.Keys, name)
		}
		return ""
	}
	if key := look(s.Name, s.focused().Keys()); key != "" {
		return key
	}
	if key := look(Everywhere, a.everywhere(s)); key != "" {
		return key
	}
	if moved {
		return ""
	}
	return name
}

// everywhere returns the keys that mean the same on all screens, and of the frame those that s has.
func (a *App) everywhere(s *Screen) []Key {
	keys := slices.Concat(MotionKeys(), frameKeys(s))
	for _, k := range a.intents {
		keys = append(keys, k.Key)
	}
	return keys
}

// action returns the name of what a key does.
func (k Key) action() string {
	switch {
	case k.Name != "":
		return k.Name
	case k.Short != "":
		return k.Short
	}
	return k.Long
}

// closest returns "; did you mean A or B?" with the names nearest to one that does not exist.
func closest(name string, names []string) string {
	var near []string
	best := max(2, len(name)/3)
	for _, n := range names {
		switch d := wordDistance(name, n); {
		case d < best:
			best, near = d, []string{n}
		case d == best && !slices.Contains(near, n):
			near = append(near, n)
		}
	}
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near[:min(len(near), 3)], " or ") + "?"
}
