package build

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// fold is a division of the data: ways are done on a part of it, and judged by another one.
type fold struct {
	fit, held *Replay
	want      *staged // FP32 on what is held out
	moments   *Moments
	seen      *Collected // of what it is done on
}

// divide holds items of the data to quantise on, and others to judge by. Of few items, either half judges the other.
func (c *chooser) divide() error {
	every := everyHeld(c.Replay.Items)
	judges := c.Replay.Items / every
	others := c.Replay.Items - judges
	most := heldItems(c.optimized.Network, c.Replay.Env)
	var items []map[string]numeric.Value
	var held []bool
	i, judge, other := 0, 0, 0
	for in, err := range c.Replay.Batches {
		if err != nil {
			return err
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
		judging, n, at, bound := i%every == every-1, others, &other, min(most, mostHeld)
		if judging {
			n, at, bound = judges, &judge, min(most, mostJudging)
		}
		if spread := max(1, (n+bound-1)/bound); *at%spread == 0 && *at/spread < bound {
			items, held = append(items, copyOf(in)), append(held, judging)
		}
		*at++
		i++
	}
	if some := unlike(items); len(some) < len(items) { // one that judges must tell something new
		items, every = some, everyHeld(len(some))
		for i := range items {
			held[i] = i%every == every-1
		}
	}
	if len(items) < fewestChosen {
		return nil
	}
	var parts [2][]map[string]numeric.Value
	for i, in := range items {
		part := 0
		if held[i] {
			part = 1
		}
		parts[part] = append(parts[part], in)
	}
	c.folds = []*fold{{fit: c.replay(parts[0]), held: c.replay(parts[1]), moments: c.Moments}}
	if every == 2 {
		other := &fold{fit: c.replay(parts[1]), held: c.replay(parts[0]), moments: &Moments{}}
		other.moments.begin(c.optimized.Network)
		c.folds = append(c.folds, other)
	}
	return nil
}

// everyHeld is which of so many items is held out: one of so many.
func everyHeld(items int) int {
	if items < manyChosen {
		return 2
	}
	return 4
}

// unlike returns the first of items that are alike.
func unlike(items []map[string]numeric.Value) (list []map[string]numeric.Value) {
	seen := map[[sha256.Size]byte]bool{}
	for _, in := range items {
		if sum := checksum(in); !seen[sum] {
			seen[sum] = true
			list = append(list, in)
		}
	}
	return list
}

// checksum returns what tells an item from others.
func checksum(in map[string]numeric.Value) [sha256.Size]byte {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(in)) {
		h.Write(in[name].Data)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// chance reports whether what is held out is so little that it tells chance.
func (c *chooser) chance() bool {
	n, items := 0, c.folds[0].held.Items
	for _, t := range logits(c.optimized.Network) {
		n += numeric.Count(symbolic.Eval(t.Dims, c.Replay.Env))
	}
	return items < fewestJudging && items*n < fewestCompared
}

// halves reports whether either half of few items judges the other.
func (c *chooser) halves() bool { return len(c.folds) > 1 }

// judges is how many items ways are judged by.
func (c *chooser) judges() (items int) {
	for _, f := range c.folds {
		items += f.held.Items
	}
	return items
}

// replay returns items as data.
func (c *chooser) replay(items []map[string]numeric.Value) *Replay {
	r := *c.Replay
	r.Items = len(items)
	r.Progress = func(phase, _ string, done, of int) { c.tell(fmt.Sprintf("%s %d/%d", phase, done, of)) }
	r.Batches = func(yield func(map[string]numeric.Value, error) bool) {
		for _, in := range items {
			if !yield(maps.Clone(in), nil) {
				return
			}
		}
	}
	return &r
}
