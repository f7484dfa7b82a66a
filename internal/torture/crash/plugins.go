//go:build linux

package crash

import (
	"os"
	"os/exec"
	"time"

	"github.com/trtui/trtui/internal/torture"
	"github.com/trtui/trtui/internal/torture/files"
)

// changedPlugin: the program is killed while a plugin computes, or the plugin's module is written over, cut off, exchanged or removed
// under it. What it has read it goes on with, or it says what is wrong; a result that it calls good is the right one, and the next run
// with the module as it was is as if nothing had been.
func changedPlugin(t *test) {
	model, module := files.Plugged()
	file, plugin, outputs, engine := t.path("plugged.onnx"), t.path("some.wasm"), t.path("outputs.npz"), t.path("some.engine")
	t.write(file, model)
	t.write(plugin, module)
	common := []string{"--plugin", plugin, "-q", "--timing-cache", "none"}
	run := append([]string{"run", file, "--items", "3"}, common...)
	t.well(append(run, "--save-outputs", outputs)...)
	args := [][]string{
		append(run, "--load-outputs", outputs),
		append([]string{"build", file, "-o", engine}, common...),
		append([]string{"bench", file, "--duration", "300ms"}, common...),
		append([]string{"inspect", "model", file}, "--plugin", plugin),
	}[t.rnd.IntN(4)]
	after := time.Duration(t.rnd.Int64N(int64(600 * time.Millisecond)))
	how := t.rnd.IntN(5)
	if how == 0 {
		t.killed(600*time.Millisecond, t.command(args...))
	} else {
		t.changed(t.command(args...), after, func() { t.disturb(plugin, module, how) })
	}
	t.write(plugin, module)
	t.well(append(run, "--load-outputs", outputs)...)
	if t.read(engine) != nil {
		t.well(append([]string{"run", engine, "--items", "3", "--load-outputs", outputs}, common...)...)
	}
}

// changed runs a command, under which something changes after a while.
func (t *test) changed(cmd *exec.Cmd, after time.Duration, change func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(after)
		change()
	}()
	t.run(cmd)
	<-done
}

// disturb does something to a file.
func (t *test) disturb(file string, data []byte, how int) {
	switch how {
	case 1:
		_ = os.Truncate(file, int64(len(data)/2))
	case 2:
		other := append([]byte(nil), data...)
		for i := len(other) / 3; i < len(other); i++ {
			other[i] ^= 0x5a
		}
		_ = os.WriteFile(file, other, 0o644)
	case 3:
		beside := file + ".new"
		if os.WriteFile(beside, []byte("no module"), 0o644) == nil {
			_ = os.Rename(beside, file)
		}
	default:
		_ = os.Remove(file)
	}
}

func (t *test) write(file string, data []byte) {
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.errorf(torture.Child{}, "cannot write: %v", err)
	}
}
