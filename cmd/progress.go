package cmd

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/trtui/trtui/sessions/report"
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
	now   report.Progress
	shown time.Time // last; at first when it began: what is over at once is not shown
	quit  chan struct{}
	done  chan struct{}
}

// reporter returns a function that takes what is being done, and one that ends its being shown: on one line of w, where
// that is a terminal, and else on a line now and then, so that a long wait is not silent; not with --verbose, whose lines
// tell what was done.
func (o *outputFlags) reporter(w io.Writer) (report func(report.Progress), stop func()) {
	if o.quiet || o.verbose {
		return nil, func() {}
	}
	out, ok := w.(*textOutput)
	if !ok {
		out = &textOutput{w: w}
	}
	p := &progressWriter{w: out, began: time.Now(), shown: time.Now(), quit: make(chan struct{}), done: make(chan struct{})}
	every := progressElse
	if isTerminal(w) {
		if p.width, every = terminalWidth(w), progressRefresh; os.Getenv("TERM") == "dumb" {
			p.width, every = 0, progressDumb
		}
	}
	go p.run(every)
	return p.report, p.stop
}

func (p *progressWriter) report(now report.Progress) {
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
	s := progressText(p.now, time.Since(p.began))
	if p.width == 0 {
		fmt.Fprintln(p.w, s)
		return
	}
	p.w.showLine(ui.Truncate(s, p.width-1, '…'), p.width-1)
}

// progressText prints progress as in "timing tactics 12/40 (30%, 8 s, about 20 s left): conv1": what is at hand comes last,
// since it may be long.
func progressText(p report.Progress, elapsed time.Duration) string {
	var notes []string
	if f := p.Fraction(); f >= 0 {
		notes = append(notes, fmt.Sprintf("%.0f%%", 100*f))
	}
	if elapsed >= 2*time.Second {
		notes = append(notes, fmt.Sprintf("%.0f s", elapsed.Seconds()))
	}
	if p.Left > 0 {
		notes = append(notes, "about "+ui.Roughly(p.Left)+" left")
	}
	s := p.Counted()
	if len(notes) > 0 {
		s += " (" + strings.Join(notes, ", ") + ")"
	}
	if p.Item != "" {
		s += ": " + p.Item
	}
	return s
}

// stop ends it, and leaves the terminal's line empty.
func (p *progressWriter) stop() {
	close(p.quit)
	<-p.done
	p.w.endLine()
}
