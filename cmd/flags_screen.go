package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views"
)

// screenFlags are what commands have that show the workbench.
type screenFlags struct {
	look     ui.Options
	keysFile string
	keys     *ui.Keymap
	commands func(unflagged) []views.Subcommand // that the palette finds; see callOf
}

// registerScreen adds the flags and returns their names.
func (f *screenFlags) registerScreen(flags *pflag.FlagSet) []string {
	flags.BoolVar(&f.look.NoColor, "no-color", false, "no colours (also with NO_COLOR set)")
	flags.StringVar(&f.look.Theme, "theme", "", "`THEME` dark, light, contrast, colour-blind, colour-blind-light or a JSON file of one's own; the default follows the terminal")
	flags.BoolVar(&f.look.NoMouse, "no-mouse", false, "leave the mouse to the terminal, to select text")
	flags.StringVar(&f.keysFile, "keys", "", "`FILE` of keys, YAML, as trtui inspect keys --template writes it; the default is trtui/keys.yaml in the folder of configurations, if it is there")
	return []string{"no-color", "theme", "no-mouse", "keys"}
}

// checkScreen reads the files of the flags.
func (f *screenFlags) checkScreen() error {
	if err := f.checkTheme(); err != nil {
		return err
	}
	var err error
	f.keys, err = readKeys(f.keysFile)
	return err
}

// keyContexts lists the keys of the workbench, as a file makes them.
func keyContexts(keys *ui.Keymap) ([]ui.KeyContext, error) {
	return views.KeyContexts(exchange.NewStill(&report.Snapshot{}), keys)
}

// ownConfig is a place in the user's folder of configurations; "" where there is none.
func ownConfig(name string) string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "trtui", name)
}

// readKeys reads a file of keys, or the usual one where that is "" and the file is there; what it says is checked, too.
func readKeys(path string) (*ui.Keymap, error) {
	named := path != ""
	if path = cmp.Or(path, ownConfig("keys.yaml")); path == "" {
		return nil, nil
	}
	data, err := host.ReadUpTo(path, mostThemeBytes)
	if !named && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("--keys: %w", err)
	}
	keys, err := ui.ReadKeymap(path, data)
	if err == nil {
		_, err = keyContexts(keys)
	}
	return keys, err
}

// mostThemeBytes is far more than a theme, or a file of keys, has.
const mostThemeBytes = 1 << 20

// checkTheme reads the theme, if it is one of a file.
func (f *screenFlags) checkTheme() error {
	name := f.look.Theme
	if name == "" || slices.Contains(ui.ThemeNames(), name) {
		return nil
	}
	if !strings.ContainsAny(name, `./\`) {
		return usageError{fmt.Errorf("--theme %q: want %s, or a file", name, strings.Join(ui.ThemeNames(), ", "))}
	}
	data, err := host.ReadUpTo(name, mostThemeBytes)
	if err == nil {
		f.look.Own, err = ui.ReadTheme(filepath.Base(name), data)
	}
	if err != nil {
		return fmt.Errorf("--theme: %w", err)
	}
	return nil
}
