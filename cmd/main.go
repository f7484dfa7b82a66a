// Package cmd is trtui as a program: the workbench, and the subcommands, which are headless and each one file here. [Main]
// is all that cmd/trtui calls, and all that a program with ops, kernels, passes and calibrators of its own calls:
//
//	package main
//
//	import (
//		"example.com/mine/ops"
//		"github.com/trtui/trtui/cmd"
//	)
//
//	func main() {
//		cmd.Main(cmd.Own{Ops: ops.All, Kernels: ops.Kernels, Passes: ops.Passes})
//	}
//
// It exits with 0 where all is well, 1 where the answer is no, and 2 where there is no answer.
package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/ui"
)

// The exit codes, as those of diff and grep: the answer is no, which is what errNo says; there is no answer, since a file
// cannot be read, a device is not there, or the command line was not understood. A Go program that panics ends with 2,
// too, so a worker, whose end another process reads, has a code of its own for errors that it has told.
const (
	exitNo      = 1
	exitFailure = 2
	exitTold    = 3
)

// commands are the subcommands.
var commands = []func(tables) *cobra.Command{
	buildCommand,
	refitCommand,
	exportCommand,
	benchCommand,
	execCommand,
	runCommand,
	diffCommand,
	paretoCommand,
	evalCommand,
	inspectCommand,
	calibrateCommand,
	tunePrecisionCommand,
	lintCommand,
	checkCommand,
	recordCommand,
	replayCommand,
	serveSSHCommand,
	generateCommand,
	conformanceCommand,
	gpuCommand,
	debugCommand,
	versionCommand,
}

// Errors of commands that have said themselves what there is to say: errNo where the answer is no, and errReported where
// there is none.
var (
	errNo       = errors.New("no")
	errReported = errors.New("failed")
)

// usageError is what is wrong with the command line.
type usageError struct{ error }

// toldError is the error of a worker, for which it ends with a code of its own.
type toldError struct{ error }

// Main runs the command line of the process and ends it.
func Main(own Own) {
	ctx, stop := untilSignal(context.Background())
	defer stop()
	ctx, stopWatch := host.WatchMemory(ctx)
	defer stopWatch()
	endAfter(ctx)
	t, err := own.tables(backends)
	if err != nil {
		writeNote(os.Stderr, "trtui: %v", err)
		os.Exit(exitFailure)
	}
	os.Exit(executeOn(ctx, t, os.Args[1:], os.Stdout, os.Stderr))
}

// rootCommand returns the program's command with all others below it.
func rootCommand(t tables) *cobra.Command {
	root := &cobra.Command{
		Use:           "trtui",
		Short:         "Explore, optimise and run neural networks in the terminal",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	for _, command := range commands {
		root.AddCommand(command(t))
	}
	workbench(root, t)
	root.PersistentFlags().Bool("ascii", false, "ASCII only; the default where the locale is not UTF-8")
	root.AddCommand(manCommand())
	root.InitDefaultCompletionCmd()
	setCompletionText(root)
	completeValues(root, choices(t), t.backends)
	refuseEmptyValues(root)
	root.SetHelpFunc(showHelp)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usageError{unknownFlag(c, err)} })
	return root
}

// execute runs a command line of the program as it is and returns its exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return executeOn(ctx, tables{backends: backends}, args, stdout, stderr)
}

// named says of an error which model it is about, unless it says so, or is about the command line.
func named(err error, path string) error {
	name := filepath.Base(path)
	switch {
	case err == nil || path == "" || strings.Contains(err.Error(), name):
		return err
	case errors.As(err, new(usageError)) || errors.Is(err, errNo) || errors.Is(err, errReported) || errors.Is(err, errSignalled) || errors.Is(err, context.Canceled):
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// executeOn runs a command line with the given tables.
func executeOn(ctx context.Context, t tables, args []string, stdout, stderr io.Writer) int {
	root, started := rootCommand(t), false
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		started = true
		return cmp.Or(refuseEmpty(c, args), checkOutput(c), spareInputs(c, args))
	}
	root.SetArgs(args)
	openOutputs(root, stdout, stderr)
	cmd, err := root.ExecuteContextC(ctx)
	stderr = root.ErrOrStderr()
	if args := cmd.Flags().Args(); len(args) == 1 && strings.Contains(cmd.Use, "MODEL") { // of two, each error says which
		err = named(err, modelArg(args))
	}
	if full := failed(root.OutOrStdout()); full != nil && (err == nil || errors.Is(err, errNo)) {
		err = fmt.Errorf("the output cannot be written: %w", full)
	}
	if short := new(host.Shortage); err != nil && errors.As(context.Cause(ctx), &short) {
		err = short
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errNo):
		return exitNo
	case errors.Is(err, errReported):
		return exitFailure
	case errors.Is(err, errSignalled) || ctx.Err() != nil && errors.Is(err, context.Canceled):
		writeNote(stderr, "trtui: stopped")
		return exitFailure
	case !started || errors.As(err, new(usageError)):
		writeNote(stderr, "trtui: %v\nusage: %s\n%s --help lists the flags", err, cmd.UseLine(), cmd.CommandPath())
		return exitFailure
	}
	writeNote(stderr, "trtui: %s", errorText(err))
	if hint := hintOn(err); hint != "" {
		writeNote(stderr, "%s", ui.VisibleName(hint))
	}
	if errors.As(err, new(toldError)) {
		return exitTold
	}
	return exitFailure
}
