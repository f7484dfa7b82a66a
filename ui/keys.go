package ui

import (
	"errors"
	"fmt"
	"slices"
)

// An Intent is a wish that the frame cannot fulfil itself: it goes to the owner
// of the App.
type Intent string

// The intents of the workbench, with the keys that [Intents] binds them to.
const (
	NextPrecision  Intent = "next precision"     // f
	NextCalibrator Intent = "next calibrator"    // c
	Rerun          Intent = "re-run"             // r
	Rebuild        Intent = "rebuild"            // R
	Record         Intent = "record"             // w
	SaveConfig     Intent = "save configuration" // W
	Undo           Intent = "undo"               // u
	Redo           Intent = "redo"               // ctrl+r
	MarkA          Intent = "mark A"             // m
	MarkB          Intent = "mark B"             // M
	Compare        Intent = "compare"            // d

	SavePicture Intent = "save picture" // ctrl+s
	CopyRow     Intent = "copy row"     // y
	CopyPane    Intent = "copy pane"    // Y

	GoTo   Intent = "go to layer" // enter, where a pane has no use of its own for it
	Return Intent = "return"      // backspace; esc means it, too, where it has nothing else to go back from

	// Cancel is what esc means where it has nothing to go back from: stop what is running, unless the owner says otherwise by
	// a key of its own.
	Cancel Intent = "cancel"
)

// IntentKey binds a key to an intent.
type IntentKey struct {
	Intent Intent
	Key
	// Yields says that a pane may have the key for itself: it is the intent's where the pane's does nothing.
	Yields bool
}

// Intents returns the usual keys of the intents. An owner passes those that it
// serves to the App, so that the help lists no others.
func Intents() []IntentKey {
	return []IntentKey{
		{Intent: NextPrecision, Key: K("f", "precision", "next precision: FP32, FP16, INT8")},
		{Intent: NextCalibrator, Key: K("c", "calibrator", "next calibrator")},
		{Intent: Rerun, Key: K("r", "run", "run the inference again")},
		{Intent: Rebuild, Key: K("R", "", "rebuild the engine")},
		{Intent: Record, Key: K("w", "", "start or stop recording")},
		{Intent: SaveConfig, Key: K("W", "", "save the configuration to a file, for --config")},
		{Intent: Undo, Key: K("u", "", "undo the last change of the configuration")},
		{Intent: Redo, Key: K("ctrl+r", "", "redo the change that was undone")},
		{Intent: SavePicture, Key: K("ctrl+s", "", "save the screen as a picture (SVG) in the folder trtui was started in; the palette has PNG and HTML")},
		{Intent: CopyRow, Key: K("y", "", "copy the row under the cursor to the clipboard, where the terminal allows it: its cells with tabs between them")},
		{Intent: CopyPane, Key: K("Y", "", "copy the text of the pane to the clipboard")},
		{Intent: GoTo, Key: K("enter", "go to", "show the layer under the cursor on another screen"), Yields: true},
		{Intent: Return, Key: K("backspace", "", "back to where enter led from; esc does it, too")},
		{Intent: MarkA, Key: K("m", "", "mark what is under the cursor, or else what is shown, as A")},
		{Intent: MarkB, Key: K("M", "", "mark it as B")},
		{Intent: Compare, Key: K("d", "", "compare A and B; what is not marked is what is shown")},
	}
}

// The keys that every footer has: helpKey lists the keys, quitKey ends the program.
var (
	helpKey = K("?", "help", "this help")
	quitKey = K("q", "quit", "quit")
)

// frameKeys returns the keys of the frame that are valid on screen s.
func frameKeys(s *Screen) []Key {
	keys := []Key{
		helpKey,
		K(":", "", "find a command by its name, of any screen").Called("commands"),
		K("esc", "", "back: close, leave zoom, clear the filter; otherwise stop what is running").Called("back"),
		quitKey,
		K("ctrl+c", "", "quit at once").Called("interrupt"),
		K("ctrl+z", "", "suspend, where the shell supports it").Called("suspend"),
		K("space", "freeze", "freeze or unfreeze the screen"),
		K("T", "", "next theme: dark, light, strong contrast, for colour-blind eyes").Called("theme"),
	}
	if len(s.Views) > 1 {
		keys = append(keys, paneKey("pane"),
			K("z", "zoom", "show the focused pane alone, or all panes"))
	}
	if s.pages > 1 {
		keys = append(keys, pageKey(s, "page"))
	}
	if len(s.Layouts) > 1 {
		keys = append(keys, Key{Keys: []string{"+", "_"}, Long: "next / previous layout", Name: "layout"})
	}
	return keys
}

// paneKey moves the focus; short is what the footer says of it.
func paneKey(short string) Key {
	return Key{Keys: []string{"tab", "shift+tab"}, Short: short, Long: "next / previous pane"}
}

// pageKey turns the pages of a screen; short is what the footer says of it.
func pageKey(s *Screen, short string) Key {
	return K(s.Key, short, "next page of this screen").Called("page")
}

// reserved returns the keys that no view may use for itself: those of the frame
// on any screen, motion, the digits, and those of the owner.
func reserved(intents []IntentKey) map[string]string {
	taken := map[string]string{}
	for _, k := range frameKeys(wholeScreen()) {
		for _, name := range k.Keys {
			taken[name] = "the frame (" + k.Long + ")"
		}
	}
	for _, k := range MotionKeys() {
		for _, name := range k.Keys {
			taken[name] = "motion (" + k.Long + ")"
		}
	}
	for _, name := range []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"} {
		taken[name] = "screens"
	}
	for _, k := range intents {
		for _, name := range k.Keys {
			if !k.Yields {
				taken[name] = string(k.Intent)
			}
		}
	}
	return taken
}

// CheckKeys reports every key that means two things: in one view, or in a view
// and in the frame; and screens that share a digit and do not follow each other, or have no views.
func CheckKeys(screens []*Screen, intents []IntentKey) error {
	var problems []error
	taken := reserved(intents)
	inFrame := reserved(nil)
	for _, k := range intents {
		for _, name := range k.Keys {
			if what, ok := inFrame[name]; ok && !(k.Intent == Cancel && name == "esc") {
				problems = append(problems, fmt.Errorf("key %s: both %s and %s", name, k.Intent, what))
			}
		}
	}
	digits := map[string]string{}
	for i, s := range screens {
		if other, ok := digits[s.Key]; ok && screens[i-1].Key != s.Key || len(s.Key) != 1 || s.Key[0] < '0' || s.Key[0] > '9' {
			problems = append(problems, fmt.Errorf("screen %s: digit %q is taken by %q or is none", s.Name, s.Key, other))
		}
		digits[s.Key] = s.Name
		if len(s.Views) == 0 {
			problems = append(problems, fmt.Errorf("screen %s: no views", s.Name))
		}
		for _, v := range s.Views {
			problems = append(problems, checkView(s, v, taken)...)
		}
	}
	return errors.Join(problems...)
}

func checkView(s *Screen, v View, taken map[string]string) (problems []error) {
	own := map[string]string{}
	for _, k := range v.Keys() {
		for _, name := range k.Keys {
			if what, ok := taken[name]; ok {
				problems = append(problems, fmt.Errorf("screen %s, %s: key %s (%s) belongs to %s", s.Name, v.Title(), name, k.Long, what))
			}
			if what, ok := own[name]; ok {
				problems = append(problems, fmt.Errorf("screen %s, %s: key %s means both %q and %q", s.Name, v.Title(), name, what, k.Long))
			}
			own[name] = k.Long
		}
	}
	return problems
}

// find returns the one of keys that is named name.
func find(keys []Key, name string) (Key, bool) {
	i := slices.IndexFunc(keys, func(k Key) bool { return slices.Contains(k.Keys, name) })
	if i < 0 {
		return Key{}, false
	}
	return keys[i], true
}

// has reports whether one of keys is named name.
func has(keys []Key, name string) bool {
	_, ok := find(keys, name)
	return ok
}

// working returns those of keys that do something in the state at hand.
func working(keys []Key) []Key {
	return slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return k.Off != "" })
}
