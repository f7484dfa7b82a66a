package describe

import "time"

// maxSamples bounds the samples that are kept; when they are too many the older half goes.
const maxSamples = 20000

// newest returns samples without the older half where they are too many.
func newest(samples []time.Duration) []time.Duration {
	if len(samples) < maxSamples {
		return samples
	}
	return samples[maxSamples/2:]
}
