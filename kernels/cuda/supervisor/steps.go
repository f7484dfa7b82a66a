package supervisor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/trtui/trtui/kernels/cuda/bringup"
)

// Steps brings a device up, each step in a process of its own, so that a step that hangs, or ends its process, is a finding
// like others. A worker prints the head of all documents, which head is given, and the findings of its step; told is the exit
// code of one that has said what went wrong.
func Steps(ctx context.Context, steps []string, told int, worker func(step string) Worker, head func(json.RawMessage), report func(bringup.Finding)) error {
	some := false
	for _, step := range steps {
		w, found := worker(step), false
		err := w.Run(ctx, func(line []byte) time.Duration {
			if bytes.HasPrefix(line, []byte(`{"schema"`)) {
				head(line)
				return w.Patience
			}
			var f bringup.Finding
			if json.Unmarshal(line, &f) == nil && f.Check != "" {
				found, some = true, true
				report(f)
			}
			return w.Patience
		})
		exit := new(exec.ExitError)
		failed := errors.As(err, &exit) && exit.ExitCode() == told
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !some && failed:
			return ErrNoDevice
		case err != nil && !(failed && found):
			report(bringup.Finding{Check: step, Error: fmt.Sprintf("the process that ran it ended: %v", err)})
		}
	}
	return nil
}
