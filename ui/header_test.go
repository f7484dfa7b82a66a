package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	tea "charm.land/bubbletea/v2"
)

// TestTabs shortens all names alike, as far as the line asks for, and the active one last.
func TestTabs(t *testing.T) {
	names := []string{"1 Overview", "2 Graph", "3 Timings", "4 Memory", "5 Calibration", "0 Log"}
	for _, c := range []struct {
		w, active int
		want      string
	}{
		{80, 0, " 1 Overview  2 Graph  3 Timings  4 Memory  5 Calibration  0 Log"},
		{61, 1, " 1 Overview 2 Graph 3 Timings 4 Memory 5 Calibration 0 Log"},
		{46, 4, " 1 Over 2 Graph 3 Timi 4 Memory 5 Cali 0 Log"},
		{46, 0, " 1 Over 2 Graph 3 Timi 4 Memory 5 Cali 0 Log"},
		{38, 4, " 1 Ove 2 Gra 3 Tim 4 Mem 5 Cal 0 Log"},
		{33, 4, " 1  2  3  4  5 Calibration  0"},
		{25, 0, " 1 Overview 2 3 4 5 0"},
		{20, 4, " 5 Calibration"},
		{4, 4, " 5 C"},
	} {
		got := NewLook(Options{}).Render(c.w, 1, Tabs{Names: names, Active: c.active}.Draw)
		if got = strings.TrimRight(ansi.Strip(got), " "); got != c.want {
			t.Errorf("%d cells: %q, want %q", c.w, got, c.want)
		}
	}
}

// TestShortTabs takes short words for those names that have no room, and cuts them only where these have none either.
func TestShortTabs(t *testing.T) {
	tabs := Tabs{
		Names: []string{"1 Overview", "2 Graph", "3 Timings", "4 Memory", "5 Calibration", "0 Log"},
		Short: []string{"Over", "", "Time", "Mem", "Calib", ""},
	}
	for _, c := range []struct {
		w    int
		want string
	}{
		{61, " 1 Overview 2 Graph 3 Timings 4 Memory 5 Calibration 0 Log"},
		{57, " 1 Overview 2 Graph 3 Timings 4 Memory 5 Calib 0 Log"},
		{50, " 1 Over 2 Graph 3 Timings 4 Memory 5 Calib 0 Log"},
		{43, " 1 Over 2 Graph 3 Time 4 Mem 5 Calib 0 Log"},
		{38, " 1 Ove 2 Gra 3 Tim 4 Mem 5 Cal 0 Log"},
	} {
		got := NewLook(Options{}).Render(c.w, 1, tabs.Draw)
		if got = strings.TrimRight(ansi.Strip(got), " "); got != c.want {
			t.Errorf("%d cells: %q, want %q", c.w, got, c.want)
		}
	}
}

// TestJobTime draws how long a job has been running, also while it reports nothing, and stops with the job.
func TestJobTime(t *testing.T) {
	app, _ := probes(t, nil)
	now := time.Unix(100, 0)
	app.now = func() time.Time { return now }
	_, cmd := app.Update(Header{Job: &Job{Phase: "packing weights", Done: -1, Start: now}})
	if cmd == nil || !app.beating {
		t.Fatal("nothing draws the time of a job that reports nothing")
	}
	for _, c := range []struct {
		after time.Duration
		want  string
	}{{1500 * time.Millisecond, " 1.5 s "}, {59960 * time.Millisecond, " 0:59 "}, {75 * time.Second, " 1:15 "}} {
		now = time.Unix(100, 0).Add(c.after)
		app.Update(beatMsg{})
		if s := ansi.Strip(app.Content()); !strings.Contains(s, "packing weights") || !strings.Contains(s, c.want) {
			t.Errorf("no %q in\n%s", c.want, s)
		}
	}
	press(app, "space")
	now = now.Add(time.Hour)
	app.Update(beatMsg{})
	if s := ansi.Strip(app.Content()); !strings.Contains(s, " 1:15 ") || app.beating {
		t.Errorf("the time goes on while frozen:\n%s", s)
	}
	press(app, "space")
	app.Update(Header{})
	if _, cmd = app.Update(beatMsg{}); cmd != nil || app.beating {
		t.Error("beats without a job")
	}
}

// TestJobStatus takes a line about a job away when the job is over, and leaves every other line alone.
func TestJobStatus(t *testing.T) {
	app, _ := probes(t, nil)
	for _, c := range []struct {
		status StatusMsg
		stays  bool
	}{{StatusMsg{Text: "fp32: rebuilding", Job: true}, false}, {StatusMsg{Text: "nothing to undo"}, true}} {
		send(app, c.status)
		if !strings.Contains(app.Content(), c.status.Text) {
			t.Errorf("%q is not shown", c.status.Text)
		}
		send(app, IdleMsg{})
		if strings.Contains(app.Content(), c.status.Text) != c.stays {
			t.Errorf("%q is shown when the job is over: %v, want %v", c.status.Text, !c.stays, c.stays)
		}
	}
}

// TestNews leaves the answer to a key some seconds before news take its place; a line about work gives way at once, and new
// work makes news old.
func TestNews(t *testing.T) {
	app, _ := probes(t, nil)
	now := time.Unix(100, 0)
	app.now = func() time.Time { return now }
	shows := func(want string) {
		t.Helper()
		if s := app.Content(); !strings.Contains(s, want) {
			t.Fatalf("%q is not shown:\n%s", want, ansi.Strip(s))
		}
	}
	answer, news := StatusMsg{Text: "saved: net.config.json"}, StatusMsg{Text: "2.00x faster", News: true}
	app.Update(StatusMsg{Text: "rebuilding", Job: true})
	app.Update(news)
	shows(news.Text)
	app.Update(answer)
	shows(answer.Text)
	now = now.Add(time.Second)
	if _, cmd := app.Update(news); cmd == nil {
		t.Error("nothing shows the news later")
	}
	app.Update(IdleMsg{})
	shows(answer.Text)
	app.Update(newsMsg{}) // not due yet
	shows(answer.Text)
	now = now.Add(answerTime)
	app.Update(newsMsg{})
	shows(news.Text)
	app.Update(answer)
	app.Update(news)
	app.Update(StatusMsg{Text: "rebuilding again", Job: true})
	now = now.Add(answerTime)
	app.Update(newsMsg{})
	shows("rebuilding again")
}

// TestSmall draws the focused pane in full and the others as titles where there is little room, and says so where there
// is too little.
func TestSmall(t *testing.T) {
	app := demoApp(t, Options{})
	for _, c := range []struct {
		w, h int
		want []string
	}{
		{MinWidth, MinHeight, []string{"▍ Summary", "─ Slowest layers", "latency", "1 Overview 2 Graph"}},
		{79, 40, []string{"▍ Summary", "─ Slowest layers"}},
		{200, MinHeight, []string{"▍ Summary", "─ Slowest layers"}},
		{MinWidth - 1, 40, []string{"Terminal too small", "needs 60x16"}},
		{200, MinHeight - 1, []string{"Terminal too small", "needs 60x16"}},
	} {
		send(app, tea.WindowSizeMsg{Width: c.w, Height: c.h})
		s := ansi.Strip(app.Content())
		for _, want := range c.want {
			if !strings.Contains(s, want) {
				t.Errorf("%dx%d does not show %q:\n%s", c.w, c.h, want, s)
			}
		}
	}
	send(app, tea.WindowSizeMsg{Width: MinWidth, Height: MinHeight})
	press(app, "tab")
	if s := ansi.Strip(app.Content()); !strings.Contains(s, "▍ Slowest layers") || !strings.Contains(s, "─ Summary") || !strings.Contains(s, "stage0/conv_0") {
		t.Errorf("tab does not unfold the next pane:\n%s", s)
	}
	press(app, "3", "?")
	if s := ansi.Strip(app.Content()); !strings.Contains(s, "fuzzy") {
		t.Errorf("the help is cut:\n%s", s)
	}
}

// TestTabsStay starts and ends a job: the tabs stay where they are, and the job is told of in full at every width.
func TestTabsStay(t *testing.T) {
	app := demoApp(t, Options{})
	header := app.header
	header.Badges, header.Recording = nil, false // they have their place first
	for _, w := range []int{MinWidth, 80, 100, 120, 160, 200, 300} {
		tabs := func() string {
			s := strings.Split(ansi.Strip(app.Content()), "\n")[1]
			return string([]rune(s)[:w-jobPlace(app.tabs(), w, nil)])
		}
		header.Job = nil
		send(app, header)
		send(app, tea.WindowSizeMsg{Width: w, Height: 40})
		idle := tabs()
		header.Job = &Job{Phase: "timing tactics", Done: 0.42}
		send(app, header)
		if got := tabs(); got != idle {
			t.Errorf("%d cells: the tabs are %q with a job and %q without", w, got, idle)
		}
		top := strings.Join(strings.Split(ansi.Strip(app.Content()), "\n")[:2], "\n")
		if w >= 80 && !strings.Contains(top, "timing tactics") || !strings.Contains(top, "42%") {
			t.Errorf("%d cells: the job is not told of:\n%s", w, top)
		}
	}
}
