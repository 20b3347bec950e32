//go:build !race

package workload

const underRace = false
