package sessions

import (
	"context"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// changedInterval is how often a session looks at the files of its model.
const changedInterval = time.Second

// watchFiles says once that a file of the model is not any more what was read.
func watchFiles(ctx context.Context, b *board, m *Model) {
	tick := time.NewTicker(changedInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if path := m.Changed(); path != "" {
				b.update(func(snap *report.Snapshot) { snap.Changed = path })
				b.log("warning", "", "%s changed on disk; this is the model as it was read before, until it is opened anew", path)
				return
			}
		}
	}
}
