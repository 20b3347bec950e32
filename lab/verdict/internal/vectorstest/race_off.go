//go:build !race

package vectorstest

// Raced is set under the race detector.
const Raced = false
