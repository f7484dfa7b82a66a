package trtui_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui"
)

func image(batch int) map[string][]int { return map[string][]int{"image": {batch, 1, 32, 32}} }

var twoProfiles = []trtui.Profile{
	{Min: image(1), Opt: image(1), Max: image(2)},
	{Min: image(2), Opt: image(8), Max: image(12)},
}

// A session runs at the shapes of its inputs, in the first profile that takes them, whether the engine comes from a file or not.
func TestSessionProfiles(t *testing.T) {
	n := digits(t)
	e := built(t, n, trtui.Options{Profiles: twoProfiles})
	var file bytes.Buffer
	if _, err := e.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	opened, err := trtui.ReadEngine(t.Context(), &file, trtui.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	for _, e := range []*trtui.Engine{e, opened} {
		got := e.Profiles()
		if len(got) != 2 || len(e.Plans()) != 2 || !slices.Equal(got[1].Min["image"], []int{2, 1, 32, 32}) || !slices.Equal(got[1].Max["image"], []int{12, 1, 32, 32}) || e.Replanned() != "" {
			t.Errorf("profiles are %v; %s", got, e.Replanned())
		}
		s := session(t, e, trtui.SessionOptions{Threads: 1})
		for _, batch := range []int{1, 2, 3, 12, 8, 1, 5} {
			in := pictures(batch, batch)
			want := reference(t, n, in)["probabilities"]
			out, err := s.Run(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if !near(out["probabilities"], want, 1e-5) {
				t.Errorf("batch %d: %v, want %v", batch, out["probabilities"].F32(), want.F32())
			}
		}
		_, err := s.Run(t.Context(), pictures(0, 13))
		var out *trtui.OutOfRange
		if !errors.As(err, &out) || out.Input != "image" || out.Axis != 0 || out.Value != 13 || !strings.Contains(err.Error(), "for 1 to 2; profile 1") {
			t.Errorf("batch 13: %v", err)
		}
	}
}

// SetShapes brings a session to shapes before there are inputs; what comes back to shapes allocates no more than what stays.
func TestSessionSetShapes(t *testing.T) {
	n := digits(t)
	s := session(t, built(t, n, trtui.Options{Profiles: twoProfiles}), trtui.SessionOptions{Threads: 1})
	var ins []trtui.Inputs
	var outs []trtui.Outputs
	for _, batch := range []int{7, 1} {
		if err := s.SetShapes(image(batch)); err != nil {
			t.Fatal(err)
		}
		in, out := s.Shapes()
		if in[0].Dims[0] != batch || out[0].Dims[0] != batch {
			t.Errorf("it is at %v, %v", in, out)
		}
		own := trtui.NewValue(trtui.F32, batch, 1, 32, 32)
		copy(own.Data, pictures(0, batch)["image"].Data)
		ins, outs = append(ins, trtui.Inputs{"image": own}), append(outs, s.NewOutputs())
	}
	runs := func(list ...int) func() {
		return func() {
			for _, i := range list {
				if err := s.RunInto(t.Context(), ins[i], outs[i]); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if stay, switches := testing.AllocsPerRun(20, runs(0, 0)), testing.AllocsPerRun(20, runs(0, 1)); switches > stay {
		t.Errorf("%v allocations to go to and fro, %v to stay", switches, stay)
	}
	for i, in := range ins {
		if want := reference(t, n, in)["probabilities"]; !near(outs[i]["probabilities"], want, 1e-5) {
			t.Errorf("%v, want %v", outs[i], want)
		}
	}
	for _, c := range []struct {
		shapes map[string][]int
		want   string
	}{
		{map[string][]int{"picture": {1, 1, 32, 32}}, "input picture"},
		{image(0), "image: axis 0"},
		{map[string][]int{"image": {1, 1, 32, 33}}, "axis 3 must be 32"},
	} {
		if err := s.SetShapes(c.shapes); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: it says %v, want %q", c.shapes, err, c.want)
		}
	}
	if err := s.RunInto(t.Context(), ins[0], outs[1]); err == nil || !strings.Contains(err.Error(), "output") {
		t.Errorf("outputs of other shapes: %v", err)
	}
}

// Profiles that contradict themselves are refused by name.
func TestWrongProfiles(t *testing.T) {
	n := digits(t)
	for _, c := range []struct {
		o    trtui.Options
		want string
	}{
		{trtui.Options{Shapes: image(1), Profiles: twoProfiles}, "Profiles say the shapes"},
		{trtui.Options{Profiles: []trtui.Profile{twoProfiles[0], {Min: image(3), Opt: image(2)}}}, "profile 1: "},
		{trtui.Options{Profiles: []trtui.Profile{{Opt: image(2), Max: image(1)}}}, "is 2, which is not from 2 to 1"},
		{trtui.Options{Profiles: []trtui.Profile{{Max: map[string][]int{"x": {1}}}}}, "largest shapes: input x: the network has no such input"},
		{trtui.Options{Profiles: []trtui.Profile{{Min: map[string][]int{"image": {1}}}}}, "least shapes: input image"},
	} {
		if _, err := trtui.Build(t.Context(), n, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("it says %v, want %q", err, c.want)
		}
	}
}
