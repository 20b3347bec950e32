//go:build !race

package verdict

const underRace = false
