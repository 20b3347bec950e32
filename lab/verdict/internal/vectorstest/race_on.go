//go:build race

package vectorstest

// Raced is set under the race detector. Simulations, which are long and have nothing concurrent in them, are left to the
// run without it.
const Raced = true
