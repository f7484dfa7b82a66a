package ui

import tea "charm.land/bubbletea/v2"

// Entry is something that the palette has besides keys and screens.
type Entry struct {
	Text, Where string
	Words       []string // by which people look for it, too
	Run         tea.Cmd
	Setting     *Setting // nil: it takes no value
}

// Setting is what an entry sets to a value, which is typed behind the entry's name, as in "batch 4", or asked for.
type Setting struct {
	Name, Form string // Form says how values are written
	Value      func() string
	Check      func(value string) error   // says what is wrong with a value
	Set        func(value string) tea.Cmd // in an update of the App
}

// ask asks for the value.
func (s *Setting) ask() tea.Cmd {
	return Open(&Ask{Name: s.Name, Hint: s.Form, Text: s.Value(), Empty: true, Check: s.Check, Take: s.Set})
}

// typed is the command of a value that was typed behind the name.
func (s *Setting) typed(value string) command {
	if err := s.Check(value); err != nil {
		off := err.Error()
		return command{text: s.Name + " " + value, where: "set", off: off, sets: func() tea.Cmd {
			return func() tea.Msg { return StatusMsg{Text: off, Style: Bad} }
		}}
	}
	return command{text: s.Name + " " + value, where: "set", sets: func() tea.Cmd { return s.Set(value) }}
}

// Also returns the key with words by which people look in the palette for what it does.
func (k Key) Also(words ...string) Key {
	k.Words = words
	return k
}
