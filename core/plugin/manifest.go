package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ABI is the version of the interface that modules have.
const ABI = 1

// Manifest is what a module says of itself.
type Manifest struct {
	ABI     int    `json:"abi"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Ops     []Op   `json:"ops"`
}

// Op is an operator of a module.
type Op struct {
	Domain     string   `json:"domain"`
	Name       string   `json:"name"`
	Doc        string   `json:"doc,omitempty"`
	Attributes []Attr   `json:"attributes,omitempty"`
	Inputs     []Input  `json:"inputs"`
	Outputs    []Output `json:"outputs"`
}

// Attr is an attribute of an operator: int, float, string, ints or floats. One without a default must be given.
type Attr struct {
	Name    string          `json:"name"`
	Type    string          `json:"type"`
	Default json.RawMessage `json:"default,omitempty"`

	value Value // the default
}

// Input is an input of an operator. Those that may be left out are the last ones.
type Input struct {
	Name     string   `json:"name"`
	Types    []string `json:"types"`
	Optional bool     `json:"optional,omitempty"`
}

// Output is an output of an operator.
type Output struct {
	Name string `json:"name"`
}

// FullName is the operator's name with its domain.
func (o *Op) FullName() string { return o.Domain + ":" + o.Name }

// Bounds of a manifest.
const (
	maxManifest = 64 << 10
	maxOps      = 64
	maxParts    = 32 // attributes, inputs, outputs
	maxName     = 64
)

// parseManifest reads a manifest and checks it.
func parseManifest(text []byte) (m Manifest, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("the manifest: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF {
		return m, errors.New("the manifest: something stands behind the object")
	}
	if m.ABI != ABI {
		return m, fmt.Errorf("the manifest: abi is %d, and this program has %d", m.ABI, ABI)
	}
	if !isName(m.Name) || len(m.Version) > maxName {
		return m, fmt.Errorf("the manifest: name %.80q and version %.80q: want a name of letters, digits, _ . and -", m.Name, m.Version)
	}
	if len(m.Ops) == 0 || len(m.Ops) > maxOps {
		return m, fmt.Errorf("the manifest: %d ops, want 1 to %d", len(m.Ops), maxOps)
	}
	var names []string
	for i := range m.Ops {
		o := &m.Ops[i]
		if err := o.check(); err != nil {
			return m, fmt.Errorf("the manifest: op %d, %.80q: %w", i, o.Name, err)
		}
		if slices.Contains(names, o.FullName()) {
			return m, fmt.Errorf("the manifest: op %s stands twice", o.FullName())
		}
		names = append(names, o.FullName())
	}
	return m, nil
}

// isName reports whether something may be called so.
func isName(s string) bool {
	return s != "" && len(s) <= maxName && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_.-", r))
	})
}

func (o *Op) check() error {
	switch {
	case !isName(o.Domain) || !isName(o.Name):
		return fmt.Errorf("domain %.80q: want names of letters, digits, _ . and -", o.Domain)
	case strings.HasPrefix(o.Domain, "ai.onnx") || o.Domain == "com.microsoft":
		return fmt.Errorf("the domain %s is not a plugin's", o.Domain)
	case len(o.Doc) > 16*maxName:
		return errors.New("doc is too long")
	case len(o.Inputs) > maxParts || len(o.Outputs) > maxParts || len(o.Attributes) > maxParts || len(o.Inputs) == 0 || len(o.Outputs) == 0:
		return fmt.Errorf("%d inputs, %d outputs, %d attributes: want 1 to %d inputs and outputs, and no more attributes", len(o.Inputs), len(o.Outputs), len(o.Attributes), maxParts)
	}
	for i, in := range o.Inputs {
		if !isName(in.Name) || len(in.Types) == 0 || len(in.Types) > len(types) {
			return fmt.Errorf("input %d: want a name and types", i)
		}
		for _, t := range in.Types {
			if _, ok := typeNamed(t); !ok {
				return fmt.Errorf("input %s: there is no type %.80q; there are %s", in.Name, t, typeNames())
			}
		}
		if i > 0 && o.Inputs[i-1].Optional && !in.Optional {
			return fmt.Errorf("input %s cannot be left out, but one before it can", in.Name)
		}
	}
	for i, out := range o.Outputs {
		if !isName(out.Name) {
			return fmt.Errorf("output %d: want a name", i)
		}
	}
	for i := range o.Attributes {
		if err := o.Attributes[i].check(); err != nil {
			return err
		}
	}
	return nil
}

// check reads the default.
func (a *Attr) check() (err error) {
	if !isName(a.Name) {
		return fmt.Errorf("attribute %.80q: want a name", a.Name)
	}
	a.value = Value{Name: a.Name, Kind: a.Type}
	var to any
	switch a.Type {
	case "int":
		a.value.Ints = make([]int64, 1)
		to = &a.value.Ints[0]
	case "float":
		a.value.Floats = make([]float64, 1)
		to = &a.value.Floats[0]
	case "ints":
		to = &a.value.Ints
	case "floats":
		to = &a.value.Floats
	case "string":
		to = &a.value.Text
	default:
		return fmt.Errorf("attribute %s: there is no type %.80q; there are int, float, string, ints and floats", a.Name, a.Type)
	}
	if len(a.Default) == 0 {
		return nil
	}
	if err := json.Unmarshal(a.Default, to); err != nil {
		return fmt.Errorf("attribute %s: the default is no %s", a.Name, a.Type)
	}
	return nil
}
