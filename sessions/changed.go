package sessions

import (
	"context"
	"time"

	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// changedInterval is how often a session looks at the files of its model.
const changedInterval = time.Second

// watchFiles says when a file of the model is not any more what was read, and when more becomes of it: one that is gone may be
// written anew.
func watchFiles(ctx context.Context, b *board, m *model.Model) {
	tick := time.NewTicker(changedInterval)
	defer tick.Stop()
	last := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			path, how := m.Changed()
			if how == last {
				continue
			}
			last = how
			if how == "" { // it is back as it was
				path = ""
			} else {
				b.log("warning", "", "%s %s; this is the model as it was read before, until it is opened anew", path, how)
			}
			b.update(func(snap *report.Snapshot) { snap.Changed, snap.ChangedHow = path, how })
		}
	}
}
