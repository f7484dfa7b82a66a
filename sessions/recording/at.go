package recording

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/sessions/report"
)

// At reads state i, counted from 0. The snapshot is the one that was recorded, with Replay, At and Final set.
func (f *film) At(i int) (*report.Snapshot, error) {
	if err := f.check(i); err != nil {
		return nil, err
	}
	f.readMu.Lock()
	defer f.readMu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	snap, err := f.read(ctx, f.has().steps[i].Seq)
	if err != nil {
		return nil, fmt.Errorf("recording %s: state %d: %w", f.file.path, i+1, damaged(err))
	}
	at := f.Moment(i)
	snap.At = &at
	for _, c := range f.has().tried {
		if c.Config.SameEngine(snap.Config, f.has().own) {
			final := c.Point()
			snap.Final = &final
			break
		}
	}
	return snap, nil
}
