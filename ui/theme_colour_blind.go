package ui

// ColourBlindTheme is for a dark terminal and eyes with protanopia, deuteranopia or tritanopia: what means different things
// differs in lightness or between blue and yellow, as those eyes see it.
func ColourBlindTheme() *Theme {
	return colourTheme("colour-blind", [paletteSize]int{
		Plain: -1, Muted: 0x8b949e, Faint: 0x4a525c, Accent: 0x72abff,
		Good: 0x9df0e6, Warn: 0xffe94a, Bad: 0xd2603e, Ink: 0x0d1117,
		F32: 0x5b9dff, F16: 0xffe34d, I8: 0xd9647c, OtherType: 0xf0f3f6,
		Series1: 0x4ad5ff, Series2: 0xe83a48, Series3: 0x9b979e, Series4: 0x7d7b7e,
		Series5: 0xe3ff03, Series6: 0x1a72ff, Series7: 0xcea173, Series8: 0xffe8e4,
		Heat1: 0x2c4272, Heat2: 0x575d6d, Heat3: 0x7d7c78, Heat4: 0xa59c74, Heat5: 0xd2c060, Heat6: 0xfee838,
		CursorGround: 0x1c2f54, RestGround: 0x2a2b2f, SelectedGround: 0x3a3320, MatchGround: 0x6b5200, ChipGround: 0x6cb6ff,
	})
}

// ColourBlindLightTheme is the same for a light terminal.
func ColourBlindLightTheme() *Theme {
	return lightTheme("colour-blind-light", [paletteSize]int{
		Plain: -1, Muted: 0x59636e, Faint: 0xb6bec7, Accent: 0x1f5fd6,
		Good: 0x00665e, Warn: 0x967000, Bad: 0x7a1020, Ink: 0xffffff,
		F32: 0x2a6be0, F16: 0x967000, I8: 0xb0306a, OtherType: 0x101418,
		Series1: 0x1e92d8, Series2: 0x0d231b, Series3: 0x867c5f, Series4: 0x236668,
		Series5: 0xd5670d, Series6: 0x1a11f8, Series7: 0x300052, Series8: 0x644700,
		Heat1: 0xd9cf8a, Heat2: 0xbfae6a, Heat3: 0x9a9275, Heat4: 0x6f7378, Heat5: 0x44537a, Heat6: 0x00224e,
		CursorGround: 0xdbe9fd, RestGround: 0xe9edf2, SelectedGround: 0xf6e8c4, MatchGround: 0xffdf7a, ChipGround: 0x0550ae,
	})
}
