package run

import (
	"bytes"
	"fmt"

	"github.com/trtui/trtui/kernels"
)

// Place uploads the constants of bound kernels in one allocation, which the caller frees when the kernels have had
// their last launch.
func Place(b Backend, bound ...kernels.Kernel) (kernels.Mem, error) {
	mem, _, err := placeConstants(b, bound, nil)
	return mem, err
}

// placeConstants is Place that returns where the constants of each kernel lie. Those that are the same as the constants of the step's
// kernel in beside, which outlives the kernels, are not uploaded again.
func placeConstants(b Backend, bound []kernels.Kernel, beside *Loaded) (mem kernels.Mem, places []kernels.Mem, err error) {
	var data []byte
	var offsets []int
	places = make([]kernels.Mem, len(bound))
	there := make([]bool, len(bound))
	for i, k := range bound {
		data = append(data, make([]byte, roundUp(len(data))-len(data))...)
		offsets = append(offsets, len(data))
		r, ok := k.(kernels.Resident)
		if !ok {
			continue
		}
		if beside != nil {
			if other, ok := beside.kernels[i].(kernels.Resident); ok && bytes.Equal(r.Constants(), other.Constants()) {
				places[i], there[i] = beside.places[i], true
				continue
			}
		}
		data = append(data, r.Constants()...)
	}
	if len(data) > 0 {
		if mem, err = upload(b, data); err != nil {
			return mem, nil, fmt.Errorf("constants: %w", err)
		}
	}
	for i, k := range bound {
		r, ok := k.(kernels.Resident)
		if !ok || len(data) == 0 && !there[i] {
			continue
		}
		if !there[i] {
			places[i] = b.Slice(mem, offsets[i], len(r.Constants()))
		}
		r.Place(places[i])
	}
	return mem, places, nil
}

// upload returns memory of the device with the given bytes.
func upload(b Backend, data []byte) (kernels.Mem, error) {
	mem, err := b.Alloc(len(data))
	if err != nil {
		return mem, err
	}
	s, err := b.NewStream()
	if err != nil {
		b.Free(mem)
		return kernels.Mem{}, err
	}
	if err = b.Upload(s, mem, data); err == nil {
		err = s.Wait()
	}
	if e := s.Close(); err == nil {
		err = e
	}
	if err != nil {
		b.Free(mem)
		return kernels.Mem{}, err
	}
	return mem, nil
}
