//go:build linux

package screen

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/vt"
	"golang.org/x/sys/unix"

	"github.com/trtui/trtui/internal/torture"
)

// roleVar makes the test's program a small workbench: "sound", or with a planted defect.
const roleVar = "TRTUI_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		workbench(role)
		return
	}
	os.Exit(m.Run())
}

// workbench counts keys on the alternate screen until it is asked to end. Of the planted defects "asleep" loses the wake-up
// after some keys, "raw" leaves the terminal as it is, "outside" writes beyond the last row.
func workbench(role string) {
	state, err := term.MakeRaw(os.Stdin.Fd())
	if err != nil {
		os.Exit(2)
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	fmt.Print(ansi.SetModeAltScreenSaveCursor)
	keys := make(chan byte)
	go func() {
		buf := make([]byte, 1)
		for {
			if _, err := os.Stdin.Read(buf); err != nil {
				return
			}
			keys <- buf[0]
		}
	}()
	for count := 0; ; count++ {
		select {
		case k := <-keys:
			if k != 3 {
				break
			}
			end <- unix.SIGINT
			continue
		case <-end:
			if role != "raw" {
				fmt.Print(ansi.ResetModeAltScreenSaveCursor)
				_ = term.Restore(os.Stdin.Fd(), state)
			}
			os.Exit(0)
		}
		row := 1
		if role == "outside" {
			row = 200
		}
		if role != "asleep" || count < 30 {
			fmt.Printf("\x1b[%d;1H%d", row, count)
		}
	}
}

// TestPlanted: the hunt finds nothing wrong with a sound program, and what is wrong with others.
func TestPlanted(t *testing.T) {
	for _, tt := range []struct{ role, want string }{
		{"sound", ""}, {"asleep", "keys do not show"}, {"raw", "left with raw mode"}, {"outside", "outside of its size"},
	} {
		t.Run(tt.role, func(t *testing.T) {
			t.Setenv(roleVar, tt.role)
			w, err := start(torture.Place{Program: os.Args[0], Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
			defer stop()
			found := ""
			for seed := uint64(0); seed < 1 && found == ""; seed++ {
				for _, f := range w.Try(ctx, seed) {
					if f.Kind == "cannot begin" {
						t.Skip("no pseudo-terminals here: " + f.Text)
					}
					found = f.Kind
				}
			}
			if tt.want == "" && found != "" || !strings.Contains(found, tt.want) {
				t.Errorf("found %q, want %q", found, tt.want)
			}
		})
	}
}

// TestShrunk: what was written for a larger screen does not end the hunt.
func TestShrunk(t *testing.T) {
	e := &terminal{screen: vt.NewSafeEmulator(100, 31)}
	e.show([]byte("\x1b[1;31r"))
	e.screen.Resize(100, 23)
	e.show([]byte("\x1b[10S"))
	if e.show([]byte("\x1b[Hwhole")); e.screen.CellAt(0, 0).Content != "w" {
		t.Error("the emulator shows nothing more")
	}
}
