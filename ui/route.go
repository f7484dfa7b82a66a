package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// key routes a key: the dialog on top, then the filter line, then the focused
// view if the key is one of its own, then frame and owner.
func (a *App) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	if name == "ctrl+c" {
		return tea.Interrupt
	}
	a.status = StatusMsg{}
	switch {
	case a.tooSmall() && name == "q":
		return a.quit()
	case a.dialog() != nil && a.pictures(name):
		return a.intend(SavePicture)
	case a.dialog() != nil:
		return a.dialogKey(msg)
	case a.filter != nil:
		return a.filterKey(msg)
	}
	s := a.screen()
	view := s.focused()
	pressed := name
	if name = a.meant(s, pressed); name == "" {
		return a.nothing(pressed)
	}
	if name != pressed {
		msg = Press(name)
	}
	switch {
	case name == "/" && has(view.Keys(), "/"):
		line := NewLine(s.panes[s.focus].filter)
		a.filter = &line
		return nil
	case (name == "n" || name == "N") && has(view.Keys(), "/"):
		return a.match(name)
	case has(MotionKeys(), name):
		return s.update(s.focus, msg)
	case name == "esc": // an intent has it only where there is nothing to go back from
		return a.back()
	}
	own, ok := find(view.Keys(), name)
	if ok && own.Off == "" {
		return s.update(s.focus, msg)
	}
	for _, k := range a.intents {
		if slices.Contains(k.Keys, name) && (!ok || k.Yields && a.lacks(k.Intent) == "") {
			return a.intend(k.Intent)
		}
	}
	if ok {
		return a.say(StatusMsg{Text: own.Off, Style: Warn})
	}
	return a.frameKey(name)
}

// pictures reports whether a key saves the screen as a picture, which it does in front of a dialog, too, and is no letter of a text.
func (a *App) pictures(name string) bool {
	meant := a.meant(a.screen(), name)
	return len(name) > 1 && slices.ContainsFunc(a.intents, func(k IntentKey) bool { return k.Intent == SavePicture && slices.Contains(k.Keys, meant) })
}

// intend gives an intent to the owner, or says why it would do nothing.
func (a *App) intend(i Intent) tea.Cmd {
	if a.onIntent == nil {
		return nil
	}
	if why := a.lacks(i); why != "" {
		return a.say(StatusMsg{Text: why, Style: Warn})
	}
	return a.onIntent(i)
}

// frameKey handles the keys of the frame itself.
func (a *App) frameKey(name string) tea.Cmd {
	s := a.screen()
	switch name {
	case "q":
		return a.quit()
	case ":":
		a.dialogs = append(a.dialogs, newPalette(a))
	case "?":
		a.dialogs = append(a.dialogs, newHelp(a, s))
	case "tab":
		s.cycleFocus(1)
	case "shift+tab":
		s.cycleFocus(-1)
	case "z":
		s.zoomed = !s.zoomed && len(s.Views) > 1
	case "+":
		s.cycleLayout(1)
	case "_":
		s.cycleLayout(-1)
	case "T":
		a.look.nextTheme()
	case "ctrl+z":
		return tea.Suspend
	case "space":
		return a.freeze()
	default:
		if !a.turn(name) {
			return a.nothing(name)
		}
	}
	return nil
}

// nothing says that a key does nothing.
func (a *App) nothing(name string) tea.Cmd {
	help := a.keys.of(Everywhere, helpKey).Keys[0]
	return a.say(StatusMsg{Text: name + " does nothing here; " + help + " lists the keys that do"})
}

// back undoes the last narrowing of what is shown, or else stops what is running or leaves what is shown; it never quits.
func (a *App) back() tea.Cmd {
	s := a.screen()
	p := &s.panes[s.focus]
	switch {
	case s.zoomed:
		s.zoomed = false
	case p.filter != "":
		return a.setFilter("")
	case a.onIntent != nil && a.serves(Return) && a.lacks(Return) == "":
		return a.onIntent(Return)
	case a.onIntent != nil && a.lacks(Cancel) == "":
		return a.onIntent(Cancel)
	}
	return nil
}

// quit asks first while a recording runs.
func (a *App) quit() tea.Cmd {
	if !a.header.Recording || a.tooSmall() {
		return tea.Quit
	}
	a.dialogs = append(a.dialogs, &Confirm{Name: "Quit", Question: "A recording is running. Stop it and quit?", Yes: tea.Quit})
	return nil
}

func (a *App) dialogKey(msg tea.Msg) tea.Cmd {
	top := len(a.dialogs) - 1
	if keyOf(msg) == "esc" {
		closing, ok := a.dialogs[top].(Closing)
		a.dialogs = a.dialogs[:top]
		if ok {
			return closing.Closed()
		}
		return nil
	}
	closed, cmd := a.dialogs[top].Update(msg)
	if closed {
		a.dialogs = slices.Delete(a.dialogs, top, top+1)
	}
	return cmd
}

// filterKey edits the filter line; the pane follows every keystroke.
func (a *App) filterKey(msg tea.Msg) tea.Cmd {
	switch keyOf(msg) {
	case "enter":
		a.filter = nil
		return nil
	case "esc":
		a.filter = nil
		return a.setFilter("")
	}
	if !a.filter.Update(msg) {
		return nil
	}
	return a.setFilter(a.filter.String())
}

// match goes to the next or previous match, if the focused view is filtered.
func (a *App) match(name string) tea.Cmd {
	s := a.screen()
	switch {
	case s.panes[s.focus].filter == "":
		return nil
	case name == "N":
		return s.update(s.focus, MatchMsg{-1})
	}
	return s.update(s.focus, MatchMsg{1})
}

// setFilter filters the focused view, and those that are linked to it; the focused one last, whose cursor the others follow.
func (a *App) setFilter(source string) tea.Cmd {
	s, filter := a.screen(), FilterMsg{ParseFilter(source)}
	var cmds []tea.Cmd
	set := func(i int) {
		s.panes[i].filter, s.panes[i].valid = source, false
		cmds = append(cmds, s.update(i, filter))
	}
	for _, i := range s.filtered() {
		if i != s.focus {
			set(i)
		}
	}
	set(s.focus)
	return tea.Batch(cmds...)
}

func (a *App) paste(msg tea.PasteMsg) tea.Cmd {
	switch {
	case a.dialog() != nil:
		return a.dialogKey(msg)
	case a.filter != nil:
		return a.filterKey(msg)
	}
	return nil
}
