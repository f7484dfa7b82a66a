package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cuda"
	"github.com/trtui/trtui/kernels/cuda/supervisor"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/report"
)

// gpuFlags are the flags of the commands that look at a GPU, which scripts/gpu.sh runs.
type gpuFlags struct {
	device    deviceFlags
	output    outputFlags
	budget    int           // seconds
	inProcess bool          // the device is used by this process
	patience  time.Duration // with another process
	worker    bool          // this is that process
	from      int           // what it begins with
	program   []string      // what runs as worker; empty: this program
}

// onGPU returns the flags of a command that finds its GPU in a table of backends.
func onGPU(t tables) gpuFlags { return gpuFlags{device: deviceFlags{table: t.backends}} }

// isolated reports whether another process is to use the device: what a simulated one does wrong is an error and no more,
// unless it was told to do worse.
func (o *gpuFlags) isolated() bool {
	row, _, err := findBackend(o.device.table, "backend", o.device.backend)
	return err == nil && !o.inProcess && (row.native || row.name == "cudasim" && os.Getenv(cuda.FaultVariable) != "")
}

// workerFor returns a process that is to do a command's work, on the same device with the same code; more is flags, each with its value,
// of which those are left out that have none.
func (o *gpuFlags) workerFor(stderr io.Writer, command string, more ...string) supervisor.Worker {
	args := []string{"gpu", command, "--worker"}
	flags := append([]string{"--backend", o.device.backend, "--device", o.device.device, "--code-cache", o.device.codes}, more...)
	for pair := range slices.Chunk(flags, 2) {
		if pair[1] != "" {
			args = append(args, pair...)
		}
	}
	return supervisor.Worker{Program: o.program, Args: args, Patience: o.patience, Stderr: stderr}
}

func gpuCommand(t tables) *cobra.Command {
	c := &cobra.Command{
		Use:   "gpu",
		Short: "Check a GPU: what it is and reaches, and whether every kernel is correct on it",
		Example: examples("a short check of the first GPU", "trtui gpu selftest --pairs tactic --budget 300",
			"what it reaches", "trtui gpu bringup"),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usageError{fmt.Errorf("gpu needs a subcommand: bringup, selftest or sweep")}
		},
	}
	c.AddCommand(bringupCommand(t), selftestCommand(t), sweepCommand(t))
	return c
}

// register adds the flags to a command.
func (o *gpuFlags) register(c *cobra.Command) {
	c.PreRunE = func(*cobra.Command, []string) error { return errors.Join(o.output.check(), o.device.check()) }
	o.device.backend = "cuda"
	o.device.define()
	o.device.addTo(c, takeBackend|takeCode)
	o.output.define()
	o.output.addTo(c, takeFormat|takeQuiet)
	o.output.lookup("format").Usage = "text, or json: one object per line"
	f := c.Flags()
	f.IntVar(&o.budget, "budget", 0, "start nothing new after so many `SECONDS`; 0: no limit")
	f.BoolVar(&o.inProcess, "in-process", false, "use the GPU in this process, which a kernel may hang or end; for debuggers")
	f.DurationVar(&o.patience, "patience", time.Minute, "how long a kernel may take, compilation included, before it counts as hanging")
	f.BoolVar(&o.worker, "worker", false, "be the process that uses the GPU")
	f.IntVar(&o.from, "from", 0, "what the worker begins with")
	under(c, "Run", "budget", "in-process", "patience")
	for _, name := range []string{"worker", "from"} {
		_ = f.MarkHidden(name) // they are there
	}
}

// bounded returns the context for as long as the budget allows.
func (o *gpuFlags) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.budget <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Duration(o.budget)*time.Second)
}

// head is the first line of JSON: what all documents of the commands begin with.
func (o *gpuFlags) head(b run.Backend) (json.RawMessage, error) {
	h := describe.Backend(o.device.backend, b)
	h.Commit = ownCommit()
	return report.MarshalOutput(h)
}

// print writes a row: as JSON, or its text.
func (o *gpuFlags) print(w io.Writer, row any, text string) error {
	if !o.output.json() {
		_, err := fmt.Fprintln(w, text)
		return err
	}
	line, err := json.Marshal(row)
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", line)
	}
	return err
}
