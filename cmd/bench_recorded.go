package cmd

import (
	"context"
	"fmt"
	"io"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/report"
)

// recordedRoofline returns a state of a recording whose layers stand under the peaks that were recorded with them. Where none were it
// takes this machine's, if that is the device on which the times were recorded.
func (b *benchFlags) recordedRoofline(ctx context.Context, stderr io.Writer, x operand) (*report.Snapshot, error) {
	o := b.modelFlags
	if err := o.check(); err != nil {
		return nil, err
	}
	snap, err := x.recorded()
	if err != nil {
		return nil, err
	}
	t := snap.Timings
	if t == nil || snap.Overview == nil || len(t.Layers) == 0 {
		return nil, fmt.Errorf("%s: no layers were timed in that state", x.text)
	}
	if t.Roofline.Last() != nil || t.Estimated || t.Roofline != nil && t.Roofline.Unmeasured != "" {
		return snap, nil
	}
	peaks, err := b.peaksHere(ctx, stderr, snap.Device)
	if err != nil {
		return nil, fmt.Errorf("%s has no peaks of its device, as a new recording would: %w", x.text, err)
	}
	warner(stderr)(x.text + " has no peaks of its device, which this machine is: they were measured here, and hold of products and bytes alone, since no more of its layers was recorded")
	whole := *snap
	whole.Timings = describe.UnderPeaks(t, peaks)
	return &whole, nil
}

// peaksHere returns the peaks of this machine's device; an error where that is another than the one that was recorded.
func (b *benchFlags) peaksHere(ctx context.Context, stderr io.Writer, recorded report.Device) ([]run.Peaks, error) {
	o := b.modelFlags
	if !o.device.changed("backend") {
		o.device.backend = recorded.Backend
	}
	if !o.device.changed("threads") {
		o.device.threads = recorded.Threads
	}
	backend, _, closeDevices, err := o.device.openWithHost()
	if err != nil {
		return nil, err
	}
	defer closeDevices()
	here := describe.Device(backend)
	if here.Device != recorded.Device || here.Fingerprint != recorded.Fingerprint || here.Threads != recorded.Threads {
		return nil, fmt.Errorf("this machine's are of another device, %s (%s), not of %s (%s)", here.Device, here.Fingerprint, recorded.Device, recorded.Fingerprint)
	}
	progress, stop := o.output.reporter(stderr)
	defer stop()
	peaks, err := o.device.peaks().Of(ctx, backend, func() {
		if progress != nil {
			progress(report.Progress{Phase: "measuring peaks"})
		}
	})
	switch {
	case len(peaks) > 0:
		if err != nil {
			warner(stderr)(err.Error())
		}
		return peaks, nil
	case err == nil:
		err = fmt.Errorf("the peaks of %s are not measured", here.Device)
	}
	return nil, err
}
