package ui

import (
	"errors"
	"fmt"
	"image/color"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	tea "charm.land/bubbletea/v2"
)

// probe is a view that records what it gets.
type probe struct {
	name string
	keys []Key
	got  []string
	seen []any
}

func (v *probe) Title() string { return v.name }
func (v *probe) Keys() []Key   { return v.keys }
func (v *probe) Update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		v.got = append(v.got, m.String())
	case FilterMsg:
		source := "none"
		if m.Filter != nil {
			source = m.Filter.Source
		}
		v.got = append(v.got, "filter "+source)
	case MatchMsg:
		v.got = append(v.got, fmt.Sprint("match ", m.Step))
	default:
		v.seen = append(v.seen, msg)
	}
	return nil
}
func (v *probe) Render(w, h int) string { return strings.Repeat(v.name+"\n", h) }

// probes returns an app of two screens; the first has two panes.
func probes(t *testing.T, intent func(Intent) tea.Cmd) (*App, []*probe) {
	t.Helper()
	p := []*probe{
		{name: "left", keys: append(FilterKeys(), K("x", "toggle", "toggle"))},
		{name: "right"},
		{name: "other"},
	}
	now := time.Unix(0, 0)
	app, err := New(Config{Look: NewLook(Options{}), Intents: Intents(), OnIntent: intent, Now: func() time.Time { return now },
		Screens: []*Screen{{Key: "1", Name: "One", Views: []View{p[0], p[1]}, Layouts: []Box{Beside(Pane(0), Pane(1)), Stack(Pane(0), Pane(1))}},
			{Key: "0", Name: "Log", Views: []View{p[2]}}}})
	if err != nil {
		t.Fatal(err)
	}
	send(app, tea.WindowSizeMsg{Width: 100, Height: 30})
	return app, p
}

// counted is a view that counts how often it is drawn.
type counted struct {
	probe
	version uint64
	drawn   int
}

func (v *counted) Version() uint64        { return v.version }
func (v *counted) Render(w, h int) string { v.drawn++; return "" }

// TestVersioned draws a view again only if something it depends on changed.
func TestVersioned(t *testing.T) {
	v := &counted{probe: probe{name: "v"}}
	app, err := New(Config{Look: NewLook(Options{}), Screens: []*Screen{{Key: "1", Name: "One", Views: []View{v, &probe{name: "w"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		change func()
		want   int
	}{
		{func() { send(app, tea.WindowSizeMsg{Width: 100, Height: 30}) }, 1},
		{func() { press(app, "j") }, 1},
		{func() { send(app, "an event") }, 1},
		{func() { v.version++; send(app, "an event") }, 2},
		{func() { press(app, "tab") }, 3},
		{func() { press(app, "T") }, 4},
		{func() { send(app, tea.WindowSizeMsg{Width: 101, Height: 30}) }, 5},
		{func() { press(app, "?", "esc") }, 5},
	} {
		c.change()
		app.Content()
		if v.drawn != c.want {
			t.Errorf("after change %d: drawn %d times, want %d", i, v.drawn, c.want)
		}
	}
}

// TestRouting sends keys to who must get them.
func TestRouting(t *testing.T) {
	var intents []Intent
	app, p := probes(t, func(i Intent) tea.Cmd { intents = append(intents, i); return nil })
	press(app, "x", "j", "tab", "x", "k", "shift+tab", "/", "c", "esc", "/", "a", "b", "enter", "n", "N", "esc", "f", "ctrl+r", "%")
	if want := []string{"x", "j", "filter c", "filter none", "filter a", "filter ab", "match 1", "match -1", "filter none"}; !slices.Equal(p[0].got, want) {
		t.Errorf("left got %q, want %q", p[0].got, want)
	}
	if want := []string{"k"}; !slices.Equal(p[1].got, want) {
		t.Errorf("right got %q, want %q", p[1].got, want)
	}
	if want := []Intent{NextPrecision, Redo}; !slices.Equal(intents, want) {
		t.Errorf("intents %q, want %q", intents, want)
	}
	press(app, "tab", "/", "q", "enter") // right cannot be filtered: q quits, enter is nobody's
	if app.filter != nil || len(p[1].got) != 1 {
		t.Errorf("a pane that cannot be filtered got %q", p[1].got)
	}
	press(app, "0", "7", "g")
	if !slices.Equal(p[2].got, []string{"g"}) {
		t.Errorf("other got %q", p[2].got)
	}
}

// TestZoomAndLayout checks which panes are on the screen.
func TestZoomAndLayout(t *testing.T) {
	app, _ := probes(t, nil)
	shows := func(want ...string) {
		t.Helper()
		screen := ansi.Strip(app.Content())
		screen = screen[:strings.LastIndex(screen, "\n")] // the footer names the pane that tab leads to
		for _, name := range []string{"left", "right", "other"} {
			if strings.Contains(screen, name) != slices.Contains(want, name) {
				t.Errorf("%s on the screen: %v", name, !slices.Contains(want, name))
			}
		}
	}
	shows("left", "right")
	press(app, "tab", "z")
	shows("right")
	press(app, "tab")
	shows("left")
	press(app, "esc", "+")
	shows("left", "right")
	if app.screen().layout != 1 {
		t.Error("+ does not change the layout")
	}
	press(app, "_", "_", "0", "z")
	shows("other")
}

// TestQuit leaves from the top level only, and asks while recording.
func TestQuit(t *testing.T) {
	quits := func(a *App, key string) bool {
		_, cmd := a.Update(Press(key))
		if cmd == nil {
			return false
		}
		msg := cmd()
		_, ok := msg.(tea.QuitMsg)
		if key == "ctrl+c" { // the owner may have more to end than this program
			_, ok = msg.(tea.InterruptMsg)
		}
		return ok
	}
	app, _ := probes(t, nil)
	if quits(app, "esc") || !quits(app, "q") || !quits(app, "ctrl+c") {
		t.Error("esc must not quit, q and ctrl+c must")
	}
	press(app, "?")
	if quits(app, "q") || len(app.dialogs) != 0 {
		t.Error("q in a dialog must close it")
	}
	send(app, Header{Recording: true})
	if quits(app, "q") || len(app.dialogs) != 1 {
		t.Error("q must ask while recording")
	}
	if quits(app, "n") || len(app.dialogs) != 0 {
		t.Error("n must not quit")
	}
	press(app, "q")
	if !quits(app, "y") {
		t.Error("y must quit")
	}
	press(app, "q")
	if !quits(app, "ctrl+c") {
		t.Error("ctrl+c must always quit")
	}
}

// TestDialogs asks the topmost first; those below wait.
func TestDialogs(t *testing.T) {
	app, p := probes(t, nil)
	picked := -1
	answered := false
	send(app, Open(&Choice{Name: "backend", Items: []string{"cpu", "cuda:0", "null"}, Active: 1, Pick: func(i int) tea.Cmd { picked = i; return nil }})(),
		Open(&Confirm{Name: "quit", Question: "Stop what is running?", Yes: func() tea.Msg { answered = true; return nil }})())
	press(app, "j", "x")
	if len(app.dialogs) != 2 || !strings.Contains(app.Content(), "Stop what is running?") {
		t.Error("a key that is no answer closed the question")
	}
	press(app, "y", "j", "enter")
	if !answered || picked != 2 || len(app.dialogs) != 0 {
		t.Errorf("answered %v, picked %d, %d dialogs left", answered, picked, len(app.dialogs))
	}
	if len(p[0].got) != 0 {
		t.Errorf("the pane below got %q", p[0].got)
	}
}

// TestHelp lists the keys of the focused pane and no others.
func TestHelp(t *testing.T) {
	app, _ := probes(t, nil)
	send(app, tea.WindowSizeMsg{Width: 120, Height: 60})
	press(app, "?")
	if s := ansi.Strip(app.Content()); !strings.Contains(s, "filter: text") || !strings.Contains(s, "next / previous pane") {
		t.Errorf("help lacks keys:\n%s", s)
	}
	press(app, "esc", "0", "?")
	if s := ansi.Strip(app.Content()); strings.Contains(s, "filter: text") || strings.Contains(s, "next / previous pane") {
		t.Errorf("help shows keys that do nothing:\n%s", s)
	}
}

// TestTheme follows the terminal until the user chooses.
func TestTheme(t *testing.T) {
	app, _ := probes(t, nil)
	if app.Init() == nil {
		t.Error("does not ask for the background")
	}
	dark := app.Content()
	send(app, tea.BackgroundColorMsg{Color: color.White})
	if app.look.Theme.Name != "light" || app.Content() == dark {
		t.Error("does not follow a light terminal")
	}
	press(app, "T")
	send(app, tea.BackgroundColorMsg{Color: color.White})
	if app.look.Theme.Name != "contrast" {
		t.Error("T does not stick")
	}
}

// TestNoColor emits no colour sequences without colours, and ASCII only in ASCII.
func TestNoColor(t *testing.T) {
	app := demoApp(t, Options{NoColor: true, ASCII: true})
	send(app, tea.WindowSizeMsg{Width: 120, Height: 40})
	for _, key := range []string{"1", "2", "3", "4", "5", "?"} {
		press(app, key)
		s := app.Content()
		if strings.Contains(s, "38;") || strings.Contains(s, "48;") {
			t.Errorf("screen %s has colours", key)
		}
		for _, r := range s {
			if r >= 0x7f {
				t.Fatalf("screen %s has %q", key, r)
			}
		}
	}
}

func TestResize(t *testing.T) {
	app, _ := probes(t, nil)
	_, cmd := app.Update(tea.WindowSizeMsg{Width: 40, Height: 30})
	if cmd == nil || fmt.Sprintf("%T", cmd()) != fmt.Sprintf("%T", tea.ClearScreen()) {
		t.Error("a new size must clear the screen")
	}
	if s := app.Content(); !strings.Contains(s, "is 40x30") || !strings.Contains(s, "needs 60x16") {
		t.Errorf("too small:\n%s", s)
	}
}

// TestPages turns the pages of a digit by pressing it, goes to one by a message, and comes back to the one that was shown last.
func TestPages(t *testing.T) {
	view := func(name string) []View { return []View{&probe{name: name}} }
	app, err := New(Config{Look: NewLook(Options{}), Screens: []*Screen{
		{Key: "1", Name: "one", Views: view("v1")}, {Key: "9", Name: "first", Views: view("p1")}, {Key: "9", Name: "second", Views: view("p2")}, {Key: "9", Name: "third", Views: view("p3")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		msg  tea.Msg
		want string
	}{
		{tea.KeyPressMsg{Code: '9', Text: "9"}, "first"}, {tea.KeyPressMsg{Code: '9', Text: "9"}, "second"}, {tea.KeyPressMsg{Code: '1', Text: "1"}, "one"},
		{tea.KeyPressMsg{Code: '9', Text: "9"}, "second"}, {GotoMsg{Screen: "9", Page: 3}, "third"}, {GotoMsg{Screen: "9"}, "third"},
		{tea.KeyPressMsg{Code: '9', Text: "9"}, "first"}, {GotoMsg{Screen: "9", Page: 7}, "first"}, {GotoMsg{Screen: "1", Page: 2}, "one"},
	} {
		app.Update(step.msg)
		tabs := app.tabs()
		if got := app.screen().Name; got != step.want || len(tabs.Names) != 2 || !strings.HasSuffix(tabs.Names[tabs.Active], " "+step.want) {
			t.Errorf("step %d shows %s, want %s; tabs %v", i+1, got, step.want, tabs)
		}
	}
}

// TestCheckKeys reports every collision.
func TestCheckKeys(t *testing.T) {
	view := func(keys ...Key) []View { return []View{&probe{name: "v", keys: keys}} }
	for _, c := range []struct {
		name    string
		screens []*Screen
		want    string // empty: no problem
	}{
		{"fine", []*Screen{{Key: "1", Views: view(append(FilterKeys(), K("x", "", "x"), K("enter", "", "open"))...)}}, ""},
		{"motion", []*Screen{{Key: "1", Views: view(K("j", "", "jump"))}}, "key j (jump) belongs to motion"},
		{"frame", []*Screen{{Key: "1", Views: view(K("z", "", "zap"))}}, "key z (zap) belongs to the frame"},
		{"intent", []*Screen{{Key: "1", Views: view(K("f", "", "flip"))}}, "key f (flip) belongs to next precision"},
		{"kept", []*Screen{{Key: "1", Views: view(K("m", "", "go"))}}, "key m (go) belongs to mark A"},
		{"digit", []*Screen{{Key: "1", Views: view(K("3", "", "three"))}}, "belongs to screens"},
		{"twice", []*Screen{{Key: "1", Views: view(K("x", "", "a"), K("x", "", "b"))}}, `key x means both "a" and "b"`},
		{"pages", []*Screen{{Key: "1", Views: view()}, {Key: "1", Views: view()}}, ""},
		{"screens", []*Screen{{Key: "1", Views: view()}, {Key: "2", Views: view()}, {Key: "1", Views: view()}}, "digit"},
		{"no digit", []*Screen{{Key: "a", Views: view()}}, "digit"},
		{"empty", []*Screen{{Key: "1"}}, "no views"},
	} {
		err := CheckKeys(c.screens, Intents())
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if err := CheckKeys(nil, []IntentKey{{Intent: Rerun, Key: K("q", "", "")}}); err == nil {
		t.Error("an intent on a key of the frame passes")
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		env      map[string]string
		terminal bool
		want     Options
		fails    bool
	}{
		{map[string]string{"TERM": "xterm-256color", "LANG": "en_US.UTF-8"}, true, Options{}, false},
		{map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, true, Options{NoColor: true}, false},
		{map[string]string{"TERM": "xterm", "LANG": "de_DE.ISO-8859-1"}, true, Options{ASCII: true}, false},
		{map[string]string{"TERM": "xterm", "LANG": "C", "LC_ALL": "C.utf8"}, true, Options{}, false},
		{map[string]string{"TERM": "xterm", "LC_ALL": "POSIX", "LANG": "C.UTF-8"}, true, Options{ASCII: true}, false},
		{map[string]string{"TERM": "linux"}, true, Options{ASCII: true}, false},
		{map[string]string{}, true, Options{}, false},
		{map[string]string{"TERM": "dumb"}, true, Options{}, true},
		{map[string]string{"TERM": "xterm"}, false, Options{}, true},
	} {
		got, err := Options{}.Detect(func(k string) string { return c.env[k] }, c.terminal)
		if got != c.want || (err != nil) != c.fails || err != nil && !errors.Is(err, ErrNoTerminal) {
			t.Errorf("%v: %v, %v", c.env, got, err)
		}
	}
}
