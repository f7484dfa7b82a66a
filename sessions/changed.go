package sessions

import (
	"context"
	"time"
)

// changedInterval is how often a session looks at the files of its model.
const changedInterval = time.Second

// watchFiles says once that a file of the model is not any more what was read.
func (s *Session) watchFiles(ctx context.Context) {
	defer s.watching.Done()
	tick := time.NewTicker(changedInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if path := s.stages.model.Changed(); path != "" {
				s.log("warning", "", "%s changed on disk; this is the model as it was read before: quit and open it again for the new one", path)
				return
			}
		}
	}
}
