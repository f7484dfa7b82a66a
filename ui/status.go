package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// answerTime is how long the answer to a key stays before news take its place.
const answerTime = 5 * time.Second

// newsMsg says that news which wait may be due.
type newsMsg struct{}

// say shows a status line. News wait while the answer to a key is to be read; a line about new work makes those that wait
// old.
func (a *App) say(m StatusMsg) tea.Cmd {
	if m.Follows && !a.status.Job {
		return nil
	}
	if s := a.status; m.News && s.Text != "" && !s.Job && !s.News {
		if rest := answerTime - a.now().Sub(a.saidAt); rest > 0 {
			a.news = m
			return a.after(rest, newsMsg{})
		}
	}
	a.status, a.saidAt = m, a.now()
	if m.Job || m.News {
		a.news = StatusMsg{}
	}
	return nil
}

// tellNews shows the news that wait, unless there are none any more.
func (a *App) tellNews() tea.Cmd {
	if a.news.Text == "" {
		return nil
	}
	return a.say(a.news)
}
