package cpu

// RaceEnabled tells tests of other packages' networks that the race detector is on.
const RaceEnabled = raceEnabled
