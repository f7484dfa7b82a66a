package views

import "github.com/trtui/trtui/ui"

// screens returns the screens of the workbench with their layouts: side by side where the terminal is wide, fewer and
// denser panes where it is not. Panes that a layout leaves out are reached with tab.
func screens(d *desk) []*ui.Screen {
	return []*ui.Screen{
		overviewScreen(d),
		graphScreen(d),
		timingsScreen(d),
		memoryScreen(d),
		calibrationScreen(d),
		accuracyScreen(d),
		tacticsScreen(d),
		recordingsScreen(d),
		logScreen(d),
	}
}

func box(b ui.Box) *ui.Box { return &b }
