// Command trtui builds, explores and runs inference engines. Without a subcommand it is
// the workbench (workbench.go); its subcommands are headless, and each is one file here.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// The exit codes: what was asked for failed, or the command line was not understood.
const (
	exitFailure = 1
	exitUsage   = 2
)

// commands are the subcommands, in the order of the help.
var commands = []func() *cobra.Command{
	buildCommand,
	benchCommand,
	runCommand,
	evalCommand,
	inspectCommand,
	calibrateCommand,
	recordCommand,
	replayCommand,
	conformanceCommand,
	gpuCommand,
	versionCommand,
}

// errReported is returned by a command that failed and has said so itself.
var errReported = errors.New("failed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(execute(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs a command line and returns its exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	started := false
	root := &cobra.Command{
		Use:               "trtui",
		Short:             "Explore, optimise and run neural networks in the terminal",
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRun:  func(*cobra.Command, []string) { started = true },
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	for _, command := range commands {
		root.AddCommand(command())
	}
	workbench(root)
	root.SetArgs(args)
	openOutputs(root, stdout, stderr)
	cmd, err := root.ExecuteContextC(ctx)
	stderr = root.ErrOrStderr()
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errReported):
		return exitFailure
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		writeNote(stderr, "trtui: stopped")
		return exitFailure
	case !started || errors.As(err, new(usageError)):
		writeNote(stderr, "trtui: %v\nusage: %s\n%s --help lists the flags", err, cmd.UseLine(), cmd.CommandPath())
		return exitUsage
	}
	writeNote(stderr, "trtui: %v", err)
	if hint := unsupportedHint(err); hint != "" {
		writeNote(stderr, "%s", hint)
	}
	return exitFailure
}
