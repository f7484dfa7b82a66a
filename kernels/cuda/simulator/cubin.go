package simulator

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/trtui/trtui/kernels/cuda/driver"
)

// A cubin of the simulated device is the text that it was made of behind a line that says for what, by which compiler, and
// what the text's hash is: so that a driver's rules about code that is kept can be kept, too.
const cubinLine = "\x7fELF simulated sm_%d compiler %d text %x\n"

func isCubin(image []byte) bool { return bytes.HasPrefix(image, []byte("\x7fELF")) }

// Link compiles text to a cubin.
func (s *Context) Link(text []byte, _ driver.JITOptions) ([]byte, driver.JITLog, error) {
	p, log, err := s.compile("cuLinkAddData_v2", text)
	if err == nil {
		err = p.Unload() // it was not asked for
	}
	if err != nil {
		return nil, log, err
	}
	line := fmt.Sprintf(cubinLine, s.device.SM, s.device.Driver, sha256.Sum256(text))
	return append([]byte(line), text...), log, nil
}

// textOf returns the text that a cubin was made of. As a driver it refuses one that is damaged, one for another
// architecture, and one of a compiler that is newer than its own.
func (s *Context) textOf(call string, cubin []byte) ([]byte, error) {
	line, text, _ := bytes.Cut(cubin, []byte("\n"))
	var sm int
	var compiler driver.Version
	var sum []byte
	if n, err := fmt.Sscanf(string(line)+"\n", cubinLine, &sm, &compiler, &sum); err != nil || !bytes.Equal(sum, hashOf(text)) {
		return nil, fail(call, driver.InvalidImage, "a cubin of %d bytes, of whose line %d fields are right", len(cubin), n)
	}
	switch {
	case sm != s.device.SM:
		return nil, fail(call, driver.NoBinaryForGPU, "a cubin for sm_%d on sm_%d", sm, s.device.SM)
	case compiler > s.device.Driver:
		return nil, fail(call, driver.InvalidImage, "a cubin of compiler %s for driver %s", compiler, s.device.Driver)
	}
	return text, nil
}

func hashOf(text []byte) []byte {
	sum := sha256.Sum256(text)
	return sum[:]
}
