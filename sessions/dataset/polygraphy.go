package dataset

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/internal/host"
)

// Results are the outputs that one run of a model saved.
type Results struct {
	Runner     string // what Polygraphy calls that which ran it; "" in files without names
	Iterations []map[string]numeric.Value
}

// ReadResults reads outputs that were saved: arrays of a .npz, or Polygraphy's RunResults (polygraphy run --save-outputs), a file or
// a folder of one for each iteration. It returns them by runner, in the order of the file.
func ReadResults(path string) ([]Results, error) {
	files := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		files, err = filepath.Glob(filepath.Join(path, "*.json"))
		if err != nil || len(files) == 0 {
			return nil, fmt.Errorf("%s: the folder has no .json of results", path)
		}
	}
	var all []Results
	for _, file := range files {
		list, err := readResults(file)
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			if i := slices.IndexFunc(all, func(o Results) bool { return o.Runner == r.Runner }); i >= 0 && len(files) > 1 {
				all[i].Iterations = append(all[i].Iterations, r.Iterations...)
				continue
			}
			all = append(all, r)
		}
	}
	return all, nil
}

func readResults(path string) ([]Results, error) {
	data, err := readSome(path)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		arrays, err := readArchive(data)
		if err == nil && len(arrays) == 0 {
			err = errors.New("the archive has no arrays")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return []Results{{Iterations: []map[string]numeric.Value{arrays}}}, nil
	}
	list, err := parseResults(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

// readSome reads a file that is not larger than a set may be as base64, which has four bytes for three.
func readSome(path string) ([]byte, error) {
	return host.ReadUpTo(path, maxBytes/3*4)
}

// Objects of Polygraphy say what they are by this member; older versions by __polygraphy_encoded_ and the name of the class.
type pgResults struct {
	List  []pgRunner `json:"lst"`
	Class string     `json:"polygraphy_class"`
}

// pgRunner is a pair of a name and what it made of each iteration.
type pgRunner struct {
	name       string
	iterations []pgIteration
}

type pgIteration struct {
	Outputs pgArrays `json:"outputs"`
	Runtime *float64 `json:"runtime"`
	Runner  string   `json:"runner_name"`
	Class   string   `json:"polygraphy_class"`
}

type pgArrays map[string]*pgArray

// pgArray is an array as numpy saves it, in base64, perhaps inside another object, which Polygraphy loads when it needs it.
type pgArray struct {
	Array  *string  `json:"array,omitempty"`
	Values *pgArray `json:"values,omitempty"`
	Tensor *string  `json:"tensor,omitempty"` // of PyTorch: a pickle
	Class  string   `json:"polygraphy_class"`
}

func (r *pgRunner) UnmarshalJSON(data []byte) error {
	pair := []any{&r.name, &r.iterations}
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	if len(raw) != len(pair) {
		return fmt.Errorf("a runner has %d parts, want its name and its iterations", len(raw))
	}
	for i := range pair {
		if err := json.Unmarshal(raw[i], pair[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r pgRunner) MarshalJSON() ([]byte, error) { return json.Marshal([]any{r.name, r.iterations}) }

func parseResults(data []byte) ([]Results, error) {
	var file pgResults
	err := json.Unmarshal(data, &file)
	switch {
	case errors.As(err, new(*json.SyntaxError)):
		err = errors.New("it is no JSON")
	case err == nil && len(file.List) == 0:
		err = errors.New("no runner in it")
	}
	if err != nil {
		return nil, fmt.Errorf("neither a .npz archive nor results that Polygraphy saved: %w", err)
	}
	var list []Results
	left := maxBytes
	for _, runner := range file.List {
		r := Results{Runner: runner.name}
		for i, it := range runner.iterations {
			values, err := it.Outputs.values(&left)
			if err != nil {
				return nil, fmt.Errorf("%s, iteration %d: %w", runner.name, i, err)
			}
			r.Iterations = append(r.Iterations, values)
		}
		if len(r.Iterations) == 0 {
			return nil, fmt.Errorf("%s has no iterations", runner.name)
		}
		list = append(list, r)
	}
	return list, nil
}

// values decodes the arrays; left is how many bytes they may have.
func (a pgArrays) values(left *int) (map[string]numeric.Value, error) {
	values := make(map[string]numeric.Value, len(a))
	for _, name := range slices.Sorted(maps.Keys(a)) {
		v, err := a[name].value(*left)
		if err != nil {
			return nil, fmt.Errorf("array %s: %w", name, err)
		}
		*left -= len(v.Data)
		values[name] = v
	}
	return values, nil
}

func (a *pgArray) value(most int) (numeric.Value, error) {
	switch {
	case a == nil:
		return numeric.Value{}, errors.New("there is none")
	case a.Values != nil:
		return a.Values.value(most)
	case a.Tensor != nil:
		return numeric.Value{}, errors.New("it is a pickled tensor of PyTorch; save it from numpy arrays")
	case a.Array == nil:
		return numeric.Value{}, errors.New("it is no array of numpy")
	}
	data, err := base64.StdEncoding.DecodeString(*a.Array)
	if err != nil { // as the first versions of Polygraphy wrote it, a character for a byte
		data = data[:0]
		for _, r := range *a.Array {
			data = append(data, byte(r))
		}
	}
	return readNpy(bytes.NewReader(data), most, everything)
}

// encoded returns arrays as Polygraphy's; lazy where it expects those that it loads when it needs them.
func encoded(values map[string]numeric.Value, lazy bool) (pgArrays, error) {
	arrays := make(pgArrays, len(values))
	for name, v := range values {
		var b bytes.Buffer
		if err := writeNpy(&b, v); err != nil {
			return nil, fmt.Errorf("array %s: %w", name, err)
		}
		text := base64.StdEncoding.EncodeToString(b.Bytes())
		arrays[name] = &pgArray{Array: &text, Class: "ndarray"}
		if lazy {
			arrays[name] = &pgArray{Values: arrays[name], Class: "LazyArray"}
		}
	}
	return arrays, nil
}

// WriteResults writes outputs as Polygraphy's RunResults, which polygraphy run --load-outputs reads.
func WriteResults(w io.Writer, list []Results) error {
	file := pgResults{List: []pgRunner{}, Class: "RunResults"}
	for _, r := range list {
		runner := pgRunner{name: r.Runner, iterations: []pgIteration{}}
		for _, values := range r.Iterations {
			arrays, err := encoded(values, true)
			if err != nil {
				return err
			}
			runner.iterations = append(runner.iterations, pgIteration{Outputs: arrays, Runner: r.Runner, Class: "IterationResult"})
		}
		file.List = append(file.List, runner)
	}
	return writeIndented(w, file)
}

// WriteFeeds writes inputs of inferences as polygraphy run --load-inputs reads them.
func WriteFeeds(w io.Writer, feeds []map[string]numeric.Value) error {
	list := []pgArrays{}
	for _, values := range feeds {
		arrays, err := encoded(values, false)
		if err != nil {
			return err
		}
		list = append(list, arrays)
	}
	return writeIndented(w, list)
}

func writeIndented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "    ")
	return e.Encode(v)
}

// isFeeds reports whether a file begins as Polygraphy's inputs do: a list of objects.
func isFeeds(head []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("["))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return ok && (len(rest) == 0 || rest[0] == '{')
}

// readFeeds reads the inputs of inferences that Polygraphy saved (polygraphy run --save-inputs); each is a whole item.
func readFeeds(r io.Reader, o Options) (*Set, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes/3*4+1))
	if err == nil && len(data) > maxBytes/3*4 {
		err = errTooLarge
	}
	if err != nil {
		return nil, err
	}
	var feeds []pgArrays
	if err := json.Unmarshal(data, &feeds); err != nil {
		return nil, fmt.Errorf("no inputs of Polygraphy: %w", err)
	}
	first, count, err := o.part(len(feeds))
	if err != nil {
		return nil, err
	}
	s := &Set{Whole: true, asStored: true, length: count}
	left := maxBytes
	var items [][]numeric.Value
	for i, feed := range feeds[first : first+count] {
		values, err := feed.values(&left)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", first+i, err)
		}
		var item []numeric.Value
		for k, name := range slices.Sorted(maps.Keys(values)) {
			if err := s.input(k, name, values[name], i == 0); err != nil {
				return nil, fmt.Errorf("item %d: %w", first+i, err)
			}
			item = append(item, values[name])
		}
		if len(item) != len(s.Inputs) {
			return nil, fmt.Errorf("item %d has %d inputs, the first one %d", first+i, len(item), len(s.Inputs))
		}
		items = append(items, item)
	}
	s.keep(items)
	return s, nil
}
