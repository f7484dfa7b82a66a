package ui

import (
	"slices"
	"strings"
)

// Keys returns a text in which keys are named in braces, "press {f}", with the keys that a file of keys has put in their place, as
// people write them. A key of a screen is named with it: "{Tactics p}".
func (l *Look) Keys(text string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "{")
		name, after, closed := strings.Cut(rest, "}")
		b.WriteString(before)
		if !ok || !closed {
			return b.String()
		}
		context, key, of := strings.Cut(name, " ")
		if !of {
			context, key = Everywhere, name
		}
		if l.keyNow != nil {
			key = l.keyNow(context, key)
		}
		b.WriteString(l.Glyphs.keyName(key))
		text = after
	}
}

// Keys is that of the look.
func (c *Canvas) Keys(text string) string { return c.look.Keys(text) }

// keyNow returns the key that does now in a context what another one does by itself.
func keyNow(contexts []KeyContext) func(context, key string) string {
	return func(context, key string) string {
		if i := slices.IndexFunc(contexts, func(c KeyContext) bool { return c.Name == context }); i >= 0 {
			for _, k := range contexts[i].Keys {
				if n := slices.Index(k.Default, key); n >= 0 {
					return k.Keys[n]
				}
			}
		}
		return key
	}
}
