package stages

import (
	"fmt"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// logCode tells where the code came from that a backend has bound since it had bound before, and once that files of
// compiled code cannot be used.
func (d *device) logCode(before run.CodeUse) {
	now := d.codeUse()
	if compiled, filed := now.Compiled-before.Compiled, now.Filed-before.Filed; compiled+filed > 0 {
		d.told.Log.say("info", "", "compiled %s, %d from the code cache", config.CountOf(compiled, "kernel", "kernels"), filed)
	}
	if now.Err != nil && d.unfiled == nil {
		d.unfiled = now.Err
		d.told.Warn(now.Err.Error())
	}
}

// codeUse is where the backend's code came from; nothing where it compiles none.
func (d *device) codeUse() run.CodeUse {
	if c, ok := d.Backend.(run.Compiler); ok {
		return c.CodeUse()
	}
	return run.CodeUse{}
}

// compiling says how many of the kernels to be timed are compiled, and how many of them need not be.
func (d *device) compiling(done, total int, before run.CodeUse) report.Progress {
	p := report.Progress{Phase: "compiling kernels", Done: done, Total: total}
	if filed := d.codeUse().Filed - before.Filed; filed > 0 {
		p.Item = fmt.Sprintf("%d from the code cache", filed)
	}
	return p
}
