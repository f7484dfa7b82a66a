package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// row is a form as the table writes it.
//
// mods are the slots, separated by spaces: "lo" is required, "?sat" optional, "lo|hi" a choice, "T=u32|s32" a choice that
// operands name, "$int" stands for a set of types. What follows @ is the ISA version and the target that one alternative
// needs: "bf16@78:90".
//
// args are the operands, separated by spaces, each a type or the name of a slot: "T" is a register or an immediate, "=T" a
// destination, "2T" of twice the width, "~T" of at least the width, "T|p" with an optional predicate, "T/_" or a sink,
// "*T" whatever mov takes, "#T" an immediate and "#4|8|16" one of these, "[]" an address, "{4}T" a vector and "{V}T" one as
// long as slot V says, "p" a predicate, "?" before an operand that may be left out, "label" a label.
//
// needs holds for the whole form, as in "70:80" or "80:90a".
type row struct{ op, mods, args, needs string }

// typeSets are the names of sets of types.
var typeSets = map[string]string{
	"$int":  "u16|u32|u64|s16|s32|s64",
	"$int8": "u8|u16|u32|u64|s8|s16|s32|s64",
	"$bits": "b16|b32|b64",
	"$all":  "b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64",
	"$mem":  "b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64",
	"$rnd":  "rn|rz|rm|rp",
	"$scmp": "eq|ne|lt|le|gt|ge",
	"$ucmp": "eq|ne|lt|le|gt|ge|lo|ls|hi|hs",
	"$fcmp": "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan",
	"$sms":  "shared|shared::cta@78:30|shared::cluster@78:90",
	"$smem": "shared|shared::cta@78:30",
}

// compileForm reads a row. A malformed row is a fault of the table: it panics.
func compileForm(r row) *Form {
	f := &Form{Op: r.op}
	if r.needs != "" {
		f.Needs = compileNeed(r, r.needs)
	}
	for _, text := range strings.Fields(r.mods) {
		s := Slot{}
		text, s.Optional = strings.CutPrefix(text, "?")
		if name, alts, ok := strings.Cut(text, "="); ok {
			s.Name, text = name, alts
		}
		for _, alt := range strings.Split(expandSets(text), "|") {
			a := Alt{Text: alt}
			if mod, needs, ok := strings.Cut(alt, "@"); ok {
				a.Text, a.Needs = mod, compileNeed(r, needs)
			}
			s.Alts = append(s.Alts, a)
		}
		f.Slots = append(f.Slots, s)
	}
	for _, text := range strings.Fields(r.args) {
		f.Args = append(f.Args, compileArg(r, text))
	}
	return f
}

// expandSets replaces the names of sets in a choice by what they stand for.
func expandSets(text string) string {
	alts := strings.Split(text, "|")
	for i, alt := range alts {
		if set, ok := typeSets[alt]; ok {
			alts[i] = set
		}
	}
	return strings.Join(alts, "|")
}

// compileNeed reads "80:90a".
func compileNeed(r row, text string) Need {
	version, target, ok := strings.Cut(text, ":")
	target, arch := strings.CutSuffix(target, "a")
	v, err1 := strconv.Atoi(version)
	sm, err2 := strconv.Atoi(target)
	if !ok || err1 != nil || err2 != nil {
		panic(fmt.Sprintf("ptx: row %q %q: need %q", r.op, r.mods, text))
	}
	return Need{Version(v), Target{SM: sm, Arch: arch}}
}

// compileArg reads one operand of a row.
func compileArg(r row, text string) Arg {
	a := Arg{Kind: ArgValue}
	text, a.Optional = strings.CutPrefix(text, "?")
	text, a.Dest = strings.CutPrefix(text, "=")
	text, a.Sink = strings.CutSuffix(text, "/_")
	if !strings.HasPrefix(text, "#") {
		text, a.Pair = strings.CutSuffix(text, "|p")
	}
	if rest, ok := strings.CutPrefix(text, "{"); ok {
		a.Kind = ArgVector
		a.Count, text, ok = strings.Cut(rest, "}")
		if !ok {
			panic(fmt.Sprintf("ptx: row %q %q: operand %q", r.op, r.mods, text))
		}
	}
	text, a.Relaxed = strings.CutPrefix(text, "~")
	text, a.Wide = strings.CutPrefix(text, "2")
	switch {
	case text == "[]":
		a.Kind = ArgAddr
	case text == "label":
		a.Kind = ArgLabel
	case text == "p":
		a.Kind, a.Type = ArgPred, string(Pred)
	case text[0] == '*':
		a.Kind, a.Type = ArgAny, text[1:]
	case text[0] == '#':
		a.Kind, a.Type = ArgImm, text[1:]
		if '0' <= text[1] && text[1] <= '9' {
			a.Type = string(U32)
			for _, n := range strings.Split(text[1:], "|") {
				v, err := strconv.ParseInt(n, 10, 64)
				if err != nil {
					panic(fmt.Sprintf("ptx: row %q %q: operand %q", r.op, r.mods, text))
				}
				a.Only = append(a.Only, v)
			}
		}
	default:
		a.Type = text
	}
	return a
}
