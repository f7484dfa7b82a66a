package stages

import (
	"fmt"
	"sync"

	"github.com/trtui/trtui/core/build"
)

// made are the ways to quantise that were chosen by trial. What is chosen once for a calibration stands for all that is lowered with it
// later, with other rules and precisions of layers: trials take longer than all else that lowering does.
type made struct {
	lock    sync.Mutex
	ways    map[string]madeWay // by calibration
	moments build.Moments      // what trials have found of the network, for those of other calibrators
	scaled  scaled
}

// scaled is what tensors were whose channels are scaled, the last that were asked for: no calibrator changes that.
type scaled struct {
	of    string
	found *build.Collected
}

// madeWay is what was chosen, and for which network.
type madeWay struct {
	network string
	build.Way
}

// names returns what names the calibration of a lowering, and its network. Weights that are rounded alone have no calibrator.
func (*made) names(in lowering) (calibration, network string) {
	var by finder
	if in.Ranges != nil {
		by = in.Ranges.By
	}
	return fmt.Sprintf("%+v %+v %s %s", by, in.Quantized, in.Weights, in.Precision), fmt.Sprintf("%+v %v", in.Of, in.Layers)
}

// chosen reports whether a way was chosen for the calibration of a lowering.
func (m *made) chosen(in lowering) bool {
	calibration, _ := m.names(in)
	m.lock.Lock()
	defer m.lock.Unlock()
	_, ok := m.ways[calibration]
	return ok
}

// collected returns what scaled tensors are, by collect where they were others before.
func (m *made) collected(of string, collect func() (*build.Collected, error)) (*build.Collected, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.scaled.found == nil || m.scaled.of != of {
		found, err := collect()
		if err != nil {
			return nil, err
		}
		m.scaled = scaled{of, found}
	}
	return m.scaled.found, nil
}

func (m *made) keep(in lowering, w build.Way) {
	calibration, network := m.names(in)
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.ways == nil {
		m.ways = map[string]madeWay{}
	}
	if _, ok := m.ways[calibration]; !ok {
		m.ways[calibration] = madeWay{network, w}
	}
}
