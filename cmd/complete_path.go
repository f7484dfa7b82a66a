package cmd

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// completePath returns what a path that is being typed may go on to, in order: folders, with a slash behind, and files with one of
// some endings. What begins with a dot is found if what was typed does.
func completePath(text string, endings ...string) []string {
	folder, begun := filepath.Split(text)
	entries, err := os.ReadDir(cmp.Or(folder, "."))
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, begun) || begun == "" && strings.HasPrefix(name, ".") {
			continue
		}
		info, err := os.Stat(filepath.Join(folder, name)) // what a link leads to counts
		switch {
		case err != nil:
		case info.IsDir():
			found = append(found, folder+name+string(filepath.Separator))
		case slices.Contains(endings, strings.TrimPrefix(filepath.Ext(name), ".")):
			found = append(found, folder+name)
		}
	}
	return found
}
