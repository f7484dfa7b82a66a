package views

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/overview"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/pane/panetest"
)

// fake is a controller that shows one snapshot and keeps what it is asked for.
type fake struct {
	snap   *report.Snapshot
	set    []config.Config
	reruns int
	asked  []string // what else was asked for
	notes  []string
}

func (f *fake) Snapshot() *report.Snapshot { return f.snap }

func (f *fake) Events() <-chan *report.Snapshot { return nil }

func (f *fake) Set(c config.Config) { f.set = append(f.set, c) }

func (f *fake) Rerun() { f.reruns++ }

func (f *fake) Cancel() { f.asked = append(f.asked, "cancel") }

func (f *fake) Retime(layer string) { f.asked = append(f.asked, "retime "+layer) }

func (f *fake) Study(goal *report.Goal) {
	f.asked = append(f.asked, fmt.Sprint("study ", goal != nil))
}

func (f *fake) Split(axis string) { f.asked = append(f.asked, "split "+axis) }

func (f *fake) Ask(parts report.Parts) { f.asked = append(f.asked, fmt.Sprint("ask ", parts)) }

func (f *fake) Beside(configs []config.Config) {
	f.asked = append(f.asked, "beside "+strings.Join(config.Labels(configs, false), " "))
}

func (f *fake) Note(text string) { f.notes = append(f.notes, text) }

func (f *fake) DropTimings(all bool) { f.asked = append(f.asked, fmt.Sprint("drop all ", all)) }

// bench is a workbench in front of a fake controller.
type bench struct {
	t   testing.TB
	ctl *fake
	app *ui.App
	now time.Time
	due []reminder
}

// reminder is a message that the workbench has asked for.
type reminder struct {
	at  time.Time
	msg tea.Msg
}

func newBench(t testing.TB, o ui.Options, snap *report.Snapshot) *bench {
	t.Helper()
	b := &bench{t: t, ctl: &fake{snap: snap}, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	app, err := NewWorkbench(b.ctl, Options{Look: ui.NewLook(o), Hint: hinted, Now: b.clock, After: b.after})
	if err != nil {
		t.Fatal(err)
	}
	b.app = app
	b.size(80, 24)
	b.publish(snap)
	return b
}

// screenKeys returns the keys of all screens, as their tabs stand, but for some.
func screenKeys(without ...string) []string {
	w := &workbench{o: Options{Look: ui.NewLook(ui.Options{})}, snap: &report.Snapshot{}}
	var list []string
	for _, s := range w.screens() {
		if !slices.Contains(without, s.Key) {
			list = append(list, s.Key)
		}
	}
	return list
}

// hinted names a fact in place of what helps with it.
func hinted(f pane.Fact) string { return strings.TrimPrefix(fmt.Sprintf("%#v", f), "pane.") }

// publish sends a snapshot the way a session does: over a channel that the workbench listens on.
func (b *bench) publish(snap *report.Snapshot) {
	b.pass(time.Second)
	b.ctl.snap = snap
	events := make(chan *report.Snapshot, 1)
	events <- snap
	close(events)
	b.send(ui.Listen(events)())
}

func (b *bench) size(w, h int) { b.app.Update(tea.WindowSizeMsg{Width: w, Height: h}) }

// after notes a message that is given when its time has come.
func (b *bench) after(d time.Duration, msg tea.Msg) tea.Cmd {
	b.due = append(b.due, reminder{b.now.Add(d), msg})
	return nil
}

// pass lets time go by, and gives what comes due.
func (b *bench) pass(d time.Duration) {
	end := b.now.Add(d)
	for {
		next := -1
		for i, r := range b.due {
			if !r.at.After(end) && (next < 0 || r.at.Before(b.due[next].at)) {
				next = i
			}
		}
		if next < 0 {
			b.now = end
			return
		}
		r := b.due[next]
		b.due, b.now = slices.Delete(b.due, next, next+1), r.at
		b.send(r.msg)
	}
}

// send gives a message to the workbench, and then what its commands return.
func (b *bench) send(msg tea.Msg) {
	_, cmd := b.app.Update(msg)
	b.run(cmd)
}

func (b *bench) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			b.run(c)
		}
	default:
		b.send(msg)
	}
}

// press presses keys, named as Bubble Tea names them.
func (b *bench) press(names ...string) {
	for _, n := range names {
		b.send(ui.Press(n))
	}
}

// screen returns the picture without styles.
func (b *bench) screen() string { return ansi.Strip(b.app.Content()) }

func (b *bench) wants(texts ...string) {
	b.t.Helper()
	screen := b.screen()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			b.t.Errorf("the screen does not show %q:\n%s", text, screen)
			return
		}
	}
}

func (b *bench) lacks(texts ...string) {
	b.t.Helper()
	screen := b.screen()
	for _, text := range texts {
		if strings.Contains(screen, text) {
			b.t.Errorf("the screen shows %q:\n%s", text, screen)
			return
		}
	}
}

// last returns the configuration that was asked for last.
func (b *bench) last() config.Config {
	b.t.Helper()
	if len(b.ctl.set) == 0 {
		b.t.Fatal("no configuration was asked for")
	}
	return b.ctl.set[len(b.ctl.set)-1]
}

// TestGolden keeps the picture of every screen.
func TestGolden(t *testing.T) {
	snap := panetest.Fixture(t)
	for _, look := range []struct {
		name string
		o    ui.Options
	}{{"dark", ui.Options{Theme: "dark"}}, {"mono", ui.Options{NoColor: true}}} {
		for _, size := range [][2]int{{80, 24}, {100, 30}, {120, 40}, {160, 50}} {
			if look.name == "mono" && size[0] == 120 || look.name == "dark" && size[0] == 100 {
				continue
			}
			b := newBench(t, look.o, snap)
			b.size(size[0], size[1])
			seen := map[string]int{}
			for _, digit := range screenKeys() {
				name := digit
				if seen[digit]++; seen[digit] > 1 {
					name = fmt.Sprintf("%s_page%d", digit, seen[digit])
				}
				t.Run(fmt.Sprintf("%s_%dx%d_%s", look.name, size[0], size[1], name), func(t *testing.T) {
					b.press(digit)
					golden.RequireEqual(t, b.app.Content())
				})
			}
		}
	}
}

// TestGoldenStates keeps the picture of panes in other states.
func TestGoldenStates(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []string
	}{
		{"graph_pass", []string{"2", "[", "[", "[", "a"}},
		{"graph_members", []string{"2", "tab", "down", "down", "i", "e"}},
		{"graph_rules", []string{"2", "[", "]"}},
		{"graph_toggle", []string{"2", "tab", "down", "x"}},
		{"timings_type", []string{"3", "a", "o", "o", "%"}},
		{"timings_trace", []string{"3", "v", "L", "t"}},
		{"memory_step", []string{"4", "right", "right", "i", "tab"}},
		{"calibration_kl", []string{"5", "down", "down", "C", "L"}},
		{"calibration_weights", []string{"5", "down", "down", "v", "tab", "tab", "right", "right", "s"}},
		{"accuracy_tolerance", []string{"6", ">", ">", ">", "F", "s"}},
		{"accuracy_strip", []string{"6", "down", "down", "e", "+"}},
		{"tactics_candidates", []string{"7", "down", "down", "tab", "down"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
			b.size(120, 40)
			b.press(c.keys...)
			golden.RequireEqual(t, b.app.Content())
		})
	}
}

// boxed returns the lines of the box of a text, what is inside it.
func boxed(text string) (lines [][]rune) {
	for line := range strings.SplitSeq(text, "\n") {
		if inside, ok := strings.CutPrefix(line, "│ "); ok {
			lines = append(lines, []rune(inside))
		}
	}
	return lines
}

// TestOverviewText keeps what is printed where there is no terminal.
func TestOverviewText(t *testing.T) {
	whole := ansi.Strip(overview.Text(panetest.Fixture(t), 0))
	golden.RequireEqual(t, whole)
	for _, width := range []int{60, 80, 100, 200} {
		text := ansi.Strip(overview.Text(panetest.Fixture(t), width))
		for _, line := range strings.Split(text, "\n") {
			if ui.Width(line) > width {
				t.Errorf("for %d cells a line has %d: %q", width, ui.Width(line), line)
			}
		}
		for i, line := range boxed(text) { // what is broken stays in its column
			if name := strings.TrimSpace(string(line[:15])); name != "" && !strings.Contains(whole, "│ "+name) || i == 0 && name == "" {
				t.Errorf("for %d cells a line begins with %q:\n%s", width, name, text)
			}
		}
		if got := strings.Contains(text, "conv_int8"); got != (width >= 100) {
			t.Errorf("at %d cells tactics are shown: %v", width, got)
		}
	}
}

// TestBeforeReports draws every screen while reports are still missing, and says what is awaited.
func TestBeforeReports(t *testing.T) {
	whole := panetest.Fixture(t)
	empty := &report.Snapshot{Seq: 1, Config: whole.Config, Busy: &report.Progress{Phase: "collecting activations", Done: 12, Total: 300}}
	b := newBench(t, ui.Options{}, empty)
	for _, digit := range screenKeys("9", "0") {
		b.press(digit)
		b.wants("collecting activations 12/300", "will follow")
	}
	failed := *empty
	failed.Busy, failed.Err, failed.Seq = nil, "layer Conv_3: no tactic", 2
	b.publish(&failed)
	b.press("3")
	b.wants("layer Conv_3: no tactic", "ERROR")
	stale := *whole
	stale.Stale = report.PartTimings | report.PartPasses | report.PartMemory | report.PartCalibration | report.PartAccuracy | report.PartTactics | report.PartRuntime
	b.publish(&stale)
	for _, digit := range screenKeys("1", "9", "0") {
		b.press(digit)
		b.wants("stale", "STALE")
	}
}

// TestSizes draws every screen at odd sizes with keys pressed, which must not panic, nor give lines of another width, nor in ASCII
// anything else.
func TestSizes(t *testing.T) {
	b := newBench(t, ui.Options{ASCII: true}, panetest.Fixture(t))
	for _, size := range [][2]int{{80, 24}, {85, 24}, {119, 25}, {133, 61}, {300, 90}, {20, 5}} {
		b.size(size[0], size[1])
		for _, digit := range screenKeys() {
			b.press(digit)
			for range 4 {
				b.press("tab", "down", "G", "right", "v", "a", "[", "L", "i", "e", "s", "C", "z")
				for i, line := range strings.Split(b.screen(), "\n") {
					if ui.Width(line) != size[0] {
						t.Fatalf("%v screen %s: line %d has %d cells", size, digit, i, ui.Width(line))
					}
					if strings.ContainsFunc(line, func(r rune) bool { return r > unicode.MaxASCII }) {
						t.Fatalf("%v screen %s: line %d is not ASCII: %q", size, digit, i, line)
					}
				}
				b.press("esc", "esc")
			}
		}
	}
}
