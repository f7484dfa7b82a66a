package ui

import tea "charm.land/bubbletea/v2"

// Entry is something that the palette has besides keys and screens.
type Entry struct {
	Text, Where string
	Words       []string // by which people look for it, too
	Run         tea.Cmd
}

// Also returns the key with words by which people look in the palette for what it does.
func (k Key) Also(words ...string) Key {
	k.Words = words
	return k
}
