package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// writeCauses prints why the layer that adds most error does, and which channels set the ranges of others.
func writeCauses(w io.Writer, a *report.Accuracy) {
	for i := range a.Layers {
		l := &a.Layers[i]
		why := l.Cause
		if why == nil || l.Name != a.Worst && (why.Reach == nil || len(why.Reach.Outliers) == 0) {
			continue
		}
		seen := ""
		if why.AddsAt != "" {
			seen = ", seen at " + short(why.AddsAt)
		}
		fmt.Fprintf(w, "%s adds %s dB%s; its own error: %.0f %% inputs stored, %.0f %% computing, %.0f %% bias corrected, %.0f %% output rounded, %.0f %% clipped; bias %.3g, %.0f %% of the error\n",
			short(l.Name), decibels(why.Adds), seen, 100*why.Inputs, 100*why.Computing, 100*why.Corrected, 100*why.Output*(1-why.Clipped), 100*why.Output*why.Clipped, l.Local.Bias, 100*l.Local.BiasShare)
		if r := why.Reach; r != nil && len(r.Outliers) > 0 {
			fmt.Fprintf(w, "  %s\n", reachText(r))
		}
	}
}

// reachText says which channels of a tensor reach further than the others, what that costs them, and what helps.
func reachText(r *report.ChannelReach) string {
	var channels []string
	for _, c := range r.Outliers {
		channels = append(channels, fmt.Sprint(c))
	}
	text := fmt.Sprintf("channel %s reaches %.3g, the others %.3g: they lose %.1f bits to a scale of %.3g, and need %.3g", strings.Join(channels, ", "), r.Amax, r.Rest, r.Bits, r.Scale, r.Needed)
	switch c := r.Cure; {
	case c == nil:
	case c.Done:
		text += "; its channels are equalised already"
	case c.Equalization == "":
		text += "; it cannot be equalised: " + c.Why
		if len(c.Raise) > 0 {
			text += "; " + raiseFlag(c.Raise) + " has it read as a float"
		}
	default:
		var with []string
		for _, name := range c.With {
			with = append(with, short(name))
		}
		text += fmt.Sprintf("; --equalization %s helps, with %s", c.Equalization, strings.Join(with, ", "))
		if c.Gain > 0 {
			text += fmt.Sprintf(": %+.1f dB expected", c.Gain)
		}
	}
	return text
}

// raiseFlag returns the flag that raises layers to FP32.
func raiseFlag(layers []string) string {
	var raised config.Config
	for _, name := range layers {
		raised.SetLayerPrecision(name, config.FP32)
	}
	return shellLine([]string{"--layer-precisions", strings.Join(raised.LayerPrecisions, ",")})
}
