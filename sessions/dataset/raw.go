package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/internal/host"
)

// OpenRaw reads files of bytes, one for each input of a network by its name: elements of the input's type, without a header, one item or
// more of its shape at values of the symbols, which lie along its first axis. batch are the symbols' values for an inference: a file
// that holds fewer items than its batch is an error.
func OpenRaw(files map[string]string, inputs []*graph.Tensor, env, batch map[string]int) (*Set, error) {
	named, names := map[string]bool{}, make([]string, len(inputs))
	for i, t := range inputs {
		named[t.Name], names[i] = true, t.Name
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !named[name] {
			return nil, fmt.Errorf("data %s is for input %q, which the model does not have: it has %s", files[name], name, strings.Join(names, ", "))
		}
	}
	hash, id := sha256.New(), Identity{}
	var arrays []Array
	for _, t := range inputs {
		path, ok := files[t.Name]
		if !ok {
			continue // a state may begin with zeros; of another one Bind says that it is missing
		}
		dims, size := symbolic.Eval(t.Dims, env), t.Type.Size()
		if size == 0 {
			return nil, fmt.Errorf("data %s: input %s is %s, which a file of bytes does not hold", path, t.Name, t.Type)
		}
		data, err := host.ReadUpTo(path, maxBytes)
		if err != nil {
			return nil, fmt.Errorf("data %w", err)
		}
		item := size * numeric.Count(dims)
		n := len(data) / max(item, 1)
		if n < 1 || len(data) != n*item || n > 1 && len(dims) == 0 {
			return nil, fmt.Errorf("data %s: %d bytes are not items of input %s, %s%v, of %d bytes each", path, len(data), t.Name, t.Type, dims, item)
		}
		if all := symbolic.Eval(t.Dims, batch); n*item < size*numeric.Count(all) {
			return nil, fmt.Errorf("data %s: input %s, %s%v, takes %d bytes, and the file has %d: write all items of the batch into it, or choose a smaller one", path, t.Name, t.Type, all, size*numeric.Count(all), len(data))
		}
		if len(dims) > 0 {
			dims[0] *= n
		}
		arrays = append(arrays, Array{t.Name, numeric.Value{Type: t.Type, Dims: dims, Data: data}})
		id.Path += path + " "
		id.Size += int64(len(data))
		fmt.Fprintf(hash, "%q %v ", t.Name, dims)
		hash.Write(data)
	}
	s, err := New("raw inputs", arrays, nil)
	if err == nil {
		id.Hash = hex.EncodeToString(hash.Sum(nil))
		s.Identity = id
	}
	return s, err
}
