package networks

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
)

//go:embed oracle.py
var oracleScript string

// Oracle is onnxruntime in a Python process that lives as long as it does not crash. It and this process exchange lists of
// byte strings: a model and its inputs, an error's text (empty for none) and the outputs.
type Oracle struct {
	python string
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
}

// OpenOracle starts onnxruntime by a Python interpreter; the error says why it has none.
func OpenOracle(python string) (*Oracle, error) {
	check := exec.Command(python, "-c", "import onnx, onnxruntime, numpy")
	if out, err := check.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s has no onnxruntime: %w %s", python, err, out)
	}
	o := &Oracle{python: python}
	return o, o.start()
}

func (o *Oracle) start() error {
	o.cmd = exec.Command(o.python, "-u", "-c", oracleScript)
	o.cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1")
	var err error
	if o.in, err = o.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	o.out = bufio.NewReader(out)
	return o.cmd.Start()
}

// Close ends the process.
func (o *Oracle) Close() {
	if o.cmd != nil {
		o.in.Close()
		_ = o.cmd.Process.Kill()
		_ = o.cmd.Wait()
		o.cmd = nil
	}
}

// maxOracleTime bounds one run of onnxruntime.
const maxOracleTime = 20 * time.Second

// Run returns the model's outputs; an error is a refusal, or the end of the process.
func (o *Oracle) Run(ctx context.Context, m *Model) (map[string]numeric.Value, error) {
	in := map[string]numeric.Value{}
	for _, x := range m.Inputs {
		in[x.Name] = x.Feed
	}
	return o.Compute(ctx, m.Encode(), in)
}

// Compute returns what the bytes of a model compute of inputs by name; an error is as Run's. A model that is the last one's is not
// read again.
func (o *Oracle) Compute(ctx context.Context, model []byte, in map[string]numeric.Value) (map[string]numeric.Value, error) {
	if o.cmd == nil {
		if err := o.start(); err != nil {
			return nil, err
		}
	}
	request := [][]byte{model}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		request = append(request, onnx.WriteTensor(name, in[name]))
	}
	late := time.AfterFunc(maxOracleTime, func() { _ = o.cmd.Process.Kill() })
	defer late.Stop()
	answer, err := o.exchange(request)
	if err != nil {
		o.Close()
		return nil, err
	}
	if len(answer[0]) > 0 {
		return nil, errors.New(string(answer[0]))
	}
	outputs := map[string]numeric.Value{}
	for _, b := range answer[1:] {
		name, v, err := onnx.ReadTensor(b)
		if err != nil {
			return nil, err
		}
		outputs[name] = v
	}
	return outputs, ctx.Err()
}

func (o *Oracle) exchange(request [][]byte) ([][]byte, error) {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(request)))
	for _, r := range request {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(r))), r...)
	}
	if _, err := o.in.Write(b); err != nil {
		return nil, err
	}
	number := func() (n uint32, err error) {
		err = binary.Read(o.out, binary.LittleEndian, &n)
		return n, err
	}
	count, err := number()
	if err != nil {
		return nil, err
	}
	if count == 0 || count > 1000 {
		return nil, fmt.Errorf("onnxruntime's process says %d parts", count)
	}
	answer := make([][]byte, count)
	for i := range answer {
		n, err := number()
		if err != nil || n > 1<<26 {
			return nil, fmt.Errorf("onnxruntime's process says %d bytes: %w", n, err)
		}
		answer[i] = make([]byte, n)
		if _, err := io.ReadFull(o.out, answer[i]); err != nil {
			return nil, err
		}
	}
	return answer, nil
}
