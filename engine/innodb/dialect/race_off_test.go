//go:build !race

package dialect

const underRace = false
