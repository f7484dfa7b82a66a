package sessions

import (
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
)

// batches returns the batches of the first items of the data at a configuration's batch and shapes; all of them where items
// is 0.
func (s *stages) batches(batch int, shapes map[string][]int, items int) (b compare.Batches, err error) {
	cfg := config.Config{Batch: batch, Shapes: shapes}
	count, size := s.Data.Len(), max(1, batch)
	if items > 0 {
		count = min(items, count)
	}
	all, err := s.env(s.model.Shaped(cfg))
	if err != nil {
		return b, err
	}
	cfg.Batch = 1
	one, err := s.env(s.model.Shaped(cfg))
	return compare.NewBatches(s.Data, s.model.Network, count, size, one, all), err
}
