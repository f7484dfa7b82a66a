package ui

import tea "charm.land/bubbletea/v2"

// A View is one pane: state that messages change, and a picture of it. Views
// keep no sizes and do no I/O; work of more than a millisecond belongs into a
// command.
//
// A view gets the keys that it names in Keys and the motion keys while it has
// the focus; [FilterMsg] and [MatchMsg] if its keys include [FilterKeys]; and
// every message that the frame does not know, focused or not.
type View interface {
	Title() string
	Keys() []Key
	Update(tea.Msg) tea.Cmd
	// Render returns h lines of w cells, as Look.Render makes them.
	Render(w, h int) string
}

// A Noter is a view with something to say at the right end of its title line:
// a sort order, a number of layers, "stale".
type Noter interface {
	Note() (string, Style)
}

// A Named view has a name in its title or its note, as of a layer. Where there is too little room for all of them the name is
// shortened, and the words and figures stay.
type Named interface {
	Named() string // "" where there is none
}

// NameOf returns the name in a view's title or note, "" where it has none: for views that show one of several.
func NameOf(v View) string {
	if n, ok := v.(Named); ok {
		return n.Named()
	}
	return ""
}

// A Versioned view is rendered again only if its version, size, focus or look
// changed. Other views are rendered again after every message they get.
type Versioned interface {
	Version() uint64
}

// Key describes what one or more keys do, for the footer and the help.
type Key struct {
	Keys  []string // as Bubble Tea names them: "x", "ctrl+s", "enter", "space"
	Short string   // a word for the footer; empty leaves it out
	Long  string   // a line for the help
	Name  string   // what help and files of keys call it; empty: Short, or else Long
	Words []string // by which people look for it in the palette besides those of Long
	Off   string   // why it does nothing in the state at hand: it is in no footer and no help, and pressing it says so
}

// K makes a Key of one key.
func K(key, short, long string) Key { return Key{Keys: []string{key}, Short: short, Long: long} }

// Called returns the key with a name.
func (k Key) Called(name string) Key {
	k.Name = name
	return k
}

// FilterKeys returns the keys of a view that can be filtered or searched. A view
// that lists them gets [FilterMsg] and [MatchMsg].
func FilterKeys() []Key {
	return []Key{
		K("/", "filter", "filter: text, regexp, !inverse, -f fuzzy"),
		{Keys: []string{"n", "N"}, Long: "next / previous match", Name: "match"},
	}
}

// MotionKeys returns the keys that move the cursor in every pane and mean
// nothing else anywhere.
func MotionKeys() []Key {
	return []Key{
		{Keys: []string{"up", "down", "k", "j"}, Long: "up, down", Name: "line"},
		{Keys: []string{"left", "right", "h", "l"}, Long: "left, right", Name: "sideways"},
		{Keys: []string{"g", "G", "home", "end"}, Long: "first, last", Name: "ends"},
		{Keys: []string{"ctrl+u", "ctrl+d"}, Long: "half a page up, down", Name: "half page"},
		{Keys: []string{"pgup", "pgdown"}, Long: "a page up, down", Name: "page"},
	}
}

// FilterMsg sets the filter of a view; a nil filter shows everything.
type FilterMsg struct{ Filter *Filter }

// MatchMsg moves to the next (+1) or previous (-1) match.
type MatchMsg struct{ Step int }

// GotoMsg switches to the screen with that digit key, and to one of its views.
type GotoMsg struct {
	Screen string
	Page   int // counted from 1; 0: the one that was shown last
	View   int // counted from 1; 0 leaves the focus where it was
}

// Goto returns a command that switches to a screen.
func Goto(screen string) tea.Cmd {
	return func() tea.Msg { return GotoMsg{Screen: screen} }
}

// GotoPage returns a command that switches to a page of a screen, counted from 1.
func GotoPage(screen string, page int) tea.Cmd {
	return func() tea.Msg { return GotoMsg{Screen: screen, Page: page} }
}
