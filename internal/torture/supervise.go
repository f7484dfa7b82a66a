//go:build linux

package torture

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Supervisor runs hunts in workers until the time is up.
type Supervisor struct {
	Hunts []Hunt
	State *State
	Jobs  int           // workers at a time
	For   time.Duration // in all
	Only  []uint64      // the only numbers to try, in each hunt; nil: on from the state
	// Sample tries the first numbers of each hunt, as many as it says.
	Sample bool
	Out    io.Writer // for a person
	// Command returns the process that serves a hunt with files in the given folder; see [Hunt.Serve].
	Command func(ctx context.Context, hunt Hunt, dir string) *exec.Cmd

	alone sync.RWMutex // held for reading in each try, for writing in one that is to be alone
	mu    sync.Mutex
	left  map[string][]uint64 // of Only and Sample; nil: on from the state
	found int
}

// slice is how long a worker works before the hunts' shares are looked at again.
const slice = 30 * time.Second

// Run hunts, and returns how many findings there are that were not kept before.
func (s *Supervisor) Run(ctx context.Context) (int, error) {
	ctx, stop := context.WithTimeout(ctx, s.For)
	defer stop()
	s.list()
	var wait sync.WaitGroup
	errs := make([]error, s.Jobs)
	for i := range s.Jobs {
		wait.Go(func() {
			for ctx.Err() == nil && errs[i] == nil {
				h, ok := s.choose()
				if !ok {
					return
				}
				errs[i] = s.work(ctx, h)
			}
		})
	}
	wait.Wait()
	if err := s.State.save(); err != nil {
		return s.found, err
	}
	for _, err := range errs {
		if err != nil {
			return s.found, err
		}
	}
	return s.found, nil
}

// list makes the numbers that are to be tried, where there is an end of them.
func (s *Supervisor) list() {
	if s.Only == nil && !s.Sample {
		return
	}
	s.left = map[string][]uint64{}
	for _, h := range s.Hunts {
		s.left[h.Name] = s.Only
		for i := 0; s.Sample && i < h.Sample; i++ {
			s.left[h.Name] = append(s.left[h.Name], uint64(i))
		}
	}
}

// choose returns the hunt that has had the least of its share, and counts the coming slice to it.
func (s *Supervisor) choose() (best Hunt, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	least := 0.0
	for _, h := range s.Hunts {
		if s.left != nil && len(s.left[h.Name]) == 0 {
			continue
		}
		if had := s.State.of(h.Name).Spent.Seconds() / float64(h.Share); !ok || had < least {
			best, least, ok = h, had, true
		}
	}
	if ok {
		s.State.of(best.Name).Spent += min(slice, s.For)
	}
	return best, ok
}

// take returns the next number of a hunt.
func (s *Supervisor) take(hunt string) (uint64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left != nil {
		if len(s.left[hunt]) == 0 {
			return 0, false
		}
		n := s.left[hunt][0]
		s.left[hunt] = s.left[hunt][1:]
		return n, true
	}
	p := s.State.of(hunt)
	p.Next++
	return p.Next - 1, true
}

// work runs one worker for a slice of time. What ends it is a finding.
func (s *Supervisor) work(ctx context.Context, h Hunt) error {
	start := time.Now()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.State.of(h.Name).Spent += time.Since(start) - min(slice, s.For)
	}()
	dir, err := os.MkdirTemp("", "torture-"+h.Name+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w, err := s.start(ctx, h, dir)
	if err != nil {
		return err
	}
	defer w.end()
	counted, begun := map[string]int{}, time.Now() // what a worker prepares is no part of its slice
	for ctx.Err() == nil && time.Since(begun) < slice {
		number, ok := s.take(h.Name)
		if !ok {
			return nil
		}
		s.alone.RLock()
		r, died := w.try(ctx, h, s.State.seedOf(number))
		s.alone.RUnlock()
		if died != nil {
			r.Findings = append(r.Findings, *died)
		}
		if slices.ContainsFunc(r.Findings, isLate) {
			if err := s.again(ctx, h, dir, number, &r); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		if err := s.note(h, number, r, counted); err != nil || died != nil {
			return err
		}
	}
	return nil
}

func isLate(f Finding) bool { return f.Late }

// again repeats a try in which something was late, with nothing beside it: what is not late again was not to blame.
func (s *Supervisor) again(ctx context.Context, h Hunt, dir string, number uint64, r *result) error {
	s.alone.Lock()
	defer s.alone.Unlock()
	w, err := s.start(ctx, h, dir)
	if err != nil {
		return err
	}
	defer w.end()
	second, died := w.try(ctx, h, s.State.seedOf(number))
	if died != nil {
		second.Findings = append(second.Findings, *died)
	}
	if !slices.ContainsFunc(second.Findings, isLate) {
		fmt.Fprintf(s.Out, "%s %d: late once, in time when it was tried alone\n", h.Name, number)
		r.Findings = slices.DeleteFunc(r.Findings, isLate)
	}
	return nil
}

// note keeps what came of a try.
func (s *Supervisor) note(h Hunt, number uint64, r result, counted map[string]int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.State.of(h.Name)
	p.Tried++
	for name, n := range r.Count {
		p.Count[name] += n - counted[name]
		counted[name] = n
	}
	for _, f := range r.Findings {
		dir, isNew, err := s.State.keep(h.Name, number, f)
		if err != nil {
			return err
		}
		s.found++
		if isNew {
			fmt.Fprintf(s.Out, "%s %d: %s\n  %s\n", h.Name, number, firstLine(f.Kind), dir)
		}
	}
	if len(r.Findings) > 0 || p.Tried%16 == 0 {
		return s.State.save()
	}
	return nil
}

func firstLine(s string) string {
	for i, r := range s {
		if r == '\n' {
			return s[:i]
		}
	}
	return s
}

// worker is a process that serves a hunt.
type worker struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *tail
}

func (s *Supervisor) start(ctx context.Context, h Hunt, dir string) (*worker, error) {
	w := &worker{cmd: s.Command(ctx, h, dir), stderr: &tail{limit: 1 << 16}}
	w.cmd.Stderr = w.stderr
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	w.cmd.WaitDelay = time.Second
	w.cmd.Cancel = func() error { return syscall.Kill(-w.cmd.Process.Pid, syscall.SIGKILL) }
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.out = bufio.NewReader(out)
	return w, w.cmd.Start()
}

// end ends the process and all that it started.
func (w *worker) end() {
	w.in.Close()
	late := time.AfterFunc(3*time.Second, func() { _ = syscall.Kill(-w.cmd.Process.Pid, syscall.SIGKILL) })
	defer late.Stop()
	_ = w.cmd.Wait()
	_ = syscall.Kill(-w.cmd.Process.Pid, syscall.SIGKILL)
}

// try has a number tried. A worker that hangs, grows or ends is a finding.
func (w *worker) try(ctx context.Context, h Hunt, seed uint64) (r result, died *Finding) {
	if _, err := fmt.Fprintln(w.in, seed); err != nil {
		return r, w.obituary("the worker ended: " + err.Error())
	}
	lines := make(chan []byte, 1)
	go func() {
		line, err := w.out.ReadBytes('\n')
		if err != nil {
			line = nil
		}
		lines <- line
	}()
	late := time.After(h.Limit)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case line := <-lines:
			if line == nil {
				return r, w.obituary("the worker ended")
			}
			if err := json.Unmarshal(line, &r); err != nil {
				return r, w.obituary("the worker's answer: " + err.Error())
			}
			return r, nil
		case <-ctx.Done():
			return r, nil
		case <-late:
			_ = w.cmd.Process.Signal(syscall.SIGQUIT)
			<-lines
			f := w.obituary("it hangs")
			f.Late = true
			return r, f
		case <-tick.C:
			if m := Memory(w.cmd.Process.Pid); h.Memory > 0 && m > h.Memory {
				_ = w.cmd.Process.Signal(syscall.SIGQUIT)
				<-lines
				return r, w.obituary(fmt.Sprintf("it takes more than %d MiB", h.Memory>>20))
			}
		}
	}
}

// obituary is the finding of a worker that is no more, with what it said last.
func (w *worker) obituary(what string) *Finding {
	_ = w.cmd.Wait()
	said := w.stderr.String()
	return &Finding{Kind: what + ": " + said[:min(200, len(said))], Text: what + "\n" + said}
}
