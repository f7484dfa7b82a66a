package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// The smallest terminal that the frame draws on. Everything has its place from 80x24 on; on smaller terminals only the
// focused pane is drawn in full.
const (
	MinWidth  = 60
	MinHeight = 16
)

// chrome is the number of lines around the screen: header, screens, footer.
const chrome = 3

// Config is what an App is made of.
type Config struct {
	Look    *Look
	Screens []*Screen
	Intents []IntentKey // the intents that OnIntent serves
	Entries []Entry     // what the palette has besides
	// Synonyms are words that people type in the palette, two as one, and those by which it has the same.
	Synonyms map[string][]string
	Others   []IntentKey // intents that OnIntent serves in other states, so that a file of keys may name them
	Keys     *Keymap     // nil: the usual keys
	OnIntent func(Intent) tea.Cmd
	// Lacks says why an intent does nothing in the state at hand, "" where it does something; see [Key.Off]. It may be nil.
	Lacks func(Intent) string
	// Suggest returns the intents that are close at hand in a view: the footer has their names behind the view's keys. It may be nil.
	Suggest func(View) []Intent
	// OnEvent sees every event of Listen as it arrives, even while the views are
	// frozen, and may change the header. It may be nil.
	OnEvent func(event any, h *Header) tea.Cmd
	// OnScreen is told the digit of a screen when it is shown. It may be nil.
	OnScreen func(digit string)
	// OnUpdate is told of every message once it has been handled. It may be nil.
	OnUpdate func(msg tea.Msg) tea.Cmd
	Header   Header
	// Pace is the shortest time between two pictures: of messages that come faster, such as of a key that is held, only the last has
	// one. 0: every message has a picture.
	Pace  time.Duration
	Start func() tea.Cmd   // gives what each program that runs the App begins with: usually Listen on the session's events
	Now   func() time.Time // nil: time.Now
	// After returns a command that gives the message after a time; nil: by the system's clock.
	After func(time.Duration, tea.Msg) tea.Cmd
}

// App is the frame of the workbench and the only tea.Model.
type App struct {
	look     *Look
	screens  []*Screen
	intents  []IntentKey
	others   []IntentKey
	entries  []Entry
	synonyms map[string][]string
	keys     keyContexts // that were given to actions
	onIntent func(Intent) tea.Cmd
	lacks    func(Intent) string
	suggest  func(View) []Intent
	onEvent  func(any, *Header) tea.Cmd
	onScreen func(string)
	onUpdate func(tea.Msg) tea.Cmd
	header   Header
	start    func() tea.Cmd
	now      func() time.Time
	after    func(time.Duration, tea.Msg) tea.Cmd

	held    Header // the header that is shown while frozen
	heldAt  time.Time
	beating bool // a beatMsg is on its way

	active  int
	pages   map[string]int // by digit, the screen with it that was shown last
	w, h    int
	dialogs []Dialog
	filter  *Line // being typed, or nil
	status  StatusMsg
	saidAt  time.Time // when status was
	news    StatusMsg // waits until status has been read
	inbox   inbox
	noMouse bool
	spots   []spot // of the frame as it was drawn last, or of the dialogs
	clicked click
	ran     []string // what the palette did last, the newest first
	frame   string   // the last picture; empty if something changed since
	pacer   pacer
}

// New returns an App, or an error if keys collide.
func New(c Config) (*App, error) {
	if len(c.Screens) == 0 {
		return nil, fmt.Errorf("no screens")
	}
	if err := CheckKeys(c.Screens, c.Intents); err != nil {
		return nil, err
	}
	a := &App{look: c.Look, screens: c.Screens, intents: named(c.Intents), others: named(c.Others), entries: c.Entries, synonyms: c.Synonyms, onIntent: c.OnIntent, lacks: c.Lacks, suggest: c.Suggest,
		onEvent: c.OnEvent, onScreen: c.OnScreen, onUpdate: c.OnUpdate, header: c.Header, start: c.Start, now: c.Now, after: c.After, pacer: pacer{pace: c.Pace}}
	if a.look == nil {
		a.look = NewLook(Options{})
	}
	a.noMouse = a.look.noMouse
	if a.lacks == nil {
		a.lacks = func(Intent) string { return "" }
	}
	if a.now == nil {
		a.now = time.Now
	}
	if a.after == nil {
		a.after = func(d time.Duration, msg tea.Msg) tea.Cmd {
			return tea.Tick(d, func(time.Time) tea.Msg { return msg })
		}
	}
	a.pages = map[string]int{}
	for i, s := range a.screens {
		s.init()
		if _, ok := a.pages[s.Key]; !ok {
			a.pages[s.Key] = i
		}
		for _, other := range a.screens {
			if other.Key == s.Key {
				s.pages++
			}
		}
	}
	if err := a.setKeys(c.Keys); err != nil {
		return nil, err
	}
	return a, nil
}

// named gives the keys of intents the intents' names.
func named(list []IntentKey) []IntentKey {
	list = slices.Clone(list)
	for i := range list {
		list[i].Name = string(list[i].Intent)
	}
	return list
}

// Init implements tea.Model. An App may be run again, by another program: what was on its way in the one before is not.
func (a *App) Init() tea.Cmd {
	a.beating, a.inbox.armed, a.frame, a.pacer = false, false, "", pacer{pace: a.pacer.pace}
	cmds := []tea.Cmd{func() tea.Msg { return newsMsg{} }, func() tea.Msg { return deliverMsg{} }}
	if a.start != nil {
		cmds = append(cmds, a.start())
	}
	if !a.look.chosen {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}

// Update implements tea.Model.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	a.frame = ""
	cmd := a.update(msg)
	if a.onUpdate != nil {
		cmd = tea.Batch(cmd, a.onUpdate(msg))
	}
	if beat := a.beat(); beat != nil {
		cmd = tea.Batch(cmd, beat)
	}
	if wait := a.pacer.next(msg, a.now()); wait > 0 {
		cmd = tea.Batch(cmd, a.after(wait, paintMsg{}))
	}
	return a, cmd
}

func (a *App) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.w, a.h = msg.Width, msg.Height
		return tea.ClearScreen
	case tea.BackgroundColorMsg:
		a.look.follow(msg.IsDark())
	case tea.KeyPressMsg:
		return a.key(msg)
	case tea.PasteMsg:
		return a.paste(msg)
	case tea.MouseMsg:
		return a.mouse(msg)
	case pressMsg:
		return a.key(Press(msg.name))
	case runMsg:
		return a.run(msg.command)
	case Header:
		a.header = msg
		for _, s := range a.screens { // what the owner wants may show in any view
			s.touch()
		}
	case StatusMsg:
		return a.say(msg)
	case newsMsg:
		return a.tellNews()
	case IdleMsg:
		if a.status.Job {
			a.status = StatusMsg{}
		}
	case beatMsg:
		a.beating = false
	case paintMsg:
	case GotoMsg:
		a.open(msg)
	case completedMsg:
		msg.ask.complete(msg)
	case openMsg:
		a.dialogs = append(a.dialogs, msg.dialog)
	case received:
		return tea.Batch(a.receive(msg.events), msg.next)
	case deliverMsg:
		a.inbox.armed = false
		return a.deliver()
	default:
		return a.broadcast(msg)
	}
	return nil
}

// receive shows events to the owner and puts them into the inbox.
func (a *App) receive(events []any) tea.Cmd {
	var cmds []tea.Cmd
	for _, e := range events {
		if a.onEvent != nil {
			cmds = append(cmds, a.onEvent(e, &a.header))
		}
		a.inbox.add(e)
	}
	return tea.Batch(append(cmds, a.deliver())...)
}

// deliver gives the events that are due to the views, and sees to the others.
func (a *App) deliver() tea.Cmd {
	ready, wait := a.inbox.take(a.now())
	cmds := make([]tea.Cmd, 0, len(ready)+1)
	for _, e := range ready {
		switch e := e.(type) {
		case Header, StatusMsg, IdleMsg, GotoMsg, openMsg:
			cmds = append(cmds, a.update(e))
		default:
			cmds = append(cmds, a.broadcast(e))
		}
	}
	if wait > 0 && !a.inbox.armed {
		a.inbox.armed = true
		cmds = append(cmds, a.after(wait, deliverMsg{}))
	}
	return tea.Batch(cmds...)
}

// broadcast gives a message to all views of all screens.
func (a *App) broadcast(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	for _, s := range a.screens {
		for i := range s.Views {
			if cmd := s.update(i, msg); cmd != nil {
				cmds = append(cmds, cmd)
			}
		}
	}
	return tea.Batch(cmds...)
}

// Focused returns the view that has the focus: what an intent is about.
func (a *App) Focused() View { return a.screen().focused() }

// Shown returns the screen that is shown.
func (a *App) Shown() *Screen { return a.screen() }

// Screens returns all screens.
func (a *App) Screens() []*Screen { return a.screens }

// Place returns what leads back to the pane that has the focus.
func (a *App) Place() GotoMsg {
	s := a.screen()
	return GotoMsg{Screen: s.Key, Page: a.page(s), View: s.focus + 1}
}

// PlaceOf returns what leads to a view of a screen.
func (a *App) PlaceOf(s *Screen, view int) GotoMsg {
	return GotoMsg{Screen: s.Key, Page: a.page(s), View: view + 1}
}

// ByHand reports whether a message is what a person does: a key, the mouse, what is pasted, a command of the palette.
func ByHand(msg tea.Msg) bool {
	switch msg.(type) {
	case tea.KeyPressMsg, tea.MouseMsg, tea.PasteMsg, pressMsg, runMsg:
		return true
	}
	return false
}

func (a *App) screen() *Screen { return a.screens[a.active] }

// dialog returns the topmost dialog, or nil.
func (a *App) dialog() Dialog {
	if len(a.dialogs) == 0 {
		return nil
	}
	return a.dialogs[len(a.dialogs)-1]
}

// open shows what a message names.
func (a *App) open(msg GotoMsg) {
	if msg.Page > 0 {
		first := slices.IndexFunc(a.screens, func(s *Screen) bool { return s.Key == msg.Screen })
		if at := first + msg.Page - 1; first >= 0 && at < len(a.screens) && a.screens[at].Key == msg.Screen {
			a.pages[msg.Screen] = at
		}
	}
	a.show(msg.Screen, msg.View)
}

// Find returns what leads to the screen with that digit, which shows the first of its pages, or with that name, whatever its case.
func (a *App) Find(name string) (GotoMsg, bool) {
	for _, s := range a.screens {
		if s.Key == name || strings.EqualFold(s.Name, name) {
			return GotoMsg{Screen: s.Key, Page: a.page(s)}, true
		}
	}
	return GotoMsg{}, false
}

// page returns which of the pages of its digit a screen is, counted from 1.
func (a *App) page(s *Screen) int {
	n := 0
	for _, other := range a.screens {
		if other.Key == s.Key {
			n++
		}
		if other == s {
			break
		}
	}
	return n
}

// turn shows the screen with that digit, or where that is shown its next page; it reports whether there is one.
func (a *App) turn(digit string) bool {
	if s := a.screen(); s.Key == digit && s.pages > 1 {
		a.pages[digit] = slices.Index(a.screens, a.nextPage())
	}
	return a.show(digit, 0)
}

// nextPage returns the screen behind the one that is shown among the pages of its digit.
func (a *App) nextPage() *Screen {
	s := a.screen()
	first := slices.IndexFunc(a.screens, func(other *Screen) bool { return other.Key == s.Key })
	return a.screens[first+(a.active-first+1)%s.pages]
}

// show switches to the screen with that digit, and to its view counted from 1; it reports whether there is one.
func (a *App) show(digit string, view int) bool {
	i, ok := a.pages[digit]
	if !ok {
		return false
	}
	a.active = i
	if a.onScreen != nil {
		a.onScreen(digit)
	}
	if s := a.screen(); view > 0 && view <= len(s.Views) {
		s.focus = view - 1
	}
	return true
}
