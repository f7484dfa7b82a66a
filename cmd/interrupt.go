package cmd

import (
	"bytes"
	"fmt"
	"os"
	"time"

	"github.com/charmbracelet/x/term"
)

// interruptGrace is how long the workbench may take to end by itself once ctrl+c was pressed.
const interruptGrace = 300 * time.Millisecond

// keyboard is standard input, which is looked at for ctrl+c as it is read: the program takes one message after the other, and one that
// it is long at would have ctrl+c wait.
type keyboard struct {
	*os.File
	interrupted func() // is called once
	seen        bool
	pasting     bool
}

// How terminals send ctrl+c, and say that what follows is pasted.
var (
	interruptKeys = [][]byte{{0x03}, []byte("\x1b[99;5u"), []byte("\x1b[27;5;99~")}
	pasteBegins   = []byte("\x1b[200~")
	pasteEnds     = []byte("\x1b[201~")
)

// Read implements io.Reader.
func (k *keyboard) Read(b []byte) (int, error) {
	n, err := k.File.Read(b)
	if !k.seen && k.typed(b[:n]) {
		k.seen = true
		k.interrupted()
	}
	return n, err
}

// typed reports whether ctrl+c is in what was read and not in what is pasted.
func (k *keyboard) typed(b []byte) bool {
	for len(b) > 0 {
		edge := pasteBegins
		if k.pasting {
			edge = pasteEnds
		}
		part, rest, found := bytes.Cut(b, edge)
		if !k.pasting {
			for _, key := range interruptKeys {
				if bytes.Contains(part, key) {
					return true
				}
			}
		}
		if found {
			k.pasting = !k.pasting
		}
		b = rest
	}
	return false
}

// watchKeyboard returns standard input for a program that ends at ctrl+c: where it is not over soon after, since it is busy, the
// terminal is restored and the process ended.
func watchKeyboard(over <-chan struct{}) *keyboard {
	state, err := term.GetState(os.Stdin.Fd())
	if err != nil {
		return nil
	}
	return &keyboard{File: os.Stdin, interrupted: func() {
		go func() {
			select {
			case <-over:
			case <-time.After(interruptGrace):
				restoreTerminal(state)
				fmt.Fprintln(os.Stderr, "trtui: stopped")
				os.Exit(exitFailure)
			}
		}()
	}}
}
