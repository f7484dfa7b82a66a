package graph

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// String prints the network: a line for each input, layer and output. The form is stable, since golden tests, the
// workbench's pass diff and bug reports all use it:
//
//	network mnist
//	input  image f32[batch,1,28,28]
//	Conv_0: conv1 f32[batch,8,28,28] = Conv(image, w f32[8,1,5,5]) pads=[2 2 2 2] | relu($0)  <- Conv_0 + Relu_1
//	output conv1
//
// The networks inside a layer follow it, further to the right.
func (n *Network) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "network %s\n", n.Name)
	n.print(&b, "")
	return b.String()
}

// print writes the lines of the network, each behind an indent, and after a layer those of the networks inside it.
func (n *Network) print(b *strings.Builder, indent string) {
	for _, t := range n.Inputs {
		fmt.Fprintf(b, "%sinput  %s", indent, t)
		if t.IsShape {
			fmt.Fprintf(b, " shape %s", symbolic.Format(t.Value))
		}
		b.WriteByte('\n')
	}
	for _, l := range n.Layers {
		fmt.Fprintf(b, "%s%s\n", indent, l)
		for _, body := range l.Bodies() {
			fmt.Fprintf(b, "%s  %s\n", indent, body.Name)
			body.Network.print(b, indent+"    ")
		}
	}
	for _, t := range n.Outputs {
		fmt.Fprintf(b, "%soutput %s\n", indent, t.Name)
	}
}

// String prints the layer on one line.
func (l *Layer) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", l.Name)
	for i, t := range l.Outputs {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(t.String())
	}
	fmt.Fprintf(&b, " = %s(", l.Op.Name)
	for i, t := range l.Inputs {
		if i > 0 {
			b.WriteString(", ")
		}
		switch {
		case t == nil:
			b.WriteByte('-')
		case t.IsConst():
			b.WriteString(t.String())
		default:
			b.WriteString(t.Name)
		}
	}
	b.WriteByte(')')
	if s := FormatAttrs(l.Attrs); s != "" {
		b.WriteString(" " + s)
	}
	if l.Epilogue.Args > 0 {
		fmt.Fprintf(&b, " | %s", l.Epilogue)
	}
	if len(l.From) != 1 || l.From[0] != l.Name {
		fmt.Fprintf(&b, "  <- %s", strings.Join(l.From, " + "))
	}
	return b.String()
}

// String prints the tensor's name, type and shape, as in "image f32[batch,1,28,28]", and its range if it has one.
func (t *Tensor) String() string { return t.Name + " " + t.TypeString() + t.Range.String() }

// TypeString prints the tensor's type and shape, as in "f32[batch,1,28,28]".
//
// A tensor that a layer which is not supported makes may have neither: "?".
func (t *Tensor) TypeString() string {
	if !t.IsKnown() {
		return "?"
	}
	return t.Type.String() + symbolic.Format(t.Dims)
}

// IsKnown reports whether t's type and shape are known: all are but those of layers that are not supported.
func (t *Tensor) IsKnown() bool { return t.Type != numeric.Invalid }

// FormatAttrs prints the fields of an attribute struct that are not zero, as in "pads=[2 2 2 2] group=8".
func FormatAttrs(attrs any) string {
	if attrs == nil {
		return ""
	}
	if u, ok := attrs.(Unsupported); ok {
		return u.String()
	}
	v := reflect.ValueOf(attrs)
	if v.Kind() != reflect.Struct {
		return fmt.Sprint(attrs)
	}
	var parts []string
	for i := range v.NumField() {
		f := v.Field(i)
		if _, body := f.Interface().(*Network); f.IsZero() || body {
			continue
		}
		name := v.Type().Field(i).Name
		parts = append(parts, fmt.Sprintf("%s=%v", strings.ToLower(name[:1])+name[1:], f.Interface()))
	}
	return strings.Join(parts, " ")
}

// Verify checks the invariants that every pass must keep: names are unique and known, Producer and Users are right,
// layers are in topological order, epilogues read what is there, constants have the bytes that their shape says.
func (n *Network) Verify() error {
	produced := map[*Tensor]bool{}
	for _, t := range n.Inputs {
		produced[t] = true
	}
	uses := map[*Tensor]int{}
	for _, l := range n.Layers {
		if n.layers[l.Name] != l {
			return fmt.Errorf("layer %s: the network does not know it by its name", l.Name)
		}
		if err := n.verifyLayer(l, produced, uses); err != nil {
			return fmt.Errorf("layer %s: %w", l.Name, err)
		}
	}
	for t, k := range uses {
		if len(t.Users) != k {
			return fmt.Errorf("tensor %s: %d uses, but %d users are noted", t.Name, k, len(t.Users))
		}
	}
	for _, t := range n.Outputs {
		if !produced[t] && !t.IsConst() {
			return fmt.Errorf("output %s: nothing produces it", t.Name)
		}
	}
	return nil
}

func (n *Network) verifyLayer(l *Layer, produced map[*Tensor]bool, uses map[*Tensor]int) error {
	for _, t := range l.Inputs {
		if t == nil {
			continue
		}
		uses[t]++
		if !slices.Contains(t.Users, l) {
			return fmt.Errorf("input %s does not note it as a user", t.Name)
		}
		if t.IsConst() {
			if v, _ := t.Const(); v.Check() != nil {
				return fmt.Errorf("constant %s: %w", t, v.Check())
			}
		} else if !produced[t] {
			return fmt.Errorf("input %s is not produced before it is used", t.Name)
		}
	}
	for _, t := range l.Outputs {
		if t.Producer != l {
			return fmt.Errorf("output %s has another producer", t.Name)
		}
		if n.tensors[t.Name] != t {
			return fmt.Errorf("output %s: the network does not know it by its name", t.Name)
		}
		produced[t] = true
	}
	if len(l.From) == 0 {
		return fmt.Errorf("no source layers")
	}
	if err := l.verifyBodies(); err != nil {
		return err
	}
	if e := l.Epilogue; e.Args > 0 {
		if len(l.Outputs) != 1 || len(l.Inputs) < e.Args-1 {
			return fmt.Errorf("epilogue of %d arguments on %d inputs and %d outputs", e.Args, len(l.Inputs), len(l.Outputs))
		}
		return e.Check()
	}
	return nil
}
