package build

import (
	"runtime"
	"sync"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
)

// tally is a tensor's value that is to be counted.
type tally struct {
	histogram *quant.Histogram
	weighed   *quant.Weighed // in place of histogram, if not nil
	means     *quant.Means
	value     numeric.Value // which nobody else writes
	real      numeric.Range // what its integers stand for
}

// counters count values while a network goes on running. All values of one tensor are counted by one of them, one after the other,
// so that what they find does not depend on how many there are.
type counters struct {
	lists []chan tally
	wait  sync.WaitGroup
	once  sync.Once
}

// mostCounters and waiting bound what is held: so many values wait for each counter.
const (
	mostCounters = 16
	waiting      = 2
)

// startCounters starts a counter for each processor.
func startCounters() *counters {
	c := &counters{lists: make([]chan tally, min(runtime.GOMAXPROCS(0), mostCounters))}
	for i := range c.lists {
		c.lists[i] = make(chan tally, waiting)
		c.wait.Go(func() {
			for t := range c.lists[i] {
				if t.weighed != nil {
					t.weighed.AddValue(t.value, t.real)
				} else {
					t.histogram.AddValue(t.value, t.real)
				}
				t.means.AddValue(t.value, t.real)
			}
		})
	}
	return c
}

// add has the value of a tensor counted; the key is the tensor's.
func (c *counters) add(key int, t tally) { c.lists[key%len(c.lists)] <- t }

// stop waits until all is counted. It may be called again.
func (c *counters) stop() {
	c.once.Do(func() {
		for _, l := range c.lists {
			close(l)
		}
	})
	c.wait.Wait()
}
