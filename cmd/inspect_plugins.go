package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/plugin"
	"github.com/trtui/trtui/sessions/report"
)

// inspectPluginsCommand shows what is in plugins.
func inspectPluginsCommand() *cobra.Command {
	var o outputFlags
	o.define()
	c := &cobra.Command{
		Use:   "plugins FILE...",
		Short: "Show the ops of plugins: WebAssembly modules that --plugin loads",
		Long: "Show what WebAssembly modules have that --plugin of other commands loads: their operators with attributes, inputs and\n" +
			"outputs, and the SHA-256 by which engines name them. A module that cannot be loaded is an error that says why.",
		Example: examples("the ops of a plugin", "trtui inspect plugins swirl.wasm",
			"a model that has them", "trtui run model.onnx --plugin swirl.wasm"),
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return inspectPlugins(c.OutOrStdout(), c.ErrOrStderr(), &o, args)
		},
	}
	o.addTo(c, takeFormat|takeLog)
	return c
}

// pluginOutput is the JSON of one plugin.
type pluginOutput struct {
	Name, Version, Path string
	ABI                 int    `output:"abi"`
	Bytes               int    `output:"bytes"`
	SHA256              string `output:"sha256"`
	Ops                 []pluginOpOutput
}

type pluginOpOutput struct {
	Domain, Name, Doc string
	Attributes        []pluginAttrOutput
	Inputs            []pluginInputOutput
	Outputs           []string
}

type pluginAttrOutput struct {
	Name, Type string
	Default    string `json:",omitempty"` // as JSON; none: it must be given
}

type pluginInputOutput struct {
	Name     string
	Types    []string
	Optional bool
}

type pluginsOutput struct{ Plugins []pluginOutput }

func inspectPlugins(stdout, stderr io.Writer, o *outputFlags, paths []string) error {
	var out pluginsOutput
	for _, path := range paths {
		var log func(string)
		if o.verbose {
			log = func(line string) { fmt.Fprintf(stderr, "%s: %s\n", path, line) }
		}
		p, err := plugin.Open(path, plugin.DefaultLimits(), log)
		if err != nil {
			return err
		}
		out.Plugins = append(out.Plugins, describePlugin(p))
		p.Close()
	}
	if o.json() {
		return writeReport(stdout, report.Head{}, out)
	}
	for i, p := range out.Plugins {
		if i > 0 {
			fmt.Fprintln(stdout)
		}
		writePlugin(stdout, &p)
	}
	return nil
}

// describePlugin tells of a plugin what people and programs ask.
func describePlugin(p *plugin.Plugin) pluginOutput {
	out := pluginOutput{Name: p.Name, Version: p.Version, Path: p.Path, ABI: p.ABI, Bytes: p.Bytes, SHA256: p.Hash}
	for _, op := range p.Ops {
		o := pluginOpOutput{Domain: op.Domain, Name: op.Name, Doc: op.Doc, Attributes: []pluginAttrOutput{}}
		for _, a := range op.Attributes {
			o.Attributes = append(o.Attributes, pluginAttrOutput{a.Name, a.Type, oneLine(a.Default)})
		}
		for _, in := range op.Inputs {
			o.Inputs = append(o.Inputs, pluginInputOutput{in.Name, in.Types, in.Optional})
		}
		for _, y := range op.Outputs {
			o.Outputs = append(o.Outputs, y.Name)
		}
		out.Ops = append(out.Ops, o)
	}
	return out
}

// oneLine writes JSON on one line.
func oneLine(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

func writePlugin(w io.Writer, p *pluginOutput) {
	version := ""
	if p.Version != "" {
		version = " " + p.Version
	}
	fmt.Fprintf(w, "%s%s (%s, %s, sha256 %.12s, abi %d)\n", p.Name, version, p.Path, bytesText(p.Bytes), p.SHA256, p.ABI)
	for _, op := range p.Ops {
		var inputs []string
		for _, in := range op.Inputs {
			text := in.Name + " " + strings.Join(in.Types, "|")
			if in.Optional {
				text = "[" + text + "]"
			}
			inputs = append(inputs, text)
		}
		fmt.Fprintf(w, "\n%s:%s(%s) -> %s\n", op.Domain, op.Name, strings.Join(inputs, ", "), strings.Join(op.Outputs, ", "))
		if op.Doc != "" {
			fmt.Fprintf(w, "    %s\n", op.Doc)
		}
		for _, a := range op.Attributes {
			def := ", must be given"
			if a.Default != "" {
				def = " = " + a.Default
			}
			fmt.Fprintf(w, "    %s %s%s\n", a.Name, a.Type, def)
		}
	}
}
