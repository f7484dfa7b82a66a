package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/ui"
)

// How often progress is shown: on the one line of a terminal, on a terminal that cannot go back on its line, and elsewhere,
// as in a file.
const (
	progressRefresh = 100 * time.Millisecond
	progressDumb    = 2 * time.Second
	progressElse    = 10 * time.Second
)

// progressWriter shows what is being done.
type progressWriter struct {
	mu    sync.Mutex
	w     *textOutput
	width int // of the terminal whose line is rewritten; 0: lines follow one another
	began time.Time
	now   sessions.Progress
	shown time.Time
	quit  chan struct{}
	done  chan struct{}
}

// reporter returns a function that takes what is being done, and one that ends its being shown: on one line of w, where
// that is a terminal, and else on a line now and then, so that a long wait is not silent; not with --verbose, whose lines
// tell what was done.
func (o *options) reporter(w io.Writer) (report func(sessions.Progress), stop func()) {
	if o.quiet || o.verbose {
		return nil, func() {}
	}
	out, ok := w.(*textOutput)
	if !ok {
		out = &textOutput{w: w}
	}
	p := &progressWriter{w: out, began: time.Now(), quit: make(chan struct{}), done: make(chan struct{})}
	every := progressElse
	if isTerminal(w) {
		if p.width, every = terminalWidth(w), progressRefresh; os.Getenv("TERM") == "dumb" {
			p.width, every = 0, progressDumb
		}
	}
	go p.run(every)
	return p.report, p.stop
}

func (p *progressWriter) report(now sessions.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = now
	if p.width > 0 && time.Since(p.shown) >= progressRefresh {
		p.show()
	}
}

// run shows progress at intervals: a step may take long.
func (p *progressWriter) run(every time.Duration) {
	defer close(p.done)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-tick.C:
			p.mu.Lock()
			if p.now.Phase != "" && (p.width == 0 || time.Since(p.shown) >= time.Second) {
				p.show()
			}
			p.mu.Unlock()
		}
	}
}

func (p *progressWriter) show() {
	p.shown = time.Now()
	s := progressText(p.now)
	if elapsed := time.Since(p.began); elapsed >= 2*time.Second {
		s += fmt.Sprintf(" (%.0f s)", elapsed.Seconds())
	}
	if p.width == 0 {
		fmt.Fprintln(p.w, s)
		return
	}
	p.w.showLine(ui.Truncate(s, p.width-1, '…'), p.width-1)
}

// stop ends it, and leaves the terminal's line empty.
func (p *progressWriter) stop() {
	close(p.quit)
	<-p.done
	p.w.endLine()
}

// progressText prints progress as in "timing tactics 12/40: conv1".
func progressText(p sessions.Progress) string {
	s := p.Phase
	if p.Total > 0 {
		s += " " + strconv.Itoa(p.Done) + "/" + strconv.Itoa(p.Total)
	}
	if p.Item != "" {
		s += ": " + p.Item
	}
	return s
}
