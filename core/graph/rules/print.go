package rules

import (
	"fmt"
	"strconv"
	"strings"
)

// String prints the file as Parse reads it, comments aside.
func (f *File) String() string {
	var b strings.Builder
	if f.Before != "" {
		fmt.Fprintf(&b, "before %s\n\n", f.Before)
	}
	for i, r := range f.Rules {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(r.String())
	}
	return b.String()
}

// String prints the rule as Parse reads it.
func (r *Rule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rule %s", r.Name)
	if r.Doc != "" {
		fmt.Fprintf(&b, ": %s", r.Doc)
	}
	b.WriteString("\nmatch\n")
	for _, s := range r.Match {
		fmt.Fprintf(&b, "    %s\n", s)
	}
	if len(r.Where) > 0 {
		b.WriteString("where\n")
	}
	for _, w := range r.Where {
		fmt.Fprintf(&b, "    %s\n", w)
	}
	b.WriteString("replace\n")
	for _, s := range r.Replace {
		fmt.Fprintf(&b, "    %s\n", s)
	}
	return b.String()
}

func (s Statement) String() string { return strings.Join(s.Names, ", ") + " = " + s.Value.String() }

func (t Term) String() string {
	switch t.Kind {
	case NumberTerm:
		return formatNumber(t.Number)
	case ListTerm:
		return strings.ReplaceAll(fmt.Sprint(t.List), ",", " ")
	case VariableTerm:
		return "$" + t.Name
	case OmittedTerm:
		return "-"
	case ComputedTerm:
		return "(" + t.Expr.String() + ")"
	case TensorTerm:
		return t.Name
	}
	var args []string
	for _, a := range t.Args {
		args = append(args, a.String())
	}
	text := t.Name + "(" + strings.Join(args, ", ") + ")"
	for _, a := range t.Attrs {
		text += " " + a.String()
	}
	return text
}

func (a Attr) String() string {
	switch {
	case a.Any:
		return a.Name + "=_"
	case a.Var != "":
		return a.Name + "=$" + a.Var
	case a.Expr != nil:
		return a.Name + "=(" + a.Expr.String() + ")"
	case a.Lists:
		list := make([]string, len(a.List))
		for i, v := range a.List {
			list[i] = formatNumber(v)
		}
		return a.Name + "=[" + strings.Join(list, " ") + "]"
	}
	return a.Name + "=" + a.Text
}

func (c Condition) String() string {
	if c.Test != nil {
		return c.Test.String()
	}
	text := c.Tensor
	if c.Const {
		text += " const"
	}
	if len(c.Types) > 0 {
		var types []string
		for _, t := range c.Types {
			types = append(types, t.String())
		}
		text += " " + strings.Join(types, "|")
	} else if !c.Const || c.Shaped {
		text += " ?"
	}
	if !c.Shaped {
		return text
	}
	var dims []string
	for i := 0; i <= len(c.Dims); i++ {
		if i == c.Rest {
			dims = append(dims, "...")
		}
		if i < len(c.Dims) {
			dims = append(dims, c.Dims[i].String())
		}
	}
	return text + "[" + strings.Join(dims, ",") + "]"
}

func (d Extent) String() string {
	switch {
	case d.Any:
		return "_"
	case d.Name != "":
		return d.Name
	}
	return strconv.Itoa(d.Size)
}

// String prints the expression; operations inside others are in brackets.
func (e *Expr) String() string {
	inner := func(a *Expr) string {
		if len(a.Args) > 1 {
			return "(" + a.String() + ")"
		}
		return a.String()
	}
	switch e.Op {
	case "number":
		return formatNumber(e.Value)
	case "variable":
		return "$" + e.Name
	case "extent":
		return e.Name
	case "rank":
		return "rank(" + e.Name + ")"
	case "neg":
		return "-" + inner(e.Args[0])
	}
	return inner(e.Args[0]) + " " + e.Op + " " + inner(e.Args[1])
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
