package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/ui"
)

// screenFlags are what commands have that show the workbench.
type screenFlags struct{ look ui.Options }

// registerScreen adds the flags and returns their names.
func (f *screenFlags) registerScreen(flags *pflag.FlagSet) []string {
	flags.BoolVar(&f.look.NoColor, "no-color", false, "no colours (also with NO_COLOR set)")
	flags.StringVar(&f.look.Theme, "theme", "", "`THEME` dark, light, contrast or a JSON file of one's own; the default follows the terminal")
	flags.BoolVar(&f.look.NoMouse, "no-mouse", false, "leave the mouse to the terminal, to select text")
	return []string{"no-color", "theme", "no-mouse"}
}

// mostThemeBytes is far more than a theme has.
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
	info, err := os.Stat(name)
	if err == nil && info.Size() > mostThemeBytes {
		err = errors.New("it is larger than any theme")
	}
	var data []byte
	if err == nil {
		data, err = host.ReadFile(name)
	}
	if err == nil {
		f.look.Own, err = ui.ReadTheme(filepath.Base(name), data)
	}
	if err != nil {
		return fmt.Errorf("--theme: %w", err)
	}
	return nil
}
