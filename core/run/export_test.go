package run

// Beyond returns the bytes that a context takes for the shapes that it is at beside the memory of its plan.
func (c *ExecutionContext) Beyond() (bytes int) {
	for _, m := range c.own {
		bytes += len(m.Host)
	}
	return bytes
}
