package convolutions

import (
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

func newInt8Area(s *windows.Shape, cfg ConfigInt8) windows.Area {
	a := windows.Area{Shape: s, Zero: byte(cfg.InZero), Signed: cfg.Signed, Pixel: work.Lanes, Width: s.Width, Height: s.Height, Plane: s.Height * s.Width * work.Lanes}
	if cfg.InPlane > 0 {
		a.Plane = cfg.InPlane
	}
	if cfg.Stem {
		a.Pixel = 4
	}
	a.Quant = work.QuantKernel(cfg.Features)
	a.Copied = cfg.Stem || s.PadTop+s.PadLeft+s.PadBottom+s.PadRight > 0
	return a
}
