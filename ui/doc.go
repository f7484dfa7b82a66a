// Package ui is the frame and the widgets of the workbench. It knows nothing of
// networks, engines or sessions: it draws cells, routes keys and lays out panes.
//
// Where to start: a [View] is one pane; a [Screen] groups panes under a digit key
// with its layouts; an [App] is the only tea.Model, which routes messages to
// screens, keeps the dialog stack and composes the frame.
//
// Everything visible is drawn on a [Canvas], a grid of cells of which each holds
// one glyph and one semantic [Style]; the [Look] turns styles into escape
// sequences for the theme in use, so that no widget ever names a colour. A
// Canvas always renders to exactly its width and height in terminal cells.
//
// Widgets (Table, List, Text, Bars, Histogram, Map, Chart, ...) are plain structs
// with a Draw(*Canvas) method; those with a cursor also have Update(tea.Msg).
package ui
