//go:build race

package verdict

// underRace: simulations, which are long and have nothing concurrent in them,
// are left to the run without the race detector.
const underRace = true
