package plugin

import (
	"encoding/binary"

	"github.com/tetratelabs/wazero/api"
)

// memory is a module's memory of some bytes, to be read.
type memory struct {
	api.Memory
	data []byte
}

func (m memory) Size() uint32 { return uint32(len(m.data)) }

func (m memory) Read(at, size uint32) ([]byte, bool) {
	if uint64(at)+uint64(size) > uint64(len(m.data)) {
		return nil, false
	}
	return m.data[at : at+size], true
}

func (m memory) ReadUint64Le(at uint32) (uint64, bool) {
	b, ok := m.Read(at, 8)
	if !ok {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}
