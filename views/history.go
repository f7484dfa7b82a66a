package views

import (
	"reflect"

	"github.com/trtui/trtui/sessions/config"
)

// history is which configuration is asked for, and how it came to that.
type history struct {
	want         config.Config
	past, future []config.Config
}

// change makes another configuration of the one that is asked for; it reports whether it is another one.
func (h *history) change(edit func(*config.Config)) bool {
	cfg := h.want.Clone()
	edit(&cfg)
	if reflect.DeepEqual(cfg, h.want) {
		return false
	}
	const depth = 200
	h.past = append(h.past[max(0, len(h.past)-depth):], h.want)
	h.want, h.future = cfg, nil
	return true
}

// undo goes back to the configuration that was asked for before, redo forth again; they report whether there was one.
func (h *history) undo() bool { return h.step(&h.past, &h.future) }

func (h *history) redo() bool { return h.step(&h.future, &h.past) }

func (h *history) step(from, to *[]config.Config) bool {
	n := len(*from)
	if n == 0 {
		return false
	}
	*to = append(*to, h.want)
	h.want, *from = (*from)[n-1], (*from)[:n-1]
	return true
}
