package cmd

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/sessions/report"
)

// thirdParty is what the program is made with, and the terms of each; scripts/licences writes it.
//
//go:embed third_party.txt
var thirdParty string

// revision is the commit where make built the program: the linker sets it.
var revision string

func versionCommand(tables) *cobra.Command {
	o := &outputFlags{}
	var licences bool
	c := &cobra.Command{
		Use:        "version",
		SuggestFor: []string{"licenses", "licences", "third-party"},
		Short:      "Print the commit that this program was built from, or what else is in it, and under which terms",
		Example: examples("commit, Go version and platform, for a script", "trtui version --format json",
			"the modules that the program is made of, and their licences", "trtui version --licenses"),
		Args:    cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error { return o.check() },
		RunE: func(c *cobra.Command, _ []string) error {
			if licences {
				if o.json() {
					return usageError{errors.New("--licenses prints text")}
				}
				_, err := io.WriteString(c.OutOrStdout(), thirdParty)
				return err
			}
			return writeVersion(c.OutOrStdout(), o.json())
		},
	}
	o.define()
	o.addTo(c, takeFormat)
	c.Flags().BoolVar(&licences, "licenses", false, "print what this program is made with, and the terms of each")
	under(c, outputHeading, "licenses")
	return c
}

// writeVersion writes what trtui version and trtui --version say.
func writeVersion(w io.Writer, json bool) error {
	if json {
		return writeReport(w, report.Head{}, versionReport{runtime.Version(), runtime.GOOS, runtime.GOARCH})
	}
	_, err := fmt.Fprintf(w, "%s, %s, %s/%s\n", programName(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// versionReport is what the program was built with and for, beside its commit, which is in every document's head.
type versionReport struct{ Go, OS, Arch string }

// programName names the program with the commit that it was built from.
func programName() string { return "trtui, commit " + ownCommit() }

// ownCommit returns the commit of this program.
func ownCommit() string {
	info, _ := debug.ReadBuildInfo()
	return commit(revision, info)
}

// commit returns the first 12 digits of the commit that the program was built from, with "-dirty" behind them where its
// tree had changes: revision, or what go build noted; "unknown" where it was not built in a clone of the repository.
func commit(revision string, info *debug.BuildInfo) string {
	if id, _, _ := strings.Cut(revision, "-"); id != "" {
		return revision
	}
	id, dirty := "unknown", ""
	if info == nil {
		return id
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			id = s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if id == "unknown" {
		return id
	}
	return id + dirty
}
