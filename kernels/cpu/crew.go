package cpu

import "sync/atomic"

// crew shares numbered units of work among workers that take them one by one, so that a worker which the
// system holds up delays no other. It is made once and reused: running allocates nothing.
type crew struct {
	do    func(unit, worker int)
	work  func(worker int)
	next  atomic.Int64
	units int64
}

// init sets the function that does a unit.
func (c *crew) init(do func(unit, worker int)) {
	c.do = do
	c.work = func(worker int) {
		for {
			unit := c.next.Add(1) - 1
			if unit >= c.units {
				return
			}
			c.do(int(unit), worker)
		}
	}
}

// run does units 0 to units-1 and returns when all are done. Units are handed out in order.
func (c *crew) run(parallel Parallel, workers, units int) {
	c.next.Store(0)
	c.units = int64(units)
	if workers = min(workers, units); workers > 0 {
		parallel(workers, c.work)
	}
}
